"""Batched trees of network-guided searches, `[B, N, A]`."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.records import as_words

ROOT, NO_NODE, ILLEGAL = 0, -1, -1.0
BY_POLICY = -1  # instead of a root's action: chosen by the selection policy

# An action of the player to move, with values in [-1, 1]. A visit is counted when the action is
# selected, with the value of a loss until its simulation is backed up (virtual loss, see
# `statistics.py`).
ARM = np.dtype(
    [
        ("value", np.float64),  # sum of values
        ("visits", np.int32),
        ("prior", np.float32),  # probability of the action under the network's policy, or ILLEGAL
        ("child", np.int32),  # node that the action leads to, or NO_NODE
    ],
    align=True,
)
LOSS = -1.0


class SearchTrees(NamedTuple):
    """B trees of up to N nodes with A actions, with up to L simultaneous simulations in each.

    Attributes:
        states: positions of the nodes. Shape `[B, N]`.
        words: views of the positions as integers, for copying. Shape `[B, N, W]`.
        size: number of nodes. Shape `[B]`.
        mover: player to move. int8, shape `[B, N]`.
        ended: whether the game is over. Shape `[B, N]`.
        value: value for player 0 by the network or the rules; NaN until evaluated. Shape `[B, N]`.
        arms: statistics of the actions, dtype `ARM`. Shape `[B, N, A]`.
        path: node and action of each step of the pending simulations. Shape `[B, L, P, 2]`.
        steps: length of the path. Shape `[B, L]`.
        leaves: leaf of each simulation, or `NO_NODE`. Shape `[B, L]`.
        fresh: whether the leaf is new and to be evaluated. Shape `[B, L]`.
        streams: random streams. uint64, shape `[B, 1]`.
    """

    states: NDArray[np.void]
    words: NDArray[Any]
    size: NDArray[np.int32]
    mover: NDArray[np.int8]
    ended: NDArray[np.bool_]
    value: NDArray[np.float32]
    arms: NDArray[np.void]
    path: NDArray[np.int32]
    steps: NDArray[np.int32]
    leaves: NDArray[np.int32]
    fresh: NDArray[np.bool_]
    streams: NDArray[np.uint64]

    @property
    def priors(self) -> NDArray[np.float32]:
        """Prior probabilities of the actions, or `ILLEGAL`. Shape `[B, N, A]`."""
        return self.arms["prior"]

    @property
    def visits(self) -> NDArray[np.int32]:
        """Visit counts of the actions. Shape `[B, N, A]`."""
        return self.arms["visits"]

    @property
    def totals(self) -> NDArray[np.float64]:
        """Sums of the actions' values for the player to move. Shape `[B, N, A]`."""
        return self.arms["value"]

    @property
    def children(self) -> NDArray[np.int32]:
        """Child of each action, or `NO_NODE`. Shape `[B, N, A]`."""
        return self.arms["child"]


def make_trees(game: Game, count: int, nodes: int, leaf_batch: int = 1) -> SearchTrees:
    """Return trees for `count` searches of up to `nodes` nodes.

    Args:
        game: a sequential game for two players.
        count: B.
        nodes: N; a search of n simulations needs n + 1, and one more as scratch space.
        leaf_batch: L, number of simultaneous simulations per search.
    """
    states = game.empty(count * nodes).reshape(count, nodes)
    actions = (count, nodes, game.num_actions)
    return SearchTrees(
        states=states,
        words=as_words(states),
        size=np.zeros(count, np.int32),
        mover=np.zeros((count, nodes), np.int8),
        ended=np.zeros((count, nodes), np.bool_),
        value=np.zeros((count, nodes), np.float32),
        arms=np.zeros(actions, ARM),
        path=np.zeros((count, leaf_batch, min(nodes, game.max_plies) + 1, 2), np.int32),
        steps=np.zeros((count, leaf_batch), np.int32),
        leaves=np.zeros((count, leaf_batch), np.int32),
        fresh=np.zeros((count, leaf_batch), np.bool_),
        streams=np.zeros((count, 1), np.uint64),
    )


def first_trees(trees: SearchTrees, count: int) -> SearchTrees:
    """Return views of the first `count` trees."""
    parts: Any = (array[:count] for array in trees)
    return SearchTrees(*parts)
