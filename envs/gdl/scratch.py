"""Scratch memory of compiled code that stays between calls: a slot for each thread that calls.

Kernels have no argument for memory, and their machine code is cached on disk. So compiled code asks
Python for the address of the slots of a program at its first call, by a digest of the program. All
compiled functions of a process share them. A thread claims a slot during each call, if possible the
one that it used last.
"""

import ctypes
import hashlib
from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from ludoteca.envs.atomics import exchange, load, pause, store
from ludoteca.envs.gdl.network import Program
from ludoteca.envs.jit import kernel

SYMBOL = "ludoteca_gdl_find_slots"  # name of the C function, `_find_slots`
THREAD_SYMBOL = "ludoteca_thread_number"  # name of Python's function that identifies a thread
MAX_SLOTS, MIN_SLOTS = 64, 8
MAX_BYTES = 1 << 28  # of the slots of a program, above MIN_SLOTS; used slots only take memory
HEADER = 8  # words of the header of a slot, a cache line
BUSY, OWNER = 0, 1  # indices of words of the header
NO_OWNER = 0


class _Slots(dict[tuple[int, int], NDArray[np.int64]]):
    """Slots of this process by digest and size; their `repr` is the same in every process."""

    def __repr__(self) -> str:
        return "slots"


_slots = _Slots()


def make_slots(num_words: int, digest: int) -> tuple[Any, int, int]:
    """Return `slots()` for compiled code, the number of slots, and the words of each.

    `slots()` returns the int64 array of all slots. Zeros are the initial value.

    Args:
        num_words: number of 64-bit words of a slot, which follow the words of its header.
        digest: name of the slots, the same in each process. Slots with equal names and sizes are
            the same.
    """
    slot_words = HEADER + num_words + -num_words % HEADER
    count = max(MIN_SLOTS, min(MAX_SLOTS, MAX_BYTES // (8 * slot_words)))
    array_type = types.Array(types.int64, 1, "C")
    size = count * slot_words

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
                shape=cgutils.pack_array(builder, [context.get_constant(types.intp, size)]),
                strides=cgutils.pack_array(builder, [context.get_constant(types.intp, 8)]),
                itemsize=context.get_constant(types.intp, 8),
                meminfo=None,
            )
            return array._getvalue()

        return array_type(), generate

    return slots, count, slot_words


def name_slots(purpose: str, *programs: Program) -> int:
    """Return the name of the slots of compiled code that depends on these programs."""
    content = hashlib.sha256(purpose.encode())
    for program in programs:
        for array in (program.gates, program.segments, program.outputs):
            content.update(array.tobytes())
    return int.from_bytes(content.digest()[:7], "little")  # 7 bytes: a positive int64


@kernel
def claim(slots: Any, count: int, slot_words: int) -> int:
    """Claim one of `count` slots, and return its index; wait if all are claimed.

    The first choice is the slot that the thread used last, then one that no thread has used, then
    any other.
    """
    thread = thread_number()  # type: ignore[call-arg, var-annotated]
    first = (thread * 0x9E3779B1 >> 16 & 0xFFFF) % count  # Fibonacci hashing spreads neighbors
    for n in range(count):
        k = (first + n) % count
        owner = load(slots, k * slot_words + OWNER)
        is_free = owner in (thread, NO_OWNER)
        if is_free and exchange(slots, k * slot_words + BUSY, 1) == 0:
            store(slots, k * slot_words + OWNER, thread)
            return k
    k = first
    while exchange(slots, k * slot_words + BUSY, 1) != 0:
        pause()
        k = (k + 1) % count
    store(slots, k * slot_words + OWNER, thread)
    return k


@kernel
def release(slots: Any, k: int, slot_words: int) -> None:
    """Release a slot that the thread has claimed."""
    store(slots, k * slot_words + BUSY, 0)


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
    """Return the address of the slots with a digest and a size in words, for compiled code."""
    if (digest, size) not in _slots:
        # The operating system provides the memory of zeros when a slot is used.
        _slots.setdefault((digest, size), np.zeros(size + HEADER, np.int64))
    address = _slots[digest, size].ctypes.data
    return int(address + -address % (8 * HEADER))


_function = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64)(_find_slots)
llvmlite.binding.add_symbol(SYMBOL, ctypes.cast(_function, ctypes.c_void_p).value)
llvmlite.binding.add_symbol(
    THREAD_SYMBOL,
    ctypes.cast(ctypes.pythonapi.PyThread_get_thread_ident, ctypes.c_void_p).value,
)
