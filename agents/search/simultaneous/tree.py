"""Tree of a decoupled search: arrays of nodes and arms, and a hash table of children.

A node stands for a sequence of joint actions. In each node every player has one arm per action, and
each joint action that was played has a child.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ludoteca.agents.search.statistics import make_statistics
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel

ROOT = 0  # index of the root

FULL = -1  # returned instead of a new child if the tree is full
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio

NODE_FIELDS = (
    ("joint", np.int64),  # index of the joint action that led here: digits in base `num_actions`
    ("parent", np.int32),  # index of the parent, -1 at the root
    ("slot", np.int32),  # index of the node in the hash table
    ("visits", np.int32),
)
NODE = np.dtype(list(NODE_FIELDS), align=True)

# Positions of a search: the root's, and that of the simulation.
START, CURRENT = range(2)
NUM_STATES = 2


def table_size(nodes: int) -> int:
    """Return the length of the hash table for `nodes` nodes: a power of 2, at most half full."""
    return 1 << (2 * nodes - 1).bit_length()


def check_joint_actions(game: Game) -> None:
    """Check that the joint actions of a game fit the field `joint`.

    Raises:
        ValueError: if there are 2**63 or more.
    """
    if game.num_actions**game.num_players >= 2**63:
        raise ValueError(
            f"{game.short_spec} has {game.num_actions}^{game.num_players} joint actions, "
            "and a search supports at most 2^63 - 1"
        )


@factory()
def make_table(policy: str | None) -> tuple[Callable[..., None], Callable[..., int]]:
    """Return two kernels over nodes `[N]` and the arms of their actions `[N, players, actions]`.

    Arms have the dtype `statistics.arm_dtype(policy)`; `policy` is None for network-guided search.

    `reset_tree(nodes, arms)` makes the root the only node.

    `find_or_add_child(nodes, arms, table, size, node, joint)` returns the child of `node` by a
    joint action: `size` if it was added, `FULL` if it could not be. `size` is the number of nodes
    before. The `table`, int32 `[table_size(N)]`, maps hashes to nodes by open addressing.
    A slot is in use if its node is in the tree and refers back to the slot, so entries of earlier
    searches need not be cleared.
    """
    reset_arm, _ = make_statistics(policy)

    @kernel
    def reset_node(nodes: Any, arms: Any, node: int) -> None:
        """Reset the statistics of `node`."""
        nodes[node].visits = 0
        players, actions = arms.shape[1:]
        for p in range(players):
            for action in range(actions):
                reset_arm(arms[node, p, action], 0.0)

    @kernel
    def reset_tree(nodes: Any, arms: Any) -> None:
        nodes[ROOT].joint, nodes[ROOT].parent, nodes[ROOT].slot = -1, -1, -1
        reset_node(nodes, arms, ROOT)

    @kernel
    def find_or_add_child(
        nodes: Any, arms: Any, table: Any, size: int, node: int, joint: int
    ) -> int:
        mask = len(table) - 1
        hashed = (np.uint64(joint) * MULTIPLIER ^ np.uint64(node)) * MULTIPLIER
        slot = np.int64(hashed >> np.uint64(32)) & mask
        while True:
            child = table[slot]
            if child >= size or nodes[child].slot != slot:
                break
            if nodes[child].parent == node and nodes[child].joint == joint:
                return int(child)
            slot = (slot + 1) & mask
        if size == len(nodes):
            return FULL
        table[slot] = size
        nodes[size].joint, nodes[size].parent, nodes[size].slot = joint, node, slot
        reset_node(nodes, arms, size)
        return size

    return reset_tree, find_or_add_child
