"""Tests of the rules of Tron, on boards drawn as text.

`R` and `B` are the heads of red (player 0) and blue (player 1), `r` and `b` their walls.
"""

from typing import Any

import numpy as np
import pytest

from ludoteca.envs.game import Game
from ludoteca.envs.games.tron import tron
from ludoteca.envs.symmetry import Symmetry


def position(lines: list[str]) -> tuple[Game, Any]:
    """Return the game and the position drawn as text."""
    board = np.array([list(line) for line in lines])
    game = tron(*board.shape)
    s = game.new()
    s.walls[:] = 0
    for p, letters in enumerate(("Rr", "Bb")):
        s.walls[np.isin(board, list(letters))] = p + 1
        s.head[p] = np.argwhere(board == letters[0])[0]
    assert game.validate(s) == ""
    return game, s


def picture(game: Game, s: Any) -> list[str]:
    """Return the rows of the board, drawn as text."""
    codes = game.layout.cells(s)
    return ["".join(".rbRB"[code] for code in row) for row in codes]


def returns_of(game: Game, s: Any) -> list[float]:
    """Return the returns of both players."""
    out = np.zeros(2)
    game.returns(s, out)
    return out.tolist()


def view(game: Game, s: Any, player: int) -> Any:
    """Return the observation of a player."""
    planes = np.zeros(game.observation_shape, np.int8)
    game.observe(s, player, planes)
    return planes


# Boards before and after a step, the moves of red and blue, and the returns if the game is over.
MOVE_CASES = {
    "riders leave walls behind": (
        """
        ....  R...
        R...  r...
        ...B  ...b
        ....  ...B
        """,
        "NS",
        None,
    ),
    "both riders move to the same cell: a draw": (
        """
        ....  ....
        R.B.  rBb.
        ....  ....
        """,
        "EW",
        [0, 0],
    ),
    "both riders move to the same cell at right angles: a draw": (
        """
        ....  ....
        .B..  .b..
        R...  rB..
        """,
        "ES",
        [0, 0],
    ),
    "both riders change places: a draw, for each hits the other's wall": (
        """
        ....  ....
        .RB.  .RB.
        ....  ....
        """,
        "EW",
        [0, 0],
    ),
    "over the border in the north": (
        """
        R...  R...
        ....  ...B
        ...B  ...b
        """,
        "NN",
        [-1, 1],
    ),
    "over the border in the south": (
        """
        ....  ....
        ...B  ..Bb
        R...  R...
        """,
        "SW",
        [-1, 1],
    ),
    "over the border in the west": (
        """
        ....  ....
        R..B  R.Bb
        ....  ....
        """,
        "WW",
        [-1, 1],
    ),
    "over the border in the east": (
        """
        ....  R...
        R..B  r..B
        ....  ....
        """,
        "NE",
        [1, -1],
    ),
    "into one's own wall, also straight back": (
        """
        ....  ....
        rR.B  rRBb
        ....  ....
        """,
        "WW",
        [-1, 1],
    ),
    "into the other's wall": (
        """
        .bbB  .bbB
        .R..  .R..
        ....  ....
        """,
        "NN",
        [0, 0],
    ),
    "into a wall that is older than the other's crash": (
        """
        .bb.  .bb.
        .RB.  .RbB
        ....  ....
        """,
        "NE",
        [-1, 1],
    ),
    "into the cell that the other rides out of": (
        """
        ....  ....
        .RB.  .RbB
        ....  ....
        """,
        "EE",
        [-1, 1],
    ),
    "both over the border: a draw": (
        """
        ....  ....
        R..B  R..B
        ....  ....
        """,
        "WE",
        [0, 0],
    ),
}


@pytest.mark.parametrize(("boards", "moves", "returns"), MOVE_CASES.values(), ids=MOVE_CASES)
def test_step(boards: str, moves: str, returns: list[float] | None) -> None:
    pairs = [line.split() for line in boards.strip().splitlines()]
    game, s = position([before for before, _ in pairs])
    game.step(s, ["NESW".index(move) for move in moves])
    assert picture(game, s) == [after for _, after in pairs]
    assert game.is_terminal(s) == (returns is not None)
    assert returns_of(game, s) == (returns or [0, 0])
    assert game.validate(s) == ""


