"""Batched trees of network-guided searches, `[B, N, A]`."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.records import as_words

ROOT, NO_NODE, ILLEGAL = 0, -1, -1.0
BY_POLICY = -1  # instead of a root's action: chosen by the selection policy


class SearchTrees(NamedTuple):
    """B trees of up to N nodes with A actions, with up to L simultaneous simulations in each.

    Attributes:
        states: positions of the nodes. Shape `[B, N]`.
        words: views of the positions as integers, for copying. Shape `[B, N, W]`.
        size: number of nodes. Shape `[B]`.
        mover: player to move. int8, shape `[B, N]`.
        ended: whether the game is over. Shape `[B, N]`.
        value: value for player 0 by the network or the rules; NaN until evaluated. Shape `[B, N]`.
        priors: prior probabilities of the actions, or `ILLEGAL`. Shape `[B, N, A]`.
        visits: visit counts of the actions. int32, shape `[B, N, A]`.
        totals: sums of their values for the player to move. Shape `[B, N, A]`.
        children: child of each action, or `NO_NODE`. int32, shape `[B, N, A]`.
        waiting: pending simulations through each action (virtual loss). int16, shape `[B, N, A]`,
            or `[B, N, 0]` if L is 1.
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
    priors: NDArray[np.float32]
    visits: NDArray[np.int32]
    totals: NDArray[np.float32]
    children: NDArray[np.int32]
    waiting: NDArray[np.int16]
    path: NDArray[np.int32]
    steps: NDArray[np.int32]
    leaves: NDArray[np.int32]
    fresh: NDArray[np.bool_]
    streams: NDArray[np.uint64]


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
        priors=np.zeros(actions, np.float32),
        visits=np.zeros(actions, np.int32),
        totals=np.zeros(actions, np.float32),
        children=np.zeros(actions, np.int32),
        waiting=np.zeros((count, nodes, game.num_actions if leaf_batch > 1 else 0), np.int16),
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
