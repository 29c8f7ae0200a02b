"""SIMD vectors of float32 for compiled functions, and products of small matrices.

LLVM's automatic vectorization fails in loops over more than a few arrays, so these functions state
the vector instructions. In interpreted code a vector is a NumPy array.
"""

from functools import cache
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model
from numba.np.arrayobj import make_array

_FEATURES = binding.get_host_cpu_features()
# Numbers in a vector, and vectors in a row of a block, whose sums stay in registers. A block is the
# part of a matrix product that is computed at once.
LANES, WIDTH = 4, 4
if _FEATURES.get("avx512f"):
    LANES, WIDTH = 16, 4
elif _FEATURES.get("avx2") and _FEATURES.get("fma"):
    LANES, WIDTH = 8, 2
BLOCK_ROWS = 6  # rows of a block
_INDEX, _VECTOR = ir.IntType(64), ir.VectorType(ir.FloatType(), LANES)


class VectorType(types.Type):
    """Numba type of a vector: `LANES` numbers in a register."""

    def __init__(self) -> None:
        super().__init__(name=f"float32x{LANES}")


VECTOR = VectorType()


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, _VECTOR)


def load(values: Any, k: int) -> Any:
    """Return the vector `values[k : k + LANES]` of a flat array."""
    return values[k : k + LANES].copy()


def store(values: Any, k: int, v: Any) -> None:
    """Write a vector to `values[k : k + LANES]` of a flat array."""
    values[k : k + LANES] = v


def splat(number: Any) -> Any:
    """Return a vector with `number` in every element."""
    return np.full(LANES, number, np.float32)


def add(v: Any, w: Any) -> Any:
    """Return the sum of two vectors."""
    return v + w


def subtract(v: Any, w: Any) -> Any:
    """Return the difference of two vectors."""
    return v - w


def maximum(v: Any, w: Any) -> Any:
    """Return the elementwise maximum of two vectors."""
    return np.maximum(v, w)


def multiply_add(v: Any, w: Any, to: Any) -> Any:
    """Return `v * w + to`."""
    return v * w + to


@cache
def make_multiply_block(rows: int, width: int) -> Any:
    """Return `multiply_block(a, i, stride_a, b, j, stride_b, c, k, stride_c, depth)`.

    It writes the matrix product `c = a @ b`. The matrices begin at `a[i]`, `b[j]` and `c[k]` of
    flat arrays; `a` has `rows` rows and `depth` columns, `b` has `width` vectors as columns.
    """

    def multiply_block(
        a: Any,
        i: int,
        stride_a: int,
        b: Any,
        j: int,
        stride_b: int,
        c: Any,
        k: int,
        stride_c: int,
        depth: int,
    ) -> None:
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
        a: Any,
        i: Any,
        stride_a: Any,
        b: Any,
        j: Any,
        stride_b: Any,
        c: Any,
        k: Any,
        stride_c: Any,
        depth: Any,
    ) -> Any:
        def call(
            a: Any, i: Any, stride_a: Any, b: Any, j: Any, stride_b: Any,
            c: Any, k: Any, stride_c: Any, depth: Any,
        ) -> None:  # fmt: skip
            compiled_block(a, i, stride_a, b, j, stride_b, c, k, stride_c, depth)

        return call

    return multiply_block


def _make_block_intrinsic(rows: int, width: int) -> Any:
    """Return `multiply_block` as an intrinsic: a loop over `depth` with `rows * width` sums."""

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
            lines = [_row(builder, first, i, stride_a, r) for r in range(rows)]
            weights = builder.gep(second, [j])
            before = builder.block
            loop, end = (builder.append_basic_block(name) for name in ("multiply", "multiplied"))
            builder.branch(loop)
            builder.position_at_end(loop)
            d = builder.phi(_INDEX)
            sums = [[builder.phi(_VECTOR) for _ in range(width)] for _ in range(rows)]
            line = builder.gep(weights, [builder.mul(d, stride_b)])
            factors = [builder.load(_vector_at(builder, line, v), align=4) for v in range(width)]
            totals = []
            for r in range(rows):
                number = _splat(builder, builder.load(builder.gep(lines[r], [d])))
                totals.append(
                    [_multiply_add(builder, number, factors[v], sums[r][v]) for v in range(width)]
                )
            following = builder.add(d, _INDEX(1))
            for phi, start, value in [(d, _INDEX(0), following)] + [
                (sums[r][v], ir.Constant(_VECTOR, [0.0] * LANES), totals[r][v])
                for r in range(rows)
                for v in range(width)
            ]:
                phi.add_incoming(start, before)
                phi.add_incoming(value, loop)
            builder.cbranch(builder.icmp_signed("<", following, depth), loop, end)
            builder.position_at_end(end)
            for r in range(rows):
                out = _row(builder, result, k, stride_c, r)
                for v in range(width):
                    builder.store(totals[r][v], _vector_at(builder, out, v), align=4)
            return context.get_dummy_value()

        index = types.intp
        return (
            types.void(a, index, index, b, index, index, c, index, index, index),
            codegen,
        )

    return block


