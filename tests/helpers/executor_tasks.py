"""Tasks for executors, in a module that workers can import."""

import os
import signal
import time
from pathlib import Path


class Counted:
    """Value that appends to a file the id of each process that unpickles it."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return _unpickle, (self.file,)


def _unpickle(file):
    with Path(file).open("a") as opened:
        opened.write(f"{os.getpid()}\n")
    return file


def sum_of(values):
    """Return the sum of shared values."""
    return sum(value.get() for value in values)


def total_of(shared, more):
    """Return the sum of a shared array and a number; fail if the array is read-only."""
    array = shared.get()
    array[0] += 0
    return array.sum() + more


def kill_once(file, result):
    """Kill this process if `file` does not exist yet, else return the result."""
    if not Path(file).exists():
        Path(file).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return result


def wait_first(file, result):
    """Write the process id to `file` and wait to be killed; return the result if it exists."""
    if not Path(file).exists():
        Path(file).write_text(f"{os.getpid()}\n")
        time.sleep(600)
    return result


_state = {}


def count_up(worker):
    """Count the tasks of this process."""
    _state[worker] = _state.get(worker, 0) + 1
    return worker, _state[worker]
