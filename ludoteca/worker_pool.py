"""A pool of workers: which of them runs which task, and what happens when one dies.

`LocalExecutor` and `RayExecutor` are pools that differ in what a worker is.
"""

import logging
import pickle
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from ludoteca.executor import (
    ATTEMPTS,
    Executor,
    NextTask,
    Stream,
    Task,
    WorkerDiedError,
    _Wait,
    describe_task,
)
from ludoteca.shared import Shared, pickle_task
from ludoteca.worker import TaskStatus

T = TypeVar("T")
W = TypeVar("W")
FAILED_STARTS = 3  # workers that may die one after another before any of them is ready
log = logging.getLogger("ludoteca")


@dataclass
class Job:
    """A task under way.

    Attributes:
        number: its place in the order in which the tasks were taken.
        task: the task.
        data: the same, pickled.
        shared: the values that it refers to, by key.
        attempts: how many workers have been given it.
    """

    number: int
    task: Task[Any]
    data: bytes
    shared: dict[str, Shared[Any]]
    attempts: int = 0


@dataclass
class Slot(Generic[W]):
    """A place for a worker.

    Attributes:
        worker: the present one, unless absent.
        state: what it does.
        job: what it runs, if busy.
        again: tasks that can only run here, as an earlier worker of this slot died with them.
    """

    worker: W | None = None
    state: Literal["absent", "starting", "idle", "busy"] = "absent"
    job: Job | None = None
    again: deque[Job] = field(default_factory=deque)


class WorkerPool(Executor, Generic[W]):
    """Workers, each of which runs one task at a time.

    Attributes:
        slots: the places for them, by number.
        dumps: pickles a task.
    """

    dumps: Callable[[Any], bytes] = staticmethod(pickle.dumps)

    def __init__(self, num_workers: int):
        """Make room for so many workers; a subclass calls `start_missing` when it is ready."""
        self.num_workers = num_workers
        self.slots: list[Slot[W]] = [Slot() for _ in range(num_workers)]
        self._failed_starts = 0
        self._stream: PoolStream[Any] | None = None

    @abstractmethod
    def start(self, number: int) -> tuple[W, bool]:
        """Start a worker; return it, and whether it can be given a task at once."""

    @abstractmethod
    def stop(self, workers: list[W]) -> None:
        """End workers, whatever they do."""

    @abstractmethod
    def give(self, worker: W, job: Job) -> bool:
        """Give an idle worker a task; return whether it could still receive it."""

    @abstractmethod
    def wait(self, timeout: float | None) -> list[tuple[int, TaskStatus, Any]]:
        """Wait until something happens at busy or starting workers, or so many seconds.

        Returns:
            The number of each worker where something did; what; and the result of its task, the
            exception, or the reason for its death.
        """

    def stream(self, next_task: NextTask[T], *, pinned: bool = False) -> "PoolStream[T]":
        """Run the tasks that `next_task` returns, see `Executor.stream`."""
        if self._stream is not None:
            raise RuntimeError("an executor runs one stream of tasks at a time, and one is open")
        self.start_missing()
        self._stream = PoolStream(self, next_task, pinned)
        return self._stream

    def put(self, value: T) -> Shared[T]:
        """Return a value as one that tasks refer to, see `Executor.put`."""
        return Shared(value)

    def close(self) -> None:
        """End the workers, whatever they do."""
        if self._stream is not None:
            self._stream.close()
        self.drop(*range(self.num_workers))

    def start_missing(self) -> None:
        """Start a worker in every slot that has none."""
        for number, slot in enumerate(self.slots):
            if slot.state == "absent":
                slot.worker, ready = self.start(number)
                slot.state = "idle" if ready else "starting"

    def drop(self, *numbers: int) -> None:
        """End the workers of some slots."""
        slots = [self.slots[number] for number in numbers]
        self.stop([slot.worker for slot in slots if slot.worker is not None])
        for slot in slots:
            slot.worker, slot.state, slot.job = None, "absent", None

    def end_stream(self) -> None:
        """Forget a stream that was closed, and end the workers that are busy with it."""
        self._stream = None
        self.drop(*(number for number, slot in enumerate(self.slots) if slot.state == "busy"))
        for slot in self.slots:
            slot.again.clear()

    def note_start(self, number: int) -> None:
        """Note that a worker is ready."""
        self.slots[number].state = "idle"
        self._failed_starts = 0

    def note_death(self, number: int, reason: str) -> Job | None:
        """Replace a worker that died; return the task that it was running.

        Raises:
            WorkerDiedError: if several die one after another before any is ready.
        """
        slot = self.slots[number]
        job, starting = slot.job, slot.state == "starting"
        self.drop(number)
        if starting:
            self._failed_starts += 1
            if self._failed_starts >= FAILED_STARTS:
                raise WorkerDiedError(
                    f"{self._failed_starts} workers died one after another as they started; "
                    f"the last: {reason}"
                )
        self.start_missing()
        return job


