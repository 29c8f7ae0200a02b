"""Vector instructions for products of matrices of 16-bit integers.

An instruction multiplies two 16-bit integers per 32 bits, twice as many numbers as in float32, and
adds both products to a 32-bit sum. Two such integers, a pair, are stored as the low and the high
half of an int32. In interpreted code a vector is a NumPy array.
"""

from functools import cache
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array

from ludoteca.agents.networks.matrix_block import row_pointer, sum_products
from ludoteca.agents.networks.vectors import (
    FLOATS,
    LANES,
    VECTOR,
    multiply_add_vectors,
    splat_vector,
    vector_pointer,
)

_FEATURES = binding.get_host_cpu_features()
_VNNI = LANES == 16 and bool(_FEATURES.get("avx512vnni"))
# Whether the processor multiplies 16-bit integers faster than float32 (`LANES` is 8 with AVX2).
HAS_INT16 = _VNNI or (LANES == 16 and bool(_FEATURES.get("avx512bw"))) or LANES == 8
LARGEST_INT16 = 32_767
# Added to a float32 of absolute value at most 2**22, it leaves the rounded number in the low bits
# of the sum.
ROUNDING = np.float32(1.5 * 2**23)
_INTS, _HALVES = ir.VectorType(ir.IntType(32), LANES), ir.VectorType(ir.IntType(16), 2 * LANES)


def largest(v: Any) -> Any:
    """Return the largest element of a vector, which must not contain NaN."""
    return v.max()


def max_magnitude(v: Any, w: Any) -> Any:
    """Return the elementwise maximum of `v` and the absolute values of `w`."""
    return np.maximum(v, np.abs(w))


def store_pairs(pairs: Any, k: int, low: Any, high: Any, scale: Any) -> None:
    """Write the pairs of two vectors to `pairs[k : k + LANES]`.

    Args:
        pairs: flat array of int32.
        k: index of the first pair.
        low: vector of the low halves; times `scale`, its absolute values are at most 32,767.
        high: vector of the high halves, likewise.
        scale: factor of all numbers, which are then rounded.
    """
    halves = np.rint(np.stack([low, high], -1) * scale).astype(np.int16)
    pairs[k : k + LANES] = halves.view(np.int32)[:, 0]


@cache
def make_multiply_int16_block(rows: int, width: int) -> Any:
    """Return the function of a block of a product of 16-bit integers, with float32 results.

    `multiply_block(a, i, stride_a, b, j, stride_b, c, k, stride_c, depth, scales, s, factors, f)`
    writes `c = (a @ b) * scales[:, None] * factors`. The matrices begin at `a[i]`, `b[j]` and
    `c[k]` of flat arrays, `a` and `b` of pairs; the strides are the elements from one row to the
    next; `a` has `rows` rows and `depth` columns of pairs,
    `b` has `depth` rows of `width` vectors. The scales of the rows begin at `scales[s]`, the
    factors of the columns at `factors[f]`. Sums must not exceed 32 bits.
    """

    def multiply_block(
        a: Any, i: int, stride_a: int, b: Any, j: int, stride_b: int, c: Any, k: int,
        stride_c: int, depth: int, scales: Any, s: int, factors: Any, f: int,
    ) -> None:  # fmt: skip
        columns = width * LANES
        for r in range(rows):
            total = np.zeros(columns, np.int64)
            for d in range(depth):
                line = b[j + d * stride_b : j + d * stride_b + columns]
                x = a[i + r * stride_a + d : i + r * stride_a + d + 1].view(np.int16)
                halves = line.view(np.int16).reshape(columns, 2).astype(np.int64)
                total += halves @ x.astype(np.int64)
            at = k + r * stride_c
            c[at : at + columns] = total * scales[s + r] * factors[f : f + columns]

    compiled_block: Any = _make_block_intrinsic(rows, width)

    @overload(multiply_block)
    def compiled_multiply_block(
        a: Any, i: Any, stride_a: Any, b: Any, j: Any, stride_b: Any, c: Any, k: Any,
        stride_c: Any, depth: Any, scales: Any, s: Any, factors: Any, f: Any,
    ) -> Any:  # fmt: skip
        def call(
            a: Any, i: Any, stride_a: Any, b: Any, j: Any, stride_b: Any, c: Any, k: Any,
            stride_c: Any, depth: Any, scales: Any, s: Any, factors: Any, f: Any,
        ) -> None:  # fmt: skip
            compiled_block(
                a, i, stride_a, b, j, stride_b, c, k, stride_c, depth, scales, s, factors, f
            )

        return call

    return multiply_block


