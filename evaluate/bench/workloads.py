"""A side of a comparison: something that plays for a while and counts its steps."""

import json
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

from ludoteca.child_processes import ChildProcess
from ludoteca.evaluate.bench.install_peers import interpreter

SERVE = Path(__file__).parent / "peers" / "serve.py"
PATIENCE = 180.0  # seconds that a peer may take longer than asked for


class Sample(NamedTuple):
    """One round.

    Attributes:
        steps: steps played (moves, in turn-based games; of all players together).
        seconds: how long that took.
        inside: of these, the seconds within the environment's `step`, where that is known.
    """

    steps: int
    seconds: float
    inside: float | None = None


class Workload(Protocol):
    """Ours, or a peer."""

    def __call__(self, seconds: float) -> Sample:
        """Play for about that long."""

    def close(self) -> None:
        """Let go of processes and threads."""


class PeerMissingError(Exception):
    """The peer is not installed."""


class PeerFailedError(Exception):
    """The peer's process ended, or wrote something else than was asked for."""


class PeerWorkload:
    """A peer in the interpreter that has it, as a process that waits between rounds."""

    def __init__(self, peer: str, module: str, **options: Any):
        """Start `peers/<module>.py` with `options` and wait until it is warm.

        Raises:
            PeerMissingError: if the peer is not installed.
            PeerFailedError: if it does not start.
        """
        python = interpreter(peer)
        if python is None:
            raise PeerMissingError(f"{peer} is not installed: make peers")
        self.peer = peer
        self._errors: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115  closed in close()
        self._process = ChildProcess(
            [python, SERVE, module, json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self.versions: dict[str, str] = self._answer(0)

    def __call__(self, seconds: float) -> Sample:
        """Play one round there.

        Raises:
            PeerFailedError: if the process has ended or does not answer.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{seconds}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the missing answer tells
        return Sample(**self._answer(seconds))

    def close(self) -> None:
        """End the process."""
        # The streams are closed on leaving the block, and the process is waited for.
        with self._process as process:
            process.kill()
        self._errors.close()

    def _answer(self, seconds: float) -> Any:
        assert self._process.stdout is not None
        watch = threading.Timer(seconds + PATIENCE, self._process.kill)
        watch.start()
        line = self._process.stdout.readline()
        watch.cancel()
        try:
            return json.loads(line)
        except json.JSONDecodeError:
            code = self._end()
            self._errors.seek(0)
            tail = self._errors.read()[-1000:].strip()
            self.close()
            raise PeerFailedError(
                f"{self.peer} ended with code {code} and wrote {line!r}: {tail}"
            ) from None

    def _end(self) -> int:
        """Give the process a moment to end by itself; return its code."""
        try:
            return self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
