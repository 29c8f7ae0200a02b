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
def select_bit(x: Any, n: int) -> int:
    """Return the index of the n-th set bit of a word; `n` counts from 0.

    A binary search without branches: `n` is random, so branches would be mispredicted.
    """
    index, width = 0, 32
    while width:
        low = popcount(x & ((ONE << np.uint64(width)) - ONE))
        step = width & -int(n >= low)
        n -= low & -int(n >= low)
        x >>= np.uint64(step)
        index += step
        width >>= 1
    return index


@kernel
def transpose(x: Any, k: int) -> None:
    """Transpose the 8 blocks `x[:, k]` of 64 words of 64 bits, in place (Warren, section 7-3).

    The array is [64, K, 8], K > k.
    """
    j = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while j:
        i = 0
        while i < 64:
            exchange(x, i, i + j, k, np.uint64(j), mask)
            i = (i + j + 1) & ~j
        j >>= 1
        mask ^= mask << np.uint64(j)


@kernel
def transpose_word(x: Any, k: int) -> None:
    """Transpose the block `x[:, k, 0]` of 64 words of 64 bits, in place, as `transpose` does 8."""
    j = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while j:
        shift = np.uint64(j)
        i = 0
        while i < 64:
            a, b = x[i, k, 0], x[i + j, k, 0]
            t = ((a >> shift) ^ b) & mask
            x[i, k, 0], x[i + j, k, 0] = a ^ (t << shift), b ^ t
            i = (i + j + 1) & ~j
        j >>= 1
        mask ^= mask << np.uint64(j)


@kernel
def exchange(x: Any, i: int, j: int, k: int, shift: Any, mask: Any) -> None:
    """Exchange bits of the 8 words `x[i, k]` with those `shift` places lower in `x[j, k]`.

    All words are read before one is written, so that LLVM can use vector instructions.
    """
    a0, a1, a2, a3 = x[i, k, 0], x[i, k, 1], x[i, k, 2], x[i, k, 3]
    a4, a5, a6, a7 = x[i, k, 4], x[i, k, 5], x[i, k, 6], x[i, k, 7]
    b0, b1, b2, b3 = x[j, k, 0], x[j, k, 1], x[j, k, 2], x[j, k, 3]
    b4, b5, b6, b7 = x[j, k, 4], x[j, k, 5], x[j, k, 6], x[j, k, 7]
    t0 = ((a0 >> shift) ^ b0) & mask
    t1 = ((a1 >> shift) ^ b1) & mask
    t2 = ((a2 >> shift) ^ b2) & mask
    t3 = ((a3 >> shift) ^ b3) & mask
    t4 = ((a4 >> shift) ^ b4) & mask
    t5 = ((a5 >> shift) ^ b5) & mask
    t6 = ((a6 >> shift) ^ b6) & mask
    t7 = ((a7 >> shift) ^ b7) & mask
    x[i, k, 0], x[i, k, 1], x[i, k, 2], x[i, k, 3] = (
        a0 ^ (t0 << shift), a1 ^ (t1 << shift), a2 ^ (t2 << shift), a3 ^ (t3 << shift)
    )  # fmt: skip
    x[i, k, 4], x[i, k, 5], x[i, k, 6], x[i, k, 7] = (
        a4 ^ (t4 << shift), a5 ^ (t5 << shift), a6 ^ (t6 << shift), a7 ^ (t7 << shift)
    )  # fmt: skip
    x[j, k, 0], x[j, k, 1], x[j, k, 2], x[j, k, 3] = b0 ^ t0, b1 ^ t1, b2 ^ t2, b3 ^ t3
    x[j, k, 4], x[j, k, 5], x[j, k, 6], x[j, k, 7] = b4 ^ t4, b5 ^ t5, b6 ^ t6, b7 ^ t7
