"""The memory that searches work in."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ludoteca.agents.mcts.config import SearchConfig, work_dtype
from ludoteca.agents.mcts.tree import ENTRY, NODE, SHARED, STATES
from ludoteca.envs.game import Game
from ludoteca.envs.records import CACHE_LINE, as_words


class Workspace(NamedTuple):
    """A tree and one thread's memory to search it in, see `search.search_kernel`."""

    nodes: NDArray[np.void]
    shared: NDArray[np.int64]
    table: NDArray[np.void]
    states: NDArray[np.void]
    words: NDArray[Any]
    work: NDArray[np.void]

    @property
    def size(self) -> int:
        """How many nodes the tree has."""
        return int(self.shared[-1])

    @classmethod
    def make(cls, game: Game, config: SearchConfig, max_nodes: int) -> "Workspace":
        """Return memory for one tree and one thread."""
        entries = 1 << (max_nodes - 1).bit_length() if config.transpositions else 0
        tree = (
            np.zeros(max_nodes, NODE),
            apart(SHARED, np.int64),
            np.zeros(entries, ENTRY),
        )
        return cls(*tree, *_thread_memory(game))

    def for_another_thread(self, game: Game) -> "Workspace":
        """Return memory for one more thread to search the same tree."""
        return Workspace(self.nodes, self.shared, self.table, *_thread_memory(game))

    def begin(self, s: Any, rng: int) -> None:
        """Forget everything: the next search is of position `s` and draws from the stream `rng`."""
        self.shared[:] = 0
        self.states[0] = s
        for name in ("seen", "simulation", "mast_visits", "mast_value"):
            self.work[name] = 0
        self.work["rng"] = rng


def _thread_memory(game: Game) -> tuple[NDArray[Any], ...]:
    states = apart(STATES, game.state)
    states[:] = game.empty(STATES)
    return states, as_words(states), apart(1, work_dtype(game))


def apart(count: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return zeros in cache lines of their own: cores that write to one wait for each other."""
    size = count * np.dtype(dtype).itemsize
    room = np.zeros(-(-size // CACHE_LINE) * CACHE_LINE + CACHE_LINE, np.uint8)
    start = -room.ctypes.data % CACHE_LINE
    return room[start : start + size].view(dtype)
