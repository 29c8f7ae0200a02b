"""Batched trees of network-guided searches, in the layout of `simultaneous/tree.py`.

A node has a row of arms for each player who chooses there: in simultaneous games for all players,
in sequential games for the player to move only. Scores and values are in [0, 1].
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.simultaneous.tree import NODE, check_joint_actions, table_size
from ludoteca.agents.search.statistics import arm_dtype
from ludoteca.envs.game import Game

ILLEGAL = -1.0  # prior of an action that is illegal or masked
NO_LEAF = -1  # instead of a leaf: no simulation, or one that has ended in a terminal position
SCRATCH = ("returns", "joint", "legal", "policy", "spare")  # shared by the trees


class SearchTrees(NamedTuple):
    """B trees of up to N nodes, for a game of P players with A actions.

    R rows of arms in each node: P in simultaneous games, 1 in sequential games. L simultaneous
    simulations in each tree, with paths of up to D nodes.

    Attributes:
        states: positions of the roots. Shape `[B]`.
        nodes: dtype `simultaneous.tree.NODE`. Shape `[B, N]`.
        arms: statistics of actions, dtype `statistics.arm_dtype(None)`. Shape `[B, N, R, A]`.
        table: children by joint action, int32. Shape `[B, table_size(N)]`.
        size: number of nodes. Shape `[B]`.
        mover: player to move; sequential games only. int8, shape `[B, N]`.
        evaluated: whether the network has evaluated the node. Shape `[B, N]`.
        values: value by the network, for the players of the rows. Shape `[B, N, R]`.
        leaf_states: last position of each simulation. Shape `[B, L]`.
        leaves: its node, or `NO_LEAF`. Shape `[B, L]`.
        pending: whether the network has to evaluate that position. Shape `[B, L]`.
        path: nodes of the simulation above the leaf. Shape `[B, L, D]`.
        chosen: actions in these nodes, or `NO_ACTION`. Shape `[B, L, D, R]`.
        depth: length of the path. Shape `[B, L]`.
        returns: scratch space. Shape `[P]`.
        joint: scratch space. Shape `[P]`.
        legal: scratch space. Shape `[A]`.
        policy: scratch space. Shape `[A]`.
        spare: scratch space, a position. Shape `[1]`.
        streams: random streams. uint64, shape `[B, 1]`.
    """

    states: NDArray[np.void]
    nodes: NDArray[np.void]
    arms: NDArray[np.void]
    table: NDArray[np.int32]
    size: NDArray[np.int32]
    mover: NDArray[np.int8]
    evaluated: NDArray[np.bool_]
    values: NDArray[np.float64]
    leaf_states: NDArray[np.void]
    leaves: NDArray[np.int32]
    pending: NDArray[np.bool_]
    path: NDArray[np.int32]
    chosen: NDArray[np.int16]
    depth: NDArray[np.int32]
    returns: NDArray[np.float64]
    joint: NDArray[np.int64]
    legal: NDArray[np.int16]
    policy: NDArray[np.float32]
    spare: NDArray[np.void]
    streams: NDArray[np.uint64]

    @property
    def priors(self) -> NDArray[np.float32]:
        """Priors of the first row's actions, or `ILLEGAL`. Shape `[B, N, A]`."""
        return self.arms["prior"][:, :, 0]

    @property
    def visits(self) -> NDArray[np.int32]:
        """Visit counts of the first row's actions. Shape `[B, N, A]`."""
        return self.arms["visits"][:, :, 0]

    @property
    def scores(self) -> NDArray[np.float64]:
        """Sums of scores of the first row's actions. Shape `[B, N, A]`."""
        return self.arms["value"][:, :, 0]

    def first(self, count: int) -> "SearchTrees":
        """Return views of the first `count` trees."""
        parts = self._asdict().items()
        return SearchTrees(
            **{name: array if name in SCRATCH else array[:count] for name, array in parts}
        )


def make_trees(game: Game, count: int, nodes: int, leaf_batch: int = 1) -> SearchTrees:
    """Return trees for `count` searches of up to `nodes` nodes.

    Args:
        game: the game.
        count: B.
        nodes: N; a search of n simulations needs n + 1.
        leaf_batch: L, number of simultaneous simulations per search.

    Raises:
        ValueError: if the game has too many joint actions.
    """
    players, actions = game.num_players, game.num_actions
    rows = players if game.simultaneous else 1
    if game.simultaneous:
        check_joint_actions(game)
    deepest = min(nodes, game.max_plies) + 1
    leaves: Any = (count, leaf_batch)
    return SearchTrees(
        states=game.empty(count),
        nodes=np.zeros((count, nodes), NODE),
        arms=np.zeros((count, nodes, rows, actions), arm_dtype(None)),
        table=np.zeros((count, table_size(nodes)), np.int32),
        size=np.zeros(count, np.int32),
        mover=np.zeros((count, nodes), np.int8),
        evaluated=np.zeros((count, nodes), np.bool_),
        values=np.zeros((count, nodes, rows)),
        leaf_states=game.empty(count * leaf_batch).reshape(leaves),
        leaves=np.zeros(leaves, np.int32),
        pending=np.zeros(leaves, np.bool_),
        path=np.zeros((*leaves, deepest), np.int32),
        chosen=np.zeros((*leaves, deepest, rows), np.int16),
        depth=np.zeros(leaves, np.int32),
        returns=np.zeros(players),
        joint=np.zeros(players, np.int64),
        legal=np.zeros(actions, np.int16),
        policy=np.zeros(actions, np.float32),
        spare=game.empty(1),
        streams=np.zeros((count, 1), np.uint64),
    )
