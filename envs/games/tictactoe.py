"""Tic-Tac-Toe (noughts and crosses): a full line of your marks wins, a full board is a draw.

Rules: https://en.wikipedia.org/wiki/Tic-tac-toe. Larger boards and shorter lines give m,n,k-games
with m = n, https://en.wikipedia.org/wiki/M,n,k-game; five in a row on 5x5 is the game
ticTacToeLarge of the General Game Playing base repository (http://games.ggp.org/base).

Encoding on 3x3, where X (player 0) has marked cells 0 and 4, and O (player 1) cell 5. Action k
marks cell k; plane 0 has the marks of the observing player, plane 1 those of the opponent:

    cells                planes for X            planes for O
    0 1 2                0: 1 0 0   1: 0 0 0     0: 0 0 0   1: 1 0 0
    3 4 5                   0 1 0      0 0 1        0 0 1      0 1 0
    6 7 8                   0 0 0      0 0 0        0 0 0      0 0 0
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ludoteca.envs.game import Game, unique
from ludoteca.envs.games.lines import EMPTY, in_line
from ludoteca.envs.games.winner import UNDECIDED, winner_returns
from ludoteca.envs.jit import kernel
from ludoteca.envs.layout import Layout, Piece, cell_names
from ludoteca.envs.params import check_integer
from ludoteca.envs.symmetry import cells_are_actions, grid_symmetries


@unique
def tictactoe(board_size: int = 3, line: int | None = None) -> Game:
    """Tic-Tac-Toe on a square board; action `row * board_size + column` marks a cell.

    Args:
        board_size: rows and columns, 3 to 15.
        line: marks in a row that win, 3 to `board_size`; `board_size` by default.
    """
    check_integer("board_size", board_size, 3, 15)
    line = check_integer("line", board_size if line is None else line, 3, board_size)
    return Game(
        name="tictactoe",
        title="Tic-Tac-Toe",
        params={"board_size": board_size, "line": line},
        num_players=2,
        num_actions=board_size**2,
        max_plies=board_size**2,
        observation_shape=(2, board_size, board_size),
        state=np.dtype(
            [
                ("board", np.int8, (board_size, board_size)),  # EMPTY or a player
                ("to_move", np.int8),  # player
                ("winner", np.int8),  # UNDECIDED or a player
                ("moves_left", np.int16),  # number of empty cells
                ("line", np.int8),  # marks in a row that win
            ],
            align=True,
        ),
        settings={"line": line},
        init=init,
        player=player,
        legal_actions=legal_actions,
        step=step,
        is_terminal=is_terminal,
        returns=winner_returns,
        observe=observe,
        layout=Layout(
            "squares",
            board_size,
            board_size,
            (Piece("X", "X", "cross", "#c0392b", 0), Piece("O", "O", "ring", "#2565ae", 1)),
            cells,
            cell_actions=True,
        ),
        action_names=cell_names(board_size, board_size),
        symmetries=lambda: grid_symmetries(board_size, board_size, cells_are_actions),
        validate=validate,
    )


@unique
def tictactoe_large(board_size: int = 5, line: int | None = None) -> Game:
    """Tic-Tac-Toe, by default on a 5x5 board with five in a row to win; rules as in `tictactoe`.

    Args:
        board_size: rows and columns, 3 to 15.
        line: marks in a row that win, 3 to `board_size`; `board_size` by default.
    """
    game = tictactoe(board_size, line)
    return replace(game, name="tictactoe_large", title="Tic-Tac-Toe Large")


@kernel
def init(s: Any, seed: int) -> None:
    s.board[:] = EMPTY
    s.to_move = 0
    s.winner = UNDECIDED
    s.moves_left = s.board.size


@kernel
def player(s: Any) -> int:
    return int(s.to_move)


@kernel
def legal_actions(s: Any, out: Any) -> int:
    n = 0
    if s.winner == UNDECIDED:
        cell = 0
        for row in range(s.board.shape[0]):
            for column in range(s.board.shape[1]):
                out[n] = cell
                n += int(s.board[row, column] == EMPTY)
                cell += 1
    return n


@kernel
def step(s: Any, action: int) -> None:
    row, column = action // s.board.shape[1], action % s.board.shape[1]
    s.board[row, column] = s.to_move
    s.moves_left -= 1
    if in_line(s, row, column, s.line):
        s.winner = s.to_move
    s.to_move = 1 - s.to_move


@kernel
def is_terminal(s: Any) -> bool:
    return bool(s.winner != UNDECIDED or s.moves_left == 0)


@kernel
def observe(s: Any, player: int, out: Any) -> None:
    """Plane 0: marks of `player`; plane 1: the opponent's."""
    # Comparisons of int8 are vectorized: those of int64 take four times as long on 15x15.
    board, own, other = s.board.flat, out[0].flat, out[1].flat
    for cell in range(s.board.size):
        own[cell] = board[cell] == np.int8(player)
        other[cell] = board[cell] == np.int8(1 - player)


def cells(s: Any) -> Any:
    """Return the codes of the cells for `Layout`: 0 if empty, 1 for X, 2 for O."""
    return s.board + 1


def validate(s: Any) -> str:
    """Return the reason why a position is invalid, or an empty string."""
    if not np.isin(s.board, (EMPTY, 0, 1)).all():
        return f"board holds {np.unique(s.board)}, expected -1, 0 and 1"
    if s.to_move not in (0, 1):
        return f"to_move is {s.to_move}, expected 0 or 1"
    if s.winner not in (UNDECIDED, 0, 1):
        return f"winner is {s.winner}, expected -1, 0 or 1"
    if s.moves_left != np.count_nonzero(s.board == EMPTY):
        empty = np.count_nonzero(s.board == EMPTY)
        return f"moves_left is {s.moves_left}, but {empty} cells are empty"
    return ""
