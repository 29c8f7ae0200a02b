"""Functions of an executor's workers: run a task, and return its result or exception."""

import pickle
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from ludoteca.executor import describe_task
from ludoteca.shared import unpickle_task

# Message about a worker: its task returned or raised, it died, or it has started and can run tasks.
TaskStatus = Literal["done", "raised", "died", "ready"]
location = ""  # description of this worker's node and process, if it may be on another machine


class RemoteError(Exception):
    """Traceback of an exception in a worker, as text; set as `__cause__` of the exception."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def run_task(data: bytes, keys: list[str], new: Mapping[str, bytes]) -> bytes:
    """Run a task from `shared.pickle_task`; return its status and result, pickled.

    Args:
        data: the pickled task.
        keys: keys of the shared values that it refers to.
        new: the pickled values that this worker may lack, by key.
    """
    task: Callable[..., Any] = run_task
    try:
        task = unpickle_task(data, keys, new)
        message: tuple[TaskStatus, Any] = ("done", task())
    except Exception as error:
        message = ("raised", (_picklable(error), traceback.format_exc()))
    try:
        return pickle.dumps(message)
    except Exception as error:
        problem = TypeError(f"the result of {describe_task(task)} cannot be pickled: {error}")
        return pickle.dumps(("raised", (problem, traceback.format_exc())))


def unpickle_result(message: bytes) -> tuple[TaskStatus, Any]:
    """Return the status and the result of a task, from the bytes that `run_task` returned.

    The result may be the exception of the task, with the worker's traceback as its cause.
    """
    status, value = pickle.loads(message)
    if status == "raised":
        error, text = value
        error.__cause__ = RemoteError(text)
        return status, error
    return status, value


@contextmanager
def add_worker_location_to_errors(*specs: str) -> Iterator[None]:
    """Add the location of this worker to errors about games or agents that cannot be made.

    Errors of workers on the driver's machine are unchanged.

    Args:
        specs: spec strings of the games and agents that the block makes.

    Raises:
        ValueError: if they cannot be made on another machine.
    """
    try:
        yield
    except (ValueError, ImportError, OSError) as error:
        if not location:
            raise
        raise ValueError(
            f"{', '.join(specs)} cannot be made on {location}: {error}. Modules and files that a "
            "spec string names must be on every node, under the same path"
        ) from error


def _picklable(error: Exception) -> Exception:
    """Return the exception if it can be pickled, else a `RuntimeError` with its text."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(repr(error))
    return error
