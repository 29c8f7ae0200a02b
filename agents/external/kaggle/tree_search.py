"""Network-guided search in plain Python, for exported `ac` (actor-critic) agents with search.

It is the decoupled PUCT of `ludoteca.agents.search.network`, for one position of Hungry Geese. With
the same random stream and evaluator it gives the same visit counts. Chance (new food) is open-loop:
a node stands for the joint actions that led there, not for one position.

A position `s` is a `types.SimpleNamespace` with the fields of the game's record that the rules read
(see `position.py`); the rules run on it as plain Python.
"""

import math
import time
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.policies import puct
from ludoteca.envs.games.hungry_geese import is_active, is_terminal, returns, step
from ludoteca.envs.rng import next_u64

NO_ACTION = -1  # action of a dead goose
MASKED = -1.0  # prior of a masked action
ACTIONS = (0, 1, 2, 3)

# Evaluator `(positions, seats) -> (policies, values)`: policies [K, 4], 0 for masked actions, and
# values [K] in [-1, 1].
SeatEvaluator = Callable[[Sequence[Any], Sequence[int]], tuple[NDArray[Any], NDArray[Any]]]


def search(
    s: Any,
    stream: NDArray[np.uint64],
    evaluate: SeatEvaluator,
    simulations: int,
    leaf_batch: int,
    c_puct: float,
    fpu_reduction: float,
    seconds: float,
) -> Any:
    """Search a position; return the root of the tree, see `new_node`.

    The parameters are those of `DecoupledNetworkGuidedSearch.run`, for one position `s` and its
    random stream, uint64 `[1]`. `seconds` is `math.inf` for no time limit.
    """
    start = time.perf_counter()
    root = new_node()
    evaluate_leaves([(root, s, [])], evaluate)
    for k in range(0, simulations, leaf_batch):
        if k > 0 and time.perf_counter() - start > seconds:
            break
        leaves = [
            simulate(root, s, stream, c_puct, fpu_reduction)
            for _ in range(min(leaf_batch, simulations - k))
        ]
        evaluate_leaves([leaf for leaf in leaves if leaf is not None], evaluate)
    return root


def new_node() -> Any:
    """Return a node that is not evaluated yet.

    `children` has nodes by joint action. After evaluation, `arms` has the statistics of each action
    (prior, visits, and the sum of values) by goose and action, and `values` has a value in [0, 1]
    by goose: the network's, or the score of a dead goose.
    """
    return types.SimpleNamespace(children={}, arms=None, values=None)


def simulate(
    root: Any, s: Any, stream: NDArray[np.uint64], c_puct: float, fpu_reduction: float
) -> Any:
    """Select a leaf, and add a visit along the path, which is a virtual loss until the backup.

    Returns:
        The leaf, its position, and the path of nodes and joint actions. None if the game is over at
        the leaf; its scores are then backed up.
    """
    s = copy_position(s)
    # Each simulation samples chance events of its own.
    s.rng = np.array([next_u64(stream)])
    node, path, players = root, [], len(s.length)
    over = is_terminal(s)
    while not over and node.arms is not None:
        joint_action = [NO_ACTION] * players
        for p in range(players):
            if is_active(s, p):
                joint_action[p] = choose(node, p, c_puct, fpu_reduction)
                node.arms[p][joint_action[p]].visits += 1
        path.append((node, joint_action))
        # `step` ignores the entries of dead geese, for which the compiled search has 0, too.
        joint = tuple([max(action, 0) for action in joint_action])
        step(s, joint)
        over = is_terminal(s)
        if joint not in node.children:
            node.children[joint] = new_node()
        node = node.children[joint]
    if over:
        back_up(path, scores(s))
        return None
    return node, s, path


def copy_position(s: Any) -> Any:
    """Return a copy of a position."""
    fields = vars(s).items()
    return types.SimpleNamespace(
        **{name: value.copy() if isinstance(value, np.ndarray) else value for name, value in fields}
    )


def choose(node: Any, p: int, c_puct: float, fpu_reduction: float) -> int:
    """Choose an action of goose `p` by PUCT; 0 if all actions are masked."""
    visits = sum(arm.visits for arm in node.arms[p])
    # At least 1: with 0 visits, the priors would have no effect.
    parent = types.SimpleNamespace(visits=max(visits, 1), params=(c_puct,))
    best, best_score = 0, -math.inf
    for action in ACTIONS:
        arm = node.arms[p][action]
        if arm.prior >= 0:
            mean = node.values[p] - fpu_reduction
            if arm.visits > 0:
                mean = arm.value / arm.visits
            score = puct(arm, mean, parent)
            if score > best_score:
                best, best_score = action, score
    return best


def evaluate_leaves(leaves: Sequence[Any], evaluate: SeatEvaluator) -> None:
    """Evaluate leaves for all living geese, and back up their values.

    Leaves are those that `simulate` returns. A request is the index of a leaf and a goose.
    """
    requests = [
        (k, p)
        for k in range(len(leaves))
        for p in range(len(leaves[k][1].length))
        if is_active(leaves[k][1], p)
    ]
    if not requests:
        return
    policies, expected = evaluate([leaves[k][1] for k, _ in requests], [p for _, p in requests])
    values = [scores(s) for _, s, _ in leaves]
    priors = [[[MASKED] * 4 for _ in player_values] for player_values in values]
    for i in range(len(requests)):
        k, p = requests[i]
        values[k][p] = float(0.5 + 0.5 * expected[i])
        priors[k][p] = [float(prior) if prior > 0 else MASKED for prior in policies[i]]
    for k in range(len(leaves)):
        node, _, path = leaves[k]
        if node.arms is None:  # else the same leaf was evaluated earlier in this batch
            node.arms = [
                [types.SimpleNamespace(prior=prior, visits=0, value=0.0) for prior in row]
                for row in priors[k]
            ]
            # Rounded to float32, as the network's values in the compiled search.
            node.values = [float(np.float32(value)) for value in values[k]]
        back_up(path, values[k])


def scores(s: Any) -> list[float]:
    """Return the score of each goose, `(1 + return) / 2`, in [0, 1]."""
    out = [0.0] * len(s.length)
    returns(s, out)
    return [0.5 + 0.5 * value for value in out]


def back_up(path: Sequence[Any], values: Sequence[float]) -> None:
    """Add a simulation's values along its path."""
    for node, joint_action in path:
        for p in range(len(joint_action)):
            if joint_action[p] != NO_ACTION:
                node.arms[p][joint_action[p]].value += values[p]
