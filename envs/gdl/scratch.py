"""Scratch memory of compiled code that stays between calls: a slot for each thread that calls.

Kernels have no argument for memory, and their machine code is cached on disk. So compiled code gets
the address of the slots of a program from Python, by a digest of the program, at its first call; all
compiled functions of a process share them. A thread claims a slot during each call, if possible the
one that it used last.
"""

import ctypes
from typing import Any

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from ludoteca.envs.atomics import exchange, load, pause, store
from ludoteca.envs.jit import kernel

SYMBOL = "ludoteca_gdl_find_slots"  # name of the C function, `_find_slots`
THREAD_SYMBOL = "ludoteca_thread_number"  # name of Python's function that identifies a thread
MAX_SLOTS, MIN_SLOTS = 64, 8
MAX_BYTES = 1 << 28  # of the slots of a program, above MIN_SLOTS; used slots only take memory
LINE = 64  # bytes of a cache line
BUSY, OWNER = 0, 1  # indices of the field `claim` of a slot
NO_OWNER = 0


class _Slots(dict[tuple[int, int], NDArray[np.uint8]]):
    """Slots of this process by digest and size; their `repr` is the same in every process."""

    def __repr__(self) -> str:
        return "slots"


_slots = _Slots()


def make_slots(dtype: np.dtype[np.void], digest: int) -> tuple[Any, int]:
    """Return `slots()` for compiled code, which returns the array of slots, and their number.

    Args:
        dtype: dtype of a slot, aligned; its field `claim` has 8 int64. Zeros are the initial value.
        digest: name of the slots, the same in each process. Slots with equal names and sizes are
            the same.
    """
    count = max(MIN_SLOTS, min(MAX_SLOTS, MAX_BYTES // dtype.itemsize))
    array_type = types.Array(numba.from_dtype(dtype), 1, "C")
    size = count * dtype.itemsize

    @intrinsic
    def slots(context: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            int64, module = ir.IntType(64), builder.module
            name = module.get_unique_name(f"slots_{digest}")
            known = cgutils.add_global_variable(module, int64, name)
            known.linkage, known.initializer = "internal", ir.Constant(int64, 0)
            address = cgutils.alloca_once_value(builder, builder.load_atomic(known, "acquire", 8))
            is_unknown = builder.icmp_unsigned("==", builder.load(address), ir.Constant(int64, 0))
            with builder.if_then(is_unknown, likely=False):
                kind = ir.FunctionType(int64, [int64, int64])
                function = cgutils.get_or_insert_function(module, kind, SYMBOL)
                numbers = [ir.Constant(int64, digest), ir.Constant(int64, size)]
                found = builder.call(function, numbers)
                builder.store_atomic(found, known, "release", 8)
                builder.store(found, address)
            array = context.make_array(array_type)(context, builder)
            context.populate_array(
                array,
                data=builder.inttoptr(builder.load(address), array.data.type),
                shape=cgutils.pack_array(builder, [context.get_constant(types.intp, count)]),
                strides=cgutils.pack_array(
                    builder, [context.get_constant(types.intp, dtype.itemsize)]
                ),
                itemsize=context.get_constant(types.intp, dtype.itemsize),
                meminfo=None,
            )
            return array._getvalue()

        return array_type(), generate

    return slots, count


@kernel
def claim(slots: Any, count: int) -> int:
    """Claim one of `count` slots, and return its index; wait if all are claimed.

    The first choice is the slot that the thread used last, then one that no thread has used, then
    any other.
    """
    thread = thread_number()
    first = (thread * 0x9E3779B1 >> 16) % count  # Fibonacci hashing: neighbors are spread
    for n in range(count):
        k = (first + n) % count
        owner = load(slots[k].claim, OWNER)
        if (owner == thread or owner == NO_OWNER) and exchange(slots[k].claim, BUSY, 1) == 0:
            store(slots[k].claim, OWNER, thread)
            return k
    k = first
    while exchange(slots[k].claim, BUSY, 1) != 0:
        pause()
        k = (k + 1) % count
    store(slots[k].claim, OWNER, thread)
    return k


@kernel
def release(slots: Any, k: int) -> None:
    """Release a slot that the thread has claimed."""
    store(slots[k].claim, BUSY, 0)


@intrinsic
def thread_number(typingctx: Any) -> Any:
    """Return a number of the calling thread, positive and below 2**32, by Python's C function."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        int32, int64 = ir.IntType(32), ir.IntType(64)
        kind = ir.FunctionType(int32, [])  # the lower half of an unsigned long, where that has 64
        function = cgutils.get_or_insert_function(builder.module, kind, THREAD_SYMBOL)
        number = builder.zext(builder.call(function, []), int64)
        return builder.or_(number, ir.Constant(int64, 1))  # `NO_OWNER` is no thread

    return types.int64(), generate


def _find_slots(digest: int, size: int) -> int:
    """Return the address of the slots with a digest and a size in bytes, for compiled code."""
    if (digest, size) not in _slots:
        # The operating system provides the memory of zeros when a slot is used.
        _slots.setdefault((digest, size), np.zeros(size + LINE, np.uint8))
    address = _slots[digest, size].ctypes.data
    return address + -address % LINE


_function = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64)(_find_slots)
llvmlite.binding.add_symbol(SYMBOL, ctypes.cast(_function, ctypes.c_void_p).value)
llvmlite.binding.add_symbol(
    THREAD_SYMBOL,
    ctypes.cast(ctypes.pythonapi.PyThread_get_thread_ident, ctypes.c_void_p).value,
)
