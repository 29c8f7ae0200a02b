"""Tests of the rules of Atari Go, on boards drawn as text: `X` is black (player 0), `O` white."""

from typing import Any

import numpy as np
import pytest

from ludoteca.envs.engine.trajectory import record_trajectory
from ludoteca.envs.game import Game
from ludoteca.envs.games.atari_go import atari_go, place
from ludoteca.envs.record_views import view_records

NEIGHBORS = ((-1, 0), (0, -1), (0, 1), (1, 0))


def position(lines: list[str]) -> tuple[Game, Any]:
    """Return the game and the position drawn as text."""
    game = atari_go(len(lines))
    s = game.new()
    for row, line in enumerate(lines):
        for column, letter in enumerate(line):
            if letter != ".":
                place(s, (row + 1) * (len(lines) + 2) + column + 1, "XO".index(letter))
                s.to_move += 1 if letter == "X" else -1
    assert game.validate(s) == ""
    return game, s


def picture(game: Game, s: Any) -> list[str]:
    """Return the rows of the board, drawn as text."""
    return ["".join(".XO"[code] for code in row) for row in game.layout.cells(s)]


# The board before the move, the cell of the new stone, and the winner.
MOVE_CASES = {
    "a capture in the corner": (
        """
        OX.
        ..X
        ..O
        """,
        "a2",
        "X",
    ),
    "one liberty is left": (
        """
        O..
        .XX
        ..O
        """,
        "a2",
        "",
    ),
    "suicide of one stone": (
        """
        .O.
        O..
        XX.
        """,
        "a3",
        "O",
    ),
    "suicide of a group": (
        """
        X.O..
        XO..X
        O....
        .....
        .....
        """,
        "b5",
        "O",
    ),
    "no suicide while the group has a liberty": (
        """
        X.O..
        XO..X
        .....
        ...O.
        .....
        """,
        "b5",
        "",
    ),
    "a capture by a group that has no liberty left either": (
        """
        .OX
        OX.
        X.O
        """,
        "a3",
        "X",
    ),
    "white captures a group": (
        """
        .OO..
        OXXO.
        .O.X.
        ..X..
        X..X.
        """,
        "c3",
        "O",
    ),
    "a last liberty beside two stones of the group": (
        """
        OOX
        O..
        X.X
        """,
        "b2",
        "X",
    ),
    "two groups captured at once": (
        """
        XO.OX
        .X.X.
        .....
        .....
        O...O
        """,
        "c5",
        "X",
    ),
    "a stone joins two groups and gives them its liberties": (
        """
        X...X
        .O.O.
        OX.XO
        .O.O.
        X...X
        """,
        "c3",
        "",
    ),
}