def _row(builder: Any, data: Any, start: Any, stride: Any, r: int) -> Any:
    """Return the pointer to `data[start + stride * r]`."""
    return builder.gep(data, [builder.add(start, builder.mul(stride, _INDEX(r)))])


def _vector_at(builder: Any, pointer: Any, v: int) -> Any:
    """Return the pointer to vector `v` of an array of numbers."""
    pointer = builder.gep(pointer, [_INDEX(v * LANES)])
    return builder.bitcast(pointer, _VECTOR.as_pointer())


def _splat(builder: Any, number: Any) -> Any:
    """Return a vector with `number` in every element."""
    empty = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(empty, number, ir.IntType(32)(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, empty, mask)


def _multiply_add(builder: Any, v: Any, w: Any, to: Any) -> Any:
    """Return `v * w + to`, by LLVM's fused operation."""
    name = f"llvm.fmuladd.v{LANES}f32"
    function = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
    return builder.call(cgutils.get_or_insert_function(builder.module, function, name), [v, w, to])


# Numba passes the first argument of intrinsics, the typing context, so calls below omit it.
@intrinsic
def _load(typingctx: Any, values: Any, k: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load(_vector_at(builder, builder.gep(data, [args[1]]), 0), align=4)

    return VECTOR(values, types.intp), codegen


@intrinsic
def _store(typingctx: Any, values: Any, k: Any, v: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = make_array(signature.args[0])(context, builder, args[0]).data
        builder.store(args[2], _vector_at(builder, builder.gep(data, [args[1]]), 0), align=4)
        return context.get_dummy_value()

    return types.void(values, types.intp, VECTOR), codegen


@intrinsic
def _splat_number(typingctx: Any, number: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _splat(builder, args[0])

    return VECTOR(types.float32), codegen


def _arithmetic(operation: str) -> Any:
    """Return the intrinsic of an LLVM operation on two vectors."""

    @intrinsic
    def combine(typingctx: Any, v: Any, w: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, operation)(*args)

        return VECTOR(VECTOR, VECTOR), codegen

    return combine


_add, _subtract = _arithmetic("fadd"), _arithmetic("fsub")


@intrinsic
def _maximum(typingctx: Any, v: Any, w: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return VECTOR(VECTOR, VECTOR), codegen


@intrinsic
def _multiply_add_vectors(typingctx: Any, v: Any, w: Any, to: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _multiply_add(builder, *args)

    return VECTOR(VECTOR, VECTOR, VECTOR), codegen


@overload(load, strict=False)
def _compiled_load(values: Any, k: Any) -> Any:
    return lambda values, k: _load(values, k)  # type: ignore[call-arg]


@overload(store, strict=False)
def _compiled_store(values: Any, k: Any, v: Any) -> Any:
    return lambda values, k, v: _store(values, k, v)  # type: ignore[call-arg]


@overload(splat, strict=False)
def _compiled_splat(number: Any) -> Any:
    return lambda number: _splat_number(number)  # type: ignore[call-arg]


@overload(add, strict=False)
def _compiled_add(v: Any, w: Any) -> Any:
    return lambda v, w: _add(v, w)


@overload(subtract, strict=False)
def _compiled_subtract(v: Any, w: Any) -> Any:
    return lambda v, w: _subtract(v, w)


@overload(maximum, strict=False)
def _compiled_maximum(v: Any, w: Any) -> Any:
    return lambda v, w: _maximum(v, w)  # type: ignore[call-arg]


@overload(multiply_add, strict=False)
def _compiled_multiply_add(v: Any, w: Any, to: Any) -> Any:
    return lambda v, w, to: _multiply_add_vectors(v, w, to)  # type: ignore[call-arg]
