"""Products of matrices in 16-bit integers for Winograd's convolutions, twice as fast as float32.

The transformed inputs of each position and each column of the transformed weights have scales of
their own. The integers are as large as they can be without an overflow of the 32-bit sums. With 64
channels the elements of a product differ from those in float32 by about 1e-4 of the largest
element; the transform of the outputs enlarges the differences (see `winograd`), and those of all
layers add up.
"""

from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.networks.int16_block import (
    HAS_INT16,
    LARGEST_INT16,
    largest,
    make_multiply_int16_block,
    max_magnitude,
    store_pairs,
)
from ludoteca.agents.networks.matrix_block import BLOCK_ROWS, WIDTH, next_block
from ludoteca.agents.networks.vectors import LANES, load, splat
from ludoteca.envs.jit import factory, kernel

LARGEST_INT32 = 2**31 - 1
ZERO, SMALLEST = np.float32(0), np.float32(1e-30)  # if all are smaller, numbers count as zeros


class Int16Weights(NamedTuple):
    """Transformed weights as integers.

    Attributes:
        pairs: integers of two input channels, in the order of `int16_block.store_pairs`. Shape
            `[products, in_channels / 2, out_channels]`.
        scales: of each product, the factors of the output channels and then the largest integer of
            the inputs, float32 `[products, out_channels + 1]`.
    """

    pairs: NDArray[np.int32]
    scales: NDArray[np.float32]


def can_quantize(in_channels: int) -> bool:
    """Return whether layers with so many input channels can be computed in 16-bit integers."""
    return HAS_INT16 and in_channels % (2 * LANES) == 0


def quantize_weights(weights: NDArray[np.float32]) -> Int16Weights:
    """Round transformed weights `[products, in_channels, out_channels]` to 16-bit integers."""
    products, in_channels, out_channels = weights.shape
    exact = weights.astype(np.float64)
    largest_weights = np.maximum(np.abs(exact).max(1), SMALLEST)
    # The sums must fit for any inputs. With equal bounds of inputs and weights, the rounding errors
    # of both are alike.
    sums = np.maximum((np.abs(exact).sum(1) / largest_weights).max(1), 1.0)
    bounds = np.minimum(np.floor(np.sqrt(LARGEST_INT32 / sums)), LARGEST_INT16)
    factors = largest_weights / bounds[:, None]
    integers = np.rint(exact / factors[:, None]).astype(np.int64)
    input_bounds = LARGEST_INT32 // np.maximum(np.abs(integers).sum(1).max(1), 1)
    scales = np.append(factors, np.minimum(input_bounds, LARGEST_INT16)[:, None], axis=1)
    halves = integers.astype(np.int16).reshape(products, -1, 2, LANES, out_channels)
    pairs = np.ascontiguousarray(halves.transpose(0, 1, 3, 4, 2)).view(np.int32)
    return Int16Weights(
        pairs.reshape(products, in_channels // 2, out_channels), scales.astype(np.float32)
    )


@factory()
def make_int16_multiply(tiles: int, in_channels: int, out_channels: int) -> Any:
    """Return `multiply(v, k, weights, first, scales, s, m, to, count, pairs, row_scales)`.

    The kernel writes the product of `count` rows of inputs, one per tile, from `v[k]` on, with a
    matrix of `Int16Weights` to `m[to:]`. Its pairs begin at `weights[first]`, its scales at
    `scales[s]`. All arrays are flat. Scratch space: `pairs` has `count * in_channels / 2` numbers,
    `row_scales` has `count`.

    Args:
        tiles: tiles of a position; they share a scale.
        in_channels: columns of the inputs, see `can_quantize`.
        out_channels: columns of the weights, a multiple of `LANES`.
    """
    width, depth = gcd(out_channels // LANES, WIDTH), in_channels // 2
    most_rows, four_rows, two_rows, one_row = (
        make_multiply_int16_block(BLOCK_ROWS, width),
        make_multiply_int16_block(4, width),
        make_multiply_int16_block(2, width),
        make_multiply_int16_block(1, width),
    )

    @kernel
    def quantize(v: Any, k: int, limit: Any, pairs: Any, to: int) -> Any:
        """Write a position's tiles, at `v[k]`, as integers up to `limit`; return their scale."""
        magnitudes = splat(ZERO)
        for f in range(0, tiles * in_channels, LANES):
            magnitudes = max_magnitude(magnitudes, load(v, k + f))
        bound = largest(magnitudes)
        scale = limit / bound if bound > SMALLEST else ZERO
        for f in range(0, tiles * in_channels, 2 * LANES):
            store_pairs(pairs, to + f // 2, load(v, k + f), load(v, k + f + LANES), scale)
        return bound / limit

    @kernel
    def multiply(
        v: Any, k: int, weights: Any, first: int, scales: Any, s: int, m: Any, to: int, count: int,
        pairs: Any, row_scales: Any,
    ) -> None:  # fmt: skip
        limit = scales[s + out_channels]
        for t in range(0, count, tiles):
            scale = quantize(v, k + t * in_channels, limit, pairs, t * depth)
            for row in range(t, t + tiles):
                row_scales[row] = scale
        for column in range(0, out_channels, width * LANES):
            t, j, f = 0, first + column, s + column
            while t < count:
                i, o, rows = t * depth, to + t * out_channels + column, next_block(count - t)
                if rows == BLOCK_ROWS:
                    most_rows(
                        pairs, i, depth, weights, j, out_channels, m, o, out_channels, depth,
                        row_scales, t, scales, f,
                    )  # fmt: skip
                elif rows == 4:
                    four_rows(
                        pairs, i, depth, weights, j, out_channels, m, o, out_channels, depth,
                        row_scales, t, scales, f,
                    )  # fmt: skip
                elif rows == 2:
                    two_rows(
                        pairs, i, depth, weights, j, out_channels, m, o, out_channels, depth,
                        row_scales, t, scales, f,
                    )  # fmt: skip
                else:
                    one_row(
                        pairs, i, depth, weights, j, out_channels, m, o, out_channels, depth,
                        row_scales, t, scales, f,
                    )  # fmt: skip
                t += rows

    return multiply
