"""Processes that tests start, end and watch."""

import os
import subprocess
import sys
import time
from pathlib import Path


class KilledProcess(subprocess.Popen):
    """Process that is killed at the end of its `with` block."""

    def __exit__(self, *error):
        self.kill()
        super().__exit__(*error)


def start(code, *arguments):
    """Start Python code in a new process, with a pipe from its standard output."""
    return KilledProcess(
        [sys.executable, "-P", "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )


def is_running(pid):
    """Return whether a process is running, and not a zombie."""
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    if not stat.parents[1].exists():  # a system without /proc does not show zombies
        return True
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def are_gone(pids, seconds=20):
    """Return whether all processes end within a number of seconds."""
    deadline = time.monotonic() + seconds
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(map(is_running, pids))
