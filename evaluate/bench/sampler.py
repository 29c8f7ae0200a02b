"""Compiled sampling of uniformly random legal actions from masks.

Masks are read eight actions at a time, as the bytes of a 64-bit word, after Knuth, "The Art of
Computer Programming", volume 4A, section 7.1.3.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.games.bitboards import count
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.rng import below

WORD_BYTES = 8
BYTE_BITS = 8
MAX_TRIES = 12  # rejections before the legal actions are counted
PROBED_ROWS = 8  # rows that decide between the two algorithms
ONES, HIGH_BITS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)  # in each byte
TOP_BYTE = np.uint64(56)  # shift; the top byte of `word * ONES` is the sum of the bytes of `word`


class MaskSampler:
    """Sampler of one legal action per row of masks; rows without legal actions get action 0."""

    def __init__(self, seed: int = 0):
        self._rng = np.array([seed], np.uint64)
        self._sample = make_mask_sampler()

    def __call__(self, masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return sampled actions `[...]` for masks `[..., num_actions]`."""
        actions = np.empty(masks.shape[:-1], np.int64)
        rows = np.ascontiguousarray(masks).view(np.uint8).reshape(-1, masks.shape[-1])
        self._sample(rows, self._rng, actions.reshape(-1))
        return actions


@factory()
def make_mask_sampler() -> Any:
    """Return `sample(masks, rng, actions)`, which writes a random legal action of each row.

    `masks` is uint8 `[N, A]`, `rng` the random stream, uint64 `[1]`, and `actions` int64 `[N]`.
    """

    @kernel
    def full_word(mask: Any, first: int) -> Any:
        """Return `mask[first : first + 8]` as the bytes of a word, the first one lowest."""
        word = np.uint64(0)
        for k in range(WORD_BYTES):  # compiled to one load
            word |= np.uint64(mask[first + k]) << np.uint64(8 * k)
        return word

    @kernel
    def last_word(mask: Any, first: int) -> Any:
        """Return `mask[first:]`, at most seven actions, as the lowest bytes of a word."""
        word = np.uint64(0)
        for k in range(len(mask) - first):
            word |= np.uint64(mask[first + k]) << np.uint64(8 * k)
        return word

    @kernel
    def index_of_kth_one(word: Any, k: int) -> int:
        """Return the index of the k-th byte (from 0) with value 1; the bytes are 0 or 1."""
        # Each byte of the product counts the ones up to it; counts above k get their high bit.
        reached = ((word * ONES | HIGH_BITS) - np.uint64(k + 1) * ONES) & HIGH_BITS
        return count((reached & (~reached + np.uint64(1))) - np.uint64(1)) // BYTE_BITS

    @kernel
    def sample_by_counting(masks: Any, rng: Any, actions: Any) -> None:
        """Sample the k-th legal action, with k uniform below the number of legal actions."""
        last_start = masks.shape[1] // WORD_BYTES * WORD_BYTES
        for i in range(masks.shape[0]):
            mask = masks[i]
            last = last_word(mask, last_start)
            num_legal = int(np.int64(last * ONES >> TOP_BYTE))
            for first in range(0, last_start, WORD_BYTES):
                num_legal += int(np.int64(full_word(mask, first) * ONES >> TOP_BYTE))
            actions[i] = 0
            if num_legal == 0:
                continue
            k = below(rng, num_legal)
            # Without unpredictable branches: skip the words before that of the k-th legal action.
            word_start, legal_skipped, legal_so_far = 0, 0, 0
            for first in range(0, last_start, WORD_BYTES):
                legal_so_far += int(np.int64(full_word(mask, first) * ONES >> TOP_BYTE))
                skip = legal_so_far <= k
                word_start += WORD_BYTES if skip else 0
                legal_skipped = legal_so_far if skip else legal_skipped
            word = last if word_start == last_start else full_word(mask, word_start)
            actions[i] = word_start + index_of_kth_one(word, k - legal_skipped)

    @kernel
    def sample_by_rejection(masks: Any, rng: Any, actions: Any) -> None:
        """Sample actions until one is legal; after `MAX_TRIES` rejections, sample by counting."""
        num_actions = masks.shape[1]
        for i in range(masks.shape[0]):
            action, is_found = 0, False
            for _ in range(MAX_TRIES):
                action = below(rng, num_actions)
                if masks[i, action]:
                    is_found = True
                    break
            actions[i] = action
            if not is_found:
                sample_by_counting(masks[i : i + 1], rng, actions[i : i + 1])

    @compiled_without_allocation
    def sample_rows(masks: Any, rng: Any, actions: Any) -> None:
        # Both algorithms are uniform. Rejection is faster if at least about a quarter of the
        # actions is legal, as estimated from a few rows.
        rows, num_actions = masks.shape
        legal = 0
        for k in range(PROBED_ROWS):
            for action in range(num_actions):
                legal += masks[k * rows // PROBED_ROWS, action]
        if 4 * legal < PROBED_ROWS * num_actions:
            sample_by_counting(masks, rng, actions)
        else:
            sample_by_rejection(masks, rng, actions)

    return sample_rows
