"""Workspace of decoupled searches, and root parallelization over threads."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.config import SearchConfig, work_dtype
from ludoteca.agents.search.leaf_parallel import num_playout_states
from ludoteca.agents.search.sequential.workspace import aligned_zeros
from ludoteca.agents.search.simultaneous.tree import NODE, NUM_STATES, ROOT, START, table_size
from ludoteca.agents.search.statistics import make_arms, summed_fields
from ludoteca.envs.game import Game


class DecoupledThreadWorkspace(NamedTuple):
    """Tree and scratch space of one thread.

    Attributes:
        nodes: the tree, dtype `tree.NODE`. Shape `[max_nodes]`.
        arms: statistics of the players' actions, dtype `statistics.arm_dtype(config.policy)`. Shape
            `[max_nodes, players, actions]`.
        table: hash table of the children, see `tree.make_table`.
        states: positions, the root's at `START`, and those of playouts from `NUM_STATES` on.
        work: other scratch space, dtype `work_dtype(game, config)` of `config`. Shape `[1]`.
    """

    nodes: NDArray[np.void]
    arms: NDArray[np.void]
    table: NDArray[np.int32]
    states: NDArray[np.void]
    work: NDArray[np.void]

    @classmethod
    def make(cls, game: Game, config: SearchConfig, max_nodes: int) -> "DecoupledThreadWorkspace":
        """Return the workspace of one tree and one thread."""
        num_states = NUM_STATES + num_playout_states(game, config)
        states = aligned_zeros(num_states, game.state)
        states[:] = game.empty(num_states)
        return cls(
            np.zeros(max_nodes, NODE),
            make_arms(config.policy, (), max_nodes, game.num_players, game.num_actions),
            np.zeros(table_size(max_nodes), np.int32),
            states,
            aligned_zeros(1, work_dtype(game, config)),
        )


class DecoupledSearchWorkspace:
    """Workspace of a search: threads, each with a tree of its own (root parallelization).

    The statistics of the roots are summed. Chaslot, Winands and van den Herik, "Parallel
    Monte-Carlo tree search", 2008.

    Attributes:
        trees: the workspace of each thread, with its tree.
        sizes: number of nodes of each tree; 0 after `reset`: the search then makes the root.
    """

    def __init__(self, game: Game, config: SearchConfig, max_nodes: int, threads: int):
        """Make the threads and their trees, of up to `max_nodes` nodes each."""
        self._arguments = game, config, max_nodes, threads
        self._fields = summed_fields(config.policy)
        self.trees = [
            DecoupledThreadWorkspace.make(game, config, max_nodes) for _ in range(threads)
        ]
        self.sizes = [0] * threads
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def __reduce__(self) -> tuple[type["DecoupledSearchWorkspace"], tuple[Any, ...]]:
        """Return the class and its arguments: a copy has new, empty trees."""
        return DecoupledSearchWorkspace, self._arguments

    def reset(self, s: Any, rng: NDArray[np.uint64]) -> None:
        """Reset the trees, and seed the random streams of the threads.

        Args:
            s: the position of the roots.
            rng: random stream of the first thread, with any number of threads; the streams of the
                others are derived from it. uint64, shape `[1]`; not advanced.
        """
        streams = np.random.SeedSequence(int(rng[0])).generate_state(len(self.trees), np.uint64)
        for k, tree in enumerate(self.trees):
            tree.states[START] = s
            tree.work["rng"][0] = rng if k == 0 else streams[k]
        self.sizes = [0] * len(self.trees)

    def run(self, search: Callable[..., int], params: NDArray[np.void], count: int) -> None:
        """Run simulations, divided among the threads.

        Args:
            search: the compiled search, from `make_search`.
            params: parameters of the search, dtype `config.SEARCH_PARAMS`. Shape `[1]`.
            count: number of simulations of all threads together.
        """
        threads = len(self.trees)

        def run_thread(k: int) -> int:
            """Run the simulations of thread k; return the number of nodes of its tree."""
            part = count * (k + 1) // threads - count * k // threads
            nodes, arms, table, states, work = self.trees[k]
            return search(nodes, arms, table, self.sizes[k], states, work, params, part)

        others = [self._pool.submit(run_thread, k) for k in range(1, threads)] if self._pool else []
        self.sizes = [run_thread(0), *(other.result() for other in others)]

    def statistics(self) -> tuple[NDArray[np.void], NDArray[np.void]]:
        """Return the nodes and arms of the first tree, with the summed root statistics of all.

        With one thread they are views of its tree, otherwise copies.
        """
        first, size = self.trees[0], self.sizes[0]
        nodes, arms = first.nodes[:size], first.arms[:size]
        if len(self.trees) > 1:
            nodes, arms = nodes.copy(), arms.copy()
            for tree in self.trees[1:]:
                nodes[ROOT]["visits"] += tree.nodes[ROOT]["visits"]
                for name in self._fields:
                    arms[name][ROOT] += tree.arms[name][ROOT]
        return nodes, arms
