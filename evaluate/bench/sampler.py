"""Uniformly random legal actions from masks, compiled: so that choosing costs little."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.jit import compiled
from ludoteca.envs.rng import below

TRIES = 12


class MaskSampler:
    """Draws one legal action per row of masks; rows without any get action 0."""

    def __init__(self, seed: int = 0):
        self._rng = np.array([seed], np.uint64)
        self._sample = make_mask_sampler()

    def __call__(self, masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return actions of shape `[...]` for masks of shape `[..., num_actions]`."""
        actions = np.zeros(masks.shape[:-1], np.int64)
        self._sample(masks.reshape(-1, masks.shape[-1]), self._rng, actions.reshape(-1))
        return actions


@cache
def make_mask_sampler() -> Any:
    """Return `sample(masks, rng, actions)`, `masks` int8 `[N, A]` and `actions` int64 `[N]`."""

    @compiled
    def sample_rows(masks: Any, rng: Any, actions: Any) -> None:
        num_actions = masks.shape[1]
        for i in range(masks.shape[0]):
            # Drawing until the action is legal is uniform, and where it takes long, so is taking
            # the k-th of those that are legal: whether it takes long depends on failures only.
            action, found = 0, False
            for _ in range(TRIES):
                action = below(rng, num_actions)
                if masks[i, action]:
                    found = True
                    break
            if not found:
                count = 0
                for a in range(num_actions):
                    count += masks[i, a]
                k = below(rng, count)
                action = 0
                # Without branches: `action` counts the actions before the k-th legal one.
                for a in range(num_actions):
                    k -= masks[i, a]
                    action += int(k >= 0)
            actions[i] = action if action < num_actions else 0  # none is legal

    return sample_rows
