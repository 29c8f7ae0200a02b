"""Transposition table of Othello's endgame search: score bounds and best moves.

Keys are whole positions. Each position has two slots: the first is replaced only by positions with
at least as many empty squares, which are more expensive to search, the second always (two-level
scheme: Breuker, Uiterwijk and van den Herik, "Replacement schemes for transposition tables", 1994).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.games.bitboards import U0, U1, count
from ludoteca.envs.jit import kernel

ENTRY = np.dtype(
    [
        ("own", np.uint64),  # discs of the player to move; 0 in empty slots
        ("other", np.uint64),  # discs of the opponent; 0 in empty slots
        ("lower", np.int8),  # lower bound of the score for the player to move
        ("upper", np.int8),  # upper bound
        ("square", np.int8),  # square (bit index) of the best move, or NO_SQUARE
        ("empty", np.int8),  # number of empty squares
    ],
    align=True,
)
NO_SQUARE = -1
NOT_FOUND = -1
# Of the hash function: 2**64 divided by the golden ratio, and a multiplier of SplitMix64.
MULTIPLIER_1, MULTIPLIER_2 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
U32 = np.uint64(32)
MIN_BITS, MAX_BITS = 12, 22  # bits of a table index: at most 4 million entries of 24 bytes


def make_table(empty: int) -> NDArray[np.void]:
    """Return an empty table, shape `[power of two]`, sized for the number of empty squares."""
    return np.zeros(1 << min(max(empty + 2, MIN_BITS), MAX_BITS), ENTRY)


@kernel
def first_slot(table: Any, own: Any, other: Any) -> int:
    """Return the first of the two neighboring slots of a position."""
    hashed = (own * MULTIPLIER_1) ^ ((other ^ (other >> U32)) * MULTIPLIER_2)
    hashed ^= hashed >> U32
    return int(np.int64(hashed & np.uint64(len(table) - 2)))  # even


@kernel
def find(table: Any, own: Any, other: Any) -> int:
    """Return the slot that holds a position, or `NOT_FOUND`."""
    first = first_slot(table, own, other)
    for k in range(first, first + 2):
        if table[k].own == own and table[k].other == other:
            return k
    return NOT_FOUND


@kernel
def store(table: Any, frame: Any, score: Any, board: Any) -> None:
    """Store the `score` of a searched frame, exact or a bound.

    The fields of `frame` are those of `ludoteca.agents.games.endgame.othello_search.FRAME`.
    """
    k = find(table, frame.own, frame.other)
    if k == NOT_FOUND:
        k = first_slot(table, frame.own, frame.other)
        if table[k].empty > frame.empty:
            k += 1
        table[k].own, table[k].other, table[k].empty = frame.own, frame.other, frame.empty
        table[k].lower, table[k].upper = -board.squares, board.squares
    entry = table[k]
    if score > frame.initial_alpha:
        entry.lower = max(entry.lower, score)
    if score < frame.beta:
        entry.upper = min(entry.upper, score)
    square = frame.best_flips & ~(frame.own | frame.other)
    entry.square = count(square - U1) if square != U0 else NO_SQUARE
