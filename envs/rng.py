"""Random generator with a state of one uint64, the array `rng` of shape `[1]`.

Interpreted code, compiled code and GPUs produce the same numbers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.jit import kernel

# Constants of SplitMix64; GOLDEN_GAMMA is its increment.
GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
# Shifts, as uint64: a uint64 and a signed integer would become float64.
U11, U27, U30, U31, U32 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@kernel
def next_u64(rng: NDArray[np.uint64]) -> Any:
    """Advance `rng` and return 64 random bits; shape `[K]` if `rng` is `[1, K]`.

    SplitMix64, from Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
    Overflow is intended. With `np.add` and `np.multiply` it causes no warning; with operators it
    would.
    """
    rng[0] = np.add(rng[0], GOLDEN_GAMMA)
    z = rng[0]
    z = np.multiply(z ^ (z >> U30), MIX_1)
    z = np.multiply(z ^ (z >> U27), MIX_2)
    return z ^ (z >> U31)


@kernel
def below(rng: NDArray[np.uint64], n: int) -> int:
    """Return a uniform integer in [0, n) by multiply-shift, for 1 <= n <= 2**32.

    The bias is below n / 2**32.
    """
    # Compiled `int()` of a uint64 stays unsigned, and so would all results computed from it.
    return int(np.int64(((next_u64(rng) >> U32) * np.uint64(n)) >> U32))


@kernel
def uniform(rng: NDArray[np.uint64]) -> Any:
    """Return a uniform number in [0, 1) of 53 random bits; shape `[K]` if `rng` is `[1, K]`."""
    return (next_u64(rng) >> U11) * 2.0**-53
