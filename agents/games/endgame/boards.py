"""Bitboard operations of the endgame search of Othello.

A position is two sets of squares: `own`, the discs of the player to move, and `other`, those of
the opponent. Square (row, column) is bit 8 * row + column on every board size, as in the game.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.games.bitboards import U0, U1, block, count
from ludoteca.envs.games.othello import (
    AXES,
    NOT_FIRST_COLUMN,
    NOT_LAST_COLUMN,
    U8,
    outflanking,
    region,
)
from ludoteca.envs.jit import kernel

BOARD = np.dtype(
    [
        ("region", np.uint64),  # all squares of the board
        ("corners", np.uint64),
        ("quarters", np.uint64, 4),
        ("squares", np.int64),  # how many there are
    ],
    align=True,
)


def make_board(size: int) -> NDArray[np.void]:
    """Return the board of `size` x `size` squares, dtype `BOARD`, shape `[1]`."""
    half, last = size // 2, size - 1
    board = np.zeros(1, BOARD)
    board["region"] = region(size)
    board["corners"] = sum(1 << (8 * r + c) for r in (0, last) for c in (0, last))
    board["quarters"] = [
        block(top, top + half, left, left + half) for top in (0, half) for left in (0, half)
    ]
    board["squares"] = size * size
    return board


@kernel
def placements(own: Any, other: Any, board: Any) -> Any:
    """Return the squares where a disc of `own` would turn some of `other` over."""
    return outflanking(own, other) & board.region


@kernel
def final_score(own: Any, other: Any, board: Any) -> int:
    """Return how many more discs `own` has than `other`; empty squares count for the winner."""
    mine, theirs = count(own), count(other)
    if mine > theirs:
        return board.squares - 2 * theirs
    if mine < theirs:
        return 2 * mine - board.squares
    return 0


@kernel
def neighbors(cells: Any) -> Any:
    """Return the squares in or next to `cells`, some of which may lie outside a smaller board."""
    rows = cells | (cells << U8) | (cells >> U8)
    return rows | ((rows << U1) & NOT_FIRST_COLUMN) | ((rows >> U1) & NOT_LAST_COLUMN)


@kernel
def odd_quarters(empty: Any, board: Any) -> Any:
    """Return the quarters of the board in which the number of `empty` squares is odd."""
    odd = U0
    for quarter in board.quarters:
        if count(empty & quarter) & 1:
            odd |= quarter
    return odd


@kernel
def stable(discs: Any, empty: Any, board: Any) -> Any:
    """Return discs of one player, out of `discs`, that can never be turned over; not all of them.

    A disc is turned along a line only if the line has an empty square, and neither neighbor in the
    line is the edge or a disc of the same player that is stable itself.
    """
    rows = lines_with(empty, AXES[0])
    rising = lines_with(empty, AXES[1])
    columns = lines_with(empty, AXES[2])
    falling = lines_with(empty, AXES[3])
    found = U0
    while True:
        loose = board.region & ~found
        turnable = rows & between(loose, AXES[0])
        turnable |= rising & between(loose, AXES[1])
        turnable |= columns & between(loose, AXES[2])
        turnable |= falling & between(loose, AXES[3])
        if discs & ~turnable == found:
            return found
        found = discs & ~turnable


@kernel
def lines_with(cells: Any, step: Any) -> Any:
    """Return all squares that have one of `cells` in their line of direction `step`."""
    shift, left, right = step
    up, down = cells, cells
    for _ in range(3):  # steps of one, two and four squares
        up |= right & (up << shift)
        right &= right << shift
        down |= left & (down >> shift)
        left &= left >> shift
        shift += shift
    return up | down


@kernel
def between(cells: Any, step: Any) -> Any:
    """Return the squares whose two neighbors in direction `step` are both in `cells`."""
    shift, left, right = step
    return (right & (cells << shift)) & (left & (cells >> shift))
