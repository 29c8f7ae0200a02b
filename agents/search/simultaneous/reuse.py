"""Tree reuse: the subtree of the joint actions played becomes the new tree."""

from typing import Any

import numpy as np

from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.simultaneous.tree import ROOT, START, make_table
from ludoteca.agents.search.simultaneous.workspace import DecoupledSearchWorkspace
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory
from ludoteca.envs.record_views import view_records


def keep_subtree(
    game: Game, config: SearchConfig, workspace: DecoupledSearchWorkspace, s: Any
) -> bool:
    """Make the node of position `s` the root of the first tree, if at most one ply below the old.

    Returns:
        Whether the node was found. If not, the tree is unchanged.
    """
    tree, size = workspace.trees[0], workspace.sizes[0]
    if size == 0:
        return False
    node = _find(game, tree, size, s)
    if node < 0:
        return False
    nodes, arms = np.empty_like(tree.nodes[:size]), np.empty_like(tree.arms[:size])
    table, index = np.zeros_like(tree.table), np.full(size, -1, np.int32)
    copy = make_copy_subtree(config.policy)
    new_size = copy(tree.nodes, tree.arms, size, node, nodes, arms, table, index)
    tree.nodes[:new_size], tree.arms[:new_size] = nodes[:new_size], arms[:new_size]
    tree.table[:] = table
    tree.states[START] = s
    workspace.sizes[0] = new_size
    return True


def _find(game: Game, tree: Any, size: int, s: Any) -> int:
    """Return the node of position `s` in a tree of `size` nodes: the root or a child, or -1."""
    if _same(tree.states[START], s):
        return ROOT
    for node in np.flatnonzero(tree.nodes["parent"][:size] == ROOT):
        joint, actions = int(tree.nodes["joint"][node]), []
        for _ in range(game.num_players):  # from the last player, whose action is the lowest digit
            joint, action = divmod(joint, game.num_actions)
            actions.append(action)
        position = game.empty(1)
        position[0] = tree.states[START]
        with np.errstate(over="ignore"):  # the arithmetic of random streams wraps around
            game.step(view_records(position)[0], np.array(actions[::-1]))
        if _same(position[0], s):
            return int(node)
    return -1


def _same(a: Any, b: Any) -> bool:
    """Return whether two positions have equal fields."""
    return all(np.array_equal(a[name], b[name]) for name in a.dtype.names)


@factory()
def make_copy_subtree(policy: str) -> Any:
    """Return `copy_subtree(nodes, arms, size, root, new_nodes, new_arms, table, index)`.

    It copies the subtree of `root` in a tree of `size` nodes, returns its size, and writes the new
    index of each of its nodes to `index`, int32 `[size]`, which must be filled with -1. `table` is
    the hash table of the new tree. Children come after their parents in both trees.
    """
    reset_tree, find_or_add_child = make_table(policy)

    @compiled_without_allocation
    def copy_subtree(
        nodes: Any,
        arms: Any,
        size: int,
        root: int,
        new_nodes: Any,
        new_arms: Any,
        table: Any,
        index: Any,
    ) -> int:
        reset_tree(new_nodes, new_arms)
        index[root], new_size = ROOT, 1
        for node in range(root + 1, size):
            if index[nodes[node].parent] >= 0:
                parent = index[nodes[node].parent]
                find_or_add_child(new_nodes, new_arms, table, new_size, parent, nodes[node].joint)
                index[node] = new_size
                new_size += 1
        for node in range(root, size):
            if index[node] >= 0:
                new_arms[index[node]] = arms[node]
                new_nodes[index[node]].visits = nodes[node].visits
        return new_size

    return copy_subtree
