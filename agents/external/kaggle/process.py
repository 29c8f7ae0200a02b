"""A submission in a process of its own: asked, waited for no longer than allowed, and ended.

It is no sandbox: the process may do whatever the user may.
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

from ludoteca.agents.external.kaggle import worker
from ludoteca.child_processes import ChildProcess

CRASH, TIMEOUT, INVALID = "crash", "timeout", "invalid"
START = 60.0  # seconds that an interpreter may take to start
LONGEST = 1 << 16  # bytes of an answer
SHOWN = 80  # characters of what is not an answer
TEXTS = ("action", "invalid", "error", "found", "ready")  # entries of an answer, all of them text
# As Python's hashes are drawn anew in each process, so would be the order of sets. And libraries
# would use all cores in each of the processes.
SET = {"PYTHONHASHSEED": "0"}
UNLESS_SET = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class FailureError(Exception):
    """A submission has not answered as it should.

    Attributes:
        kind: `CRASH`, `TIMEOUT` or `INVALID`.
        message: what happened.
    """

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind, self.message = kind, message


class Process:
    """An interpreter that runs `worker.py` with a submission.

    It ends when this object is no longer used, and when this process ends, however that happens.
    """

    def __init__(self, path: Path, python: str, memory: int = 0, output: bool = False):
        """Start it.

        Args:
            path: the submission, an absolute path.
            python: the interpreter.
            memory: bytes that it may take, 0 for no limit.
            output: let what the submission prints through, to standard error.

        Raises:
            FailureError: if it does not start.
        """
        try:
            self._process = ChildProcess(
                [python, worker.__file__, str(path), str(memory)],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if output else subprocess.DEVNULL,
                env=UNLESS_SET | dict(os.environ) | SET,
            )
        except OSError as error:
            raise FailureError(CRASH, f"{python} cannot be run: {error.strerror}") from None
        self._end = weakref.finalize(self, _end, self._process, os.getpid())
        self._number = 0  # of the last request
        self._answers, self._requests = select.poll(), select.poll()
        self._answers.register(self._out(), select.POLLIN)
        self._requests.register(self._in(), select.POLLOUT)
        os.set_blocking(self._in(), False)
        self._receive(START)

    def ask(self, request: dict[str, Any], seconds: float) -> tuple[dict[str, Any], float]:
        """Return the answer to a request, and how many seconds it took.

        Args:
            request: see `worker.Submission.answer`.
            seconds: how long to wait.

        Raises:
            FailureError: if there is no answer in time, or an error is the answer. Without an
                answer the process has been ended.
        """
        begun = time.perf_counter()
        self._number += 1
        try:
            self._write(worker.pack(request | {"number": self._number}), begun + seconds, seconds)
        except OSError:
            raise self._dead() from None
        answer = self._receive(seconds)
        taken = time.perf_counter() - begun
        if "error" in answer:
            raise FailureError(CRASH, answer["error"])
        return answer, taken

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._end.alive

    def close(self) -> None:
        """End the process."""
        self._end()

    def _receive(self, seconds: float) -> dict[str, str]:
        until = time.perf_counter() + seconds
        (length,) = worker.LENGTH.unpack(self._read(worker.LENGTH.size, until, seconds))
        try:
            if length > LONGEST:
                raise FailureError(CRASH, f"the process wrote {length} bytes that are no answer")
            return read_answer(self._read(length, until, seconds), self._number)
        except FailureError:
            self.close()
            raise

    def _write(self, data: bytes, until: float, seconds: float) -> None:
        while data:
            if not self._requests.poll(max(0.0, 1000 * (until - time.perf_counter()))):
                self.close()
                raise FailureError(TIMEOUT, f"the request was not read within {seconds:.3g} s")
            data = data[os.write(self._in(), data) :]

    def _read(self, count: int, until: float, seconds: float) -> bytes:
        data = b""
        while len(data) < count:
            if not self._answers.poll(max(0.0, 1000 * (until - time.perf_counter()))):
                self.close()
                raise FailureError(TIMEOUT, f"no answer within {seconds:.3g} s")
            part = os.read(self._out(), count - len(data))
            if not part:
                raise self._dead()
            data += part
        return data

    def _in(self) -> int:
        assert self._process.stdin is not None
        return self._process.stdin.fileno()

    def _out(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def _dead(self) -> FailureError:
        """End what is left of a process that is gone, and return the error to report."""
        self.close()
        return FailureError(CRASH, f"the process ended with exit code {self._process.returncode}")


def read_answer(body: bytes, number: int) -> dict[str, str]:
    """Return the texts of an answer: a submission shares its process, and may have written it.

    Characters that cannot be printed are escaped.

    Args:
        body: the message, without its length.
        number: of the request that it must answer.

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
        answer = {"number": number}
    texts = {key: value for key, value in answer.items() if key != "number"}
    if not texts or not all(key in TEXTS and type(text) is str for key, text in texts.items()):
        raise FailureError(
            CRASH, f"the process wrote what is no answer: {body[: worker.LONGEST]!r:.{SHOWN}}"
        )
    return {key: printable(text)[: 3 * worker.LONGEST] for key, text in texts.items()}


def printable(text: str) -> str:
    """Return a text with all characters escaped that a terminal or a file would not take."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def find_python(python: str | Path | None, default: str) -> str:
    """Return the interpreter that is meant, by default the present one.

    Raises:
        ValueError: if there is none.
    """
    found = default if python is None else shutil.which(str(python))
    if not found:
        raise ValueError(f"python must be an interpreter, such as .venv/bin/python, got {python!r}")
    return str(Path(found).absolute())


def _end(process: ChildProcess, owner: int) -> None:
    """End a process and all that it has started, if this is the process that started it."""
    if os.getpid() != owner:  # a fork
        return
    process.kill()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        pipe.close()
    process.wait()
