"""Tests of the rules of Breakthrough and its relatives, on boards drawn as text.

`O` are White's pawns (player 0, moving up), `X` Black's, `#` holes.
"""

from typing import Any

import numpy as np
import pytest

from ludoteca.envs.engine.trajectory import record_trajectory
from ludoteca.envs.game import Game
from ludoteca.envs.games.bitboards import cells_of
from ludoteca.envs.games.breakthrough import (
    breakthrough,
    breakthrough_holes,
    breakthrough_suicide,
)

FACTORIES = {"plain": breakthrough, "suicide": breakthrough_suicide}


@pytest.fixture(autouse=True)
def wrap_around() -> Any:
    """Let uint64 wrap around in interpreted kernels, as it does in compiled ones."""
    with np.errstate(over="ignore"):
        yield


def position(lines: list[str], to_move: str, kind: str = "plain") -> tuple[Game, Any]:
    """Return the game and the position drawn as text."""
    board = np.array([list(line) for line in lines])
    rows, columns = board.shape
    if (board == "#").any():
        holes = [f"{'abcdefgh'[c]}{rows - r}" for r, c in np.argwhere(board == "#")]
        game = breakthrough_holes(rows, columns, "+".join(holes))
    else:
        game = FACTORIES[kind](rows, columns)
    s = game.new()
    s.pieces[:] = cells_of(board == "O"), cells_of(board == "X")
    s.to_move = "OX".index(to_move)
    assert game.validate(s) == ""
    return game, s


def picture(game: Game, s: Any) -> list[str]:
    """Return the rows of the board, drawn as text."""
    return ["".join(".OX#"[code] for code in row) for row in game.layout.cells(s)]


def returns_of(game: Game, s: Any) -> list[float]:
    """Return the returns of both players."""
    out = np.zeros(2)
    game.returns(s, out)
    return out.tolist()


def legal_names(game: Game, s: Any) -> set[str]:
    """Return the names of the legal actions."""
    return {game.action_names[action] for action in game.legal(s)}


# Boards before and after the move, the move, and the winner.
MOVE_CASES = {
    "straight ahead": (
        """
        ..X  ..X
        ...  ...
        .O.  OO.
        O..  ...
        """,
        "a1-a2",
        "",
    ),
    "diagonally": (
        """
        ..X  ..X
        ...  ..O
        .O.  ...
        .O.  .O.
        """,
        "b2-c3",
        "",
    ),
    "white captures": (
        """
        ..X  ..X
        X..  O..
        .O.  ...
        ...  ...
        """,
        "b2-a3",
        "",
    ),
    "black captures": (
        """
        ..X  ..X
        X..  ...
        .O.  .X.
        O..  O..
        """,
        "a3-b2",
        "",
    ),
    "white on the far row wins": (
        """
        X..  X.O
        ..O  ...
        ...  ...
        ...  ...
        """,
        "c3-c4",
        "O",
    ),
    "black on the far row wins": (
        """
        ...  ...
        ...  ...
        X..  ...
        ..O  .XO
        """,
        "a2-b1",
        "X",
    ),
    "a capture on the far row wins": (
        """
        XX.  XO.
        O..  ...
        ...  ...
        ...  ...
        """,
        "a3-b4",
        "O",
    ),
    "white takes the last pawn": (
        """
        ...  ...
        .X.  .O.
        O..  ...
        ...  ...
        """,
        "a2-b3",
        "O",
    ),
    "black takes the last pawn": (
        """
        ...  ...
        .X.  ...
        O..  X..
        ...  ...
        """,
        "b3-a2",
        "X",
    ),
}
# The same on boards with holes.
HOLE_CASES = {
    "black is blocked: ahead by a pawn, to the side by a hole": (
        """
        ..  ..
        X.  X.
        .#  O#
        O.  ..
        ..  ..
        """,
        "a2-a3",
        "O",
    ),
    "white is blocked": (
        """
        ..  ..
        X.  ..
        .#  X#
        O.  O.
        ..  ..
        """,
        "a4-a3",
        "X",
    ),
    "black has another pawn that can move": (
        """
        .X  .X
        X.  X.
        .#  O#
        O.  ..
        ..  ..
        """,
        "a2-a3",
        "",
    ),
    "a side without pawns cannot move either": (
        """
        ..  ..
        X.  O.
        #O  #.
        ..  ..
        ..  ..
        """,
        "b3-a4",
        "O",
    ),
    "a blocked side does not matter when the far row is reached": (
        """
        X.  XO
        O.  ..
        .#  .#
        ..  ..
        ..  ..
        """,
        "a4-b5",
        "O",
    ),
}


