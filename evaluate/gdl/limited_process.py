"""Process with limits on CPU time and memory, for one rule sheet of many."""

import multiprocessing
import resource
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, TypeVar

from ludoteca.child_processes import end_with_parent, started_by_main_thread

MAX_MEMORY = 6 << 30  # bytes
GRACE_SECONDS = 10  # CPU time after the limit in which compiled code can return to Python
# Seconds of wall-clock time per CPU second: more than other load of a machine takes from a process.
WALL_CLOCK_FACTOR = 10
T = TypeVar("T")


class ProcessError(RuntimeError):
    """Reason why a process has no result."""


def run_in_limits(function: Callable[[], T], max_seconds: float) -> T:
    """Return the result of `function`, called in a process with limits.

    Args:
        function: the function; its result is pickled.
        max_seconds: maximum CPU seconds.

    Raises:
        ProcessError: if it exceeds a limit or raises an exception.
    """
    context: Any = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    arguments = (function, sender, max_seconds, started_by_main_thread())
    process = context.Process(target=_run, args=arguments)
    process.start()
    sender.close()
    wall_clock = WALL_CLOCK_FACTOR * (max_seconds + GRACE_SECONDS)
    result: Any = f"more than {wall_clock:g} s of wall-clock time"
    succeeded = False
    try:
        if receiver.poll(wall_clock):
            succeeded, result = receiver.recv()
            process.join(GRACE_SECONDS)
    except EOFError:
        process.join(GRACE_SECONDS)
        result = f"the process ended with status {process.exitcode}: out of time or memory"
    finally:  # also after an interrupt
        receiver.close()
        process.kill()
        process.join()
    if not succeeded:
        raise ProcessError(result)
    value: T = result
    return value


def _run(
    function: Callable[[], Any], sender: Connection, max_seconds: float, by_main_thread: bool
) -> None:
    """Send True and the result of `function`, or False and the reason why there is none."""
    end_with_parent(by_main_thread)
    limit = int(time.process_time() + max_seconds)
    signal.signal(signal.SIGXCPU, _raise_time_limit)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + GRACE_SECONDS))
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))
    try:
        sender.send((True, function()))
    except MemoryError:
        sender.send((False, f"more than {MAX_MEMORY >> 30} GiB of memory"))
    except _TimeLimitError:
        sender.send((False, f"more than {max_seconds:g} s of CPU time"))
    except Exception as error:  # a reason, shown in a table
        sender.send((False, f"{type(error).__name__}: {error}"))


class _TimeLimitError(BaseException):
    """Exception that no `except Exception` catches: the CPU time is spent."""


def _raise_time_limit(signal_number: int, frame: FrameType | None) -> None:
    raise _TimeLimitError
