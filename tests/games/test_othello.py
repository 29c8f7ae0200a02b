"""Tests of the rules of Othello, on boards drawn as text: X black, O white, . empty."""

from typing import Any

import numpy as np
import pytest

from ludoteca.envs.engine.trajectory import record_trajectory
from ludoteca.envs.game import Game
from ludoteca.envs.games.othello import othello, placements
from ludoteca.envs.record_views import view_records

pytestmark = pytest.mark.interpreted

BLACK, WHITE = 0, 1
START = """
    . . . . . . . .
    . . . . . . . .
    . . . . . . . .
    . . . O X . . .
    . . . X O . . .
    . . . . . . . .
    . . . . . . . .
    . . . . . . . .
"""


@pytest.fixture(autouse=True)
def wrap_around() -> Any:
    """Let uint64 wrap around in interpreted kernels, as it does in compiled ones."""
    with np.errstate(over="ignore"):
        yield


def position(game: Game, picture: str, to_move: int) -> Any:
    """Return the position drawn as text, which must not be final."""
    s = game.new()
    s.discs[:] = 0
    for row, line in enumerate(picture.split("\n")[1:-1]):
        for column, letter in enumerate(line.split()):
            if letter != ".":
                s.discs["XO".index(letter)] |= np.uint64(1 << 8 * row + column)
    s.to_move = to_move
    s.legal = placements(s, to_move)
    assert game.validate(s) == ""
    return s


def picture(game: Game, s: Any) -> str:
    """Return the board drawn as text, in the form of the expected boards below."""
    rows = (" ".join(".XO"[code] for code in row) for row in game.layout.cells(s))
    return "\n".join(("", *("    " + row for row in rows), ""))


def legal(game: Game, s: Any) -> set[str]:
    """Return the names of the legal actions."""
    out = np.zeros(game.num_actions, np.int16)
    return {game.action_names[action] for action in out[: game.legal_actions(s, out)]}


def play(game: Game, s: Any, moves: str) -> None:
    """Play legal moves, given by their names."""
    for name in moves.split():
        assert name in legal(game, s), f"{name} is illegal in{picture(game, s)}"
        game.step(s, game.action_names.index(name))


def returns(game: Game, s: Any) -> list[float]:
    """Return the returns of both players."""
    scores = np.zeros(2)
    game.returns(s, scores)
    return scores.tolist()


def test_the_start_and_blacks_four_moves() -> None:
    game = othello()
    s = game.new()
    assert picture(game, s) == START
    assert game.player is not None
    assert game.player(s) == BLACK
    assert legal(game, s) == {"d3", "c4", "f5", "e6"}
    assert game.num_actions == 65
    assert game.action_names[64] == "pass"


def test_discs_are_turned_in_all_eight_directions() -> None:
    game = othello()
    s = position(
        game,
        """
    X . . X . . X .
    . O . O . O . .
    . . O O O . . .
    X O O . O O O X
    . . O O O . . .
    . O . O . O . .
    X . . O . . O .
    . . . X . . . X
""",
        BLACK,
    )
    play(game, s, "d4")
    assert (
        picture(game, s)
        == """
    X . . X . . X .
    . X . X . X . .
    . . X X X . . .
    X X X X X X X X
    . . X X X . . .
    . X . X . X . .
    X . . X . . X .
    . . . X . . . X
"""
    )


def test_lines_end_at_the_side_of_the_board() -> None:
    game = othello()
    s = position(
        game,
        """
    . . . . . . . .
    . . . . . . O O
    X . . . . . . .
    . . . . . . . .
    . . . . . . . O
    X . . . . . . .
    . . . . . . . .
    . . . . . X O .
""",
        BLACK,
    )
    # Lines do not wrap around the sides: neither f2, g1, h4 nor the neighbors of a6 are legal.
    assert legal(game, s) == {"h8"}


def test_a_player_without_a_move_must_pass() -> None:
    game = othello(board_size=4)
    before = """
    O O O .
    X X X X
    . X O X
    . O O O
"""
    s = position(game, before, WHITE)
    play(game, s, "d1")
    after = """
    O O O O
    X X X O
    . X O O
    . O O O
"""
    assert picture(game, s) == after
    assert game.player is not None
    assert game.player(s) == BLACK
    assert legal(game, s) == {"pass"}
    play(game, s, "pass")
    assert picture(game, s) == after
    assert game.player(s) == WHITE
    assert legal(game, s) == {"a3", "a4"}


def test_auto_pass_skips_the_player_who_must_pass() -> None:
    game = othello(board_size=4, auto_pass=True)
    s = position(
        game,
        """
    O O O .
    X X X X
    . X O X
    . O O O
""",
        WHITE,
    )
    play(game, s, "d1")
    assert game.player is not None
    assert game.player(s) == WHITE
    assert legal(game, s) == {"a3", "a4"}