@pytest.mark.parametrize(
    ("rows", "columns", "red", "blue"),
    [
        (10, 10, (2, 2), (7, 7)),
        (6, 20, (2, 2), (3, 17)),
        (5, 5, (1, 1), (3, 3)),
        (4, 9, (1, 1), (2, 7)),
        (2, 2, (0, 0), (1, 1)),
        (3, 100, (0, 0), (2, 99)),
    ],
)
def test_riders_start_at_opposite_corners(
    rows: int, columns: int, red: tuple[int, int], blue: tuple[int, int]
) -> None:
    game = tron(rows, columns)
    s = game.new()
    assert s.head.tolist() == [list(red), list(blue)]
    assert (s.walls > 0).sum() == 2
    assert not game.is_terminal(s)
    assert game.validate(s) == ""


def test_planes_show_heads_and_walls_from_each_view() -> None:
    game, s = position(["rR.", ".bb", "..B"])
    red = [
        [[0, 1, 0], [0, 0, 0], [0, 0, 0]],
        [[0, 0, 0], [0, 0, 0], [0, 0, 1]],
        [[1, 1, 0], [0, 0, 0], [0, 0, 0]],
        [[0, 0, 0], [0, 1, 1], [0, 0, 1]],
    ]
    assert view(game, s, 0).tolist() == red
    assert view(game, s, 1).tolist() == [red[1], red[0], red[3], red[2]]


def test_a_game_that_fills_the_board_takes_max_plies() -> None:
    """Each rider fills its half of the 4 x 4 cells, and both crash in the last ply."""
    game = tron(4, 4)
    s = game.new()
    s.walls[:], s.head[:] = 0, [[0, 0], [3, 3]]
    s.walls[0, 0], s.walls[3, 3] = 1, 2
    joint_moves = list(zip("EEESWWWN", "WWWNEEES", strict=True))
    for red, blue in joint_moves:
        assert not game.is_terminal(s)
        game.step(s, ["NESW".index(red), "NESW".index(blue)])
    assert game.is_terminal(s)
    assert len(joint_moves) == game.max_plies == 8
    assert (s.walls > 0).all()
    assert returns_of(game, s) == [0, 0]


def moved(game: Game, s: Any, symmetry: Symmetry) -> Any:
    """Return the position as a symmetry maps it."""
    other = s.copy()
    other.walls.ravel()[symmetry.cells] = s.walls.ravel()
    columns = s.walls.shape[1]
    cells = symmetry.cells[s.head[:, 0] * columns + s.head[:, 1]]
    other.head[:, 0], other.head[:, 1] = np.divmod(cells, columns)
    return other


@pytest.mark.parametrize(("rows", "columns", "count"), [(6, 6, 8), (4, 7, 4)])
def test_symmetries_commute_with_the_rules(rows: int, columns: int, count: int) -> None:
    game = tron(rows, columns)
    symmetries = game.symmetries()
    assert len({symmetry.cells.tobytes() for symmetry in symmetries}) == len(symmetries) == count
    rng = np.random.default_rng(7)
    for symmetry in symmetries:
        for _ in range(5):
            s = game.new()
            while not game.is_terminal(s):
                other = moved(game, s, symmetry)
                for p in range(2):
                    expected = symmetry.observation(view(game, s, p))
                    assert np.array_equal(view(game, other, p), expected), symmetry.name
                actions = rng.integers(0, 4, 2)
                game.step(s, actions)
                game.step(other, symmetry.actions[actions])
                assert other == moved(game, s, symmetry), symmetry.name


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("walls", 3, "walls"),
        ("walls", 0, "own wall"),
        ("crashed", 2, "crashed"),
        ("head", 10, "outside the board"),
        ("head", -1, "outside the board"),
    ],
)
def test_validate_refuses_impossible_positions(field: str, value: int, problem: str) -> None:
    game = tron()
    s = game.new()
    s[field] = value
    assert problem in game.validate(s)