def play(boards: str, move: str, kind: str) -> tuple[Game, Any]:
    """Play the move of a case and compare the boards."""
    pairs = [line.split() for line in boards.strip().splitlines()]
    start = pairs[len(pairs) - int(move[1])][0]["abc".index(move[0])]
    game, s = position([before for before, _ in pairs], start, kind)
    assert move in legal_names(game, s)
    game.step(s, game.action_names.index(move))
    assert picture(game, s) == [after for _, after in pairs]
    assert game.player is not None
    assert game.player(s) == "XO".index(start)
    assert game.validate(s) == ""
    return game, s


@pytest.mark.parametrize("kind", ["plain", "suicide"])
@pytest.mark.parametrize(("boards", "move", "winner"), MOVE_CASES.values(), ids=MOVE_CASES)
def test_moves_and_winners(boards: str, move: str, winner: str, kind: str) -> None:
    game, s = play(boards, move, kind)
    assert game.is_terminal(s) == bool(winner)
    value = {"": 0, "O": 1, "X": -1}[winner] * (-1 if kind == "suicide" else 1)
    assert returns_of(game, s) == [value, -value]
    assert bool(legal_names(game, s)) != bool(winner)


@pytest.mark.parametrize(("boards", "move", "winner"), HOLE_CASES.values(), ids=HOLE_CASES)
def test_a_side_that_cannot_move_loses(boards: str, move: str, winner: str) -> None:
    game, s = play(boards, move, "holes")
    value = {"": 0, "O": 1, "X": -1}[winner]
    assert returns_of(game, s) == [value, -value]
    assert bool(legal_names(game, s)) != bool(winner)


def test_steps_go_to_empty_cells_and_captures_are_diagonal() -> None:
    board = [
        "....X",
        ".....",
        ".X.XO",
        "O..O.",
    ]
    # a1: a2 or b2 (takes); d1: d2 is taken straight ahead, e2 is White's own, c2 is free.
    game, s = position(board, "O")
    assert legal_names(game, s) == {"a1-a2", "a1-b2", "d1-c2", "e2-d3", "e2-e3"}
    s.to_move = 1
    # e4: d3, e3; b2: a1 (takes), b1, c1; d2: c1, e1, not d1 straight ahead.
    assert legal_names(game, s) == {"e4-d3", "e4-e3", "b2-a1", "b2-b1", "b2-c1", "d2-c1", "d2-e1"}


def test_holes_cannot_be_entered() -> None:
    board = [
        "...",
        ".X.",
        "#.#",
        ".O.",
        "...",
    ]
    game, s = position(board, "O")
    assert legal_names(game, s) == {"b2-b3"}
    s.to_move = 1
    assert legal_names(game, s) == {"b4-b3"}


def test_default_holes_on_6x6_and_8x8_boards() -> None:
    assert picture(breakthrough_holes(), breakthrough_holes().new()) == [
        "XXXXXX",
        "XXXXXX",
        "..#.#.",
        ".#.#..",
        "OOOOOO",
        "OOOOOO",
    ]
    game = breakthrough_holes(8, 8)
    assert picture(game, game.new()) == [
        "XXXXXXXX",
        "XXXXXXXX",
        "..#..#..",
        "........",
        "........",
        "..#..#..",
        "OOOOOOOO",
        "OOOOOOOO",
    ]
    assert game.params["holes"] == "c3+f3+c6+f6"
    assert len(game.symmetries()) == 2, "these holes are symmetric"
    assert len(breakthrough_holes().symmetries()) == 1


def test_the_same_holes_make_the_same_game() -> None:
    assert breakthrough_holes(holes="e4+b3+c4+d3") is breakthrough_holes()


