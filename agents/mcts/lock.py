"""A lock that compiled threads hold while they change a tree they share."""

from typing import Any

from ludoteca.envs.engine.atomics import exchange, load, pause
from ludoteca.envs.jit import kernel

LOCK = 0  # index into the array that holds the lock


@kernel
def acquire(shared: Any) -> None:
    """Wait until nobody holds the lock of `shared`, int64 `[n]`, and take it."""
    while exchange(shared, LOCK, 1) != 0:
        # Look without writing until it seems free, so as not to slow its holder down.
        while load(shared, LOCK) != 0:
            pause()


@kernel
def release(shared: Any) -> None:
    """Give the lock back."""
    exchange(shared, LOCK, 0)
