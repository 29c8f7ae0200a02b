"""Search tree: an array of node records."""

import numpy as np

ROOT = 0
UNEXPANDED = 0  # no node has the root as a child
NO_PLAYER = -1

# Proven result of a node for the player who moved into it (`proven`); ordered from bad to good, and
# such that WIN + LOSS - x is the result for the opponent.
UNKNOWN, LOSS, DRAW, WIN = range(4)

# The children of a node are consecutive: a block. Transpositions may share a block.
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
        ("selections", np.int32),  # of the first node in a block: visits of the block's nodes
        ("prior", np.float32),  # probability of the action under a policy (PUCT)
        ("action", np.int16),  # action that led here
        ("count", np.int16),  # number of children
        (
            "opened",
            np.int16,
        ),  # of the first node in a block: number of visited nodes, which come first
        ("mover", np.int8),  # player who moved into the node, or NO_PLAYER at the root
        ("proven", np.int8),
    ],
    align=True,
)

# Entry of the transposition table: the block of a position's children.
ENTRY = np.dtype([("key", np.uint64), ("first", np.int32), ("count", np.int16)], align=True)

# State shared by the threads of a tree: a lock, see `lock.LOCK`, and the number of nodes.
SIZE = 1
SHARED = 2

# Positions of a thread: the root's, the one being played, and a spare one.
START, PLAYED, SPARE = range(3)
STATES = 3
