"""The memory of B searches side by side, and where each of them is."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game

ROOT, NO_NODE, ILLEGAL = 0, -1, -1.0
BY_RULE, REST = -1, -2  # instead of a root's action: chosen by the rule; no simulation


class Trees(NamedTuple):
    """B trees of up to N nodes, with A actions each.

    Attributes:
        states: the positions. Shape `[B, N]`.
        words: the same memory as integers, to be copied. Shape `[B, N, W]`.
        size: nodes in use. Shape `[B]`.
        mover: whose move it is at each node. int8, shape `[B, N]`.
        ended: whether the game is over there. Shape `[B, N]`.
        value: what a node is worth to player 0, by the network or the rules. Shape `[B, N]`.
        priors: probability of each action by the network, `ILLEGAL` where it is. Shape `[B, N, A]`.
        visits: simulations through each action. int32, shape `[B, N, A]`.
        totals: sum of what they were worth to the node's mover. Shape `[B, N, A]`.
        children: where each action leads, or `NO_NODE`. int32, shape `[B, N, A]`.
        path: the node and action of each step of the simulation under way. Shape `[B, P, 2]`.
        steps: how many there are. Shape `[B]`.
        leaves: the node that waits for the network, or `NO_NODE`. Shape `[B]`.
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
    path: NDArray[np.int32]
    steps: NDArray[np.int32]
    leaves: NDArray[np.int32]


def make_trees(game: Game, count: int, nodes: int) -> Trees:
    """Return memory for `count` searches of up to `nodes` nodes.

    Args:
        game: for two players who move in turn.
        count: B.
        nodes: N; a search of n simulations needs n + 1.
    """
    states = game.empty(count * nodes).reshape(count, nodes)
    width = next(width for width in (8, 4, 2, 1) if states.itemsize % width == 0)
    actions = (count, nodes, game.num_actions)
    return Trees(
        states=states,
        words=states.view(f"u{width}").reshape(count, nodes, -1),
        size=np.zeros(count, np.int32),
        mover=np.zeros((count, nodes), np.int8),
        ended=np.zeros((count, nodes), np.bool_),
        value=np.zeros((count, nodes), np.float32),
        priors=np.zeros(actions, np.float32),
        visits=np.zeros(actions, np.int32),
        totals=np.zeros(actions, np.float32),
        children=np.zeros(actions, np.int32),
        path=np.zeros((count, min(nodes, game.max_plies) + 1, 2), np.int32),
        steps=np.zeros(count, np.int32),
        leaves=np.zeros(count, np.int32),
    )


def first_trees(trees: Trees, count: int) -> Trees:
    """Return the first `count` of the trees, in the same memory."""
    parts: Any = (array[:count] for array in trees)
    return Trees(*parts)
