"""SIMD vectors of float32 for compiled functions.

LLVM's automatic vectorization fails in loops over more than a few arrays, so these functions state
the vector instructions. In interpreted code a vector is a NumPy array.
"""

from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model
from numba.np.arrayobj import make_array

_FEATURES = binding.get_host_cpu_features()
LANES = 4  # numbers in a vector
if _FEATURES.get("avx512f"):
    LANES = 16
elif _FEATURES.get("avx2") and _FEATURES.get("fma"):
    LANES = 8
_INDEX, FLOATS = ir.IntType(64), ir.VectorType(ir.FloatType(), LANES)


class VectorType(types.Type):
    """Numba type of a vector: `LANES` numbers in a register."""

    def __init__(self) -> None:
        super().__init__(name=f"float32x{LANES}")


VECTOR = VectorType()


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, FLOATS)


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


def vector_pointer(builder: Any, pointer: Any, v: int, kind: Any = FLOATS) -> Any:
    """Return the LLVM pointer to vector `v`, an index, of those of type `kind` at `pointer`."""
    pointer = builder.gep(pointer, [_INDEX(v * LANES)])
    return builder.bitcast(pointer, kind.as_pointer())


def splat_vector(builder: Any, number: Any, kind: Any = FLOATS) -> Any:
    """Return the LLVM vector of type `kind` with `number` in every element."""
    empty = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(empty, number, ir.IntType(32)(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, empty, mask)


def multiply_add_vectors(builder: Any, v: Any, w: Any, to: Any) -> Any:
    """Return the LLVM value of `v * w + to`, of float32 vectors, by the fused operation."""
    name = f"llvm.fmuladd.v{LANES}f32"
    function = ir.FunctionType(FLOATS, [FLOATS] * 3)
    return builder.call(cgutils.get_or_insert_function(builder.module, function, name), [v, w, to])


# Intrinsics of the functions above. Numba passes their first argument, the typing context, so calls
# below omit it. `codegen` writes LLVM's instructions with `builder`; `args` are LLVM values.
@intrinsic
def _load(typingctx: Any, values: Any, k: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load(vector_pointer(builder, builder.gep(data, [args[1]]), 0), align=4)

    return VECTOR(values, types.intp), codegen


@intrinsic
def _store(typingctx: Any, values: Any, k: Any, v: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = make_array(signature.args[0])(context, builder, args[0]).data
        builder.store(args[2], vector_pointer(builder, builder.gep(data, [args[1]]), 0), align=4)
        return context.get_dummy_value()

    return types.void(values, types.intp, VECTOR), codegen


@intrinsic
def _splat_number(typingctx: Any, number: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return splat_vector(builder, args[0])

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
        return multiply_add_vectors(builder, *args)

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
