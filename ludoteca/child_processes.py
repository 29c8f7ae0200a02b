"""Child processes that end with their parent, even if the parent is killed.

`ChildProcess` is a `subprocess.Popen` for any command, `ChildProcesses` runs several commands at
the same time. Processes of `multiprocessing` call `end_with_parent`.
"""

import errno
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from multiprocessing import parent_process
from multiprocessing.connection import wait
from shutil import which
from signal import SIGCONT, SIGINT
from types import TracebackType
from typing import Any, Self

from ludoteca import guard

KILL_TIMEOUT = 5.0  # seconds for a guard to kill its command, before the guard is killed
SAVE_TIMEOUT = 30.0  # seconds for a command to save its work after an interrupt


class ChildProcess(subprocess.Popen[Any]):
    """Command that is killed, with all its own processes, when this process ends.

    The command is started by a guard process, see `guard.py`, which holds one end of a pipe; this
    process holds the other. `terminate`, and `send_signal` with SIGINT or SIGHUP, reach the
    command's process group; `kill`, or deleting this object, kills the group.
    """

    def __init__(self, command: Sequence[str | os.PathLike[str]], **options: Any):
        """Start a command.

        Args:
            command: the program and its arguments.
            options: options of `subprocess.Popen`, except `pass_fds` and `process_group`.

        Raises:
            OSError: if there is no such program. With a `cwd`, which the path of the program may be
                relative to, the guard exits with status 127 instead.
        """
        words = [os.fspath(word) for word in command]
        if which(words[0]) is None and not options.get("cwd"):
            raise FileNotFoundError(errno.ENOENT, "No such file, or not a program", words[0])
        guard_end, own_end = os.pipe()
        self._close = weakref.finalize(self, _request_kill, own_end)
        # -I and -S: a fast start, without the user's settings and installed packages.
        guard_command = [sys.executable, "-I", "-S", guard.__file__]
        guard_command += [str(guard_end), str(os.getpid()), *words]
        try:
            super().__init__(guard_command, pass_fds=(guard_end,), process_group=0, **options)
        except BaseException:
            self._close()
            raise
        finally:
            os.close(guard_end)

    def kill(self) -> None:
        """Kill the command and all its processes."""
        self._close()
        self.send_signal(SIGCONT)  # the command may have stopped its guard
        try:
            self.wait(KILL_TIMEOUT)
        except subprocess.TimeoutExpired:
            super().kill()

    def __del__(self) -> None:
        """Kill a command that is still running."""
        if hasattr(self, "_close"):
            self._close()
        super().__del__()


class ChildProcesses:
    """Concurrent commands, each started by a thread that waits for it.

    As a context manager it interrupts the commands when the block is interrupted. The commands have
    `SAVE_TIMEOUT` seconds to save their work, and are killed after that or at another interrupt.
    """

    def __init__(self) -> None:
        self._running: set[ChildProcess] = set()
        self._lock = threading.Lock()
        self._interrupted = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None and not isinstance(error, Exception):
            self.interrupt()

    def run(
        self, command: Sequence[str | os.PathLike[str]], env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end; return its exit status and output.

        Args:
            command: the program and its arguments.
            env: environment variables of the command; None: those of this process.

        Raises:
            OSError: if there is no such program.
            RuntimeError: if the commands have been interrupted.
        """
        with self._lock:
            if self._interrupted:
                raise RuntimeError(f"interrupted before {command[0]!r} began")
            pipe = subprocess.PIPE
            child = ChildProcess(
                command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True, env=env
            )
            self._running.add(child)
        with child:
            try:
                output = child.communicate()
            except BaseException:
                child.kill()
                raise
            finally:
                with self._lock:
                    self._running.discard(child)
        return subprocess.CompletedProcess(child.args, child.returncode, *output)

    def interrupt(self, timeout: float = SAVE_TIMEOUT) -> None:
        """Interrupt all commands, and kill those that have not ended after `timeout` seconds."""
        with self._lock:
            self._interrupted = True
            running = list(self._running)
        try:
            for child in running:
                child.send_signal(SIGINT)
            deadline = time.monotonic() + timeout
            while any(child.poll() is None for child in running) and time.monotonic() < deadline:
                time.sleep(0.05)
        finally:
            for child in running:
                child.kill()


def run_child(
    command: Sequence[str | os.PathLike[str]], **options: Any
) -> "subprocess.CompletedProcess[Any]":
    """Run a command to its end, like `subprocess.run`, with the options of `Popen`."""
    with ChildProcess(command, **options) as child:
        try:
            output = child.communicate()
        except BaseException:
            child.kill()
            raise
    return subprocess.CompletedProcess(child.args, child.returncode, *output)


def started_by_main_thread() -> bool:
    """Return whether the present thread is the main thread, which lives as long as the process.

    On Linux the kernel can end a child with the *thread* that started it.
    """
    return threading.current_thread() is threading.main_thread()


def end_with_parent(by_main_thread: bool) -> None:
    """Make this process of `multiprocessing` end with its parent, even if the parent is killed.

    A thread waits for the end of the parent. Compiled code that holds the interpreter's lock delays
    this thread, so on Linux the kernel is also asked to kill this process.

    Args:
        by_main_thread: result of `started_by_main_thread` in the parent.
    """
    parent = parent_process()
    assert parent is not None
    assert parent.pid is not None
    if by_main_thread:
        guard.die_with_parent(parent.pid)
    threading.Thread(target=_exit_with, args=(parent.sentinel,), daemon=True).start()


def _request_kill(pipe: int) -> None:
    """Make the guard at the other end of a pipe (a file descriptor) kill its command; close it."""
    try:
        os.write(pipe, b"k")  # closing is not enough: a fork of this process may hold this end, too
    except OSError:  # the guard is gone
        pass
    finally:
        os.close(pipe)


def _exit_with(sentinel: int) -> None:
    """Wait for the end of the process with a sentinel of `multiprocessing`, and exit."""
    wait([sentinel])
    sys.stderr.flush()
    os._exit(1)


def end_process(process: ChildProcess, owner: int) -> None:
    """End a process and its child processes, and close its pipes.

    Args:
        process: the process.
        owner: id of the process that started it; in other processes, such as forks, this function
            does nothing.
    """
    if os.getpid() != owner:
        return
    process.kill()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    process.wait()
