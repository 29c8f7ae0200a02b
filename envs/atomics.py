"""Atomic operations on shared memory in compiled code, for `thread_pool`.

In interpreted mode, which has one thread, they are plain reads and writes.
"""

import platform
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array

X86 = platform.machine().lower() in ("x86_64", "amd64", "i386", "i686")


# In these functions `shared` is an int64 array that several threads use, `k` an index.


def load(shared: Any, k: int) -> int:
    """Return `shared[k]` by an atomic load (sequentially consistent)."""
    return int(shared[k])


def store(shared: Any, k: int, value: int) -> None:
    """Write `shared[k] = value` by an atomic store (sequentially consistent)."""
    shared[k] = value


def exchange(shared: Any, k: int, value: int) -> int:
    """Write `shared[k] = value` and return the old value, atomically."""
    old = int(shared[k])
    shared[k] = value
    return old


def add(shared: Any, k: int, value: int) -> int:
    """Add `value` to `shared[k]` and return the old value, atomically."""
    old = int(shared[k])
    shared[k] += value
    return old


def pause() -> None:
    """Yield to the other hardware thread of the core, in spin loops (only x86; else do nothing)."""


# Numba passes the first argument of intrinsics, `typingctx`, itself; type checkers do not know
# that, hence the `type: ignore` at their calls. The 8 in loads and stores is the alignment in
# bytes.
@intrinsic
def _load(typingctx: Any, shared: Any, k: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_pointer(context, builder, signature, args), "seq_cst", 8)

    return types.int64(shared, types.int64), codegen


@intrinsic
def _store(typingctx: Any, shared: Any, k: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature, args)
        builder.store_atomic(args[2], pointer, "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(shared, types.int64, types.int64), codegen


def _read_modify_write(operation: str) -> Any:
    """Return the intrinsic of LLVM's `atomicrmw` with `operation`, such as `"xchg"` or `"add"`."""

    @intrinsic
    def read_modify_write(typingctx: Any, shared: Any, k: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = _pointer(context, builder, signature, args)
            return builder.atomic_rmw(operation, pointer, args[2], "seq_cst")

        return types.int64(shared, types.int64, types.int64), codegen

    return read_modify_write


_exchange, _add = _read_modify_write("xchg"), _read_modify_write("add")


@intrinsic
def _pause(typingctx: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if X86:
            signature_of_pause = ir.FunctionType(ir.VoidType(), ())
            function = cgutils.get_or_insert_function(
                builder.module, signature_of_pause, "llvm.x86.sse2.pause"
            )
            builder.call(function, ())
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def address_of(typingctx: Any, values: Any) -> Any:
    """Return the address of a copy of the tuple `values`; valid until the calling code returns."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        copy = cgutils.alloca_once_value(builder, args[0])
        return builder.ptrtoint(copy, ir.IntType(64))

    return types.int64(values), codegen


@intrinsic
def load_tuple(typingctx: Any, address: Any, example: Any) -> Any:
    """Return the tuple at `address`; it must have the element types of the tuple `example`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], args[1].type.as_pointer())
        return builder.load(pointer)

    return example(types.int64, example), codegen


def _pointer(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Return the pointer to `shared[k]`."""
    data = make_array(signature.args[0])(context, builder, args[0]).data
    return builder.gep(data, [args[1]], inbounds=True)


@overload(load)
def _compiled_load(shared: Any, k: Any) -> Any:
    def call(shared: Any, k: Any) -> Any:
        return _load(shared, k)  # type: ignore[call-arg]

    return call


@overload(store)
def _compiled_store(shared: Any, k: Any, value: Any) -> Any:
    def call(shared: Any, k: Any, value: Any) -> None:
        _store(shared, k, value)  # type: ignore[call-arg]

    return call


@overload(exchange)
def _compiled_exchange(shared: Any, k: Any, value: Any) -> Any:
    def call(shared: Any, k: Any, value: Any) -> Any:
        return _exchange(shared, k, value)

    return call


@overload(add)
def _compiled_add(shared: Any, k: Any, value: Any) -> Any:
    def call(shared: Any, k: Any, value: Any) -> Any:
        return _add(shared, k, value)

    return call


@overload(pause)
def _compiled_pause() -> Any:
    def call() -> None:
        _pause()  # type: ignore[call-arg]

    return call
