"""Processes that work off tasks, one at a time each."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any, Self, TypeVar

from ludoteca.envs.children import end_with_parent, started_by_main_thread

T = TypeVar("T")
# Libraries that would otherwise use all cores in each of the processes.
ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Workers:
    """A number of processes, or this process alone; a context manager.

    They never outlive this process, not even if it is killed.
    """

    def __init__(self, count: int):
        """Start `count` processes; with 1, this process does the work itself."""
        self._processes: dict[Connection, Any] = {}
        if count == 1:
            return
        lasting = started_by_main_thread()
        context = get_context("spawn")  # a fork would copy locks that other threads hold
        with _environment(dict.fromkeys(ONE_THREAD, "1")), _interrupts_wait():
            for _ in range(count):
                ours, theirs = context.Pipe()
                process = context.Process(target=_work, args=(theirs, lasting), daemon=True)
                process.start()
                theirs.close()
                self._processes[ours] = process

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes, whatever they do."""
        for connection, process in self._processes.items():
            connection.close()
            process.terminate()
        for process in self._processes.values():
            process.join()

    def run(
        self, tasks: Iterator[Callable[[], T]], poll: Callable[[], None] | None = None
    ) -> Iterator[T]:
        """Yield the results of tasks as they are done, in any order.

        Tasks must be such that pickle can send them to another process. A task is taken from
        `tasks` only when somebody is free to do it. While processes work, `poll` is called ten
        times a second; an exception that it raises ends the iteration, not the tasks.

        Raises:
            RuntimeError: if a process dies.
            Exception: whatever a task raises.
        """
        if not self._processes:
            yield from (task() for task in tasks)
            return
        idle, busy = list(self._processes), set[Connection]()
        while True:
            while idle and (task := next(tasks, None)) is not None:
                connection = idle.pop()
                connection.send(task)
                busy.add(connection)
            if not busy:
                return
            while not (finished := wait(list(busy), None if poll is None else 0.1)):
                assert poll is not None
                poll()
            for ready in finished:
                assert isinstance(ready, Connection)
                yield self._receive(ready)
                busy.remove(ready)
                idle.append(ready)

    def _receive(self, connection: Connection) -> Any:
        try:
            done, result = connection.recv()
        except EOFError:
            process = self._processes[connection]
            process.join()
            raise RuntimeError(
                f"process {process.pid} died with exit code {process.exitcode}; was there enough "
                "memory?"
            ) from None
        if not done:
            raise result
        return result


def _work(connection: Connection, by_main_thread: bool) -> None:
    """Do tasks until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent to deal with
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # see `_interrupts_wait`
    end_with_parent(by_main_thread)
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        try:
            answer = (True, task())
        except Exception as error:
            answer = (False, error)
        try:
            connection.send(answer)
        except (TypeError, AttributeError, ValueError):  # an error that cannot be pickled
            connection.send((False, RuntimeError(repr(answer[1]))))


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Block SIGINT for a while: processes that are started then are not interrupted in imports."""
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
    """Set environment variables that are not set, for a while."""
    added = {key: value for key, value in values.items() if key not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for key in added:
            del os.environ[key]
