"""Threads that share the calls of one compiled function.

A step of a thousand small games takes tens of microseconds, as long as it takes to wake a thread.
So the threads of a pool watch for the next call for a while before they go to sleep, and the caller
never waits for one that sleeps. The work is cut into slices. Each thread has its own, always the
same ones, so that their data stay in its cache; those of a thread that sleeps are done by others.
"""

import weakref
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.engine.atomics import X86, add, borrow, lend, load, pause, store
from ludoteca.envs.jit import compiled_without_allocation, kernel

CALLER = 0  # index of the calling thread
# The words of a pool's shared memory, in cache lines of their own: how many slices are finished,
# where the arguments are, how many slices there are, and then, for each thread, which of its slices
# is the next, whether it has come to this call, and whether it has gone to sleep.
DONE, ARGUMENTS, SLICES, NEXT, LINE = 0, 8, 16, 24, 8
HERE, ASLEEP = 1, 2  # after NEXT
# How often a thread looks before it sleeps: about a millisecond.
SPINS = 50_000 if X86 else 1_000_000


def make_sliced(work: Callable[..., None]) -> Any:
    """Compile `work` for a `ThreadPool`.

    Args:
        work: a kernel `work(arguments, thread, slice_, slices)` that does one of `slices` parts;
            `arguments` is a tuple.

    Returns:
        `share(shared, thread, arguments)`: the caller begins a call and returns when it is done;
        another thread takes part in calls until none has come for a while. Its own `arguments` only
        tell the types.
    """

    @kernel
    def take(shared: Any, thread: Any, slices: Any, threads: Any) -> int:
        """Return a slice that nobody has taken, of the thread's own or of one that sleeps, or -1.

        Whoever takes a slice keeps the call from returning, and its arguments alive, until the
        slice is done.
        """
        for k in range(threads):
            owner = (thread + k) % threads
            mine, end = NEXT + LINE * owner, slices * (owner + 1) // threads
            if load(shared, mine) < end and (k == 0 or load(shared, mine + HERE) == 0):
                if k == 0:
                    store(shared, mine + HERE, 1)
                slice_ = add(shared, mine, 1)
                if slice_ < end:
                    return int(slice_)
        return -1

    @compiled_without_allocation
    def share(shared: Any, thread: Any, arguments: Any) -> None:
        slices, threads = shared[SLICES], (len(shared) - NEXT) // LINE
        if thread == CALLER:
            store(shared, ARGUMENTS, lend(arguments))  # type: ignore[call-arg]
            store(shared, DONE, 0)
            for k in range(threads):
                store(shared, NEXT + LINE * k + HERE, int(k == CALLER))
                store(shared, NEXT + LINE * k, slices * k // threads)
        looked = 0
        while looked < SPINS:
            slice_ = take(shared, thread, slices, threads)
            if slice_ >= 0:
                lent: Any = borrow(load(shared, ARGUMENTS), arguments)  # type: ignore[call-arg]
                work(lent, thread, slice_, slices)
                add(shared, DONE, 1)
                looked = 0
            elif thread == CALLER:
                break
            else:
                looked += 1
                pause()
        if thread == CALLER:
            while load(shared, DONE) < slices:
                pause()
        else:
            store(shared, NEXT + LINE * thread + ASLEEP, 1)

    return share


class ThreadPool:
    """The calling thread, and others that take part in its calls."""

    def __init__(self, share: Any, threads: int, slices: int, example: tuple[Any, ...]):
        """Start the threads.

        Args:
            share: what `make_sliced` returned.
            threads: their number, the calling one included.
            slices: into how many parts a call is cut.
            example: a tuple of arguments, of the types that `run` will be called with.
        """
        self._share = share
        self._shared = np.zeros(NEXT + LINE * threads, np.int64)
        self._shared[SLICES] = slices
        self._shared[NEXT:] = slices  # none is left
        self._shared[NEXT + LINE + ASLEEP :: LINE] = 1
        self._bells: list[SimpleQueue[bool]] = [SimpleQueue() for _ in range(threads)]
        for k in range(1, threads):
            helper = (share, self._shared, k, example, self._bells[k])
            Thread(target=_help, args=helper, daemon=True).start()
        self.close = weakref.finalize(self, _end, self._bells)

    def run(self, arguments: tuple[Any, ...]) -> None:
        """Do the work, and return when all of it is done."""
        for k in range(1, len(self._bells)):
            if self._shared[NEXT + LINE * k + ASLEEP]:
                self._shared[NEXT + LINE * k + ASLEEP] = 0
                self._bells[k].put(True)
        self._share(self._shared, CALLER, arguments)


# The threads must not hold the pool: it ends them when nobody holds it any more.
def _help(
    share: Any,
    shared: NDArray[np.int64],
    thread: int,
    example: tuple[Any, ...],
    bell: "SimpleQueue[bool]",
) -> None:
    while bell.get():
        share(shared, thread, example)


def _end(bells: "list[SimpleQueue[bool]]") -> None:
    for bell in bells:
        bell.put(False)
