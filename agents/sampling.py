"""Drawing an action for each of many positions, given a number in [0, 1) for each."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.rng import uniform


def sample_legal(masks: NDArray[np.int8], drawn: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a legal action for each number in [0, 1), uniformly. Shape `[K]`."""
    counts = masks.sum(1, dtype=np.int64)
    wanted = (drawn * counts).astype(np.int64)
    chosen: NDArray[np.int64] = (masks.cumsum(1, dtype=np.int64) <= wanted[:, None]).sum(1)
    return chosen


def sample_by_weight(
    weights: NDArray[Any], drawn: NDArray[np.float64], temperature: float = 1.0
) -> NDArray[np.int64]:
    """Return an action for each number in [0, 1), by `weights ** (1 / temperature)`. Shape `[K]`.

    Args:
        weights: not negative, and not all zero. Shape `[K, num_actions]`.
        drawn: the numbers. Shape `[K]`.
        temperature: above 0.
    """
    # Powers of all would vanish or overflow at low temperatures, if the largest were not 1.
    relative = weights.astype(np.float64) / weights.max(1, keepdims=True)
    reached = (relative ** (1 / temperature)).cumsum(1)
    # An action of weight zero reaches no further than the one before it, so it is never first.
    # A number below 1 times the sum of all stays below that sum, however it is rounded.
    chosen: NDArray[np.int64] = (reached <= (drawn * reached[:, -1])[:, None]).sum(1)
    return chosen


def sample_by_logits(logits: NDArray[np.float64], rngs: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Draw one action per row with its own random stream. Shape `[K]`.

    Args:
        logits: minus infinity for actions that cannot be drawn. Shape `[K, num_actions]`.
        rngs: random streams, advanced in place. Shape `[K, 1]`.
    """
    weights = np.exp(logits - logits.max(1, keepdims=True))
    return sample_by_weight(weights, uniform(rngs.T))
