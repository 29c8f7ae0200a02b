"""Process of a submission: start, requests with a time limit, and end.

The process is not a sandbox: it has all permissions of the user.
"""

import json
import os
import select
import shutil
import subprocess
import time
import weakref
from pathlib import Path
from typing import Any

from ludoteca.agents.external.failure import CRASH, TIMEOUT, FailureError, printable
from ludoteca.agents.external.kaggle import worker
from ludoteca.child_processes import ChildProcess, end_process

START_SECONDS = 60.0  # time limit of the start of an interpreter
MAX_ANSWER = 1 << 16  # bytes of an answer
MAX_SHOWN = 80  # characters of an invalid answer in error messages
ANSWER_KEYS = ("action", "invalid", "error", "found", "ready")  # keys of an answer with text values
# Environment variables: sets have the same order in each process, and each process uses one core
# unless the user's environment says otherwise.
FIXED_ENVIRONMENT = {"PYTHONHASHSEED": "0"}
DEFAULT_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Process:
    """Python process that runs `worker.py` with a submission.

    It is ended when this object is deleted, and when the calling process ends, also by a signal.
    """

    def __init__(self, path: Path, python: str, max_bytes: int = 0, forward_output: bool = False):
        """Start the process.

        Args:
            path: the submission, an absolute path.
            python: the interpreter.
            max_bytes: memory limit in bytes; 0: no limit.
            forward_output: whether the submission's output goes to standard error; otherwise it is
                discarded.

        Raises:
            FailureError: if the process does not start.
        """
        try:
            self._process = ChildProcess(
                [python, worker.__file__, str(path), str(max_bytes)],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if forward_output else subprocess.DEVNULL,
                env=DEFAULT_ENVIRONMENT | dict(os.environ) | FIXED_ENVIRONMENT,
            )
        except OSError as error:
            raise FailureError(CRASH, f"{python} cannot be run: {error.strerror}") from None
        self._end = weakref.finalize(self, end_process, self._process, os.getpid())
        self._number = 0  # number of the last request
        self._answers, self._requests = select.poll(), select.poll()
        self._answers.register(self._out(), select.POLLIN)
        self._requests.register(self._in(), select.POLLOUT)
        os.set_blocking(self._in(), False)
        self._receive(START_SECONDS)  # the worker's first message, "ready"

    def ask(self, request: dict[str, Any], seconds: float) -> tuple[dict[str, Any], float]:
        """Send a request; return the answer, and the seconds until it came.

        Args:
            request: see `worker.Submission.answer`.
            seconds: time limit.

        Raises:
            FailureError: if there is no answer in time, which ends the process, or the answer is an
                error.
        """
        start = time.perf_counter()
        self._number += 1
        try:
            self._write(worker.pack(request | {"number": self._number}), start + seconds, seconds)
        except OSError:
            raise self._ended() from None
        answer = self._receive(seconds)
        duration = time.perf_counter() - start
        if "error" in answer:
            raise FailureError(CRASH, answer["error"])
        return answer, duration

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._end.alive

    def close(self) -> None:
        """End the process."""
        self._end()

    def _receive(self, seconds: float) -> dict[str, str]:
        """Return the next answer, within a time limit; see `read_answer`."""
        deadline = time.perf_counter() + seconds
        (length,) = worker.LENGTH.unpack(self._read(worker.LENGTH.size, deadline, seconds))
        try:
            if length > MAX_ANSWER:
                raise FailureError(
                    CRASH, f"the process wrote an answer of {length} bytes, more than {MAX_ANSWER}"
                )
            return read_answer(self._read(length, deadline, seconds), self._number)
        except FailureError:
            self.close()
            raise

    def _write(self, data: bytes, deadline: float, seconds: float) -> None:
        """Write data before a deadline; `seconds`, the time limit, is for the error message."""
        while data:
            milliseconds = max(0.0, 1000 * (deadline - time.perf_counter()))
            if not self._requests.poll(milliseconds):
                self.close()
                raise FailureError(TIMEOUT, f"the request was not read within {seconds:.3g} s")
            data = data[os.write(self._in(), data) :]

    def _read(self, count: int, deadline: float, seconds: float) -> bytes:
        """Read `count` bytes before a deadline; see `_write`."""
        data = b""
        while len(data) < count:
            milliseconds = max(0.0, 1000 * (deadline - time.perf_counter()))
            if not self._answers.poll(milliseconds):
                self.close()
                raise FailureError(TIMEOUT, f"no answer within {seconds:.3g} s")
            part = os.read(self._out(), count - len(data))
            if not part:
                raise self._ended()
            data += part
        return data

    def _in(self) -> int:
        """Return the file descriptor of the worker's standard input."""
        assert self._process.stdin is not None
        return self._process.stdin.fileno()

    def _out(self) -> int:
        """Return the file descriptor of the worker's standard output."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def _ended(self) -> FailureError:
        """Clean up after a process that ended; return the failure."""
        self.close()
        return FailureError(CRASH, f"the process ended with exit code {self._process.returncode}")


def read_answer(body: bytes, number: int) -> dict[str, str]:
    """Parse and validate an answer; return its entries, with unprintable characters escaped.

    The submission may write to the pipe, too, so an answer can have any content.

    Args:
        body: the message without its length prefix.
        number: number of the request.

    Raises:
        FailureError: if it is not an answer to that request.
    """
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if (
        not isinstance(answer, dict)
        or type(answer.get("number")) is not int
        or answer["number"] != number
    ):
        answer = {"number": number}  # without text, so that it is invalid
    texts = {key: value for key, value in answer.items() if key != "number"}
    if not texts or not all(
        key in ANSWER_KEYS and type(text) is str for key, text in texts.items()
    ):
        raise FailureError(
            CRASH, f"the process wrote an invalid answer: {body[: worker.MAX_TEXT]!r:.{MAX_SHOWN}}"
        )
    # Escaped characters are longer than the text that the worker limits to `MAX_TEXT`.
    return {key: printable(text)[: 3 * worker.MAX_TEXT] for key, text in texts.items()}


def find_python(python: str | Path | None, default: str) -> str:
    """Return the absolute path of a Python interpreter.

    Args:
        python: name or path of the interpreter; None: the default.
        default: path of the default.

    Raises:
        ValueError: if there is no such interpreter.
    """
    interpreter = default if python is None else shutil.which(str(python))
    if not interpreter:
        raise ValueError(f"python must be an interpreter, such as .venv/bin/python, got {python!r}")
    return str(Path(interpreter).absolute())
