"""Network-guided search in plain Python, for exported `ac` agents with a search.

The decoupled PUCT of `ludoteca.agents.guided.decoupled_trees`, for one position of Hungry Geese.
The same random stream and evaluator give the same visits.
"""

import math
import time
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.games.hungry_geese import is_active, is_terminal, returns, step
from ludoteca.envs.rng import next_u64

NOBODY = -1  # in place of an action: the goose is dead
HIDDEN = -1.0  # prior of a masked action
ACTIONS = (0, 1, 2, 3)

# Positions and seats -> policies [K, 4], 0 for masked actions, and values [K].
SeatEvaluator = Callable[[Sequence[Any], Sequence[int]], tuple[NDArray[Any], NDArray[Any]]]


def search(
    s: Any,
    stream: NDArray[np.uint64],
    evaluate: SeatEvaluator,
    simulations: int,
    leaf_batch: int,
    c: float,
    fpu: float,
    seconds: float,
) -> Any:
    """Return the root of a searched tree, see `new_node`.

    The parameters are those of `DecoupledNetworkGuidedSearch.run`.
    """
    start = time.perf_counter()
    root = new_node()
    evaluate_leaves([(root, s, [])], evaluate)
    for k in range(0, simulations, leaf_batch):
        if k > 0 and time.perf_counter() - start > seconds:
            break
        reached = [
            simulate(root, s, stream, c, fpu) for _ in range(min(leaf_batch, simulations - k))
        ]
        evaluate_leaves([leaf for leaf in reached if leaf is not None], evaluate)
    return root


def new_node() -> Any:
    """Return a node that is not evaluated yet.

    `children` are by joint action; the other lists, once it is evaluated, by goose and action.
    """
    return types.SimpleNamespace(children={}, priors=None, visits=None, totals=None, values=None)


def simulate(root: Any, s: Any, stream: NDArray[np.uint64], c: float, fpu: float) -> Any:
    """Select down to a leaf; return it, its position and the path, or None if the game is over.

    Until its backup, a simulation counts as a loss (virtual loss).
    """
    s = copied(s)
    s.rng = np.array([next_u64(stream)])
    node, path, players = root, [], len(s.length)
    over = is_terminal(s)
    while not over and node.priors is not None:
        joint_action = [NOBODY] * players
        for p in range(players):
            if is_active(s, p):
                joint_action[p] = choose(node, p, c, fpu)
                node.visits[p][joint_action[p]] += 1
        path.append((node, joint_action))
        joint = tuple([max(action, 0) for action in joint_action])
        step(s, joint)
        over = is_terminal(s)
        if joint not in node.children:
            node.children[joint] = new_node()
        node = node.children[joint]
    if over:
        back_up(path, results(s))
        return None
    return node, s, path


def copied(s: Any) -> Any:
    """Return a copy of a position."""
    fields = vars(s).items()
    return types.SimpleNamespace(
        **{name: value.copy() if isinstance(value, np.ndarray) else value for name, value in fields}
    )


def choose(node: Any, p: int, c: float, fpu: float) -> int:
    """Choose an action of a goose by PUCT."""
    priors, visits, totals = node.priors[p], node.visits[p], node.totals[p]
    root = math.sqrt(max(sum(visits), 1))
    best, best_score = 0, -math.inf
    for action in ACTIONS:
        if priors[action] >= 0:
            mean = node.values[p] - fpu
            if visits[action] > 0:
                mean = totals[action] / visits[action]
            score = mean + c * priors[action] * root / (1 + visits[action])
            if score > best_score:
                best, best_score = action, score
    return best


def evaluate_leaves(leaves: Sequence[Any], evaluate: SeatEvaluator) -> None:
    """Evaluate leaves for all living geese, and back up their values."""
    outputs = [
        (k, p)
        for k in range(len(leaves))
        for p in range(len(leaves[k][1].length))
        if is_active(leaves[k][1], p)
    ]
    if not outputs:
        return
    policies, expected = evaluate([leaves[k][1] for k, _ in outputs], [p for _, p in outputs])
    values = [results(s) for _, s, _ in leaves]
    priors = [[[HIDDEN] * 4 for _ in one] for one in values]
    for i in range(len(outputs)):
        k, p = outputs[i]
        values[k][p] = float(0.5 + 0.5 * expected[i])
        priors[k][p] = [float(one) if one > 0 else HIDDEN for one in policies[i]]
    for k in range(len(leaves)):
        node, _, path = leaves[k]
        if node.priors is None:
            node.priors = priors[k]
            node.values = [float(np.float32(one)) for one in values[k]]
            node.visits = [[0] * 4 for _ in values[k]]
            node.totals = [[0.0] * 4 for _ in values[k]]
        back_up(path, values[k])


def results(s: Any) -> list[float]:
    """Return the result of each goose, in [0, 1]."""
    out = [0.0] * len(s.length)
    returns(s, out)
    return [0.5 + 0.5 * value for value in out]


def back_up(path: Sequence[Any], values: Sequence[float]) -> None:
    """Add a simulation's values along its path."""
    for node, joint_action in path:
        for p in range(len(joint_action)):
            if joint_action[p] != NOBODY:
                node.totals[p][joint_action[p]] += values[p]
