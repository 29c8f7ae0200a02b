"""SGF (Smart Game Format): files written by hand after the specification, errors, random games."""

import random
from typing import Any

import pytest

from ludoteca.envs.formats.record import RecordText
from ludoteca.envs.formats.registry import FORMATS, read_games, write_games
from ludoteca.envs.formats.sgf_tree import escape, parse_collection, simple_text
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay, returns_of

pytestmark = pytest.mark.interpreted


def random_replay(spec: str, seed: int, plies: int = 1000, players: Any = ("a", "b")) -> Replay:
    """Return a random game, or its first plies."""
    game, rng, actions = make_game(spec), random.Random(seed), []
    s = game.new(0)
    while not game.is_terminal(s) and len(actions) < plies:
        actions.append(rng.choice(game.legal(s)))
        game.step(s, actions[-1])
    return Replay(game.spec, 0, actions, returns_of(game, s), players)


def names(replay: Replay) -> list[str]:
    """Return the names of the actions of a replay."""
    game = make_game(replay.game)
    return [game.action_names[action] for action in replay.actions]  # type: ignore[index]


@pytest.mark.parametrize("rules", ["", ",swap=True", ",first=white", ",first=white,swap=True"])
@pytest.mark.parametrize("size", [2, 5])
def test_written_games_of_hex_are_read_again(rules: str, size: int) -> None:
    spec = f"hex:board_size={size}{rules}"
    replays = [random_replay(spec, seed, plies) for seed in range(4) for plies in (0, 2, 1000)]
    records = read_games(write_games(replays, ".sgf"))
    assert [record.replay for record in records] == replays
    assert all(record.notes == () for record in records)


@pytest.mark.parametrize("suffix", [".sgf", ".ggf", ".txt"])
@pytest.mark.parametrize("size", [4, 6, 8])
def test_written_games_of_othello_are_read_again(suffix: str, size: int) -> None:
    if suffix == ".txt" and size != 8:
        with pytest.raises(
            ValueError, match="transcripts are for Othello on 8x8, got othello:board"
        ):
            write_games([random_replay(f"othello:board_size={size}", 0)], suffix)
        return
    players = () if suffix == ".txt" else ("Ana", "Zoë")
    spec = f"othello:board_size={size}"
    replays = [random_replay(spec, seed, p, players) for seed in range(6) for p in (1, 7, 1000)]
    assert any("pass" in names(replay) for replay in replays)
    read = [record.replay for record in read_games(write_games(replays, suffix))]
    for one, other in zip(read, replays, strict=True):
        # The text omits passes, so a pass at its end is lost.
        cut = suffix == ".txt" and names(other)[-1] == "pass"
        assert list(one.actions) == list(other.actions)[: -1 if cut else None]
        assert (one.game, one.returns, one.players) == (other.game, other.returns, other.players)


def test_automatic_passes_are_written() -> None:
    for seed in range(4):
        auto = random_replay("othello:auto_pass=True", seed)
        for format_ in FORMATS:
            (record,) = read_games(write_games([auto], format_.suffix))
            moves = [name for name in names(record.replay) if name != "pass"]
            assert moves == names(auto)
            assert record.replay.returns == auto.returns


def test_escapes_comments_variations_and_several_games_are_read() -> None:
    text = r"""Saved by hand. (;FF[4]GM[11]AP[x:1]SZ[5]PB[Ana \] \\]PW[two
lines \
joined]C[a (;B[x\]) comment]
;B[A3]BL[30];W[swap-pieces]
(;B[b2]C[];White
[c3])(;B[d4](;W[e5])(;W[e4])))
(;GM[11])"""
    game, empty = read_games(text, ".sgf")
    assert game.replay.players == ("Ana ] \\", "two lines joined")
    assert names(game.replay) == ["a3", "swap", "b2", "c3"]
    assert game.replay.game == "hex:board_size=5,first=black,swap=True"
    assert game.notes == ("1 variation is skipped: only the main line was read",)
    assert empty.replay == Replay("hex:board_size=11,first=black,swap=False", 0, [], None)


def test_a_swap_of_sides_is_the_mirror_image_of_a_swap_of_pieces() -> None:
    sides = read_games("(;GM[11]SZ[3];B[a2];W[swap-sides];W[c2];B[b1];W[b3];B[b2])")[0].replay
    pieces = read_games("(;GM[11]SZ[3];B[a2];W[swap-pieces];B[b3];W[a2];B[c2];W[b2])")[0].replay
    assert sides == pieces
    # As played: black a2, b1, b2, white c2, b3; the mirror image: white b1, a2, b2, black b3, c2.
    s = list(sides.positions())[-1]
    board = make_game(sides.game).layout.cells(s).reshape(3, 3).tolist()
    assert board == [[0, 2, 0], [2, 2, 1], [0, 1, 0]]


@pytest.mark.parametrize(
    ("third", "third_name"), [("W[bc]", "c2"), ("B[bc]", "b3")], ids=["sides", "pieces"]
)
def test_the_color_after_a_swap_decides_between_sides_and_pieces(
    third: str, third_name: str
) -> None:
    # Little Golem writes cells by two letters.
    replay = read_games(f"(;FF[4]GM[11]SZ[4];B[ab];W[swap];{third})")[0].replay
    assert names(replay) == ["a2", "swap", third_name]


