"""Records of Othello: GGF (Generic Game Format), transcripts and FFO positions."""

from pathlib import Path

import pytest

from ludoteca.envs.formats import registry
from ludoteca.envs.formats.ffo import position_line, read_positions
from ludoteca.envs.formats.record import RecordText
from ludoteca.envs.formats.registry import load_games, read_games, save_games, write_games
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay

pytestmark = pytest.mark.interpreted

START = "BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]"
# A game of the Generic Game Server without moves.
HEAD = (
    f"(;GM[Othello]PC[GGS/os]DT[2003.12.15_13:24:03.MST]PB[one]PW[two]TI[05:00//02:00]TY[8]{START}"
)
# The shortest game: black has all discs after nine moves.
SHORTEST = "e6f4e3f6g5d6e7f5c5"


def moves(text: str, suffix: str = "") -> list[str]:
    """Return the names of the moves of a text with one game."""
    (record,) = read_games(text, suffix)
    game = make_game(record.replay.game)
    return [game.action_names[action] for action in record.replay.actions]  # type: ignore[index]


def test_a_game_of_the_server_is_read() -> None:
    text = f"{HEAD}RE[+0.000:r]B[d3//0.01]W[C5/-1.5/2]B[D6/0.3]W[c3];)"
    (record,) = read_games(text)
    assert record.replay.players == ("one", "two")
    assert moves(text) == ["d3", "c5", "d6", "c3"]
    assert record.notes == ("RE[+0.000:r]: the game ended by resignation",)


def test_several_games_are_read_with_their_number() -> None:
    game = f"{HEAD}B[d3];)"
    assert len(read_games(f"2 {game}{game}\n1 {game}\n")) == 3


def test_the_shortest_game_ends_with_64_discs_for_black() -> None:
    (record,) = read_games(SHORTEST)
    assert record.replay.returns == (1.0, -1.0)
    ggf = write_games([record.replay], ".ggf")
    assert "RE[+64.000]" in ggf
    assert read_games(ggf)[0].replay == record.replay
    for wrong in ("RE[-64.000]", "RE[0.000]"):
        with pytest.raises(
            ValueError, match=r"line 1, column \d+: the result is RE.*but the moves lead"
        ):
            read_games(ggf.replace("RE[+64.000]", wrong))
    (late,) = read_games(ggf.replace("RE[+64.000]", "RE[-64.000:t]"))
    assert late.notes == ("RE[-64.000:t]: the game ended on time",)
    assert moves(f"{SHORTEST}--pa") == moves(SHORTEST)


def test_transcripts_are_read_in_all_their_forms() -> None:
    expected = ["f5", "d6", "c3", "d3", "c4"]
    for text in ("f5d6c3d3c4", "F5D6C3D3C4\r\n", "f5 d6 c3\td3 c4", "1. f5 2. d6 3.c3 4. d3 5. c4"):
        assert moves(text) == expected
    assert len(read_games("# two games\nf5d6\n\n# other\nd3c3\n")) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f5d6x9", "line 1, column 5: expected a move such as f5, got 'x9'"),
        ("f5d6\nf5a1", "line 2, column 3: move 2: a1 is illegal: the legal moves are f4 d6 f6"),
        ("f5--", "line 1, column 3: move 2: pass is illegal"),
        (f"{SHORTEST}a1", "the game is over, but the record continues with a1"),
        (HEAD, "expected a property such as B[d3], or ';)', got ''"),
        (f"{HEAD};) x", "expected '(;', got 'x'"),
        (f"{HEAD}B[i9];)", "expected a square such as d3, or a pass, got 'i9'"),
        (f"{HEAD}W[d3];)", "expected a move of black, got one of white"),
        (f"{HEAD}RE[won];)", "expected a result such as RE[+12.000], got RE[won]"),
        (f"{HEAD}KB[3];)", "KB is a komi move: games with komi are not supported"),
        (f"{HEAD};)".replace("TY[8]", "TY[8a]"), "expected Othello without variants, such as"),
        (f"{HEAD};)".replace("TY[8]", "TY[10]"), "expected board size 4, 6, 8, got TY[10]"),
        (f"{HEAD};)".replace("O*", "*O"), "expected the standard starting position"),
        (f"{HEAD};)".replace(" *]", " O]"), "expected the standard starting position"),
        (f"{HEAD};)".replace("BO[8", "BO[6"), "expected BO with 8, 64 squares and the player"),
        ("(;GM[Othello];)", "line 1, column 3: expected the starting position, such as BO[8"),
    ],
)  # fmt: skip
def test_errors_name_line_and_column(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"line \d+, column \d+: ") as caught:
        read_games(text)
    assert message in str(caught.value)


