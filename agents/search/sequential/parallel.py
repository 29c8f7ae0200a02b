"""Workspace of a search with one or more threads: tree and root parallelization."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.sequential.tree import ROOT, UNEXPANDED
from ludoteca.agents.search.sequential.workspace import ThreadWorkspace
from ludoteca.agents.search.statistics import summed_fields
from ludoteca.envs.game import Game

PARALLEL = ("tree", "root")  # kinds of parallelization


class SearchWorkspace:
    """Workspace of a search: its threads with their trees and scratch space.

    With `parallel="tree"` the threads build one tree under a lock, and a visit counts as a loss
    until its score is known (virtual loss). With `"root"` each builds its own tree, and the root
    statistics are summed.

    Chaslot, Winands and van den Herik, "Parallel Monte-Carlo tree search", 2008.

    Attributes:
        shared_tree: whether the threads build one tree.
        trees: the workspace of each thread.
    """

    def __init__(
        self, game: Game, config: SearchConfig, max_nodes: int, threads: int, parallel: str
    ):
        """Make the threads and their trees.

        Args:
            game: the game.
            config: options that are compiled into the search.
            max_nodes: maximum number of nodes of each tree.
            threads: number of threads, the caller's included.
            parallel: `"tree"` or `"root"`.
        """
        self._arguments = game, config, max_nodes, threads, parallel
        self._fields = summed_fields(config.policy)
        first = ThreadWorkspace.make(game, config, max_nodes)
        self.shared_tree = parallel == "tree"
        self.trees = [first] + [
            first.for_another_thread(game, config)
            if self.shared_tree
            else ThreadWorkspace.make(game, config, max_nodes)
            for _ in range(threads - 1)
        ]
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def __getstate__(self) -> dict[str, Any]:
        """Return the constructor's arguments, the trees and the state of the threads.

        The transposition table is left out, since every search clears it.
        """
        used = [
            (tree.nodes[: tree.size].copy(), tree.shared)
            for tree in (self.trees[:1] if self.shared_tree else self.trees)
        ]
        own = [(tree.states, tree.work) for tree in self.trees]
        return {"arguments": self._arguments, "used": used, "own": own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        SearchWorkspace.__init__(self, *state["arguments"])
        # Not strict: of a shared tree there is only one.
        for tree, (nodes, shared) in zip(self.trees, state["used"], strict=False):
            tree.nodes[: len(nodes)], tree.shared[:] = nodes, shared
        for tree, (states, work) in zip(self.trees, state["own"], strict=True):
            tree.states[:], tree.work[:] = states, work

    def reset(self, s: Any, rng: int) -> None:
        """Reset the trees to position `s`; `rng` seeds one random stream per thread."""
        streams = np.random.SeedSequence(rng).generate_state(len(self.trees), np.uint64)
        for k, tree in enumerate(self.trees):
            tree.reset(s, rng if k == 0 else int(streams[k]))

    def run(self, search: Callable[..., None], params: NDArray[np.void], count: int) -> None:
        """Run `count` simulations by `search`, from `make_search`, divided among the threads."""
        counts = [
            count * (k + 1) // len(self.trees) - count * k // len(self.trees)
            for k in range(len(self.trees))
        ]
        if self._pool is None:
            search(*self.trees[0], params, count)
            return
        futures = [
            self._pool.submit(search, *tree, params, tree_count)
            for tree, tree_count in zip(self.trees[1:], counts[1:], strict=True)
        ]
        search(*self.trees[0], params, counts[0])
        for future in futures:
            future.result()

    def nodes(self) -> NDArray[np.void]:
        """Return the tree; with root parallelization, the root and its children, summed."""
        if self.shared_tree or len(self.trees) == 1:
            return self.trees[0].nodes[: self.trees[0].size]
        return merge_trees([tree.nodes for tree in self.trees], self._fields)


def merge_trees(trees: list[NDArray[np.void]], fields: tuple[str, ...]) -> NDArray[np.void]:
    """Return the summed statistics of the trees' roots and of their children.

    Args:
        trees: trees of one position, each with an expanded root.
        fields: names of the fields to sum, see `summed_fields`.

    Returns:
        A tree of the root and its children, the visited ones first.
    """
    blocks = [nodes[nodes[ROOT]["first_child"] :][: nodes[ROOT]["num_children"]] for nodes in trees]
    children = {int(child["action"]): child.copy() for child in blocks[0]}
    for child in children.values():
        child["first_child"] = UNEXPANDED
    for block in blocks[1:]:
        for child in block:
            total = children[int(child["action"])]
            for field in fields:
                total[field] += child[field]
            total["proven"] = max(total["proven"], child["proven"])  # UNKNOWN is the lowest
    ordered = sorted(children.values(), key=lambda child: -int(child["visits"]))
    nodes = np.array([trees[0][ROOT].copy(), *ordered], trees[0].dtype)
    nodes[ROOT]["visits"] = sum(int(tree[ROOT]["visits"]) for tree in trees)
    nodes[ROOT]["proven"] = max(int(tree[ROOT]["proven"]) for tree in trees)
    nodes[ROOT]["first_child"] = 1
    nodes[1]["num_visited"] = np.count_nonzero(nodes["visits"][1:])
    nodes[1]["block_visits"] = nodes["visits"][1:].sum()
    return nodes


__all__ = ["PARALLEL", "SearchWorkspace", "merge_trees"]
