"""Kernels on 64-bit words: population count, indices of set bits, transposition of blocks."""

from typing import Any

import numpy as np

from ludoteca.envs.jit import kernel

ZERO, ONE, ALL = np.uint64(0), np.uint64(1), ~np.uint64(0)


@kernel
def popcount(x: Any) -> int:
    """Return the number of set bits of a word (Warren, "Hacker's Delight", 2nd edition, 5-1)."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int(np.int64(np.multiply(x, np.uint64(0x0101010101010101)) >> np.uint64(56)))


@kernel
def lowest(x: Any) -> int:
    """Return the index of the lowest set bit of a nonzero word."""
    return popcount((x & ~(x - ONE)) - ONE)


@kernel
def test_bit(words: Any, i: int) -> bool:
    """Return bit `i` of an array of uint64 words."""
    return bool((words[i >> 6] >> np.uint64(i & 63)) & ONE)


@kernel
def select_bit(words: Any, n: int) -> int:
    """Return the index of the n-th set bit of an array of words; `n` counts from 0."""
    k = 0
    while True:
        c = popcount(words[k])
        if n < c:
            break
        n -= c
        k += 1
    x = words[k]
    for _ in range(n):
        x &= x - ONE
    return 64 * k + lowest(x)


@kernel
def transpose(x: Any) -> None:
    """Transpose a block of 64 words of 64 bits, in place ("Hacker's Delight", section 7-3)."""
    j = 32
    m = np.uint64(0x00000000FFFFFFFF)
    while j:
        k, shift = 0, np.uint64(j)
        while k < 64:
            t = ((x[k] >> shift) ^ x[k + j]) & m
            x[k] ^= t << shift
            x[k + j] ^= t
            k = (k + j + 1) & ~j
        j >>= 1
        m ^= m << np.uint64(j)
