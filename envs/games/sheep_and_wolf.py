"""Sheep and Wolf: four sheep try to trap one wolf, which tries to slip past them.

Rules: the game sheepAndWolf of the General Game Playing base repository
(http://games.ggp.org/base); also known as fox and hounds, https://en.wikipedia.org/wiki/Fox_games.
All stay on the dark cells. The wolf moves one cell diagonally, a sheep one cell diagonally up;
there are no captures and no jumps. After each move of either player:

* if the wolf cannot move, the sheep win;
* otherwise, if no sheep is on a row below the wolf's, or no sheep can move, the wolf wins.

Encoding of a 4x4 board. Between two neighboring rows and two neighboring columns there is one
diagonal of dark cells. The actions 0 to 8 lead up these diagonals, 9 to 17 lead down:

    bits of dark cells     actions, between the cells
     .  1  .  3            .   .   .   .
                             0   1   2
     8  . 10  .            .   .   .   .
                             3   4   5
     . 17  . 19            .   .   .   .
                             6   7   8
    24  . 26  .            .   .   .   .

Planes: sheep, wolf, and 1 everywhere when the wolf is to move.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game, unique
from ludoteca.envs.games.bitboards import U0, U1, bit, block, count, squares, starts
from ludoteca.envs.games.winner import UNDECIDED, is_decided, winner_returns
from ludoteca.envs.jit import kernel
from ludoteca.envs.layout import Layout, Piece, cell_names
from ludoteca.envs.params import check_choice, check_integer
from ludoteca.envs.symmetry import Symmetry

WOLF, SHEEP = 0, 1


@unique
def sheep_and_wolf(board_size: int = 8) -> Game:
    """Sheep and Wolf; each action is a step from a cell to a cell, such as `a1-b2`.

    The wolf is player 0 and starts on the top row; the sheep start on the bottom row. Between two
    neighboring rows and two neighboring columns there is exactly one diagonal of dark cells. The
    actions are these diagonals, row after row from the top: first all the steps up (the only ones
    for sheep), then all the steps down. The observation planes, the same for both players, are the
    sheep, the wolf, and 1 everywhere when the wolf is to move.

    Args:
        board_size: 4, 6 or 8; there are half as many sheep.
    """
    n = check_choice("board_size", check_integer("board_size", board_size, 4, 8), (4, 6, 8))
    names = cell_names(n, n, "a1 bottom")
    paths = tuple(
        (row * n + column, end_row * n + end_column)
        for row, column, end_row, end_column in (ends(a, n) for a in range(2 * (n - 1) ** 2))
    )
    return Game(
        name="sheep_and_wolf",
        title="Sheep and Wolf",
        params={"board_size": n},
        num_players=2,
        num_actions=len(paths),
        max_plies=n * (n - 1) + 1,  # each sheep can move n - 1 times, the wolf once more than all
        observation_shape=(3, n, n),
        state=np.dtype(
            [
                ("sheep", np.uint64),  # see bitboards.py
                ("wolf", np.uint64),
                ("board", np.int8, (0, n)),  # takes no memory: kernels read n from its shape
                ("to_move", np.int8),
                ("winner", np.int8),  # UNDECIDED or a player
            ],
            align=True,
        ),
        init=init,
        player=player,
        legal_actions=legal_actions,
        step=step,
        is_terminal=is_decided,
        returns=winner_returns,
        observe=observe,
        layout=Layout(
            "squares",
            n,
            n,
            (
                Piece("W", "wolf", "head", "#4a4a4a", WOLF),
                Piece("S", "sheep", "head", "#fafafa", SHEEP),
            ),
            cells,
            background="#ecd9b9",
            dark="#c69c6d",
            line="#8f6a44",
            moves=paths,
            coordinates="a1 bottom",
        ),
        action_names=tuple(f"{names[start]}-{names[end]}" for start, end in paths),
        symmetries=lambda: (Symmetry("identity", np.arange(n * n), np.arange(len(paths))),),
        validate=validate,
    )


@kernel
def ends(action: int, size: int) -> tuple[int, int, int, int]:
    """Return the row and column where an action starts, and those where it ends."""
    down, diagonal = action // (size - 1) ** 2, action % (size - 1) ** 2
    upper, left = diagonal // (size - 1), diagonal % (size - 1)
    # Cells are dark where row + column is odd, as a1 is: it has row size - 1 and column 0.
    upper_column = left + (upper + left + 1) % 2
    lower_column = 2 * left + 1 - upper_column
    if down:
        return upper, upper_column, upper + 1, lower_column
    return upper + 1, lower_column, upper, upper_column


@kernel
def init(s: Any, seed: int) -> None:
    size = s.board.shape[1]
    s.sheep = U0
    for column in range(0, size, 2):
        s.sheep |= bit(size - 1, column)
    s.wolf = bit(0, (size // 2 - 1) | 1)  # the dark one of the two middle cells
    s.to_move = WOLF
    s.winner = UNDECIDED


@kernel
def player(s: Any) -> int:
    return int(s.to_move)


@kernel
def legal_actions(s: Any, out: Any) -> int:
    n = 0
    if s.winner == UNDECIDED:
        if s.to_move == WOLF:
            n = list_steps(s, s.wolf, -1, out, n)
            n = list_steps(s, s.wolf, 1, out, n)
        else:
            n = list_steps(s, s.sheep, -1, out, n)
    return n


@kernel
def list_steps(s: Any, pieces: Any, down: int, out: Any, n: int) -> int:
    """Write the steps of `pieces` to the row below (`down` = 1) or above (-1) to `out[n:end]`.

    Returns `end`.
    """
    size = s.board.shape[1]
    to_left, to_right = movers(s, pieces, down, -1), movers(s, pieces, down, 1)
    first = (size - 1) ** 2 if down > 0 else 0
    remaining = to_left | to_right
    while remaining != U0:
        lowest = remaining & (~remaining + U1)  # lowest bit
        cell = count(lowest - U1)  # number of that bit
        upper, column = (cell >> 3) + min(down, 0), cell & 7
        out[n] = first + upper * (size - 1) + column - 1
        n += int(to_left & lowest != U0)
        out[n] = first + upper * (size - 1) + column
        n += int(to_right & lowest != U0)
        remaining ^= lowest
    return n


@kernel
def movers(s: Any, pieces: Any, down: int, right: int) -> Any:
    """Return those of `pieces` that can make the step (down, right)."""
    size = s.board.shape[1]
    free = block(0, size, 0, size) & ~(s.sheep | s.wolf)
    return starts(pieces, free, down, right, size)


@kernel
def step(s: Any, action: int) -> None:
    row, column, end_row, end_column = ends(action, s.board.shape[1])
    both = bit(row, column) | bit(end_row, end_column)
    if s.to_move == WOLF:
        s.wolf ^= both
    else:
        s.sheep ^= both
    s.to_move = 1 - s.to_move
    s.winner = outcome(s)


@kernel
def outcome(s: Any) -> int:
    """Return the winner, or UNDECIDED."""
    can_step_up = movers(s, s.wolf, -1, -1) | movers(s, s.wolf, -1, 1)
    can_step_down = movers(s, s.wolf, 1, -1) | movers(s, s.wolf, 1, 1)
    if can_step_up | can_step_down == U0:
        return SHEEP
    # Two shifts, as a single one could be by 64 bits: no sheep is below the wolf's row.
    if s.sheep >> np.uint64(count(s.wolf - U1) // 8 * 8) >> np.uint64(8) == U0:
        return WOLF
    if movers(s, s.sheep, -1, -1) | movers(s, s.sheep, -1, 1) == U0:
        return WOLF
    return UNDECIDED


@kernel
def observe(s: Any, player: int, out: Any) -> None:
    """Planes: sheep, wolf, 1 if the wolf is to move."""
    for row in range(s.board.shape[1]):
        for column in range(s.board.shape[1]):
            here = bit(row, column)
            out[0, row, column] = s.sheep & here != U0
            out[1, row, column] = s.wolf & here != U0
            out[2, row, column] = s.to_move == WOLF


def cells(s: Any) -> NDArray[np.int8]:
    """Return the codes of the cells: 1 for the wolf, 2 for sheep."""
    size = s.board.shape[1]
    return squares(s.wolf, size, size) + np.int8(2) * squares(s.sheep, size, size)


@np.errstate(over="ignore")  # bitboard kernels rely on integer overflow
def validate(s: Any) -> str:
    """Return the reason why a position is invalid, or an empty string."""
    size = s.board.shape[1]
    dark = sum(
        1 << (8 * row + column) for row in range(size) for column in range(1 - row % 2, size, 2)
    )
    if (s.sheep | s.wolf) & ~np.uint64(dark) or s.sheep & s.wolf:
        return "sheep and wolf must be on different dark cells"
    if count(s.wolf) != 1 or count(s.sheep) != size // 2:
        return f"there are {count(s.wolf)} wolves and {count(s.sheep)} sheep, not 1 and {size // 2}"
    if s.to_move not in (WOLF, SHEEP):
        return f"to_move {s.to_move} is not 0 or 1"
    if s.winner != outcome(s):
        return f"winner is {s.winner}, but the cells say {outcome(s)}"
    return ""
