"""The search tree: one array of records, a node each."""

import numpy as np

ROOT = 0
UNEXPANDED = 0  # no node has the root as a child
NO_PLAYER = -1

# What is known for certain about a node, for the player who moved into it (`proven`); ordered by
# how good it is, and such that WIN + LOSS - x is the same for the opponent.
UNKNOWN, LOSS, DRAW, WIN = range(4)

# The children of a node are consecutive: a block. Positions met on several ways may share one.
# Values are scores in [0, 1] of the player who moved into the node, so that a parent compares its
# children by their means.
NODE = np.dtype(
    [
        ("value", np.float64),  # sum of scores
        ("square", np.float64),  # sum of squared scores
        ("amaf_value", np.float64),  # sum of scores of simulations that played the action later on
        ("reward_estimate", np.float64),  # importance-weighted sum of scores (EXP3)
        ("visits", np.int32),
        ("amaf_visits", np.int32),
        ("first", np.int32),  # first child, or UNEXPANDED
        ("selections", np.int32),  # if it is the first of a block: visits of the block's nodes
        ("prior", np.float32),  # probability of the action under a policy (PUCT)
        ("action", np.int16),  # that led here
        ("count", np.int16),  # children
        ("opened", np.int16),  # if it is the first of a block: nodes ever visited, who come first
        ("mover", np.int8),  # who moved into the node, or NO_PLAYER at the root
        ("proven", np.int8),
    ],
    align=True,
)

# An entry of the transposition table: where the children of a position are.
ENTRY = np.dtype([("key", np.uint64), ("first", np.int32), ("count", np.int16)], align=True)

# What the threads that search a tree share: a lock, see `lock.LOCK`, and the number of its nodes.
SIZE = 1
SHARED = 2

# The positions a thread works on: the root's, the one being played, and a spare one.
START, PLAYED, SPARE = range(3)
STATES = 3
