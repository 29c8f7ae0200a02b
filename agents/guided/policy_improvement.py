"""What a search makes of the network's policy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def improved_policies(
    policies: NDArray[Any], visits: NDArray[Any], values: NDArray[Any], value_scale: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return policies that searches have improved, what they expect, and what they gained.

    The policy is that with the highest mean value, less its divergence from the network's divided
    by `value_scale`: `softmax(log policy + value_scale * value)`, values from 0 to 1 (Danihelka et
    al., "Policy value_scale by planning with Gumbel", 2022, equation 11; Grill et al.,
    "Monte-Carlo tree search as regularized policy optimization", 2020). Actions without visits
    have the mean value.

    Args:
        policies: the network's, 0 for actions that are not tried. Shape `[..., A]`.
        visits: of each action. Same shape.
        values: mean values of the actions in [-1, 1]; without visits, anything. Same shape.
        value_scale: by how much the log-probability of an action grows if it is worth 1 instead
            of 0.

    Returns:
        Policies, shape `[..., A]`, 0 for actions that are not tried and for players who cannot
        act; mean values in [-1, 1], shape `[...]`; and by how much the policies are worth more
        than the network's, of 1 between losing and winning for certain, 0 or more, shape `[...]`.
    """
    known = np.where(visits > 0, values, 0).astype(np.float64)
    means = (visits * known).sum(-1) / np.maximum(visits.sum(-1), 1)
    worth = np.where(visits > 0, known, means[..., None])
    best = np.where(policies > 0, worth, -np.inf).max(-1, keepdims=True)
    weights = policies * np.exp(value_scale / 2 * np.minimum(worth - best, 0))
    total = weights.sum(-1, keepdims=True)
    better = weights / np.where(total > 0, total, 1)
    gains = np.maximum(((better - policies) * worth).sum(-1) / 2, 0)
    return better, means, gains
