"""Sampling of one action per position, from a uniform number in [0, 1) or a random stream."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.rng import uniform


def sample_legal(masks: NDArray[np.int8], uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Sample one legal action per position uniformly. Shape `[K]`.

    Args:
        masks: 1 for legal actions, else 0. Shape `[K, num_actions]`.
        uniforms: uniform random numbers in [0, 1). Shape `[K]`.
    """
    counts = masks.sum(1, dtype=np.int64)
    ranks = (uniforms * counts).astype(np.int64)
    actions: NDArray[np.int64] = (masks.cumsum(1, dtype=np.int64) <= ranks[:, None]).sum(1)
    return actions


def sample_by_weight(
    weights: NDArray[Any], uniforms: NDArray[np.float64], temperature: float = 1.0
) -> NDArray[np.int64]:
    """Sample actions in proportion to `weights ** (1 / temperature)`. Shape `[K]`.

    Args:
        weights: weights of the actions, not negative, and not all zero. Shape `[K, num_actions]`.
        uniforms: uniform random numbers in [0, 1). Shape `[K]`.
        temperature: temperature, above 0.
    """
    # Scaled, so that powers do not underflow or overflow at low temperatures.
    relative = weights.astype(np.float64) / weights.max(1, keepdims=True)
    cumulative = (relative ** (1 / temperature)).cumsum(1)
    # An action of weight 0 has the cumulative sum of the previous action, so it is never chosen. A
    # number below 1 times the total is below the total, even after rounding.
    actions: NDArray[np.int64] = (cumulative <= (uniforms * cumulative[:, -1])[:, None]).sum(1)
    return actions


def sample_by_logits(logits: NDArray[np.float64], rngs: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Sample one action per position from `softmax(logits)`, with its random stream. Shape `[K]`.

    Args:
        logits: logits of the actions, minus infinity if masked. Shape `[K, num_actions]`.
        rngs: random streams, advanced in place. Shape `[K, 1]`.
    """
    weights = np.exp(logits - logits.max(1, keepdims=True))
    return sample_by_weight(weights, uniform(rngs.T))
