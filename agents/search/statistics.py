"""Statistics of an arm: an action of one player in one node.

A tree of a sequential game stores them in its nodes (`sequential/tree.py`), a tree of a
simultaneous game by node, player and action (`simultaneous/tree.py`), a bandit in an array.
A visit is counted when an arm is selected, and its score is added when it is known. Until then it
counts as a loss for other simulations of the same tree (virtual loss: Chaslot, Winands and van den
Herik, "Parallel Monte-Carlo tree search", 2008).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.search.policy import NO_STATISTIC
from ludoteca.envs.jit import factory, kernel

# Scores are in [0, 1].
ARM_FIELDS = (
    ("value", np.float64),  # sum of scores
    ("square", np.float64),  # sum of squared scores
    # All moves as first (AMAF): simulations in which the player played the action there or later.
    ("amaf_value", np.float64),  # sum of the scores of these simulations
    ("visits", np.int32),
    ("amaf_visits", np.int32),  # number of these simulations
    ("prior", np.float32),  # probability of the action under a policy (PUCT)
)


# Network-guided search needs no other statistics.
NETWORK_FIELDS = ("value", "visits", "prior")


def arm_dtype(policy: str | None, *fields: tuple[str, Any]) -> np.dtype[np.void]:
    """Return the record dtype of an arm: `ARM_FIELDS`, the policy's statistic and `fields`.

    `policy` is None for network-guided search.
    """
    if policy is None:
        return np.dtype([field for field in ARM_FIELDS if field[0] in NETWORK_FIELDS], align=True)
    return np.dtype([*ARM_FIELDS, *POLICIES[policy].statistic.fields, *fields], align=True)


def make_arms(
    policy: str | None, trees: tuple[int, ...], nodes: int, rows: int, actions: int
) -> NDArray[np.void]:
    """Return the arms of trees that store every action of each node.

    Args:
        policy: see `arm_dtype`.
        trees: number of trees, or `()` for a single one.
        nodes: number of nodes of a tree.
        rows: number of players with arms of their own in a node.
        actions: number of actions of the game.

    Returns:
        Zeros of shape `[*trees, nodes, rows, actions]`.

    Raises:
        MemoryError: if they do not fit in memory.
    """
    shape, dtype = (*trees, nodes, rows, actions), arm_dtype(policy)
    try:
        return np.zeros(shape, dtype)
    except (MemoryError, ValueError):  # ValueError: larger than any array
        gibibytes = math.prod(shape) * dtype.itemsize / 2**30
        raise MemoryError(
            f"{math.prod(trees):,} x {nodes:,} nodes of search trees, each with {rows * actions:,} "
            f"actions, need {gibibytes:,.1f} GiB: reduce the number of simulations or max_nodes"
        ) from None


def summed_fields(policy: str) -> tuple[str, ...]:
    """Return the fields that are summed to merge trees (root parallelization)."""
    policy_fields = (name for name, _ in POLICIES[policy].statistic.fields)
    return (*(name for name, _ in ARM_FIELDS if name != "prior"), *policy_fields)


@factory()
def make_statistics(policy: str | None) -> tuple[Callable[..., None], Callable[..., None]]:
    """Return two kernels.

    `reset_arm(arm, prior)` resets the statistics of an arm.

    `add_score(arm, score, probability)` adds the score of a visit to an arm that was selected with
    that probability; only for searches with playouts.
    """
    has_playouts = policy is not None
    statistic = NO_STATISTIC if policy is None else POLICIES[policy].statistic
    reset_statistic, update_statistic = statistic.reset, statistic.update

    @kernel
    def reset_arm(arm: Any, prior: float) -> None:
        arm.value, arm.visits, arm.prior = 0.0, 0, np.float32(prior)
        if has_playouts:
            arm.square = arm.amaf_value = 0.0
            arm.amaf_visits = 0
        reset_statistic(arm)

    @kernel
    def add_score(arm: Any, score: float, probability: float) -> None:
        arm.value += score
        arm.square += score * score
        update_statistic(arm, score, probability)

    return reset_arm, add_score
