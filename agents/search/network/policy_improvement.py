"""Policy improvement by search: regularized policy optimization."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def improved_policies(
    policies: NDArray[Any], visits: NDArray[Any], values: NDArray[Any], value_scale: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return improved policies, mean values, and the improvements in expected value.

    The improved policy maximizes the expected value minus `1 / value_scale` times the
    Kullback-Leibler divergence from the network's policy. It is
    `softmax(log policy + value_scale * value)`, with values in [0, 1] (Danihelka et al., "Policy
    improvement by planning with Gumbel", 2022, equation 11; Grill et al., "Monte-Carlo tree search
    as regularized policy optimization", 2020). Actions without visits get the mean value.

    Args:
        policies: the network's policies, 0 for illegal and masked actions, see
            `DecoupledNetworkGuidedSearch.run`. Shape `[..., A]`.
        visits: visit counts of the actions. Same shape.
        values: mean values of the actions in [-1, 1]; ignored without visits. Same shape.
        value_scale: increase of an action's log-probability if its value is 1 instead of 0.

    Returns:
        Policies, shape `[..., A]`, 0 for these actions and inactive (eliminated) players; mean
        values in [-1, 1], shape `[...]`; and the policies' improvements in expected value for
        values in [0, 1], 0 or more, shape `[...]`.
    """
    visited_values = np.where(visits > 0, values, 0).astype(np.float64)
    means = (visits * visited_values).sum(-1) / np.maximum(visits.sum(-1), 1)
    q_values = np.where(visits > 0, visited_values, means[..., None])
    # Relative to the best value, so that `exp` does not overflow. Values in [-1, 1] are halved.
    best = np.where(policies > 0, q_values, -np.inf).max(-1, keepdims=True)
    weights = policies * np.exp(value_scale / 2 * np.minimum(q_values - best, 0))
    total = weights.sum(-1, keepdims=True)
    improved = weights / np.where(total > 0, total, 1)
    improvements = np.maximum(((improved - policies) * q_values).sum(-1) / 2, 0)
    return improved, means, improvements
