"""A lock that compiled threads hold while they change a tree they share."""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array

LOCK = 0  # index into the array that holds the lock


def acquire(shared: Any) -> None:
    """Wait until nobody holds the lock of `shared`, int64 `[n]`, and take it.

    Interpreted code has one thread, and does nothing.
    """


def release(shared: Any) -> None:
    """Give the lock back."""


# Numba passes intrinsics a first argument, the typing context, that type checkers miss below.
@intrinsic
def _exchange(typingctx: Any, array: Any, value: Any) -> Any:
    """Write `value` into the lock and return what was there, in one indivisible step."""
    signature = types.int64(array, types.int64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = make_array(signature.args[0])(context, builder, args[0]).data
        place = cgutils.gep_inbounds(builder, data, LOCK)
        return builder.atomic_rmw("xchg", place, args[1], "seq_cst")

    return signature, codegen


@overload(acquire)
def _acquire(shared: Any) -> Any:
    def wait(shared: Any) -> None:
        while _exchange(shared, 1) != 0:  # type: ignore[call-arg]
            # Look without writing until it seems free, so as not to slow its holder down.
            while _load(shared) != 0:
                pass

    return wait


@overload(release)
def _release(shared: Any) -> Any:
    def free(shared: Any) -> None:
        _exchange(shared, 0)  # type: ignore[call-arg]

    return free


@intrinsic
def _load(typingctx: Any, array: Any) -> Any:
    """Read the lock anew from memory."""
    signature = types.int64(array)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = make_array(signature.args[0])(context, builder, args[0]).data
        place = cgutils.gep_inbounds(builder, data, LOCK)
        return builder.load_atomic(place, "acquire", 8)

    return signature, codegen
