"""Hash of a position's record, for transposition tables."""

from typing import Any

import numpy as np

from ludoteca.envs.jit import kernel

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio
U32 = np.uint64(32)


@kernel
def hash_of(words: Any) -> Any:
    """Return the 64-bit hash of a position.

    `words` are unsigned integers, see `ludoteca.envs.records.as_words`.
    """
    key = np.uint64(len(words))
    for word in words:
        key = (key ^ np.uint64(word)) * MULTIPLIER
        key ^= key >> U32
    return key
