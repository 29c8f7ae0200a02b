"""Executors on this machine: with worker processes, or in this process."""

import os
import pickle
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from ludoteca.child_processes import end_with_parent, started_by_main_thread
from ludoteca.executor import Executor, NextTask, Stream, Task, _Wait
from ludoteca.shared import Shared, ValueCache
from ludoteca.worker import TaskStatus, run_task, unpickle_result
from ludoteca.worker_pool import Job, WorkerPool

T = TypeVar("T")
# Set to 1 in workers: without them, some libraries use all cores in each process.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass
class WorkerProcess:
    """Process that runs tasks.

    Attributes:
        process: the process of `multiprocessing`.
        connection: this process's end of the pipe to it.
        cache: keys of the shared values that the process has.
    """

    process: Any
    connection: Connection
    cache: ValueCache = field(default_factory=ValueCache)


class LocalExecutor(WorkerPool[WorkerProcess]):
    """Executor with worker processes on this machine."""

    def __init__(self, num_workers: int):
        """Start the processes."""
        super().__init__(num_workers)
        self._pickled_values: WeakKeyDictionary[Shared[Any], bytes] = WeakKeyDictionary()
        self.start_missing()

    def start_missing(self) -> None:
        """Start a process in every slot that has none."""
        if any(slot.state == "absent" for slot in self.slots):
            with _environment(dict.fromkeys(THREAD_VARIABLES, "1")), _interrupts_blocked():
                super().start_missing()

    def start(self, number: int) -> tuple[WorkerProcess, bool]:
        """Start a process, see `WorkerPool.start`.

        It can receive a task at once: the pipe buffers the task until the process is ready.
        """
        context = get_context("spawn")  # a fork would copy locks that other threads hold
        own_end, worker_end = context.Pipe()
        process = context.Process(
            target=_run_worker, args=(worker_end, started_by_main_thread()), daemon=True
        )
        process.start()
        worker_end.close()
        return WorkerProcess(process, own_end), True

    def stop(self, workers: list[WorkerProcess]) -> None:
        """End processes, busy ones included."""
        for worker in workers:
            worker.connection.close()
            worker.process.terminate()
        for worker in workers:
            worker.process.join()

    def send(self, worker: WorkerProcess, job: Job) -> bool:
        """Send a task to an idle process; return whether the process could receive it."""
        new = {
            key: self._pickle_once(value)
            for key, value in job.shared.items()
            if key not in worker.cache
        }
        worker.cache.use([*job.shared], dict.fromkeys(new))  # as the process does with its cache
        try:
            worker.connection.send((job.data, [*job.shared], new))
        except OSError:  # the process has died
            return False
        return True

    def wait(self, timeout: float | None) -> list[tuple[int, TaskStatus, Any]]:
        """Wait until processes answer or die, see `WorkerPool.wait`."""
        busy = {
            slot.worker.connection: number
            for number, slot in enumerate(self.slots)
            if slot.state == "busy" and slot.worker is not None
        }
        messages: list[tuple[int, TaskStatus, Any]] = []
        for connection in wait(list(busy), timeout):
            assert isinstance(connection, Connection)
            number = busy[connection]
            try:
                messages.append((number, *unpickle_result(connection.recv_bytes())))
            except (EOFError, OSError):
                messages.append((number, "died", self._death_reason(number)))
        return messages

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers."""
        return [slot.worker.process.pid for slot in self.slots if slot.worker is not None]

    def _pickle_once(self, value: Shared[Any]) -> bytes:
        """Return a shared value as pickled bytes; each value is pickled once."""
        if value not in self._pickled_values:
            self._pickled_values[value] = pickle.dumps(value.get())
        return self._pickled_values[value]

    def _death_reason(self, number: int) -> str:
        """Return a description of the death of the process in slot `number`."""
        worker = self.slots[number].worker
        assert worker is not None
        worker.process.join()
        return (
            f"process {worker.process.pid} died with exit code {worker.process.exitcode}; was "
            "there enough memory?"
        )


class InlineExecutor(Executor):
    """Executor in this process, one task after another."""

    num_workers = 1

    def stream(self, next_task: NextTask[T], *, pinned: bool = False) -> "InlineStream[T]":
        """Run the tasks that `next_task` returns, see `Executor.stream`."""
        return InlineStream(next_task)

    def put(self, value: T) -> Shared[T]:
        """Return a reference to a value."""
        return Shared(value)

    def close(self) -> None:
        """Do nothing: there are no workers."""


class InlineStream(Stream[T]):
    """Stream of tasks that run in `collect`."""

    def __init__(self, next_task: NextTask[T]):
        """Open the stream; `collect` runs the first task."""
        self._next_task, self._num_started, self._finished = next_task, 0, False

    @property
    def finished(self) -> bool:
        """Whether all tasks are done."""
        return self._finished

    def collect(self, timeout: float | None = None) -> list[tuple[int, T]]:
        """Run the next task and return its result, see `Stream.collect`."""
        task: Task[T] | _Wait | None = None if self._finished else self._next_task(0)
        if task is None:
            self._finished = True
            return []
        if isinstance(task, _Wait):
            if timeout is None:
                raise RuntimeError("the worker is idle, and next_task returned WAIT")
            return []
        self._num_started += 1
        return [(self._num_started - 1, task())]

    def close(self) -> None:
        """End the stream."""
        self._finished = True


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _run_worker(connection: Connection, by_main_thread: bool) -> None:
    """Run the tasks that arrive through a pipe, until the pipe is closed.

    Args:
        connection: this process's end of the pipe.
        by_main_thread: result of `started_by_main_thread` in the parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # see `_interrupts_blocked`
    end_with_parent(by_main_thread)
    while True:
        try:
            data, keys, new = connection.recv()
        except EOFError:  # the parent has closed the pipe
            return
        connection.send_bytes(run_task(data, keys, new))


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Mask SIGINT in the block, so that Ctrl-C does not interrupt imports of new processes."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting it with the first process would unblock SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables in the block, except those that are set already."""
    added = {key: value for key, value in values.items() if key not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for key in added:
            del os.environ[key]
