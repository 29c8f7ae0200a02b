"""Process of an engine: lines with a time limit, bounded output, and the end of its errors.

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
MAX_STDERR = 1 << 12  # bytes of standard error that are kept
SHOWN = 200  # characters of them in a message
PART = 1 << 16


class EngineProcess:
    """Command that reads lines and writes lines.

    It ends when this object is deleted, and when this process ends, by a signal as well.
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
        self._output, self._errors = b"", b""
        self._until, self._seconds, self._count = 0.0, 0.0, 0
        self._end = weakref.finalize(self, end_process, self._child, os.getpid())

    @property
    def alive(self) -> bool:
        """Whether the process has not been ended."""
        return self._end.alive

    def limit(self, seconds: float) -> None:
        """Set the time from now on within which the following lines are written and read."""
        self._until, self._seconds, self._count = time.perf_counter() + seconds, seconds, 0

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
                    raise self._ended()
        except OSError:
            raise self._ended() from None
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
                raise self._ended()
        line, _, self._output = self._output.partition(b"\n")
        return printable(line.decode(errors="replace").replace("\t", " ").rstrip("\r"))

    def close(self) -> None:
        """End the process."""
        self._end()

    def failure(self, kind: str, message: str) -> FailureError:
        """End the process and return a failure with the end of its standard error."""
        self.close()
        text = printable(" ".join(self._errors.decode(errors="replace").split()))[-SHOWN:]
        return FailureError(
            kind, f"{message}; its standard error ends: {text}" if text else message
        )

    def _wait(self) -> set[int]:
        """Wait for the pipes, and return those that are ready; standard error is read here."""
        left = self._until - time.perf_counter()
        ready = {file for file, _ in self._poll.poll(max(0.0, 1000 * left))} if left > 0 else None
        if not ready:
            raise self.failure(TIMEOUT, f"no answer within {self._seconds:.3g} s")
        if self._err in ready:
            part = os.read(self._err, PART)
            self._errors = (self._errors + part)[-MAX_STDERR:]
            if not part:
                self._poll.unregister(self._err)
        return ready

    def _read_output(self) -> bool:
        part = os.read(self._out, PART)
        self._output += part
        self._count += len(part)
        if self._count > MAX_OUTPUT:
            raise self.failure(INVALID, f"it wrote more than {MAX_OUTPUT} bytes for one move")
        return bool(part)

    def _ended(self) -> FailureError:
        while self._poll_errors():
            pass
        self.close()
        return self.failure(CRASH, f"the engine ended with exit code {self._child.returncode}")

    def _poll_errors(self) -> bool:
        """Read what is left of standard error; return whether there may be more."""
        poll = select.poll()
        poll.register(self._err, select.POLLIN)
        part = os.read(self._err, PART) if poll.poll(100) else b""
        self._errors = (self._errors + part)[-MAX_STDERR:]
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
