"""Thread pool for steps of a batch; its threads spin in compiled code between calls.

A step of a thousand small games takes tens of microseconds, as long as it takes to wake a thread.
So the threads spin for about a millisecond, waiting for the next call, before they sleep, and the
caller never waits for a sleeping thread. A call consists of slices. Each thread always has the
same slices, so that their data stay in its cache; other threads run the slices of a sleeping one.
`atomics` has the operations on shared memory.

Measured by `ludoteca bench envs --only engine` on two cores of a Xeon server (November 2026), in
steps per second with two threads divided by those with `concurrent.futures.ThreadPoolExecutor` and
one slice per thread: Connect Four 2.02 at B = 1024 and 1.40 at B = 8192, Hex 11x11 1.79 and 1.34,
Hungry Geese 1.46 and 0.98.
"""

import weakref
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.atomics import X86, add, address_of, load, load_tuple, pause, store
from ludoteca.envs.jit import compiled_without_allocation, kernel

CALLER = 0  # index of the calling thread
# Layout of a pool's shared memory, int64; LINE is the number of words of a cache line. Words DONE,
# ARGUMENTS and SLICES: number of finished slices, address of the arguments, number of slices. From
# word NEXT on, one cache line per thread: the index of its next slice, at offset JOINED whether it
# has joined this call, at offset ASLEEP whether it sleeps.
DONE, ARGUMENTS, SLICES, NEXT, LINE = 0, 8, 16, 24, 8
JOINED, ASLEEP = 1, 2
# Number of spins before a thread sleeps: about a millisecond. Only on x86 does `pause` take time.
SPINS = 50_000 if X86 else 1_000_000


def make_sliced(run_slice: Callable[..., None]) -> Any:
    """Compile `run_slice` for a `ThreadPool`.

    Args:
        run_slice: a kernel `run_slice(arguments, thread, k, slices)` that runs slice k of `slices`;
            `arguments` is a tuple.

    Returns:
        `run_slices(shared, thread, arguments)`: the calling thread runs one call to its end;
        another thread helps with calls until it has spun `SPINS` times without one, and its
        `arguments` are only an example with the same types.
    """

    @kernel
    def take_slice(shared: Any, thread: Any, slices: Any, threads: Any) -> int:
        """Take a slice of `thread` itself, or of one of all `threads` that has not joined the call.

        Returns the index of the slice, -1 if none is left. The call does not return, and its
        arguments stay alive, until every slice that was taken is done.
        """
        for k in range(threads):
            owner = (thread + k) % threads
            next_slice, end = NEXT + LINE * owner, slices * (owner + 1) // threads
            if load(shared, next_slice) < end and (
                k == 0 or load(shared, next_slice + JOINED) == 0
            ):
                if k == 0:
                    store(shared, next_slice + JOINED, 1)
                slice_index = add(shared, next_slice, 1)
                if slice_index < end:
                    return int(slice_index)
        return -1

    @compiled_without_allocation
    def run_slices(shared: Any, thread: Any, arguments: Any) -> None:
        slices, threads = shared[SLICES], (len(shared) - NEXT) // LINE
        if thread == CALLER:
            store(shared, ARGUMENTS, address_of(arguments))  # type: ignore[call-arg]
            store(shared, DONE, 0)
            # Storing the next slice opens a thread's slices, so it comes after all else.
            for k in range(threads):
                store(shared, NEXT + LINE * k + JOINED, int(k == CALLER))
                store(shared, NEXT + LINE * k, slices * k // threads)
        spins = 0
        while spins < SPINS:
            slice_index = take_slice(shared, thread, slices, threads)
            if slice_index >= 0:
                address = load(shared, ARGUMENTS)
                call_arguments: Any = load_tuple(address, arguments)  # type: ignore[call-arg]
                run_slice(call_arguments, thread, slice_index, slices)
                add(shared, DONE, 1)
                spins = 0
            elif thread == CALLER:
                break
            else:
                spins += 1
                pause()
        if thread == CALLER:
            while load(shared, DONE) < slices:
                pause()
        else:
            store(shared, NEXT + LINE * thread + ASLEEP, 1)

    return run_slices


class ThreadPool:
    """Pool of threads that share the slices of a call with the calling thread.

    `close()` ends the threads, and so does garbage collection of the pool.
    """

    def __init__(self, run_slices: Any, threads: int, slices: int, example: tuple[Any, ...]):
        """Start the threads.

        Args:
            run_slices: result of `make_sliced`.
            threads: number of threads, the calling one included.
            slices: number of slices of a call.
            example: a tuple of arguments of the types that `run` is called with.
        """
        self._run_slices = run_slices
        self._shared = np.zeros(NEXT + LINE * threads, np.int64)
        self._shared[SLICES] = slices
        self._shared[NEXT:] = slices  # no slice is left
        self._shared[NEXT + LINE + ASLEEP :: LINE] = 1  # all threads but the caller sleep
        self._wake_queues: list[SimpleQueue[bool]] = [SimpleQueue() for _ in range(threads)]
        for k in range(1, threads):
            arguments = (run_slices, self._shared, k, example, self._wake_queues[k])
            Thread(target=_run_helper_thread, args=arguments, daemon=True).start()
        self.close = weakref.finalize(self, _stop_threads, self._wake_queues)

    def run(self, arguments: tuple[Any, ...]) -> None:
        """Run all slices, and return when they are done.

        Args:
            arguments: passed to `run_slice`; of the types of `example`.
        """
        for k in range(1, len(self._wake_queues)):
            if self._shared[NEXT + LINE * k + ASLEEP]:
                self._shared[NEXT + LINE * k + ASLEEP] = 0
                self._wake_queues[k].put(True)
        self._run_slices(self._shared, CALLER, arguments)


# The threads hold no reference to the pool, so that its finalizer can end them.
def _run_helper_thread(
    run_slices: Any,
    shared: NDArray[np.int64],
    thread: int,
    example: tuple[Any, ...],
    wake_queue: "SimpleQueue[bool]",
) -> None:
    """Help with calls whenever the queue yields True; return when it yields False."""
    while wake_queue.get():
        run_slices(shared, thread, example)


def _stop_threads(wake_queues: "list[SimpleQueue[bool]]") -> None:
    """End the helper threads once they sleep."""
    for wake_queue in wake_queues:
        wake_queue.put(False)