class PoolStream(Stream[T]):
    """Tasks under way in a pool."""

    def __init__(self, pool: WorkerPool[Any], next_task: NextTask[T], pinned: bool):
        """Begin; no task is taken before `collect` is called."""
        self._pool, self._next_task, self._pinned = pool, next_task, pinned
        self._taken = 0
        self._again: deque[Job] = deque()
        self._over = [False] * pool.num_workers  # whether there are no more tasks, by worker
        self._error: BaseException | None = None
        self._closed = False

    @property
    def finished(self) -> bool:
        """Whether all tasks are done and their results have been returned."""
        if self._closed:
            return True
        return self._error is None and all(self._over) and not self._again and not self._under_way

    def collect(self, timeout: float | None = None) -> list[tuple[int, T]]:
        """Give tasks to free workers, and return the results that have come back.

        See `Stream.collect`.
        """
        until = None if timeout is None else time.monotonic() + timeout
        found: list[tuple[int, T]] = []
        while not found:
            self._assign()
            if self._error is not None:
                error, self._error = self._error, None
                self.close()
                raise error
            if self.finished:
                break
            if all(slot.state == "idle" for slot in self._pool.slots):
                if timeout is None:
                    self.close()
                    raise RuntimeError("all workers are free, and there is no task but to wait")
                break
            left = None if until is None else max(until - time.monotonic(), 0.0)
            for number, status, value in self._pool.wait(left):
                self._note(number, status, value, found)
            if until is not None and time.monotonic() >= until:
                break
        self._assign()  # the workers are busy while the caller deals with the results
        return found

    def close(self) -> None:
        """Drop what is under way. Workers that are busy with it are replaced."""
        if not self._closed:
            self._closed = True
            self._pool.end_stream()

    @property
    def _under_way(self) -> bool:
        return any(slot.job is not None or slot.again for slot in self._pool.slots)

    def _note(
        self, number: int, status: TaskStatus, value: Any, found: list[tuple[int, T]]
    ) -> None:
        """Take in what happened at a worker."""
        slot = self._pool.slots[number]
        if status == "ready":
            self._pool.note_start(number)
        elif status == "died":
            self._died(number, value)
        else:
            assert slot.job is not None
            if status == "done":
                found.append((slot.job.number, value))
            elif self._error is None:
                self._error = value
            slot.state, slot.job = "idle", None

    def _died(self, number: int, reason: str) -> None:
        """Let the task of a worker that died run again."""
        try:
            job = self._pool.note_death(number, reason)
        except WorkerDiedError as error:
            self._error = self._error or error
            return
        if job is None:
            log.warning("a worker died while it was free, and is replaced: %s", reason)
            return
        if job.attempts >= ATTEMPTS:
            self._error = self._error or WorkerDiedError(
                f"{describe_task(job.task)} was run {job.attempts} times, and its worker died each "
                f"time; the last: {reason}"
            )
            return
        log.warning("a worker died, and its task runs again: %s", reason)
        self._pool.reruns += 1
        (self._pool.slots[number].again if self._pinned else self._again).append(job)

    def _assign(self) -> None:
        """Give tasks to free workers."""
        if self._error is not None or self._closed:
            return
        for number, slot in enumerate(self._pool.slots):
            if slot.state != "idle":
                continue
            job = self._take(number)
            if job is None:
                continue
            job.attempts += 1
            slot.job, slot.state = job, "busy"
            if not self._pool.give(slot.worker, job):
                self._died(number, "it ended while it was free")

    def _take(self, number: int) -> Job | None:
        """Return what a worker runs next, if there is anything now."""
        for again in (self._pool.slots[number].again, self._again):
            if again:
                return again.popleft()
        if self._over[number]:
            return None
        task = self._next_task(number)
        if task is None:
            if self._pinned:
                self._over[number] = True
            else:
                self._over = [True] * len(self._over)
            return None
        if isinstance(task, _Wait):
            return None
        job = Job(self._taken, task, *_pickled(task, self._pool.dumps))
        self._taken += 1
        return job


def _pickled(
    task: Task[Any], dumps: Callable[[Any], bytes]
) -> tuple[bytes, dict[str, Shared[Any]]]:
    try:
        return pickle_task(task, dumps)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(f"{describe_task(task)} cannot be sent to a worker: {error}") from error