def test_written_positions_of_the_ffo_collection_are_read_again() -> None:
    from ludoteca.evaluate.bench.ffo import ffo_positions

    game = make_game("othello")
    lines = []
    for position in ffo_positions().values():
        scores = "; ".join(f"{name.upper()}:{value:+d}" for name, value in position.scores.items())
        rows = "".join(position.rows).upper().replace(".", "-")
        lines.append(f"{rows} {'X' if position.black else 'O'}; {scores}; % {position.number}")
    read = read_positions(RecordText("% FFO\n\n" + "\n".join(lines)))
    assert len(read) == 59
    for one, position, line in zip(read, ffo_positions().values(), lines, strict=True):
        assert one.state.tobytes() == position.state(game).tobytes()
        assert one.scores == position.scores
        assert one.comment == str(position.number)
        assert position_line(one.state) == line[:66]
    assert [read[0].line, read[1].line] == [3, 4]


def test_positions_with_other_letters_and_a_finished_game() -> None:
    (first,) = read_positions(RecordText("*" * 40 + "O" * 24 + " White"))
    assert bool(first.state.over)
    start = "." * 27 + "wb" + "." * 6 + "bw" + "." * 27 + " black"
    (position,) = read_positions(RecordText(start))
    assert position.state.tobytes() == make_game("othello").new(0).tobytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-" * 63 + " X", "line 1, column 1: expected 64 squares and the player"),
        ("-" * 64 + " Z", "line 1, column 65: expected the player to move, X or O, got 'Z'"),
        ("-" * 64 + "\n", "line 1, column 65: expected the player to move, X or O, got ''"),
        ("-" * 64 + " X; A1:+2", "column 68: expected a legal move and its score, such as g8:+18"),
        ("%\n" + "-" * 64 + " X\nx", "line 3, column 1: expected 64 squares and the player"),
    ],
)
def test_errors_in_positions_name_line_and_column(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"line \d+, column \d+: ") as caught:
        read_positions(RecordText(text))
    assert message in str(caught.value)


def test_formats_are_found_by_content_before_suffix(tmp_path: Path) -> None:
    (record,) = read_games("f5d6")
    save_games(tmp_path / "a.ggf", [record.replay])
    (tmp_path / "a.sgf").write_text("\ufeff\n" + (tmp_path / "a.ggf").read_text())
    assert load_games(tmp_path / "a.sgf") == [record]
    record.replay.save(tmp_path / "a.txt")
    assert load_games(tmp_path / "a.txt") == [record]
    (tmp_path / "latin.sgf").write_bytes("(;GM[11]PB[Zoë])".encode("latin-1"))
    assert load_games(tmp_path / "latin.sgf")[0].replay.players == ("Zoë", "")
    (tmp_path / "b.sgf").write_text("hello")
    with pytest.raises(ValueError, match=r"b\.sgf: line 1, column 1: expected SGF"):
        load_games(tmp_path / "b.sgf")
    (tmp_path / "b").write_text("hello")
    with pytest.raises(ValueError, match="not a replay"):
        load_games(tmp_path / "b")
    (tmp_path / "c.txt").write_text("# nothing\n")
    with pytest.raises(ValueError, match="expected a transcript such as f5d6c3, got no moves"):
        load_games(tmp_path / "c.txt")
    (tmp_path / "f.txt").write_text("-" * 64 + " X")
    with pytest.raises(ValueError, match="expected games, got positions in FFO format"):
        load_games(tmp_path / "f.txt")


def test_records_with_too_many_characters_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "MAX_CHARACTERS", 5)
    with pytest.raises(ValueError, match="expected at most 5 characters"):
        read_games("f5d6c3")


def test_a_format_that_does_not_support_the_game_is_an_error() -> None:
    replay = Replay("tictactoe", 0, [], None)
    with pytest.raises(ValueError, match="SGF supports hex and othello, got a game of tictactoe"):
        write_games([replay], ".sgf")
    with pytest.raises(ValueError, match=r"expected one of \.ggf, \.sgf, \.txt, got '\.pgn'"):
        write_games([replay], ".pgn")
