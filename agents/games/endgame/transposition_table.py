"""Transposition table of Othello's endgame search: bounds of scores, and best moves.

Positions are stored whole, so that no two are ever confused. Each may stand in two places: in the
first, which is taken over only by positions with at least as many empty squares, as they cost more
to search again, and in the one after it, which the latest takes (Breuker, Uiterwijk and van den
Herik, "Replacement schemes for transposition tables", 1994: two levels).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.games.bitboards import U0, U1, count
from ludoteca.envs.jit import kernel

ENTRY = np.dtype(
    [
        ("own", np.uint64),  # no disc at all: nothing is kept here
        ("other", np.uint64),
        ("lower", np.int8),  # the score for the player to move is at least this
        ("upper", np.int8),  # and at most this
        ("square", np.int8),  # of the best move found, or NO_SQUARE
        ("empty", np.int8),
    ],
    align=True,
)
NO_SQUARE = -1
NOT_FOUND = -1
MULTIPLIER_1, MULTIPLIER_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
U32 = np.uint64(32)
LEAST_BITS, MOST_BITS = 12, 22  # at most 4 million entries of 24 bytes


def make_table(empty: int) -> NDArray[np.void]:
    """Return an empty table, shape `[power of two]`, large enough for so many empty squares."""
    return np.zeros(1 << min(max(empty + 2, LEAST_BITS), MOST_BITS), ENTRY)


@kernel
def first_place(table: Any, own: Any, other: Any) -> int:
    """Return the first of the two neighboring places of a position."""
    mixed = (own * MULTIPLIER_1) ^ ((other ^ (other >> U32)) * MULTIPLIER_2)
    mixed ^= mixed >> U32
    return int(np.int64(mixed & np.uint64(len(table) - 2)))


@kernel
def find(table: Any, own: Any, other: Any) -> int:
    """Return the place where a position is kept, or `NOT_FOUND`."""
    first = first_place(table, own, other)
    for k in range(first, first + 2):
        if table[k].own == own and table[k].other == other:
            return k
    return NOT_FOUND


@kernel
def store(table: Any, s: Any, score: Any, board: Any) -> None:
    """Store the result of a frame's search: its `score`, exact or a bound by its window."""
    k = find(table, s.own, s.other)
    if k == NOT_FOUND:
        k = first_place(table, s.own, s.other)
        if table[k].empty > s.empty:
            k += 1
        table[k].own, table[k].other, table[k].empty = s.own, s.other, s.empty
        table[k].lower, table[k].upper = -board.squares, board.squares
    entry = table[k]
    if score > s.floor:
        entry.lower = max(entry.lower, score)
    if score < s.beta:
        entry.upper = min(entry.upper, score)
    square = s.best_flips & ~(s.own | s.other)
    entry.square = count(square - U1) if square != U0 else NO_SQUARE
