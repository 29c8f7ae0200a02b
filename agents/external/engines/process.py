"""Process of an engine: lines are written and read with a time limit and a limit of output.

The process is not a sandbox: it has all permissions of the user.
"""

import os
import select
import shlex
import shutil
import subprocess
import time
import weakref

from ludoteca.agents.external.failure import CRASH, INVALID, TIMEOUT, FailureError, printable
from ludoteca.child_processes import ChildProcess, end_process

MAX_OUTPUT = 1 << 20  # bytes that an engine may write for one move
MAX_STDERR = 1 << 12  # last bytes of standard error that are kept
MAX_STDERR_SHOWN = 200  # last characters of standard error in error messages
READ_SIZE = 1 << 16  # bytes per system call


class EngineProcess:
    """Process of a command that reads lines from standard input and writes lines.

    It is ended when this object is deleted, and when the calling process ends, also by a signal.
    """

    def __init__(self, command: str):
        """Start the command.

        Raises:
            FailureError: if it cannot be started.
        """
        pipe = subprocess.PIPE
        try:
            words = split_command(command)
            self._child = ChildProcess(words, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe)
        except (OSError, ValueError) as error:
            raise FailureError(CRASH, f"the engine cannot be started: {error}") from None
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        assert self._child.stderr is not None
        self._in, self._out = self._child.stdin.fileno(), self._child.stdout.fileno()
        self._err = self._child.stderr.fileno()
        os.set_blocking(self._in, False)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)
        self._output, self._stderr_tail = b"", b""
        self._deadline, self._seconds, self._bytes_read = 0.0, 0.0, 0
        self._end = weakref.finalize(self, end_process, self._child, os.getpid())

    @property
    def alive(self) -> bool:
        """Whether the process has not been ended."""
        return self._end.alive

    def set_time_limit(self, seconds: float) -> None:
        """Set the time limit, from now on, of all lines until the next call.

        The limit of output, `MAX_OUTPUT`, is for the same lines.
        """
        self._deadline, self._seconds, self._bytes_read = time.perf_counter() + seconds, seconds, 0

    def write_line(self, line: str) -> None:
        """Write a line.

        Raises:
            FailureError: if the engine has ended, or does not read the line in time.
        """
        data = f"{line}\n".encode()
        self._poll.register(self._in, select.POLLOUT)
        try:
            while data:
                ready = self._wait()
                if self._in in ready:
                    data = data[os.write(self._in, data) :]
                elif self._out in ready and not self._read_output():
                    raise self._crash_failure()
        except OSError:
            raise self._crash_failure() from None
        finally:
            if self.alive:
                self._poll.unregister(self._in)

    def read_line(self) -> str:
        """Return the next line without its end.

        Raises:
            FailureError: if there is no line in time, the engine has ended, or it writes too much.
        """
        while b"\n" not in self._output:
            if self._out in self._wait() and not self._read_output():
                raise self._crash_failure()
        line, _, self._output = self._output.partition(b"\n")
        return printable(line.decode(errors="replace").replace("\t", " ").rstrip("\r"))

    def close(self) -> None:
        """End the process."""
        self._end()

    def failure(self, kind: str, message: str) -> FailureError:
        """End the process; return an error whose message has the last part of standard error."""
        self.close()
        text = printable(" ".join(self._stderr_tail.decode(errors="replace").split()))[
            -MAX_STDERR_SHOWN:
        ]
        return FailureError(
            kind, f"{message}; its standard error ends: {text}" if text else message
        )

    def _wait(self) -> set[int]:
        """Wait for the pipes, and return those that are ready; standard error is read here."""
        remaining = self._deadline - time.perf_counter()
        ready = None
        if remaining > 0:
            ready = {descriptor for descriptor, _ in self._poll.poll(1000 * remaining)}  # ms
        if not ready:
            raise self.failure(TIMEOUT, f"no answer within {self._seconds:.3g} s")
        if self._err in ready:
            part = os.read(self._err, READ_SIZE)
            self._stderr_tail = (self._stderr_tail + part)[-MAX_STDERR:]
            if not part:  # the engine has closed it
                self._poll.unregister(self._err)
        return ready

    def _read_output(self) -> bool:
        """Read available output; return whether there was any: False at its end."""
        part = os.read(self._out, READ_SIZE)
        self._output += part
        self._bytes_read += len(part)
        if self._bytes_read > MAX_OUTPUT:
            raise self.failure(INVALID, f"it wrote more than {MAX_OUTPUT} bytes for one move")
        return bool(part)

    def _crash_failure(self) -> FailureError:
        """Return the error of an engine that has ended, with its exit code and standard error."""
        while self._read_stderr():
            pass
        self.close()
        return self.failure(CRASH, f"the engine ended with exit code {self._child.returncode}")

    def _read_stderr(self) -> bool:
        """Read available data of standard error; return whether there may be more."""
        poll = select.poll()
        poll.register(self._err, select.POLLIN)
        part = os.read(self._err, READ_SIZE) if poll.poll(100) else b""  # waits up to 100 ms
        self._stderr_tail = (self._stderr_tail + part)[-MAX_STDERR:]
        return bool(part)


def split_command(command: str) -> list[str]:
    """Return the program and the arguments of a command line.

    Raises:
        ValueError: if quotes do not match, or there is no such program.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"command is not a command line: {error}: {command!r}") from None
    if not words or shutil.which(words[0]) is None:
        raise ValueError(f"command must begin with a program that can be run, got {command!r}")
    return words
