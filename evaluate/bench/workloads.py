"""Workloads of benchmarks: code that runs for some seconds and counts its steps."""

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import process_time
from typing import IO, Any, NamedTuple, Protocol

from ludoteca.child_processes import ChildProcess
from ludoteca.evaluate.bench.install_peers import find_interpreter

SERVE_SCRIPT = Path(__file__).parent / "peers" / "serve.py"
TIMEOUT = 180.0  # seconds that a peer may take to start, and beyond the requested time


class Sample(NamedTuple):
    """Measurement of one round.

    Attributes:
        steps: number of steps; in sequential games, number of moves of all players.
        seconds: time of the steps.
        inside: time of these seconds within the environment's `step`; None if not measured.
    """

    steps: int
    seconds: float
    inside: float | None = None


class Workload(Protocol):
    """Workload of this package or of a peer."""

    def __call__(self, seconds: float) -> Sample:
        """Run for about `seconds`."""

    def close(self) -> None:
        """Release processes and threads."""


class CPUWorkload:
    """Workload of this process, measured by its CPU time: other programs hardly matter."""

    def __call__(self, seconds: float) -> Sample:
        """Run for about `seconds` of CPU time, at least once."""
        steps, start = 0, process_time()
        while (passed := process_time() - start) < seconds or steps == 0:
            steps += self.run_once()
        return Sample(steps, passed)

    def run_once(self) -> int:
        """Run the shortest part of the work; return its number of steps."""
        raise NotImplementedError

    def close(self) -> None:
        """Do nothing: there are no processes or threads to release."""


class PeerMissingError(Exception):
    """A peer is not installed."""


class PeerFailedError(Exception):
    """A peer's process ended, or wrote an invalid answer."""


class ProcessWorkload:
    """Workload in another process, which is idle between rounds.

    The process writes a JSON line when it is ready; then it answers each line that it reads, a
    number of seconds, with a JSON line.

    Attributes:
        name: name of the workload in errors.
        greeting: the first line.
    """

    def __init__(
        self, name: str, command: Sequence[str | os.PathLike[str]], timeout: float = TIMEOUT
    ):
        """Start a command, and wait until it is ready.

        Args:
            name: name of the workload in errors.
            command: the program and its arguments.
            timeout: seconds until it must be ready.

        Raises:
            PeerFailedError: if it does not start.
            OSError: if there is no such program.
        """
        self.name = name
        self._errors: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115  closed in close()
        self._process = ChildProcess(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        try:
            self.greeting: Any = self._answer(timeout)
        except BaseException:  # such as an interrupt
            self.close()
            raise

    def measure(self, seconds: float) -> Any:
        """Run one round in the process, and return its answer.

        Raises:
            PeerFailedError: if the process has ended or writes no valid answer in time.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{seconds}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # then `_answer` raises the error
        return self._answer(seconds + TIMEOUT)

    def close(self) -> None:
        """End the process."""
        # The streams are closed on leaving the block, and the process is waited for.
        with self._process as process:
            process.kill()
            assert process.stdin is not None
            with suppress(BrokenPipeError):  # of a request that could not be written
                process.stdin.close()
        self._errors.close()

    def _answer(self, timeout: float) -> Any:
        """Return the next line of the process, which has `timeout` seconds to write it."""
        assert self._process.stdout is not None
        timer = threading.Timer(timeout, self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            line = self._process.stdout.readline()
        finally:
            timer.cancel()
        try:
            return json.loads(line)
        except json.JSONDecodeError:
            code = self._end()
            self._errors.seek(0)
            tail = self._errors.read()[-1000:].strip()
            self.close()
            raise PeerFailedError(
                f"{self.name} ended with code {code} and wrote {line!r}: {tail}"
            ) from None

    def _end(self) -> int:
        """Wait briefly for the end of the process; return its exit code."""
        try:
            return self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


class PeerWorkload(ProcessWorkload):
    """Workload of a peer, in a process of the interpreter that can import it.

    `peers/serve.py` describes the protocol.
    """

    def __init__(self, peer: str, module: str, **options: Any):
        """Start `peers/<module>.py` with `options`, and wait until it has warmed up.

        Args:
            peer: name of the peer in `install_peers.PEERS`.
            module: name of the module in `peers/`.
            **options: arguments of its function `prepare`.

        Raises:
            PeerMissingError: if the peer is not installed.
            PeerFailedError: if it does not start.
        """
        python = find_interpreter(peer)
        if python is None:
            raise PeerMissingError(f"{peer} is not installed: `make peers` installs it")
        super().__init__(peer, [python, SERVE_SCRIPT, module, json.dumps(options)])
        self.versions: dict[str, str] = self.greeting

    def __call__(self, seconds: float) -> Sample:
        """Run one round in the process.

        Raises:
            PeerFailedError: if the process has ended or writes no valid answer in time.
        """
        return Sample(**self.measure(seconds))
