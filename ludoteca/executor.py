"""Executors of tasks in processes, on this machine or on a Ray cluster.

A task is any function without arguments that can be pickled, usually a `functools.partial` of a
function of a module. Workers live as long as the executor, so functions with `functools.cache` keep
compiled games and networks for later tasks.

    with make_executor("ray:auto", 64) as executor:
        weights = executor.put(arrays)
        for result in executor.run(partial(play, weights, seed) for seed in range(1000)):
            ...

All executors guarantee:

- A task is taken from the iterable only when a worker is free, so few are in progress.
- A task whose worker or machine dies is run again, up to `ATTEMPTS` times in all. Its result is
  returned once.
- An exception that a task raises is raised in the caller, with the worker's traceback as its cause.
  Such a task is not run again.
- No worker outlives this process, not even if it is killed.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

from ludoteca.shared import Shared

T = TypeVar("T")
Task = Callable[[], T]
ATTEMPTS = 4  # maximum number of runs of a task whose workers die
MAX_PENDING = 4  # maximum number of tasks per worker in progress, or waiting for an earlier result
POLL_INTERVAL = 0.1  # seconds between calls of `poll`
LOCAL, RAY = "local", "ray"


class WorkerDiedError(RuntimeError):
    """Error for a task that was not finished because every worker that ran it died."""


class _Wait:
    """Type of `WAIT`."""

    def __repr__(self) -> str:
        return "WAIT"


WAIT: Final = _Wait()  # in place of a task: none is available before the next result
# From the number of a free worker to its next task, see `Executor.stream`.
NextTask = Callable[[int], Callable[[], T] | _Wait | None]


class Stream(ABC, Generic[T]):
    """Iterator of pairs `(number, result)` of tasks, in the order of completion.

    Tasks are numbered in the order in which they were started.
    """

    @property
    @abstractmethod
    def finished(self) -> bool:
        """Whether all tasks are done and their results have been returned."""

    @abstractmethod
    def collect(self, timeout: float | None = None) -> list[tuple[int, T]]:
        """Assign tasks to free workers, and return the results that have arrived.

        With `timeout=0` the call returns at once, for callers with other work between results.

        Args:
            timeout: maximum number of seconds to wait for a result; None: no limit. The list is
                empty after a timeout, or if the stream is finished.

        Raises:
            WorkerDiedError: if a task failed in all its attempts because workers died.
            RuntimeError: if a Ray worker has another version of this package, or `next_task`
                returns `WAIT` although no task is in progress.
            Exception: any exception that a task raises, after the results that arrived before it.
        """

    @abstractmethod
    def close(self) -> None:
        """Cancel the tasks in progress, and replace the workers that are busy with them."""

    def __iter__(self) -> Iterator[tuple[int, T]]:
        while not self.finished:
            yield from self.collect()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class Executor(ABC):
    """Context manager that runs tasks, several at a time.

    Attributes:
        num_workers: number of tasks that run at a time.
        reruns: number of tasks that were run again so far because a worker died.
    """

    num_workers: int
    reruns: int = 0

    @abstractmethod
    def stream(self, next_task: NextTask[T], *, pinned: bool = False) -> Stream[T]:
        """Run the tasks that `next_task` returns; there is one stream at a time.

        Args:
            next_task: called with the number of a free worker, from 0, whenever there is one.
                The function returns the next task, None if there are no more tasks, or `WAIT` if
                there is none before the next result.
            pinned: whether a task runs only on the worker that `next_task` was called with, because
                it needs state of that worker. If that worker dies, the task runs on its
                replacement, which has to restore that state. None then ends the tasks of this
                worker only.
        """

    @abstractmethod
    def put(self, value: T) -> Shared[T]:
        """Return a reference to a value for use in tasks; each worker receives the value once.

        The value must not change afterwards.
        """

    @abstractmethod
    def close(self) -> None:
        """End all workers, busy ones included."""

    def run(self, tasks: Iterable[Task[T]], poll: Callable[[], None] | None = None) -> Iterator[T]:
        """Yield the results of tasks in the order of the tasks.

        Args:
            tasks: the tasks; the next one is taken when a worker is free.
            poll: function that is called ten times per second while waiting; its exceptions end the
                iteration and cancel the tasks in progress.

        Raises:
            WorkerDiedError: if a task failed in all its attempts because workers died.
            Exception: any exception that a task raises.
        """
        early_results: dict[int, T] = {}
        iterator, num_started, num_returned = iter(tasks), 0, 0

        def next_task(worker: int) -> Task[T] | _Wait | None:
            nonlocal num_started
            if num_started - num_returned >= MAX_PENDING * self.num_workers:
                return WAIT
            task = next(iterator, None)
            num_started += task is not None
            return task

        with self.stream(next_task) as stream:
            for number, result in _poll_stream(stream, poll):
                early_results[number] = result
                while num_returned in early_results:
                    result = early_results.pop(num_returned)
                    num_returned += 1
                    yield result

    def run_unordered(
        self, tasks: Iterable[Task[T] | _Wait], poll: Callable[[], None] | None = None
    ) -> Iterator[T]:
        """Yield the results of tasks in the order of completion; otherwise like `run`.

        An entry of `tasks` may be `WAIT`, see `stream`.
        """
        iterator = iter(tasks)
        with self.stream(lambda worker: next(iterator, None)) as stream:
            for _, result in _poll_stream(stream, poll):
                yield result

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def make_executor(
    spec: str = LOCAL, num_workers: int | None = None, num_tasks: int | None = None
) -> Executor:
    """Return the executor of a spec string.

    Args:
        spec: `"local"` for processes of this machine; `"ray"` for a new Ray cluster on this
            machine, `"ray:auto"` for a cluster that is already running on it, `"ray:10.0.0.1:6379"`
            or `"ray://head:10001"` for a cluster elsewhere. Resources of each worker may follow:
            `"ray:auto,num_cpus=2,num_gpus=0.5"`.
        num_workers: number of workers; by default one per core, or as many as the cluster has
            resources for. A single local worker is this process.
        num_tasks: number of tasks, if known; there are never more workers than tasks.

    Raises:
        ValueError: if the spec string is invalid, or a number is out of range.
        ImportError: if Ray is not installed.
        ConnectionError: if the cluster cannot be reached.
    """
    from ludoteca.envs.params import check_integer
    from ludoteca.local_executor import InlineExecutor, LocalExecutor, cores

    address, resources = parse_executor(spec)
    if num_workers is not None:
        check_integer("the number of workers", num_workers, 1, 10**5)
    if spec == LOCAL:
        count = cores() if num_workers is None else num_workers
        count = count if num_tasks is None else max(min(count, num_tasks), 1)
        return InlineExecutor() if count == 1 else LocalExecutor(count)
    from ludoteca.ray_executor import RayExecutor

    return RayExecutor(address, num_workers, num_tasks, **resources)


def parse_executor(spec: str) -> tuple[str, dict[str, float]]:
    """Return the address (`""` without one) and the resources of an executor's spec string.

    Raises:
        ValueError: if the spec string is invalid.
    """
    target, *options = spec.split(",")
    executor, colon, address = target.partition(":")
    expected = (
        "local, ray, ray:auto, ray:HOST:PORT or ray://HOST:PORT; with ray, num_cpus= and num_gpus= "
        "of each worker may follow after commas, as in ray:auto,num_cpus=2"
    )
    if (
        executor not in (LOCAL, RAY)
        or (colon and not address)
        or (executor == LOCAL and spec != LOCAL)
    ):
        raise ValueError(f"executor must be {expected}; got {spec!r}")
    if address.startswith("//"):
        address = target
    resources: dict[str, float] = {}
    for option in options:
        name, _, value = option.partition("=")
        try:
            resources[name] = float(value)
        except ValueError:
            resources[name] = -1.0  # out of the range checked below
        if name not in ("num_cpus", "num_gpus") or not 0 <= resources[name] < 1e4:
            raise ValueError(f"executor must be {expected}; got {option!r} in {spec!r}")
    return address, resources


def describe_task(task: Any) -> str:
    """Return the function and the arguments of a task as text, shortened."""
    if not isinstance(task, partial):
        return getattr(task, "__qualname__", None) or _short(task)
    arguments = [*map(_short, task.args)]
    arguments += [f"{name}={_short(value)}" for name, value in task.keywords.items()]
    return f"{describe_task(task.func)}({', '.join(arguments)})"


def _poll_stream(stream: Stream[T], poll: Callable[[], None] | None) -> Iterator[tuple[int, T]]:
    """Yield results as they arrive, and call `poll` every `POLL_INTERVAL` seconds in between."""
    while not stream.finished:
        yield from stream.collect(None if poll is None else POLL_INTERVAL)
        if poll is not None:
            poll()


def _short(value: Any) -> str:
    """Return the `repr` of a value, cut to 100 characters."""
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:96]} ..."