def _make_block_intrinsic(rows: int, width: int) -> Any:
    """Return `multiply_block` as an intrinsic."""

    @intrinsic
    def block(
        typingctx: Any, a: Any, i: Any, stride_a: Any, b: Any, j: Any, stride_b: Any, c: Any,
        k: Any, stride_c: Any, depth: Any, scales: Any, s: Any, factors: Any, f: Any,
    ) -> Any:  # fmt: skip
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            first, second, result, scales, factors = (
                make_array(signature.args[n])(context, builder, args[n]).data
                for n in (0, 3, 6, 10, 12)
            )
            _, i, stride_a, _, j, stride_b, _, k, stride_c, depth, _, s, _, f = args
            lines = [row_pointer(builder, first, i, stride_a, r) for r in range(rows)]
            totals = sum_products(
                builder, lines, builder.gep(second, [j]), stride_b, depth, width, _INTS,
                _multiply_add_pairs,
            )  # fmt: skip
            scales, factors = builder.gep(scales, [s]), builder.gep(factors, [f])
            columns = [
                builder.load(vector_pointer(builder, factors, v), align=4) for v in range(width)
            ]
            for r in range(rows):
                out = row_pointer(builder, result, k, stride_c, r)
                scale = splat_vector(
                    builder, builder.load(builder.gep(scales, [ir.IntType(64)(r)]))
                )
                for v in range(width):
                    number = builder.sitofp(totals[r][v], FLOATS)
                    number = builder.fmul(number, builder.fmul(scale, columns[v]))
                    builder.store(number, vector_pointer(builder, out, v), align=4)
            return context.get_dummy_value()

        index = types.intp
        return (
            types.void(
                a, index, index, b, index, index, c, index, index, index, scales, index, factors,
                index,
            ),
            codegen,
        )  # fmt: skip

    return block


def _multiply_add_pairs(builder: Any, v: Any, w: Any, to: Any) -> Any:
    """Add to each element of `to` the sum of the products of both halves of `v` and `w`."""
    if _VNNI:
        kind, name = ir.FunctionType(_INTS, [_INTS] * 3), "llvm.x86.avx512.vpdpwssd.512"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [to, v, w])
    name = "llvm.x86.avx512.pmaddw.d.512" if LANES == 16 else "llvm.x86.avx2.pmadd.wd"
    kind = ir.FunctionType(_INTS, [_HALVES] * 2)
    halves = [builder.bitcast(x, _HALVES) for x in (v, w)]
    products = builder.call(cgutils.get_or_insert_function(builder.module, kind, name), halves)
    return builder.add(to, products)


# Numba passes the first argument of intrinsics, the typing context, so calls below omit it.
@intrinsic
def _largest(typingctx: Any, v: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.FloatType(), [FLOATS])
        name = f"llvm.vector.reduce.fmax.v{LANES}f32"
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(function, args, fastmath=("nnan",))

    return types.float32(VECTOR), codegen


@intrinsic
def _max_magnitude(typingctx: Any, v: Any, w: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # Non-negative floats are ordered as the integers with the same bits.
        bits = [builder.bitcast(x, _INTS) for x in args]
        bits[1] = builder.and_(bits[1], ir.Constant(_INTS, [0x7FFFFFFF] * LANES))
        larger = builder.select(builder.icmp_unsigned(">", *bits), *bits)
        return builder.bitcast(larger, FLOATS)

    return VECTOR(VECTOR, VECTOR), codegen


@intrinsic
def _store_pairs(typingctx: Any, pairs: Any, k: Any, low: Any, high: Any, scale: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = make_array(signature.args[0])(context, builder, args[0]).data
        scale = splat_vector(builder, args[4])
        rounding = ir.Constant(FLOATS, [float(ROUNDING)] * LANES)

        def bits(v: Any) -> Any:
            return builder.bitcast(multiply_add_vectors(builder, v, scale, rounding), _INTS)

        low = builder.and_(bits(args[2]), ir.Constant(_INTS, [0xFFFF] * LANES))
        high = builder.shl(bits(args[3]), ir.Constant(_INTS, [16] * LANES))
        pointer = vector_pointer(builder, builder.gep(data, [args[1]]), 0, _INTS)
        builder.store(builder.or_(low, high), pointer, align=4)
        return context.get_dummy_value()

    return types.void(pairs, types.intp, VECTOR, VECTOR, types.float32), codegen


@overload(largest, strict=False)
def _compiled_largest(v: Any) -> Any:
    return lambda v: _largest(v)  # type: ignore[call-arg]


@overload(max_magnitude, strict=False)
def _compiled_max_magnitude(v: Any, w: Any) -> Any:
    return lambda v, w: _max_magnitude(v, w)  # type: ignore[call-arg]


@overload(store_pairs, strict=False)
def _compiled_store_pairs(pairs: Any, k: Any, low: Any, high: Any, scale: Any) -> Any:
    return lambda pairs, k, low, high, scale: _store_pairs(  # type: ignore[call-arg]
        pairs, k, low, high, scale
    )
