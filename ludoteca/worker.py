"""A worker's side of an executor: run a task, and send back its result or its exception."""

import pickle
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from ludoteca.executor import describe_task
from ludoteca.shared import unpickle_task

TaskStatus = Literal["done", "raised", "died", "ready"]
place = ""  # where this worker is, if that is another machine or may be one


class RemoteError(Exception):
    """The traceback of an exception in a worker, as text; the cause of that exception."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def run_task(data: bytes, keys: list[str], new: Mapping[str, bytes]) -> bytes:
    """Run a task that `shared.pickle_task` made, and return how it ended, pickled.

    Args:
        data: the task.
        keys: of the shared values that it refers to.
        new: those of them that this worker may not have, pickled, by key.
    """
    task: Callable[..., Any] = run_task
    try:
        task = unpickle_task(data, keys, new)
        answer: tuple[TaskStatus, Any] = ("done", task())
    except Exception as error:
        answer = ("raised", (_sendable(error), traceback.format_exc()))
    try:
        return pickle.dumps(answer)
    except Exception as error:
        problem = TypeError(f"the result of {describe_task(task)} cannot be pickled: {error}")
        return pickle.dumps(("raised", (problem, traceback.format_exc())))


def read_answer(answer: bytes) -> tuple[TaskStatus, Any]:
    """Return how a task ended, and its result, or the exception with its traceback as the cause."""
    status, value = pickle.loads(answer)
    if status == "raised":
        error, text = value
        error.__cause__ = RemoteError(text)
        return status, error
    return status, value


@contextmanager
def resolving(*specs: str) -> Iterator[None]:
    """Name this worker in errors about games or agents that cannot be made here.

    Where it is a process of the driver's machine, errors stay as they are.

    Args:
        specs: spec strings of the games and agents that are made within the block.

    Raises:
        ValueError: if they cannot be made on another machine.
    """
    try:
        yield
    except (ValueError, ImportError, OSError) as error:
        if not place:
            raise
        raise ValueError(
            f"{', '.join(specs)} cannot be made on {place}: {error}. Modules and files that a "
            "spec string names must be on every node, at the same place"
        ) from error


def _sendable(error: Exception) -> Exception:
    """Return an exception that pickle can send to another process: this one, if it can."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(repr(error))
    return error
