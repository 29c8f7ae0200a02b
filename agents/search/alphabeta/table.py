"""Transposition table of the alpha-beta search: bounds of values, and best actions.

A key is a hash of 64 bits of the position. Each position has two slots: the first is replaced only
by searches at least as deep, the second always (Breuker, Uiterwijk and van den Herik, "Replacement
schemes for transposition tables", 1994: two-level scheme). Entries of earlier searches count as
empty slots.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.jit import kernel

ENTRY = np.dtype(
    [
        ("key", np.uint64),
        ("lower", np.int32),  # the value for the player to move is at least this
        ("upper", np.int32),  # and at most this
        ("age", np.uint32),  # number of the search that wrote it; 0: empty
        ("depth", np.int16),  # plies that were searched below it, or SOLVED
        ("action", np.int16),  # the best action found
    ],
    align=True,
)
SOLVED = 32767  # depth of positions that were searched to the end of the game
NOT_FOUND = -1
WIN = 1 << 20  # value of the best possible result; a value is a fraction of it


def make_table(size: int) -> NDArray[np.void]:
    """Return an empty table of the largest power of two that is at most `size`, at least 2."""
    return np.zeros(1 << max(size.bit_length() - 1, 1), ENTRY)


@kernel
def find(table: Any, key: Any, age: Any) -> int:
    """Return the slot that holds a position, or `NOT_FOUND`."""
    first = np.int64(key & np.uint64(len(table) - 2))
    for k in range(first, first + 2):
        if table[k].key == key and table[k].age == age:
            return int(k)
    return NOT_FOUND


@kernel
def store(table: Any, s: Any, depth: int, age: Any) -> None:
    """Store the value of a frame, `s.best`: exact, or a bound by its window.

    Args:
        table: the table.
        s: the frame, see `search.frame_dtype`.
        depth: plies that were searched below it, or `SOLVED`.
        age: number of the search.
    """
    k = find(table, s.key, age)
    fresh = k == NOT_FOUND
    if fresh:
        k = int(np.int64(s.key & np.uint64(len(table) - 2)))
        if table[k].age == age and table[k].depth > depth:
            k += 1
    entry = table[k]
    is_exact = entry.lower == entry.upper
    if not fresh and entry.depth == SOLVED and is_exact and depth < SOLVED:
        return
    if fresh or entry.depth != depth:
        entry.key, entry.age, entry.depth = s.key, age, depth
        entry.lower, entry.upper = -WIN, WIN
    if s.best > s.initial_alpha:
        entry.lower = max(entry.lower, s.best)
    if s.best < s.beta:
        entry.upper = min(entry.upper, s.best)
    entry.action = s.best_action
