"""Transposition table of the alpha-beta search: bounds of values, and best actions.

A key is a 64-bit hash of the position. Each position has two slots: the first is replaced only
by searches at least as deep, the second always (Breuker, Uiterwijk and van den Herik, "Replacement
schemes for transposition tables", 1994: two-level scheme). Entries of earlier searches count as
empty slots.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import ActionType, Game
from ludoteca.envs.jit import kernel

SOLVED = 32767  # depth of positions that were searched to the end of the game
NOT_FOUND = -1
WIN = 1 << 20  # value of the best possible result; values are integers from -WIN to WIN


def entry_dtype(action_dtype: ActionType) -> np.dtype[np.void]:
    """Return the record dtype of an entry, for actions of `Game.action_dtype`."""
    return np.dtype(
        [
            ("key", np.uint64),
            ("lower", np.int32),  # the value for the player to move is at least this
            ("upper", np.int32),  # the value for the player to move is at most this
            ("age", np.uint32),  # number of the search that wrote the entry; 0: empty
            ("depth", np.int16),  # plies that were searched below it, or SOLVED
            ("action", action_dtype),  # the best action found
        ],
        align=True,
    )


def make_table(game: Game, size: int) -> NDArray[np.void]:
    """Return an empty table of the largest power of two that is at most `size`, at least 2."""
    return np.zeros(1 << max(size.bit_length() - 1, 1), entry_dtype(game.action_dtype))


@kernel
def find(table: Any, key: Any, age: Any) -> int:
    """Return the slot that holds the position of `key`, or `NOT_FOUND`."""
    first = np.int64(key & np.uint64(len(table) - 2))  # even: two slots per position
    for k in range(first, first + 2):
        if table[k].key == key and table[k].age == age:
            return int(k)
    return NOT_FOUND


@kernel
def store(table: Any, frame: Any, depth: int, age: Any) -> None:
    """Store the value of a frame, `frame.best`: exact, or a bound by its window.

    Args:
        table: the table.
        frame: the frame, see `ludoteca.agents.search.alphabeta.search.frame_dtype`.
        depth: plies that were searched below its position, or `SOLVED`.
        age: number of the search, see `entry_dtype`.
    """
    k = find(table, frame.key, age)
    is_new = k == NOT_FOUND
    if is_new:
        k = int(np.int64(frame.key & np.uint64(len(table) - 2)))
        if table[k].age == age and table[k].depth > depth:
            k += 1
    entry = table[k]
    is_exact = entry.lower == entry.upper
    if not is_new and entry.depth == SOLVED and is_exact and depth < SOLVED:
        return  # keep the exact value
    if is_new or entry.depth != depth:  # bounds of different depths do not combine
        entry.key, entry.age, entry.depth = frame.key, age, depth
        entry.lower, entry.upper = -WIN, WIN
    if frame.best > frame.initial_alpha:
        entry.lower = max(entry.lower, frame.best)
    if frame.best < frame.beta:
        entry.upper = min(entry.upper, frame.best)
    entry.action = frame.best_action
