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
        ("corners", np.uint64),  # the four corner squares
        ("quarters", np.uint64, 4),  # squares of each quarter of the board
        ("squares", np.int64),  # number of squares
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
    """Return the legal moves of `own`: squares where a disc flips some of `other`."""
    return outflanking(own, other) & board.region


@kernel
def final_score(own: Any, other: Any, board: Any) -> int:
    """Return the disc difference, `own` minus `other`; empty squares count for the winner."""
    own_discs, other_discs = count(own), count(other)
    if own_discs > other_discs:
        return board.squares - 2 * other_discs
    if own_discs < other_discs:
        return 2 * own_discs - board.squares
    return 0


@kernel
def neighbors(cells: Any) -> Any:
    """Return `cells` and their neighbors, some of which may lie outside of a smaller board."""
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
def stable_discs(discs: Any, empty: Any, board: Any) -> Any:
    """Return those of a player's `discs` that are found to be stable: that can never be flipped.

    A disc is flipped along a line only if the line has an empty square, and neither neighbor in the
    line is the edge or a stable disc of the same player.
    """
    rows = lines_with(empty, AXES[0])
    rising = lines_with(empty, AXES[1])
    columns = lines_with(empty, AXES[2])
    falling = lines_with(empty, AXES[3])
    result = U0
    while True:
        not_stable = board.region & ~result
        turnable = rows & between(not_stable, AXES[0])
        turnable |= rising & between(not_stable, AXES[1])
        turnable |= columns & between(not_stable, AXES[2])
        turnable |= falling & between(not_stable, AXES[3])
        if discs & ~turnable == result:
            return result
        result = discs & ~turnable


@kernel
def lines_with(cells: Any, step: Any) -> Any:
    """Return the squares whose line along axis `step`, one of `AXES`, contains one of `cells`."""
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
    """Return the squares whose two neighbors along axis `step` are both in `cells`."""
    shift, left, right = step
    return (right & (cells << shift)) & (left & (cells >> shift))