@pytest.mark.parametrize(("board", "stone", "winner"), MOVE_CASES.values(), ids=MOVE_CASES)
def test_placed_stones_and_winners(board: str, stone: str, winner: str) -> None:
    game, s = position(board.split())
    empty = {(r, c) for r, line in enumerate(board.split()) for c, x in enumerate(line) if x == "."}
    n = len(board.split())
    assert game.legal(s) == sorted(r * n + c for r, c in empty)
    mover = s.to_move
    action = game.action_names.index(stone)
    game.step(s, action)
    assert picture(game, s)[action // n][action % n] == "XO"[mover]
    out = np.zeros(2)
    game.returns(s, out)
    value = {"": 0, "X": 1, "O": -1}[winner]
    assert out.tolist() == [value, -value]
    assert game.is_terminal(s) == bool(winner)
    assert bool(game.legal(s)) != bool(winner)
    assert game.validate(s) == ""


QUICK_GAMES = ((2, 10), (3, 20), (5, 10), (7, 4), (10, 1))  # board sizes and numbers of games


def dead_colors(board: Any) -> set[int]:
    """Return the colors that have a group without liberties, by flood fill."""
    dead, seen = set(), set()
    for start in map(tuple, np.argwhere(board > 0)):
        if start in seen:
            continue
        group, todo, alive = {start}, [start], False
        while todo:
            row, column = todo.pop()
            for dr, dc in NEIGHBORS:
                near = row + dr, column + dc
                if not (0 <= near[0] < len(board) and 0 <= near[1] < len(board)):
                    continue
                alive |= bool(board[near] == 0)
                if board[near] == board[start] and near not in group:
                    group.add(near)
                    todo.append(near)
        seen |= group
        if not alive:
            dead.add(int(board[start]) - 1)
    return dead


@pytest.mark.parametrize(
    ("size", "games"),
    [
        *(pytest.param(size, games, marks=pytest.mark.interpreted) for size, games in QUICK_GAMES),
        *(
            pytest.param(size, games, marks=pytest.mark.slow)
            for size, games in ((2, 50), (3, 200), (5, 200), (7, 200), (10, 20))
        ),
    ],
)
def test_random_games_end_as_flood_fill_says(size: int, games: int) -> None:
    game = atari_go(size)
    trajectory = record_trajectory(game, games, seed=size)
    endings = set()
    for i, plies in enumerate(trajectory.plies.tolist()):
        for t in range(plies + 1):
            s = view_records(trajectory.positions[i, t : t + 1])[0]
            board = game.layout.cells(s)
            dead = dead_colors(board)
            assert bool(dead) == (t == plies) == bool(trajectory.over[i, t])
            last_mover = 1 - (t % 2)
            if dead:
                winner = last_mover if 1 - last_mover in dead else 1 - last_mover
                assert trajectory.returns[i, t].argmax() == winner
                endings.add((winner == last_mover, len(dead)))
            else:
                assert np.array_equal(trajectory.legal[i, t, 0] == 1, board.ravel() == 0)
    if size in (3, 5, 7) and games == 200:
        # Captures by stones with and without liberties, and suicides.
        assert endings == {(True, 1), (True, 2), (False, 1)}


def test_black_moves_first_and_rows_count_from_the_bottom() -> None:
    game = atari_go()
    s = game.new()
    game.step(s, game.action_names.index("b6"))
    assert picture(game, s)[1] == ".X....."
    assert game.action_names[0] == "a7"
    assert game.action_names[-1] == "g1"
    seen = np.zeros((2, 7, 7), np.int8)
    game.observe(s, 1, seen)
    assert seen.sum() == seen[1, 1, 1] == 1


@pytest.mark.parametrize(
    ("field", "index", "value", "problem"),
    [
        ("stones", 0, 0, "wall does not surround"),
        ("stones", 12, 3, "expected -1, 0, 1 and 2"),
        ("stones", 12, -1, "do not fit the player to move"),
        ("to_move", ..., 2, "to_move 2 is not 0 or 1"),
        ("winner", ..., 2, "winner 2 is not -1, 0 or 1"),
        ("winner", ..., 0, "winner is 0, but the liberties say -1"),
        ("parent", 12, 81, "outside the board"),
        ("parent", 12, 14, "different colors"),
        ("parent", 12, 24, "does not match the groups"),
        ("liberties", 12, 2, "not those of the groups"),
    ],
)
def test_validate_refuses_impossible_positions(
    field: str, index: Any, value: int, problem: str
) -> None:
    """Cells 12 and 24 of the padded board have black stones, 14 and 25 white ones."""
    game = atari_go()
    s = game.new()
    for row, column in ((0, 2), (0, 4), (1, 5), (1, 6)):
        game.step(s, row * 7 + column)
    assert np.flatnonzero((s.stones == 0) | (s.stones == 1)).tolist() == [12, 14, 24, 25]
    assert game.validate(s) == ""
    if index is ...:
        s[field] = value
    else:
        s[field][index] = value
    assert problem in game.validate(s)


@pytest.mark.parametrize("size", [1, 20])
def test_invalid_sizes_are_errors(size: int) -> None:
    with pytest.raises(ValueError, match=f"board_size must be an integer from 2 to 19, got {size}"):
        atari_go(size)
