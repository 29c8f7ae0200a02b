"""Connect Four: drop discs into columns; four in a row, in any direction, wins.

Rules: https://en.wikipedia.org/wiki/Connect_Four. Solved: the first player wins by opening in the
center (Allis, "A knowledge-based approach of Connect-Four", 1988).
"""

from typing import Any

import numpy as np

from ludoteca.envs.game import Game, unique
from ludoteca.envs.games.lines import EMPTY, in_line
from ludoteca.envs.jit import kernel
from ludoteca.envs.layout import Layout, Piece
from ludoteca.envs.params import integer
from ludoteca.envs.symmetry import grid_symmetries


@unique
def connect4(rows: int = 6, columns: int = 7, connect: int = 4) -> Game:
    """Connect Four; action `c` drops a disc into column `c`.

    Args:
        rows: 2 to 20.
        columns: 2 to 20.
        connect: discs in a row that win, 2 to the longer side.
    """
    integer("rows", rows, 2, 20)
    integer("columns", columns, 2, 20)
    integer("connect", connect, 2, max(rows, columns))
    return Game(
        name="connect4",
        title="Connect Four",
        params={"rows": rows, "columns": columns, "connect": connect},
        num_players=2,
        num_actions=columns,
        max_plies=rows * columns,
        observation_shape=(2, rows, columns),
        state=np.dtype(
            [
                ("board", np.int8, (rows, columns)),  # row 0 is the top; EMPTY or a player
                ("height", np.int8, (columns,)),  # discs in each column
                ("to_move", np.int8),
                ("winner", np.int8),  # EMPTY while undecided
                ("moves_left", np.int16),
                ("connect", np.int8),
            ],
            align=True,
        ),
        settings={"connect": connect},
        init=init,
        player=player,
        legal_actions=legal_actions,
        step=step,
        is_terminal=is_terminal,
        returns=returns,
        observe=observe,
        layout=Layout(
            "squares",
            rows,
            columns,
            (Piece("X", "red", "disc", "#c0392b", 0), Piece("O", "yellow", "disc", "#e8b923", 1)),
            cells,
            background="#3b6ea5",
            line="#2c5480",
            column_actions=True,
        ),
        action_names=tuple(str(c + 1) for c in range(columns)),
        symmetries=lambda: grid_symmetries(
            rows,
            columns,
            lambda cells, move: np.array([move(0, c)[1] for c in range(columns)]),
            names=("identity", "mirror columns"),
        ),
        check=check,
    )


@kernel
def init(s: Any, seed: int) -> None:
    s.board[:] = EMPTY
    s.height[:] = 0
    s.to_move = 0
    s.winner = EMPTY
    s.moves_left = s.board.size


@kernel
def player(s: Any) -> int:
    return int(s.to_move)


@kernel
def legal_actions(s: Any, out: Any) -> int:
    n = 0
    if s.winner == EMPTY:
        for column in range(s.board.shape[1]):
            if s.height[column] < s.board.shape[0]:
                out[n] = column
                n += 1
    return n


@kernel
def step(s: Any, action: int) -> None:
    row = s.board.shape[0] - 1 - s.height[action]
    s.board[row, action] = s.to_move
    s.height[action] += 1
    s.moves_left -= 1
    if in_line(s, row, action, s.connect):
        s.winner = s.to_move
    s.to_move = 1 - s.to_move


@kernel
def is_terminal(s: Any) -> bool:
    return bool(s.winner != EMPTY or s.moves_left == 0)


@kernel
def returns(s: Any, out: Any) -> None:
    out[:] = 0
    if s.winner != EMPTY:
        out[s.winner], out[1 - s.winner] = 1, -1


@kernel
def observe(s: Any, player: int, out: Any) -> None:
    """Plane 0: discs of `player`; plane 1: the opponent's."""
    for row in range(s.board.shape[0]):
        for column in range(s.board.shape[1]):
            out[0, row, column] = s.board[row, column] == player
            out[1, row, column] = s.board[row, column] == 1 - player


def cells(s: Any) -> Any:
    """Show discs by player."""
    return s.board + 1


def check(s: Any) -> str:
    """Tell what is impossible in a position from outside."""
    rows = s.board.shape[0]
    if not np.isin(s.board, (EMPTY, 0, 1)).all():
        return f"board holds {np.unique(s.board)}, expected -1, 0 and 1"
    if s.to_move not in (0, 1) or s.winner not in (EMPTY, 0, 1):
        return f"to_move {s.to_move} or winner {s.winner} is no player"
    filled = s.board != EMPTY
    if not np.array_equal(s.height, filled.sum(0)):
        return f"heights {s.height} do not match the discs, {filled.sum(0)}"
    if any(not filled[rows - h :, c].all() for c, h in enumerate(s.height)):
        return "a disc hangs in the air"
    if s.moves_left != np.count_nonzero(~filled):
        return f"moves_left is {s.moves_left}, but {np.count_nonzero(~filled)} cells are empty"
    return ""
