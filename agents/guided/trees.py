"""The memory of B searches side by side, and where each of them is."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.records import as_words

ROOT, NO_NODE, ILLEGAL = 0, -1, -1.0
BY_POLICY = -1  # instead of a root's action: chosen by the rule


class SearchTrees(NamedTuple):
    """B trees of up to N nodes, with A actions each, in which up to L simulations go on at once.

    Attributes:
        states: the positions. Shape `[B, N]`.
        words: the same memory as integers, to be copied. Shape `[B, N, W]`.
        size: nodes in use. Shape `[B]`.
        mover: whose move it is at each node. int8, shape `[B, N]`.
        ended: whether the game is over there. Shape `[B, N]`.
        value: what a node is worth to player 0, by the network or the rules; NaN while it waits
            for the network. Shape `[B, N]`.
        priors: probability of each action by the network, `ILLEGAL` where it is. Shape `[B, N, A]`.
        visits: simulations through each action. int32, shape `[B, N, A]`.
        totals: sum of what they were worth to the node's mover. Shape `[B, N, A]`.
        children: where each action leads, or `NO_NODE`. int32, shape `[B, N, A]`.
        waiting: simulations under way through each action. int16, shape `[B, N, A]`, or `[B, N, 0]`
            if there is only one at a time, which no other has to know of.
        path: the node and action of each step of the simulations under way. Shape `[B, L, P, 2]`.
        steps: how many there are. Shape `[B, L]`.
        leaves: the node where each simulation has ended, or `NO_NODE`. Shape `[B, L]`.
        fresh: whether that is a new node, which the network has not seen. Shape `[B, L]`.
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
    """Return memory for `count` searches of up to `nodes` nodes.

    Args:
        game: for two players who move in turn.
        count: B.
        nodes: N; a search of n simulations needs n + 1, and one more that is working memory.
        leaf_batch: L, how many simulations of a search go on at once.
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
    """Return the first `count` of the trees, in the same memory."""
    parts: Any = (array[:count] for array in trees)
    return SearchTrees(*parts)
