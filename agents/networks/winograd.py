"""Convolutions with 3x3 kernels by Winograd's minimal filtering, F(4x4, 3x3).

Lavin and Gray, "Fast algorithms for convolutional neural networks", 2016: tiles of 4x4 outputs from
6x6 inputs need 36 matrix products with a quarter of the multiplications. The results differ from
those of a direct convolution by rounding errors, about 1e-5 of the largest output.

Boards are flat arrays `[positions, rows, columns, channels]`, tiles `[36, tiles, channels]`.
Vectors hold `LANES` successive channels of a cell.
"""

from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.networks.int16_products import make_int16_multiply
from ludoteca.agents.networks.matrix_block import BLOCK_ROWS, WIDTH, make_multiply_block, next_block
from ludoteca.agents.networks.vectors import (
    LANES,
    add,
    load,
    maximum,
    multiply_add,
    splat,
    store,
    subtract,
)
from ludoteca.envs.jit import factory, kernel

OUT_TILE, IN_TILE, PRODUCTS = 4, 6, 36  # sides of output and input tiles, number of matrix products
# Padding between the 36 matrices, in numbers, so that they do not map to the same cache sets.
GAP = 80
F0, F2, F4, F5, F8 = (np.float32(number) for number in (0, 2, 4, 5, 8))
WEIGHT_TRANSFORM = np.array(  # G in Lavin and Gray
    [
        [1 / 4, 0, 0],
        [-1 / 6, -1 / 6, -1 / 6],
        [-1 / 6, 1 / 6, -1 / 6],
        [1 / 24, 1 / 12, 1 / 6],
        [1 / 24, -1 / 12, 1 / 6],
        [0, 0, 1],
    ]
)


