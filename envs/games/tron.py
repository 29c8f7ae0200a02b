"""Tron: two riders leave walls behind; a rider that hits a wall or the border loses.

Moves are simultaneous. Riding into the same cell, or crashing in the same step, is a draw. The
original, in the Game Description Language, is `tron_10x10` of the General Game Playing base
repository (http://games.ggp.org/base).

Encoding of a board of 4 rows and 4 columns, after both riders have moved east:

    actions     `walls`     planes of red, player 0
                            0: own head   1: blue's   2: own walls   3: blue's
       0        0 0 0 0        0 0 0 0       0 0 0 0     0 0 0 0        0 0 0 0
     3   1      0 1 1 0        0 0 1 0       0 0 0 0     0 1 1 0        0 0 0 0
       2        0 0 2 2        0 0 0 0       0 0 0 1     0 0 0 0        0 0 1 1
                0 0 0 0        0 0 0 0       0 0 0 0     0 0 0 0        0 0 0 0
"""

from typing import Any

import numpy as np

from ludoteca.envs.game import FORFEIT, Game, unique
from ludoteca.envs.jit import kernel
from ludoteca.envs.layout import Layout, Piece
from ludoteca.envs.params import check_integer
from ludoteca.envs.symmetry import DIRECTIONS, directions_are_actions, grid_symmetries


@unique
def tron(rows: int = 10, columns: int = 10) -> Game:
    """Tron; actions are 0 north, 1 east, 2 south, 3 west, and always legal.

    Riders start two cells in from opposite corners (closer on boards with a side below 6).

    Args:
        rows: 2 to 100.
        columns: 2 to 100.
    """
    check_integer("rows", rows, 2, 100)
    check_integer("columns", columns, 2, 100)
    return Game(
        name="tron",
        title="Tron",
        params={"rows": rows, "columns": columns},
        num_players=2,
        num_actions=4,
        max_plies=rows * columns // 2,
        observation_shape=(4, rows, columns),
        dynamics="simultaneous",
        state=np.dtype(
            [
                ("walls", np.int8, (rows, columns)),  # 0 free, else 1 + the player who rode there
                ("head", np.int16, (2, 2)),  # row and column of each rider
                ("crashed", np.int8, (2,)),  # whether each rider has crashed or forfeited
            ],
            align=True,
        ),
        init=init,
        is_active=is_active,
        legal_actions=legal_actions,
        step=step,
        is_terminal=is_terminal,
        returns=returns,
        observe=observe,
        layout=Layout(
            "squares",
            rows,
            columns,
            (
                Piece("r", "red wall", "square", "#e08a7d", 0),
                Piece("b", "blue wall", "square", "#8fb3dc", 1),
                Piece("R", "red", "head", "#c0392b", 0),
                Piece("B", "blue", "head", "#2565ae", 1),
            ),
            cells,
            background="#1c1f26",
            line="#2b303b",
            coordinates="none",
        ),
        action_names=("north", "east", "south", "west"),
        symmetries=lambda: grid_symmetries(rows, columns, directions_are_actions),
        validate=validate,
    )


@kernel
def init(s: Any, seed: int) -> None:
    rows, columns = s.walls.shape
    margin = min(2, (min(rows, columns) - 2) // 2)
    s.walls[:] = 0
    s.crashed[:] = 0
    s.head[0, 0], s.head[0, 1] = margin, margin
    s.head[1, 0], s.head[1, 1] = rows - 1 - margin, columns - 1 - margin
    for p in range(2):
        s.walls[s.head[p, 0], s.head[p, 1]] = p + 1


@kernel
def is_active(s: Any, player: int) -> bool:
    return not is_terminal(s)


@kernel
def legal_actions(s: Any, player: int, out: Any) -> int:
    if is_terminal(s):
        return 0
    for action in range(4):
        out[action] = action
    return 4


@kernel
def step(s: Any, actions: Any) -> None:
    rows, columns = s.walls.shape
    for p in range(2):
        if actions[p] == FORFEIT:
            s.crashed[p] = 1
            continue
        row = s.head[p, 0] + DIRECTIONS[actions[p]][0]
        column = s.head[p, 1] + DIRECTIONS[actions[p]][1]
        if 0 <= row < rows and 0 <= column < columns and s.walls[row, column] == 0:
            s.head[p, 0], s.head[p, 1] = row, column
        else:
            s.crashed[p] = 1
    if s.head[0, 0] == s.head[1, 0] and s.head[0, 1] == s.head[1, 1]:
        s.crashed[:] = 1
    for p in range(2):
        s.walls[s.head[p, 0], s.head[p, 1]] = p + 1


@kernel
def is_terminal(s: Any) -> bool:
    return bool(s.crashed[0] or s.crashed[1])


@kernel
def returns(s: Any, out: Any) -> None:
    for p in range(2):
        out[p] = int(s.crashed[1 - p]) - int(s.crashed[p])


@kernel
def observe(s: Any, player: int, out: Any) -> None:
    """Planes 0, 1: heads of `player` and the opponent; 2, 3: their walls, heads included."""
    out[:2] = 0
    out[0, s.head[player, 0], s.head[player, 1]] = 1
    out[1, s.head[1 - player, 0], s.head[1 - player, 1]] = 1
    walls, own, other = s.walls.flat, out[2].flat, out[3].flat
    for cell in range(s.walls.size):
        own[cell] = walls[cell] == np.int8(player + 1)
        other[cell] = walls[cell] == np.int8(2 - player)


def cells(s: Any) -> Any:
    """Return the codes of the cells: 1, 2 for walls of player 0, 1, and 3, 4 for their heads."""
    shown = s.walls.copy()
    for p in range(2):
        shown[tuple(s.head[p])] = p + 3
    return shown


def validate(s: Any) -> str:
    """Return the reason why a position is invalid, or an empty string."""
    if not np.isin(s.walls, (0, 1, 2)).all():
        return f"walls holds {np.unique(s.walls)}, expected 0, 1 and 2"
    if not np.isin(s.crashed, (0, 1)).all():
        return f"crashed is {s.crashed}, expected 0s and 1s"
    if (s.head < 0).any() or (s.head >= s.walls.shape).any():
        return f"a head of {s.head.tolist()} lies outside the board"
    if not s.crashed.any() and any(s.walls[tuple(s.head[p])] != p + 1 for p in range(2)):
        return "a head is not on its own wall"
    return ""