def test_white_moves_first_by_its_first_move_or_by_pl() -> None:
    assert "first=white" in read_games("(;GM[11]SZ[4];W[a1])")[0].replay.game
    assert "first=white" in read_games("(;GM[11]SZ[4]PL[W])")[0].replay.game
    record = read_games("(;GM[11]SZ[4]PW[w]PB[b]RE[B+];W[a1];B[resign])")[0]
    assert record.replay.players == ("w", "b")
    assert record.replay.returns is None
    assert [note.split(" ")[0] for note in record.notes] == ["B[resign]", "RE[B+]:"]


def test_othello_by_letters_with_the_start_set_up() -> None:
    text = "(;GM[2]SZ[8]AB[e4][d5]AW[dd][ee]PL[B];B[d3];W[ce];B[];W[f4])"
    with pytest.raises(
        ValueError, match=r"column 52: move 3: pass is illegal: the legal moves are b6"
    ):
        read_games(text)
    (record,) = read_games(text.replace("B[];", "B[D6];").replace("f4", "c3"))
    assert names(record.replay) == ["d3", "c5", "d6", "c3"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(;GM[1])", "line 1, column 5: expected a game with GM 11 (hex) or 2 (othello)"),
        ("(;SZ[5])", "line 1, column 1: expected a game with GM 11 (hex) or 2 (othello)"),
        ("(;GM[11]SZ[5]\n;B[a9])", "line 2, column 3: a9 is not a cell of a board of 5 x 5"),
        (
            "(;GM[11]SZ[5];B[a1];W[a1])",
            "column 22: move 2: a1 is illegal: the legal moves are b1 c1",
        ),
        ("(;GM[11]SZ[5];B[a1];B[a2])", "column 22: expected a move of W, got B"),
        ("(;GM[11]SZ[5];B[a1];W[b1];B[swap])", "column 28: only the second move may be a swap"),
        ("(;GM[11]SZ[5];B[pass])", "column 16: expected a cell such as a1, swap-pieces"),
        ("(;GM[11]SZ[5];B[resign];W[a1])", "column 26: expected no move after resign"),
        ("(;GM[11]SZ[99])", "column 11: expected a square board of 2, 3"),
        ("(;GM[11]SZ[5:6])", "got SZ[5:6]"),
        ("(;GM[11]AB[a1])", "column 11: AB sets up stones: expected an empty board"),
        ("(;GM[11];B[a1];AW[b1])", "column 18: AW changes the board: expected only moves"),
        ("(;GM[11];B[a1]W[b1])", "column 11: expected one move per node, got several"),
        ("(;GM[11];B[a1][b1])", "column 11: expected one move per node, got several"),
        ("(;GM[11]PL[x])", "column 11: expected PL[B] or PL[W], got PL[X]"),
        ("(;GM[11]SZ[2]RE[W+];B[a1];W[b1];B[a2])", "column 16: the result is RE[W+], but"),
        ("(;GM[11]SZ[2];B[a1];W[b1];B[a2];W[b2])", "the game is over, but the record continues w"),
        ("(;GM[11];B[a1]", "line 1, column 1: the game tree that begins here has no closing ')'"),
        ("(;GM[11];B[a1", "column 11: this value of B has no closing ']'"),
        ("(;GM[11];B)", "column 11: expected a value of B, which begins with '['"),
        ("(;GM[11]GM[11])", "column 9: property GM occurs twice in a node"),
        ("(;GM[11](;B[a1]);W[a2])", "column 17: expected '(' or ')' after a variation"),
        ("(;GM[11]())", "column 10: expected a node, which begins with ';', got ')'"),
        ("(;GM[11]((;B[a1])))", "column 10: expected a node, which begins with ';', got '('"),
        ("(;GM[11]) x", "column 11: expected '(;' or the end, got 'x'"),
        ("(;GM[11]7)", "column 9: expected ';', '(' or ')', got '7'"),
        ("(;GM[11]black[a1])", "column 9: black is not a property: expected capital letters"),
        ("(;GM[2];W[d3])", "column 10: expected a move of black, got one of white"),
        ("(;GM[2];B[d3];W[a1])", "column 16: move 2: a1 is illegal: the legal moves are c3 e3 c5"),
        ("(;GM[2]AB[a1])", "column 10: AB sets up discs: expected only the four"),
        ("(;GM[2]PL[W])", "column 10: expected black to move first"),
    ],
)  # fmt: skip
def test_errors_name_line_and_column(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="line") as caught:
        read_games(text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_escaped_text_is_read_and_written() -> None:
    assert simple_text(r"a\]b\\c\:d") == r"a]b\c:d"
    assert simple_text("a\\\\\nb") == "a\\ b"
    assert simple_text("a\\\nb\tc") == "ab c"
    for text in ("]", "\\", "a:b", "\\]", "x\\\\]", "Zoë (;"):
        (tree,) = parse_collection(RecordText(f"(;PB[{escape(text)}])"))
        assert simple_text(tree.nodes[0]["PB"].values[0]) == text


def test_deep_and_long_trees_are_read_without_recursion() -> None:
    deep = "(;GM[11]" + "(;C[x]" * 5_000 + ")" * 5_001
    assert read_games(deep)[0].notes == ()
    wide = "(;GM[11]" + "(;B[a1])" * 5_000 + ")"
    assert read_games(wide)[0].notes == (
        "4999 variations are skipped: only the main line was read",
    )
