"""KL-UCB: an upper confidence bound from the Kullback-Leibler divergence.

Garivier and Cappe, "The KL-UCB algorithm for bounded stochastic bandits and beyond" (2011),
algorithm 1: `max{q: N d(mean, q) <= ln t + c ln ln t}`, with the relative entropy d of Bernoulli
distributions, N visits of the arm (the action), and t visits of all arms of the node. Their proof
has c = 3; they recommend c = 0.
"""

import math
from typing import Any

import numpy as np

from ludoteca.agents.search.policy import SelectionPolicy, Statistic
from ludoteca.envs.jit import kernel

PRECISION = 1e-6  # precision of the bound, which is in [0, 1]


@kernel
def relative_entropy(p: float, q: float) -> float:
    """Return the relative entropy d(p, q) for 0 <= p <= q < 1."""
    left = p * math.log(p / q) if p > 0 else 0.0
    right = (1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0
    return left + right


@kernel
def kl_ucb(arm: Any, mean: float, parent: Any) -> Any:
    """Return the upper confidence bound (index) of an arm, by bisection.

    Until the next visit of the arm its index only rises, so the bisection starts at the last one.
    """
    if mean >= 1:
        return mean
    bound = parent.log_visits
    if parent.log_visits > 1:
        bound += parent.params[0] * math.log(parent.log_visits)
    bound /= arm.visits
    low, high = mean, min(mean + math.sqrt(bound / 2), 1.0)  # Pinsker's inequality
    if low < arm.index < high and relative_entropy(mean, arm.index) <= bound:
        low = arm.index
    while high - low > PRECISION:
        middle = (low + high) / 2
        if relative_entropy(mean, middle) > bound:
            high = middle
        else:
            low = middle
    arm.index = low
    return low


@kernel
def reset_index(arm: Any) -> None:
    """Reset the previous index."""
    arm.index = 0.0


@kernel
def update_index(arm: Any, score: float, probability: float) -> None:
    """Reset the previous index, since the mean has changed."""
    arm.index = 0.0


KL_UCB = SelectionPolicy(
    kl_ucb,
    {"c": 0.0},
    statistic=Statistic((("index", np.float64),), reset_index, update_index),
)