def transform_weights(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Transform kernels `g`, `[out, in, 3, 3]`, to `G g G^T`, `[36, in, out]`."""
    kernels = weights.transpose(2, 3, 1, 0).astype(np.float64).reshape(3, -1)
    half = (WEIGHT_TRANSFORM @ kernels).reshape(IN_TILE, 3, -1).transpose(1, 0, 2).reshape(3, -1)
    transformed = (WEIGHT_TRANSFORM @ half).reshape(IN_TILE, IN_TILE, *weights.shape[1::-1])
    return np.ascontiguousarray(
        transformed.transpose(1, 0, 2, 3).reshape(PRODUCTS, *weights.shape[1::-1]), np.float32
    )


def num_tiles(rows: int, columns: int) -> int:
    """Return the number of tiles of a board of `rows` and `columns`."""
    return -(-rows // OUT_TILE) * -(-columns // OUT_TILE)


@kernel
def transform_input_line(d0: Any, d1: Any, d2: Any, d3: Any, d4: Any, d5: Any) -> Any:
    """Return the one-dimensional input transform, of six vectors."""
    a, b = multiply_add(splat(-F4), d2, d4), multiply_add(splat(-F4), d1, d3)
    c, e = subtract(d4, d2), subtract(d3, d1)
    return (
        multiply_add(splat(F4), d0, multiply_add(splat(-F5), d2, d4)),
        add(a, b),
        subtract(a, b),
        multiply_add(splat(F2), e, c),
        multiply_add(splat(-F2), e, c),
        multiply_add(splat(F4), d1, multiply_add(splat(-F5), d3, d5)),
    )


@kernel
def transform_output_line(m0: Any, m1: Any, m2: Any, m3: Any, m4: Any, m5: Any) -> Any:
    """Return the one-dimensional output transform, of six vectors to four."""
    a, b, c, e = add(m1, m2), subtract(m1, m2), add(m3, m4), subtract(m3, m4)
    return (
        add(m0, add(a, c)),
        multiply_add(splat(F2), e, b),
        multiply_add(splat(F4), c, a),
        add(multiply_add(splat(F8), e, b), m5),
    )


@factory()
def make_convolve(
    rows: int,
    columns: int,
    in_stride: int,
    in_channels: int,
    out_channels: int,
    int16: bool = False,
) -> Any:
    """Return the kernel of a 3x3 convolution.

    `convolve(x, n, relu, weights, first, scales, s, biases, b, accumulate, out, v, m, pairs,
    row_scales)` writes the convolution of `n` positions `x` to `out`, or adds it to `out` if
    `accumulate` is true. If `relu` is true, ReLU is first applied to `x`. The weights begin at
    `weights[first]`, those of `int16` with scales from `scales[s]` on; the biases begin at
    `biases[b]`. Scratch space, in numbers, with T = `n * num_tiles(rows, columns)`: `v`
    (transformed inputs) has `36 * (T * in_stride + GAP)`, `m` (products) has
    `36 * (T * out_channels + GAP)`; with `int16`, `pairs` has `T * in_channels / 2` and
    `row_scales` has `T`.

    Args:
        rows: rows of the board.
        columns: columns of the board.
        in_stride: channels of `x` including padding, a multiple of `LANES`.
        in_channels: channels of `x` without padding.
        out_channels: channels of `out`, a multiple of `LANES`.
        int16: whether the matrices are multiplied in 16-bit integers, see `int16_products`; then
            `in_stride` is `in_channels`.
    """
    tile_rows, tile_columns = -(-rows // OUT_TILE), -(-columns // OUT_TILE)
    # Elements of the weights of one product: pairs of integers, or numbers.
    num_weights = in_channels * out_channels // (2 if int16 else 1)
    if int16:
        multiply = make_int16_multiply(tile_rows * tile_columns, in_channels, out_channels)
    else:
        multiply = make_float32_multiply(in_stride, in_channels, out_channels)

    @kernel
    def read(x: Any, start: int, row: int, relu: bool) -> Any:
        """Return the vector at `x[start]`, rectified if `relu`; zeros if `row` is off the board."""
        zero = splat(F0)
        if row < 0 or row >= rows:
            return zero
        v = load(x, start)
        return maximum(v, zero) if relu else v

    @kernel
    def transform_column(x: Any, k: int, top: int, column: int, relu: bool) -> Any:
        """Return the transform of six vectors of a column, from `x[k]` in row `top` down."""
        zero, pitch = splat(F0), columns * in_stride
        if column < 0 or column >= columns:
            return zero, zero, zero, zero, zero, zero
        return transform_input_line(
            read(x, k, top, relu),
            read(x, k + pitch, top + 1, relu),
            read(x, k + 2 * pitch, top + 2, relu),
            read(x, k + 3 * pitch, top + 3, relu),
            read(x, k + 4 * pitch, top + 4, relu),
            read(x, k + 5 * pitch, top + 5, relu),
        )

    @kernel
    def transform_inputs(x: Any, n: int, relu: bool, v: Any) -> None:
        """Write the transforms of all input tiles to `v`."""
        plane = n * tile_rows * tile_columns * in_stride + GAP
        for t in range(n * tile_rows * tile_columns):
            p, top, left = (
                t // (tile_rows * tile_columns),
                t // tile_columns % tile_rows * OUT_TILE - 1,
                t % tile_columns * OUT_TILE - 1,
            )
            for f in range(0, in_stride, LANES):
                k = ((p * rows + top) * columns + left) * in_stride + f
                c0 = transform_column(x, k, top, left, relu)
                c1 = transform_column(x, k + in_stride, top, left + 1, relu)
                c2 = transform_column(x, k + 2 * in_stride, top, left + 2, relu)
                c3 = transform_column(x, k + 3 * in_stride, top, left + 3, relu)
                c4 = transform_column(x, k + 4 * in_stride, top, left + 4, relu)
                c5 = transform_column(x, k + 5 * in_stride, top, left + 5, relu)
                to, row = t * in_stride + f, IN_TILE * plane
                # Not a loop, so that the columns stay in registers.
                e = transform_input_line(c0[0], c1[0], c2[0], c3[0], c4[0], c5[0])
                write_six(v, to, plane, e)
                e = transform_input_line(c0[1], c1[1], c2[1], c3[1], c4[1], c5[1])
                write_six(v, to + row, plane, e)
                e = transform_input_line(c0[2], c1[2], c2[2], c3[2], c4[2], c5[2])
                write_six(v, to + 2 * row, plane, e)
                e = transform_input_line(c0[3], c1[3], c2[3], c3[3], c4[3], c5[3])
                write_six(v, to + 3 * row, plane, e)
                e = transform_input_line(c0[4], c1[4], c2[4], c3[4], c4[4], c5[4])
                write_six(v, to + 4 * row, plane, e)
                e = transform_input_line(c0[5], c1[5], c2[5], c3[5], c4[5], c5[5])
                write_six(v, to + 5 * row, plane, e)

    @kernel
    def write(out: Any, k: int, v: Any, accumulate: bool) -> None:
        """Write a vector to `out[k:]`, or add it."""
        store(out, k, add(load(out, k), v) if accumulate else v)

    @kernel
    def write_row(out: Any, k: int, e: Any, bias: Any, columns_left: int, accumulate: bool) -> None:
        """Write outputs `e` of a tile row, at most `columns_left`, plus `bias`, to `out[k:]`."""
        write(out, k, add(e[0], bias), accumulate)
        if columns_left > 1:
            write(out, k + out_channels, add(e[1], bias), accumulate)
        if columns_left > 2:
            write(out, k + 2 * out_channels, add(e[2], bias), accumulate)
        if columns_left > 3:
            write(out, k + 3 * out_channels, add(e[3], bias), accumulate)

    @kernel
    def transform_outputs(m: Any, n: int, biases: Any, b: int, accumulate: bool, out: Any) -> None:
        """Write the transforms of all products `m`, with biases, to `out`, see `make_convolve`."""
        plane = n * tile_rows * tile_columns * out_channels + GAP
        for t in range(n * tile_rows * tile_columns):
            p, top, left = (
                t // (tile_rows * tile_columns),
                t // tile_columns % tile_rows * OUT_TILE,
                t % tile_columns * OUT_TILE,
            )
            for f in range(0, out_channels, LANES):
                bias = load(biases, b + f)
                k, column = t * out_channels + f, IN_TILE * plane
                c0 = transform_output_line(*read_six(m, k, column))
                c1 = transform_output_line(*read_six(m, k + plane, column))
                c2 = transform_output_line(*read_six(m, k + 2 * plane, column))
                c3 = transform_output_line(*read_six(m, k + 3 * plane, column))
                c4 = transform_output_line(*read_six(m, k + 4 * plane, column))
                c5 = transform_output_line(*read_six(m, k + 5 * plane, column))
                to = ((p * rows + top) * columns + left) * out_channels + f
                pitch, n_rows = columns * out_channels, rows - top
                # Not a loop, so that the columns stay in registers.
                e = transform_output_line(c0[0], c1[0], c2[0], c3[0], c4[0], c5[0])
                write_row(out, to, e, bias, columns - left, accumulate)
                if n_rows > 1:
                    e = transform_output_line(c0[1], c1[1], c2[1], c3[1], c4[1], c5[1])
                    write_row(out, to + pitch, e, bias, columns - left, accumulate)
                if n_rows > 2:
                    e = transform_output_line(c0[2], c1[2], c2[2], c3[2], c4[2], c5[2])
                    write_row(out, to + 2 * pitch, e, bias, columns - left, accumulate)
                if n_rows > 3:
                    e = transform_output_line(c0[3], c1[3], c2[3], c3[3], c4[3], c5[3])
                    write_row(out, to + 3 * pitch, e, bias, columns - left, accumulate)

    @kernel
    def convolve(
        x: Any, n: int, relu: bool, weights: Any, first: int, scales: Any, s: int, biases: Any,
        b: int, accumulate: bool, out: Any, v: Any, m: Any, pairs: Any, row_scales: Any,
    ) -> None:  # fmt: skip
        transform_inputs(x, n, relu, v)
        count = n * tile_rows * tile_columns
        for q in range(PRODUCTS):
            multiply(
                v, q * (count * in_stride + GAP),
                weights, first + q * num_weights, scales, s + q * (out_channels + 1),
                m, q * (count * out_channels + GAP), count, pairs, row_scales,
            )  # fmt: skip
        transform_outputs(m, n, biases, b, accumulate, out)

    return convolve


@factory()
def make_float32_multiply(in_stride: int, in_channels: int, out_channels: int) -> Any:
    """Return `multiply(v, k, weights, first, scales, s, m, to, count, pairs, row_scales)`.

    The kernel writes the product of `count` rows of inputs, from `v[k]` on, with the weights from
    `weights[first]` on to `m[to:]`. All arrays are flat. The other arguments are those of
    `int16_products.make_int16_multiply`, and not used.
    """
    width = gcd(out_channels // LANES, WIDTH)
    most_rows, four_rows, two_rows, one_row = (
        make_multiply_block(BLOCK_ROWS, width),
        make_multiply_block(4, width),
        make_multiply_block(2, width),
        make_multiply_block(1, width),
    )

    @kernel
    def multiply(
        v: Any, k: int, weights: Any, first: int, scales: Any, s: int, m: Any, to: int, count: int,
        pairs: Any, row_scales: Any,
    ) -> None:  # fmt: skip
        for column in range(0, out_channels, width * LANES):
            t, j, n = 0, first + column, out_channels
            while t < count:
                i, o, rows = k + t * in_stride, to + t * n + column, next_block(count - t)
                if rows == BLOCK_ROWS:
                    most_rows(v, i, in_stride, weights, j, n, m, o, n, in_channels)
                elif rows == 4:
                    four_rows(v, i, in_stride, weights, j, n, m, o, n, in_channels)
                elif rows == 2:
                    two_rows(v, i, in_stride, weights, j, n, m, o, n, in_channels)
                else:
                    one_row(v, i, in_stride, weights, j, n, m, o, n, in_channels)
                t += rows

    return multiply


@kernel
def read_six(values: Any, k: int, stride: int) -> Any:
    """Return the six vectors at `values[k]`, `values[k + stride]` and so on."""
    return (
        load(values, k),
        load(values, k + stride),
        load(values, k + 2 * stride),
        load(values, k + 3 * stride),
        load(values, k + 4 * stride),
        load(values, k + 5 * stride),
    )


@kernel
def write_six(values: Any, k: int, stride: int, e: Any) -> None:
    """Write the six vectors `e` to `values[k]`, `values[k + stride]` and so on."""
    store(values, k, e[0])
    store(values, k + stride, e[1])
    store(values, k + 2 * stride, e[2])
    store(values, k + 3 * stride, e[3])
    store(values, k + 4 * stride, e[4])
    store(values, k + 5 * stride, e[5])
