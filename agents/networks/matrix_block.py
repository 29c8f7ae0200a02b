"""Blocks of matrix products: the part of a product whose sums stay in vector registers."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array

from ludoteca.agents.networks.vectors import (
    FLOATS,
    LANES,
    multiply_add_vectors,
    splat_vector,
    vector_pointer,
)
from ludoteca.envs.jit import kernel

BLOCK_ROWS = 4 if LANES == 16 else 6  # maximum number of rows of a block, as measured
# Vectors in a row of a block: AVX2 (`LANES` 8) has 16 vector registers, AVX-512 and NEON have 32.
WIDTH = 2 if LANES == 8 else 4
_INDEX = ir.IntType(64)


@cache
def make_multiply_block(rows: int, width: int) -> Any:
    """Return `multiply_block(a, i, stride_a, b, j, stride_b, c, k, stride_c, depth)`.

    It writes the matrix product `c = a @ b`. The matrices begin at `a[i]`, `b[j]` and `c[k]` of
    flat arrays; the strides are the numbers of elements from one row to the next. `a` has `rows`
    rows and `depth` columns, `b` has `depth` rows of `width` vectors.
    """

    def multiply_block(
        a: Any, i: int, stride_a: int, b: Any, j: int, stride_b: int, c: Any, k: int,
        stride_c: int, depth: int,
    ) -> None:  # fmt: skip
        for r in range(rows):
            total = np.zeros(width * LANES, np.float32)
            for d in range(depth):
                total += (
                    a[i + r * stride_a + d] * b[j + d * stride_b : j + d * stride_b + width * LANES]
                )
            c[k + r * stride_c : k + r * stride_c + width * LANES] = total

    compiled_block: Any = _make_block_intrinsic(rows, width)

    @overload(multiply_block)
    def compiled_multiply_block(
        a: Any, i: Any, stride_a: Any, b: Any, j: Any, stride_b: Any, c: Any, k: Any,
        stride_c: Any, depth: Any,
    ) -> Any:  # fmt: skip
        def call(
            a: Any, i: Any, stride_a: Any, b: Any, j: Any, stride_b: Any,
            c: Any, k: Any, stride_c: Any, depth: Any,
        ) -> None:  # fmt: skip
            compiled_block(a, i, stride_a, b, j, stride_b, c, k, stride_c, depth)

        return call

    return multiply_block


@kernel
def next_block(rows: int) -> int:
    """Return the rows of the next block of a product with `rows` rows left.

    They are 4, 2, 1 or, if `BLOCK_ROWS` is 6, 6.
    """
    if rows >= BLOCK_ROWS and rows != 8:  # two blocks of 4 are faster than 6 and 2
        return BLOCK_ROWS
    return 4 if rows >= 4 else min(rows, 2)


def _make_block_intrinsic(rows: int, width: int) -> Any:
    """Return `multiply_block` as an intrinsic."""

    @intrinsic
    def block(
        typingctx: Any,
        a: Any, i: Any, stride_a: Any, b: Any, j: Any, stride_b: Any, c: Any, k: Any, stride_c: Any,
        depth: Any,
    ) -> Any:  # fmt: skip
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            first, second, result = (
                make_array(signature.args[n])(context, builder, args[n]).data for n in (0, 3, 6)
            )
            _, i, stride_a, _, j, stride_b, _, k, stride_c, depth = args
            lines = [row_pointer(builder, first, i, stride_a, r) for r in range(rows)]
            totals = sum_products(
                builder, lines, builder.gep(second, [j]), stride_b, depth, width, FLOATS,
                multiply_add_vectors,
            )  # fmt: skip
            for r in range(rows):
                out = row_pointer(builder, result, k, stride_c, r)
                for v in range(width):
                    builder.store(totals[r][v], vector_pointer(builder, out, v), align=4)
            return context.get_dummy_value()

        index = types.intp
        return (
            types.void(a, index, index, b, index, index, c, index, index, index),
            codegen,
        )

    return block


def sum_products(
    builder: Any,
    lines: list[Any],
    matrix: Any,
    stride: Any,
    depth: Any,
    width: int,
    kind: Any,
    multiply_add: Callable[..., Any],
) -> list[list[Any]]:
    """Build the loop of a block; return its sums, LLVM vectors `[rows][width]`.

    Args:
        builder: LLVM builder.
        lines: pointers to the rows of the first matrix.
        matrix: pointer to the second matrix.
        stride: numbers between its rows.
        depth: columns of the first matrix, rows of the second.
        width: vectors in a row of the second matrix.
        kind: LLVM type of the vectors.
        multiply_add: `multiply_add(builder, v, w, to)` returns the LLVM value of `v * w + to`.
    """
    before = builder.block
    loop, end = (builder.append_basic_block(name) for name in ("multiply", "multiplied"))
    builder.branch(loop)
    builder.position_at_end(loop)
    d = builder.phi(_INDEX)
    sums = [[builder.phi(kind) for _ in range(width)] for _ in lines]
    line = builder.gep(matrix, [builder.mul(d, stride)])
    factors = [builder.load(vector_pointer(builder, line, v, kind), align=4) for v in range(width)]
    totals = []
    for row, row_sums in zip(lines, sums, strict=True):
        number = splat_vector(builder, builder.load(builder.gep(row, [d])), kind)
        totals.append(
            [
                multiply_add(builder, number, factor, to)
                for factor, to in zip(factors, row_sums, strict=True)
            ]
        )
    following = builder.add(d, _INDEX(1))
    d.add_incoming(_INDEX(0), before)
    d.add_incoming(following, loop)
    for row_sums, row_totals in zip(sums, totals, strict=True):
        for phi, total in zip(row_sums, row_totals, strict=True):
            phi.add_incoming(ir.Constant(kind, None), before)
            phi.add_incoming(total, loop)
    builder.cbranch(builder.icmp_signed("<", following, depth), loop, end)
    builder.position_at_end(end)
    return totals


def row_pointer(builder: Any, data: Any, start: Any, stride: Any, r: int) -> Any:
    """Return the LLVM pointer to `data[start + stride * r]`."""
    return builder.gep(data, [builder.add(start, builder.mul(stride, _INDEX(r)))])
