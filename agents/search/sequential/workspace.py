"""Workspace of one thread: tree, transposition table and scratch space."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ludoteca.agents.search.config import SearchConfig, work_dtype
from ludoteca.agents.search.leaf_parallel import num_playout_states
from ludoteca.agents.search.sequential.tree import (
    AGE,
    MAX_AGE,
    NUM_STATES,
    SHARED,
    SIZE,
    entry_dtype,
    node_dtype,
)
from ludoteca.envs.game import Game
from ludoteca.envs.records import CACHE_LINE, as_words


class ThreadWorkspace(NamedTuple):
    """Tree and scratch space of one thread.

    The fields are described in `ludoteca.agents.search.sequential.search.search_kernel`.
    """

    nodes: NDArray[np.void]
    shared: NDArray[np.int64]
    table: NDArray[np.void]
    states: NDArray[np.void]
    words: NDArray[Any]
    work: NDArray[np.void]

    @property
    def size(self) -> int:
        """Number of nodes of the tree."""
        return int(self.shared[SIZE])

    @classmethod
    def make(cls, game: Game, config: SearchConfig, max_nodes: int) -> "ThreadWorkspace":
        """Return the workspace of one tree and one thread."""
        has_table = config.transpositions or game.has_chance
        entries = 1 << (max_nodes - 1).bit_length() if has_table else 0
        tree = (
            np.zeros(max_nodes, node_dtype(config.policy, game.action_dtype)),
            aligned_zeros(SHARED, np.int64),
            np.zeros(entries, entry_dtype(game.action_dtype)),
        )
        return cls(*tree, *_make_thread_arrays(game, config))

    def for_another_thread(self, game: Game, config: SearchConfig) -> "ThreadWorkspace":
        """Return the workspace of another thread that searches the same tree."""
        return ThreadWorkspace(
            self.nodes, self.shared, self.table, *_make_thread_arrays(game, config)
        )

    def clear_table(self) -> None:
        """Clear the transposition table, as `reset_tree` of `expansion.make_expansion` does."""
        self.shared[AGE] = self.shared[AGE] % MAX_AGE + 1
        if self.shared[AGE] == 1:  # ages begin again
            self.table["age"] = 0

    def reset(self, s: Any, rng: int) -> None:
        """Reset the tree to position `s`; `rng` is the new state of the random stream."""
        self.shared[: SIZE + 1] = 0  # not the age of the table
        self.states[0] = s
        for name in ("last_seen", "simulation", "mast_visits", "mast_value"):
            self.work[name] = 0
        self.work["rng"] = rng


def _make_thread_arrays(game: Game, config: SearchConfig) -> tuple[NDArray[Any], ...]:
    """Return the `states`, `words` and `work` of one thread."""
    num_states = NUM_STATES + num_playout_states(game, config)
    states = aligned_zeros(num_states, game.state)
    states[:] = game.empty(num_states)
    return states, as_words(states), aligned_zeros(1, work_dtype(game, config))


def aligned_zeros(count: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return `count` zeros that begin at a cache line and share none, against false sharing."""
    size = count * np.dtype(dtype).itemsize
    buffer = np.zeros(-(-size // CACHE_LINE) * CACHE_LINE + CACHE_LINE, np.uint8)
    start = -buffer.ctypes.data % CACHE_LINE
    return buffer[start : start + size].view(dtype)
