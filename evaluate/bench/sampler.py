"""Compiled sampling of uniformly random legal actions from masks.

Masks are read eight actions at a time, as bytes of one number, after Knuth, "The Art of Computer
Programming", volume 4A, section 7.1.3.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.games.bitboards import count
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.rng import below

EIGHT = 8
TRIES, PROBES = 12, 8
ONES, HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
TOP = np.uint64(56)


class MaskSampler:
    """Samples one legal action per row of masks; rows without any get action 0."""

    def __init__(self, seed: int = 0):
        self._rng = np.array([seed], np.uint64)
        self._sample = make_mask_sampler()

    def __call__(self, masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return actions of shape `[...]` for masks of shape `[..., num_actions]`."""
        actions = np.empty(masks.shape[:-1], np.int64)
        rows = np.ascontiguousarray(masks).view(np.uint8).reshape(-1, masks.shape[-1])
        self._sample(rows, self._rng, actions.reshape(-1))
        return actions


@factory()
def make_mask_sampler() -> Any:
    """Return `sample(masks, rng, actions)`, `masks` uint8 `[N, A]` and `actions` int64 `[N]`."""

    @kernel
    def eight(mask: Any, first: int) -> Any:
        """Return `mask[first : first + 8]` as the bytes of a number, the first one lowest."""
        word = np.uint64(0)
        for k in range(EIGHT):  # compiled: one load
            word |= np.uint64(mask[first + k]) << np.uint64(8 * k)
        return word

    @kernel
    def few(mask: Any, first: int) -> Any:
        """Return the same for the at most seven actions from `first` on."""
        word = np.uint64(0)
        for k in range(len(mask) - first):
            word |= np.uint64(mask[first + k]) << np.uint64(8 * k)
        return word

    @kernel
    def kth(word: Any, k: int) -> int:
        """Return the index of the k-th byte (from 0) with value 1, in a word of zeros and ones."""
        # Each byte of the product counts the ones up to it; counts above k get their high bit.
        reached = ((word * ONES | HIGH) - np.uint64(k + 1) * ONES) & HIGH
        return count((reached & (~reached + np.uint64(1))) - np.uint64(1)) // EIGHT

    @kernel
    def count_all(masks: Any, rng: Any, actions: Any) -> None:
        """Draw k below the number of legal actions, and take the k-th one."""
        whole = masks.shape[1] // EIGHT * EIGHT
        for i in range(masks.shape[0]):
            mask = masks[i]
            last = few(mask, whole)
            number = int(np.int64(last * ONES >> TOP))
            for first in range(0, whole, EIGHT):
                number += int(np.int64(eight(mask, first) * ONES >> TOP))
            actions[i] = 0
            if number == 0:
                continue
            k = below(rng, number)
            # Without unpredictable branches: count the words before the k-th action.
            before, skipped, passed = 0, 0, 0
            for first in range(0, whole, EIGHT):
                passed += int(np.int64(eight(mask, first) * ONES >> TOP))
                skip = passed <= k
                before += EIGHT if skip else 0
                skipped = passed if skip else skipped
            word = last if before == whole else eight(mask, before)
            actions[i] = before + kth(word, k - skipped)

    @kernel
    def try_all(masks: Any, rng: Any, actions: Any) -> None:
        """Draw until the action is legal; after some failures, count."""
        num_actions = masks.shape[1]
        for i in range(masks.shape[0]):
            action, is_found = 0, False
            for _ in range(TRIES):
                action = below(rng, num_actions)
                if masks[i, action]:
                    is_found = True
                    break
            actions[i] = action
            if not is_found:
                count_all(masks[i : i + 1], rng, actions[i : i + 1])

    @compiled_without_allocation
    def sample_rows(masks: Any, rng: Any, actions: Any) -> None:
        # Both ways are uniform. The second is faster with many legal actions: check a few rows.
        rows, num_actions = masks.shape
        legal = 0
        for k in range(PROBES):
            for action in range(num_actions):
                legal += masks[k * rows // PROBES, action]
        if 4 * legal < PROBES * num_actions:
            count_all(masks, rng, actions)
        else:
            try_all(masks, rng, actions)

    return sample_rows
