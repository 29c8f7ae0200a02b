"""Bitboards of at most 8x8 cells: cell (row, column) is bit 8 * row + column of a uint64.

A step (down, right) moves a piece by that many rows and columns. A move is a step from a start
cell. Moves are numbered in the order of the steps, then of their start cells, row by row; moves
that would end outside the board have no number:

    3x3, first up (-1, 0), then left (0, -1);    . . .    .  6  7
    numbers of moves, in their start cells       0 1 2    .  8  9
                                                 3 4 5    . 10 11
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.jit import kernel

U0, U1 = np.uint64(0), np.uint64(1)
Steps = tuple[tuple[int, int], ...]
EVERY_ROW = np.uint64(0x0101010101010101)  # column 0 of every row


@kernel
def bit(row: int, column: int) -> Any:
    """Return the bitboard of one cell."""
    return U1 << np.uint64(8 * row + column)


@kernel
def block(top: int, bottom: int, left: int, right: int) -> Any:
    """Return the cells of the rows `top <= row < bottom` and columns `left <= column < right`.

    `top` and `left` must be below 8, `right` must be above 0.
    """
    row = (np.uint64(0xFF) >> np.uint64(8 - right)) & (np.uint64(0xFF) << np.uint64(left))
    return (EVERY_ROW * row) & below_row(bottom) & ~below_row(top)


@kernel
def below_row(row: int) -> Any:
    """Return the cells of all rows with smaller numbers than `row`, which is 0 to 8."""
    if row == 8:
        return ~U0
    return (U1 << np.uint64(8 * row)) - U1


@kernel
def count(cells: Any) -> int:
    """Return the number of bits set (population count).

    From Warren, "Hacker's Delight", 2nd edition, section 5-1. LLVM compiles this form to one
    instruction. The product overflows on purpose: `np.multiply` causes no warning, `*` would.
    """
    x = cells - ((cells >> U1) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    # Signed, so that counts can be subtracted: compiled `int()` of a uint64 stays unsigned.
    return int(np.int64(np.multiply(x, EVERY_ROW) >> np.uint64(56)))


@kernel
def starts(movers: Any, targets: Any, down: int, right: int, columns: int) -> Any:
    """Return the cells of `movers` from which the step (down, right) leads to `targets`."""
    shift = 8 * down + right
    reaching = targets >> np.uint64(shift) if shift > 0 else targets << np.uint64(-shift)
    # Without this mask, a step over the left or right edge would wrap to another row.
    return movers & reaching & block(0, 8, max(0, -right), columns - max(0, right))


def make_lister(
    steps: Steps, rows: int, columns: int, movers: Callable[[Any, int, int], Any], first: int = 0
) -> Callable[[Any, Any, int], int]:
    """Return `list_moves(s, out, n) -> end`, which writes the legal moves to `out[n:end]`.

    The recursion makes each step a compile-time constant, which a loop over the steps would not.

    Args:
        steps: at least one step; moves are numbered in this order, see above.
        rows: rows of the board.
        columns: columns of the board.
        movers: kernel `movers(s, down, right)` that returns the cells from which a step is legal.
        first: the number of the first move.
    """
    (down, right), later = steps[0], steps[1:]
    top, left, width = max(0, -down), max(0, -right), columns - abs(right)
    end = first + (rows - abs(down)) * width

    @kernel
    def list_step(s: Any, out: Any, n: int) -> int:
        """Write the legal moves of the first step."""
        cells = movers(s, down, right)
        while cells != U0:
            lowest = cells & (~cells + U1)  # lowest bit
            cell = count(lowest - U1)  # number of that bit
            out[n] = first + ((cell >> 3) - top) * width + (cell & 7) - left
            n += 1
            cells ^= lowest
        return n

    if not later:
        return list_step
    list_later = make_lister(later, rows, columns, movers, end)

    @kernel
    def list_moves(s: Any, out: Any, n: int) -> int:
        return list_later(s, out, list_step(s, out, n))

    return list_moves


def make_ends(steps: Steps, rows: int, columns: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the bit numbers of the cells where each move starts, and of those where it ends."""
    paths = np.array(moves(steps, rows, columns))
    bits = paths // columns * 8 + paths % columns
    starts, ends = np.array(bits.T, np.uint8, order="C")
    return starts, ends


def moves(steps: Steps, rows: int, columns: int) -> tuple[tuple[int, int], ...]:
    """Return the cells (`row * columns + column`) where each move starts and ends."""
    return tuple(
        (row * columns + column, (row + down) * columns + column + right)
        for down, right in steps
        for row in range(max(0, -down), rows - max(0, down))
        for column in range(max(0, -right), columns - max(0, right))
    )


def squares(cells: Any, rows: int, columns: int) -> NDArray[np.bool_]:
    """Return a bitboard as booleans, shape `[rows, columns]`."""
    shifts = np.add.outer(8 * np.arange(rows), np.arange(columns)).astype(np.uint64)
    shown: NDArray[np.bool_] = np.uint64(cells) >> shifts & U1 != U0
    return shown


def cells_of(board: NDArray[Any]) -> np.uint64:
    """Return the bitboard of the true cells of a `[rows, columns]` array: inverse of `squares`."""
    return np.uint64(sum(1 << (8 * int(row) + int(column)) for row, column in np.argwhere(board)))
