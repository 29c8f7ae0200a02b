"""Search tree: an array of node records."""

import numpy as np

from ludoteca.agents.search.statistics import arm_dtype
from ludoteca.envs.game import ActionType

ROOT = 0  # index of the root
UNEXPANDED = 0  # no node has the root as a child
NO_PLAYER = -1  # mover of the root


def node_dtype(policy: str, action_dtype: ActionType = np.int16) -> np.dtype[np.void]:
    """Return the record dtype of a node under a selection policy.

    The children of a node are consecutive records, a block, which transpositions may share. The
    first child holds the fields of the block. A node is also the arm of the player who moved into
    it.

    Args:
        policy: name of the selection policy.
        action_dtype: type of actions, see `ludoteca.envs.game.Game.action_dtype`.
    """
    return arm_dtype(
        policy,
        ("first_child", np.int32),  # first child, or UNEXPANDED
        ("block_visits", np.int32),  # sum of visits of the block, in its first node
        ("action", action_dtype),  # action that led here
        ("num_children", action_dtype),  # number of children
        ("num_visited", action_dtype),  # visited nodes of the block, the first; in its first node
        ("group", action_dtype),  # move group of the action, see `groups.py`
        ("mover", np.int8),  # player who moved into the node, or NO_PLAYER at the root
        # Proven result for the mover, at the root for the player to move: `UNKNOWN`, `WIN`, `DRAW`
        # or `LOSS` of `ludoteca.agents.search.select`.
        ("proven", np.int8),
    )


def entry_dtype(action_dtype: ActionType) -> np.dtype[np.void]:
    """Return the record dtype of an entry of the transposition table.

    An entry is the block of a position's children. It is empty unless its age is that of the table,
    so that a table is cleared by a new age: a search of milliseconds has no time to write it all.
    """
    return np.dtype(
        [
            ("key", np.uint64),
            ("first_child", np.int32),
            ("num_children", action_dtype),
            ("age", np.uint16),
        ],
        align=True,
    )


# Array shared by the threads of a tree: the lock, at the index
# `ludoteca.agents.search.sequential.lock.LOCK_INDEX`, the number of nodes, at SIZE, and the age of
# the transposition table, at AGE.
SIZE, AGE = 1, 2
SHARED = 3  # length of the array
MAX_AGE = 2**16 - 1  # after which ages begin at 1 again; 0 is that of a new table

# Positions of a thread: the root's, that of the simulation, and a spare one.
START, CURRENT, SPARE = range(3)
NUM_STATES = 3
