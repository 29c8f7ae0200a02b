"""Search tree: an array of node records."""

import numpy as np

from ludoteca.agents.search.statistics import arm_dtype

ROOT = 0
UNEXPANDED = 0  # no node has the root as a child
NO_PLAYER = -1

# The children of a node are consecutive: a block. Transpositions may share a block.
# A node is the arm of the player who moved into it, so that a parent compares its children by their
# means.
NODE_FIELDS = (
    ("first", np.int32),  # first child, or UNEXPANDED
    ("selections", np.int32),  # of the first node in a block: visits of the block's nodes
    ("action", np.int16),  # action that led here
    ("count", np.int16),  # number of children
    ("opened", np.int16),  # of the first node in a block: number of visited nodes, which come first
    ("mover", np.int8),  # player who moved into the node, or NO_PLAYER at the root
    ("proven", np.int8),  # result for the mover, see `select.UNKNOWN`
)


def node_dtype(policy: str) -> np.dtype[np.void]:
    """Return the record dtype of a node under a selection policy."""
    return arm_dtype(policy, *NODE_FIELDS)


# Entry of the transposition table: the block of a position's children.
ENTRY = np.dtype([("key", np.uint64), ("first", np.int32), ("count", np.int16)], align=True)

# State shared by the threads of a tree: a lock, see `lock.LOCK`, and the number of nodes.
SIZE = 1
SHARED = 2

# Positions of a thread: the root's, the one being played, and a spare one.
START, PLAYED, SPARE = range(3)
STATES = 3