def test_the_game_ends_when_neither_can_move() -> None:
    game = othello(board_size=4)
    s = position(
        game,
        """
    O O O .
    O O X .
    O X X X
    . . . .
""",
        WHITE,
    )
    play(game, s, "c4")
    assert (
        picture(game, s)
        == """
    O O O .
    O O O .
    O O O X
    . . O .
"""
    )
    assert game.is_terminal(s)
    assert legal(game, s) == set()
    assert returns(game, s) == [-1, 1]


def test_a_player_without_discs_has_lost() -> None:
    game = othello()
    s = game.new()
    play(game, s, "e6 f4 e3 f6 g5 d6 e7 f5 c5")
    assert (
        picture(game, s)
        == """
    . . . . . . . .
    . . . . . . . .
    . . . . X . . .
    . . . X X X . .
    . . X X X X X .
    . . . X X X . .
    . . . . X . . .
    . . . . . . . .
"""
    )
    assert game.is_terminal(s)
    assert returns(game, s) == [1, -1]


def test_perfect_play_is_a_draw() -> None:
    """Takizawa, "Othello is solved", arXiv 2310.19387, 2023: the optimal game of figure 1."""
    moves = (
        "f5d6c3d3c4f4f6f3e6e7d7c5b6d8c6c7d2b5a5a6a7g5e3b4c8g6g4c2e8d1"
        "f7e2g3h4f1e1f2g1b1f8g8b3h3b2h5b7a3a4a1a2c1h2h1g2b8a8g7h8h7h6"
    )
    game = othello()
    s = game.new()
    play(game, s, " ".join(moves[i : i + 2] for i in range(0, len(moves), 2)))
    cells = game.layout.cells(s)
    assert [np.count_nonzero(cells == code) for code in (0, 1, 2)] == [0, 32, 32]
    assert game.is_terminal(s)
    assert returns(game, s) == [0, 0]


def test_planes_relative_to_the_observer_or_absolute() -> None:
    relative, absolute = othello(), othello(planes="absolute")
    s = relative.new()
    play(relative, s, "d3")
    black = relative.layout.cells(s) == 1
    white = relative.layout.cells(s) == 2
    assert (black.sum(), white.sum()) == (4, 1)
    for player in (BLACK, WHITE):
        seen = np.zeros((2, 8, 8), np.int8)
        relative.observe(s, player, seen)
        assert np.array_equal(seen, [black, white] if player == BLACK else [white, black])
    t = absolute.new()
    play(absolute, t, "d3")
    for player in (BLACK, WHITE):
        seen = np.zeros((2, 8, 8), np.int8)
        absolute.observe(t, player, seen)
        assert np.array_equal(seen, [white, black])


@pytest.mark.parametrize("size", [4, 6, 8])
def test_symmetries_commute_with_play_from_any_position(size: int) -> None:
    """Half of the symmetries do not keep the first position, so mapped positions are played on."""
    game = othello(board_size=size)
    trajectory = record_trajectory(game, 1, seed=5)
    for symmetry in game.symmetries():
        for t in range(0, int(trajectory.plies[0]), 3):
            s = view_records(trajectory.positions[0, t : t + 1].copy())[0]
            drawn = symmetry.observation(game.layout.cells(s)[None])[0]
            rows = "\n".join(" ".join(".XO"[code] for code in row) for row in drawn)
            image = position(game, f"\n{rows}\n", int(s.to_move))
            action = int(trajectory.actions[0, t, 0])
            mapped = symmetry.policy(trajectory.legal[0, t, 0])
            assert legal(game, image) == {game.action_names[a] for a in np.flatnonzero(mapped)}
            game.step(s, action)
            game.step(image, int(symmetry.actions[action]))
            transformed = symmetry.observation(game.layout.cells(s)[None])[0]
            assert np.array_equal(game.layout.cells(image), transformed)
            assert image.over == s.over
            assert image.to_move == s.to_move


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"discs": [3, 1]}, "a square holds both a black and a white disc"),
        ({"to_move": 2}, "to_move 2 or over 0 is not 0 or 1"),
        ({"legal": 1}, "legal is 0x1, but the discs allow 0x102004080000"),
        ({"over": 1}, "over is 1, which does not say whether a placement is left"),
    ],
)
def test_validate_finds_impossible_positions(changes: dict[str, Any], problem: str) -> None:
    game = othello()
    s = game.new()
    for name, value in changes.items():
        s[name] = value
    assert game.validate(s) == problem


def test_validate_finds_discs_outside_a_small_board() -> None:
    game = othello(board_size=6)
    s = game.new()
    s.discs[0] |= np.uint64(1 << 6)
    assert game.validate(s) == "a disc lies outside the board"


@pytest.mark.parametrize(
    "params", [{"board_size": 5}, {"board_size": 10}, {"planes": "both"}, {"auto_pass": 1}]
)
def test_invalid_parameters_are_errors(params: dict[str, Any]) -> None:
    (name,) = params
    with pytest.raises(ValueError, match=f"{name} must be "):
        othello(**params)
