"""Spin lock of compiled threads that share a tree."""

from typing import Any

from ludoteca.envs.atomics import exchange, load, pause
from ludoteca.envs.jit import kernel

LOCK_INDEX = 0  # index into the array that holds the lock


@kernel
def acquire(shared: Any) -> None:
    """Acquire the lock of `shared`, int64 `[n]`."""
    while exchange(shared, LOCK_INDEX, 1) != 0:
        # Only read until it seems free: writes would slow down the thread that holds it.
        while load(shared, LOCK_INDEX) != 0:
            pause()


@kernel
def release(shared: Any) -> None:
    """Release the lock."""
    exchange(shared, LOCK_INDEX, 0)