@pytest.mark.parametrize(
    ("rows", "columns", "holes", "message"),
    [
        (6, 6, "c2", "rows 3 to 4"),
        (6, 6, "c5", "rows 3 to 4"),
        (6, 6, "g3", "columns a to f"),
        (6, 6, "c3+c3", "different cells"),
        (6, 6, "c3 d3", "got 'c3 d3'"),
        (6, 6, "", "got ''"),
        (6, 7, None, "got ''"),
        (6, 6, 3, "got 3"),
        (5, 2, "a3+b3", "leave White a first move"),
        (4, 6, "a3", "rows must be an integer from 5 to 8, got 4"),
        (6, 9, "a3", "columns must be an integer from 2 to 8, got 9"),
    ],
)
def test_invalid_holes(rows: int, columns: int, holes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        breakthrough_holes(rows, columns, holes)


@pytest.mark.parametrize("factory", FACTORIES.values())
def test_invalid_sizes_are_errors(factory: Any) -> None:
    with pytest.raises(ValueError, match="rows must be an integer from 4 to 8, got 3"):
        factory(rows=3)
    with pytest.raises(ValueError, match="columns must be an integer from 2 to 8, got 1"):
        factory(columns=1)


@pytest.mark.parametrize(
    "games",
    [pytest.param(10, marks=pytest.mark.interpreted), pytest.param(300, marks=pytest.mark.slow)],
)
def test_suicide_is_breakthrough_with_the_result_inverted(games: int) -> None:
    plain = record_trajectory(breakthrough(), games, seed=3)
    suicide = record_trajectory(breakthrough_suicide(), games, seed=3)
    assert np.array_equal(plain.actions, suicide.actions)
    assert np.array_equal(plain.returns, -suicide.returns)
    assert set(plain.returns[np.arange(games), plain.plies, 0]) == {-1, 1}


def test_planes_show_own_pawns_first_and_who_is_white() -> None:
    board = [
        ".X.",
        "X..",
        "#.#",
        "..O",
        "...",
    ]
    game, s = position(board, "O")
    views = np.zeros((2, *game.observation_shape), np.int8)
    game.observe(s, 0, views[0])
    game.observe(s, 1, views[1])
    cells = np.array([list(line) for line in board])
    white, black = cells == "O", cells == "X"
    assert np.array_equal(views[0], [white, black, np.ones((5, 3)), cells == "#"])
    assert np.array_equal(views[1], [black, white, np.zeros((5, 3)), cells == "#"])


def test_actions_are_numbered_by_color_direction_and_cell() -> None:
    game = breakthrough(4, 3)
    assert game.action_names[:6] == ("b3-a4", "c3-b4", "b2-a3", "c2-b3", "b1-a2", "c1-b2")
    assert game.action_names[6:9] == ("a3-a4", "b3-b4", "c3-c4")
    assert game.action_names[21:24] == ("b4-a3", "c4-b3", "b3-a2")
    assert game.num_actions == 42


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"pieces": [1, 1]}, "both a white and a black piece"),
        ({"pieces": [1 << 6, 1]}, "outside the board"),
        ({"pieces": [1 << 17, 2]}, ""),
        ({"pieces": [1 << 26, 2]}, "in a hole"),
        ({"to_move": 2}, "to_move 2 is not 0 or 1"),
        ({"winner": 3}, "winner 3 is not -1, 0 or 1"),
        ({"winner": 1}, "winner is 1, but the pieces say -1"),
        ({"pieces": [1, 2]}, "has broken through already"),
        ({"pieces": [0, 1], "to_move": 1}, "moved last has no pieces"),
        ({"pieces": [1, 2], "to_move": 1}, "winner is -1, but the pieces say 0"),
        ({"pieces": [1, 2], "to_move": 1, "winner": 0}, ""),
    ],
)
def test_validate_refuses_impossible_positions(change: dict[str, Any], problem: str) -> None:
    """Cells are bits `8 * row + column` of `pieces`, row 0 at the top: the hole c3 is bit 26."""
    game = breakthrough_holes(holes="c3")
    s = game.new()
    for name, value in change.items():
        s[name] = value
    assert problem in game.validate(s)
    assert bool(problem) == bool(game.validate(s))
