"""Pool of workers: assignment of tasks, and replacement of workers that die.

`LocalExecutor` and `RayExecutor` are pools of two kinds of workers. A worker has the number of its
slot, from 0; a replacement keeps the slot.
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

T = TypeVar("T")  # result of a task
W = TypeVar("W")  # worker
MAX_FAILED_STARTS = 3  # maximum number of consecutive workers that die before they are ready
log = logging.getLogger("ludoteca")


@dataclass
class Job:
    """Task in progress.

    Attributes:
        number: number of the task, in the order in which tasks were started.
        task: the task.
        data: the task, pickled.
        shared: the shared values that it refers to, by key.
        attempts: number of times that it was sent to a worker.
    """

    number: int
    task: Task[Any]
    data: bytes
    shared: dict[str, Shared[Any]]
    attempts: int = 0


@dataclass
class Slot(Generic[W]):
    """Slot of a pool for one worker and its replacements.

    Attributes:
        worker: the present worker; None if there is none.
        state: `"absent"`: there is no worker; `"starting"`: the worker cannot receive tasks yet;
            `"idle"`: it has no task; `"busy"`: it has one.
        job: the task that it runs, if busy.
        retries: pinned tasks of this slot to run again because a worker died.
    """

    worker: W | None = None
    state: Literal["absent", "starting", "idle", "busy"] = "absent"
    job: Job | None = None
    retries: deque[Job] = field(default_factory=deque)


class WorkerPool(Executor, Generic[W]):
    """Executor with workers that each run one task at a time.

    Attributes:
        slots: slots of the workers, by number.
        dumps: function that pickles a task.
    """

    dumps: Callable[[Any], bytes] = staticmethod(pickle.dumps)

    def __init__(self, num_workers: int):
        """Make the slots; a subclass calls `start_missing` once it is initialized."""
        self.num_workers = num_workers
        self.slots: list[Slot[W]] = [Slot() for _ in range(num_workers)]
        self._failed_starts = 0
        self._stream: PoolStream[Any] | None = None

    @abstractmethod
    def start(self, number: int) -> tuple[W, bool]:
        """Start a worker for slot `number`; return it, and whether it can receive tasks at once."""

    @abstractmethod
    def stop(self, workers: list[W]) -> None:
        """End workers, busy ones included."""

    @abstractmethod
    def send(self, worker: W, job: Job) -> bool:
        """Send a task to an idle worker; return whether the worker could receive it."""

    @abstractmethod
    def wait(self, timeout: float | None) -> list[tuple[int, TaskStatus, Any]]:
        """Wait until a busy or starting worker sends a message or dies.

        Args:
            timeout: maximum number of seconds to wait; None: no limit.

        Returns:
            For each worker that sent a message or died: its number, the status, and the result of
            its task (`"done"`), the exception (`"raised"`), the reason for its death (`"died"`), or
            None (`"ready"`).
        """

    def stream(self, next_task: NextTask[T], *, pinned: bool = False) -> "PoolStream[T]":
        """Run the tasks that `next_task` returns, see `Executor.stream`."""
        if self._stream is not None:
            raise RuntimeError("an executor runs one stream of tasks at a time, and one is open")
        self.start_missing()
        self._stream = PoolStream(self, next_task, pinned)
        return self._stream

    def put(self, value: T) -> Shared[T]:
        """Return a reference to a value, see `Executor.put`."""
        return Shared(value)

    def close(self) -> None:
        """End the workers, busy ones included."""
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
        """End the workers with these numbers, and leave their slots empty."""
        slots = [self.slots[number] for number in numbers]
        self.stop([slot.worker for slot in slots if slot.worker is not None])
        for slot in slots:
            slot.worker, slot.state, slot.job = None, "absent", None

    def end_stream(self) -> None:
        """Forget the closed stream, and end the workers that are busy with it."""
        self._stream = None
        self.drop(*(number for number, slot in enumerate(self.slots) if slot.state == "busy"))
        for slot in self.slots:
            slot.retries.clear()

    def mark_ready(self, number: int) -> None:
        """Mark a worker as ready for tasks."""
        self.slots[number].state = "idle"
        self._failed_starts = 0

    def replace_dead(self, number: int, reason: str) -> Job | None:
        """Replace a worker that died; return the task that it was running, or None.

        Args:
            number: number of the worker.
            reason: reason for its death, for messages.

        Raises:
            WorkerDiedError: if `MAX_FAILED_STARTS` consecutive workers die before they are ready.
        """
        slot = self.slots[number]
        job, starting = slot.job, slot.state == "starting"
        self.drop(number)
        if starting:
            self._failed_starts += 1
            if self._failed_starts >= MAX_FAILED_STARTS:
                raise WorkerDiedError(
                    f"{self._failed_starts} workers died one after another as they started; "
                    f"the last: {reason}"
                )
        self.start_missing()
        return job


class PoolStream(Stream[T]):
    """Stream of tasks in a pool."""

    def __init__(self, pool: WorkerPool[Any], next_task: NextTask[T], pinned: bool):
        """Open the stream; see `Executor.stream`. `collect` starts the first tasks."""
        self._pool, self._next_task, self._pinned = pool, next_task, pinned
        self._num_started = 0
        self._retries: deque[Job] = deque()
        self._exhausted = [False] * pool.num_workers  # whether there are no more tasks, by worker
        self._error: BaseException | None = None
        self._closed = False

    @property
    def finished(self) -> bool:
        """Whether all tasks are done and their results have been returned."""
        if self._closed:
            return True
        return (
            self._error is None  # else `collect` has an error to raise
            and all(self._exhausted)
            and not self._retries
            and not self._in_progress
        )

    def collect(self, timeout: float | None = None) -> list[tuple[int, T]]:
        """Assign tasks to free workers, and return the results, see `Stream.collect`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        results: list[tuple[int, T]] = []
        while not results:
            self._assign()
            if self._error is not None:
                error, self._error = self._error, None
                self.close()
                raise error
            if self.finished:
                break
            if all(slot.state == "idle" for slot in self._pool.slots):
                if self._retries or any(slot.retries for slot in self._pool.slots):
                    # Workers died in `_assign`, and their replacements are idle. Each death counts
                    # as an attempt of the task, so the loop ends.
                    continue
                if timeout is None:
                    self.close()
                    raise RuntimeError(
                        "next_task returned WAIT, which needs a task in progress: all workers are "
                        "idle"
                    )
                break
            seconds_left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
            for number, status, value in self._pool.wait(seconds_left):
                self._update(number, status, value, results)
            if deadline is not None and time.monotonic() >= deadline:
                break
        self._assign()  # workers run tasks while the caller processes the results
        return results

    def close(self) -> None:
        """Cancel the tasks in progress, and end the workers that are busy with them.

        The next stream starts workers in their place.
        """
        if not self._closed:
            self._closed = True
            self._pool.end_stream()

    @property
    def _in_progress(self) -> bool:
        """Whether a worker runs a task, or a pinned task is to run again."""
        return any(slot.job is not None or slot.retries for slot in self._pool.slots)

    def _update(
        self, number: int, status: TaskStatus, value: Any, results: list[tuple[int, T]]
    ) -> None:
        """Process an entry of `WorkerPool.wait`: the message of a worker, or its death.

        Args:
            number: number of the worker.
            status: status of the worker or its task.
            value: result of the task, exception, or reason for the death.
            results: list to which a result is appended, with the number of its task.
        """
        slot = self._pool.slots[number]
        if status == "ready":
            self._pool.mark_ready(number)
        elif status == "died":
            self._handle_death(number, value)
        else:
            assert slot.job is not None
            if status == "done":
                results.append((slot.job.number, value))
            elif self._error is None:
                self._error = value
            slot.state, slot.job = "idle", None

    def _handle_death(self, number: int, reason: str) -> None:
        """Replace a worker that died, and schedule its task again."""
        try:
            job = self._pool.replace_dead(number, reason)
        except WorkerDiedError as error:
            self._error = self._error or error
            return
        if job is None:
            log.warning("a worker died while it had no task, and is replaced: %s", reason)
            return
        if job.attempts >= ATTEMPTS:
            self._error = self._error or WorkerDiedError(
                f"{describe_task(job.task)} was run {job.attempts} times, and its worker died each "
                f"time; the last: {reason}"
            )
            return
        log.warning("a worker died, and its task runs again: %s", reason)
        self._pool.reruns += 1
        (self._pool.slots[number].retries if self._pinned else self._retries).append(job)

    def _assign(self) -> None:
        """Assign tasks to free workers."""
        if self._error is not None or self._closed:
            return
        for number, slot in enumerate(self._pool.slots):
            if slot.state != "idle":
                continue
            job = self._next_job(number)
            if job is None:
                continue
            job.attempts += 1
            slot.job, slot.state = job, "busy"
            if not self._pool.send(slot.worker, job):
                self._handle_death(number, "the worker ended before it received the task")

    def _next_job(self, number: int) -> Job | None:
        """Return the next task of a worker, or None if there is none now."""
        for retries in (self._pool.slots[number].retries, self._retries):
            if retries:
                return retries.popleft()
        if self._exhausted[number]:
            return None
        task = self._next_task(number)
        if task is None:
            if self._pinned:
                self._exhausted[number] = True
            else:
                self._exhausted = [True] * len(self._exhausted)
            return None
        if isinstance(task, _Wait):
            return None
        job = Job(self._num_started, task, *_pickle(task, self._pool.dumps))
        self._num_started += 1
        return job


def _pickle(task: Task[Any], dumps: Callable[[Any], bytes]) -> tuple[bytes, dict[str, Shared[Any]]]:
    """Return a pickled task and its shared values, see `pickle_task`.

    Raises:
        TypeError: if the task cannot be pickled.
    """
    try:
        return pickle_task(task, dumps)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(f"{describe_task(task)} cannot be sent to a worker: {error}") from error
