"""GGP-Base's prover as a process that records random games; see `GdlTraces.java`."""

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from ludoteca.evaluate.gdl.traces import TracePosition, read_trace

ROOT = Path(__file__).parents[2]
BUILD = ROOT / ".ggp-base"
GUAVA = "source/lib/Guava/guava-14.0.1.jar"
MAX_MEBIBYTES = 2000  # in use after a task; then a new process takes the next one
NEW_GAME_PLIES = 40  # of a game of unknown length, at least
OUT_OF_TIME = 3  # exit status of `GdlTraces` if a position takes too long


class ProverEndedError(RuntimeError):
    """GGP-Base's process has ended, but not because a position took too long."""


@dataclass
class Recording:
    """Recorded games of a sheet.

    Attributes:
        sheet: file of the sheet.
        games: number of games to record.
        seed: seed of the moves.
        max_plies: maximum number of plies; longer games are cut off.
        transformed: whether the prover reads the rules as GGP-Base's `CondensationIsolator` splits
            them.
        skips: whether a game without an answer for a position in time is left unfinished; otherwise
            it ends the recording.
        draws: number of moves that each drawn move was one of.
        finished: number of games that have ended, or were cut off.
        plies: number of plies of these games.
        skipped: number of games that were left unfinished.
        last: the last position, or None.
        seconds: CPU seconds that the recording has taken.
        error: message of GGP-Base that ended it, or an empty string.
    """

    sheet: Path
    games: int
    seed: int
    max_plies: int
    transformed: bool = False
    skips: bool = False
    draws: list[int] = field(default_factory=list)
    finished: int = 0
    plies: int = 0
    skipped: int = 0
    last: TracePosition | None = None
    seconds: float = 0.0
    error: str = ""

    def add(self, position: TracePosition) -> None:
        """Add the next position."""
        if position.ply == 0 and self.last is not None and not self._is_last(self.last):
            self.skipped += 1
        self.last = position
        if position.moves:
            self.draws.extend(map(len, position.legal))
        if self._is_last(position):
            self.finished, self.plies = self.finished + 1, self.plies + position.ply

    def skip(self) -> None:
        """Leave the last game unfinished."""
        self.last, self.skipped = None, self.skipped + 1

    def is_done(self) -> bool:
        """Return whether all games are recorded, or GGP-Base failed."""
        return self.finished >= self.games or bool(self.error)

    def expected_seconds(self) -> float:
        """Return the expected CPU seconds of the rest.

        Games last as long as those before. An unfinished first game is expected to last twice as
        long as its recorded part.
        """
        recorded = self.plies
        if self.last is not None and not self._is_last(self.last):
            recorded += self.last.ply
        if self.finished:
            expected = self.plies / self.finished
        else:
            expected = max(2.0 * recorded, NEW_GAME_PLIES)
        rest = max(self.games * expected - recorded, 1)
        return self.seconds * rest / max(recorded, 0.5)

    def task(self, seconds: float) -> str:
        """Return the line that asks for the rest of the games, `seconds` of CPU time long."""
        game, ply, state, moves = self.finished + self.skipped, 0, "", ""
        if self.last is not None and not self._is_last(self.last):
            ply = self.last.ply
            state, moves = ";".join(self.last.state), ";".join(self.last.moves)
        draws = " ".join(map(str, self.draws))
        games = self.games + self.skipped
        parts = (self.sheet, games, self.seed, self.max_plies, seconds, draws)
        rules = "transformed" if self.transformed else "plain"
        return "\t".join(map(str, (*parts, game, ply, state, moves, rules)))

    def _is_last(self, position: TracePosition) -> bool:
        return not position.moves or position.ply >= self.max_plies


class GGPBase:
    """Process of GGP-Base's prover that records games, one sheet after the other."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def record(self, recording: Recording, trace: BinaryIO, seconds: float) -> None:
        """Continue a recording, and append its lines to a binary file.

        Args:
            recording: what has been recorded; changed.
            trace: the file.
            seconds: CPU seconds after which no further position is recorded.

        Raises:
            ProverEndedError: if Java does not start, has ended before, or is killed.
        """
        process = self._start()
        start = self._cpu_seconds(process.pid)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(f"{recording.task(seconds)}\n".encode())
            process.stdin.flush()
        except BrokenPipeError:
            status = process.wait()
            self.close()
            raise ProverEndedError(f"Java ended with status {status} without a task") from None
        for line in process.stdout:
            if not line.endswith(b"\n"):  # Java ended while it wrote
                break
            if line.startswith(b"{"):
                trace.write(line)
                recording.add(*read_trace([line]))
                continue
            if line.startswith(b"error "):
                recording.error = line.decode().removeprefix("error ").strip()
            recording.seconds += self._cpu_seconds(process.pid) - start
            if line.startswith(b"error ") or int(line.split()[1]) > MAX_MEBIBYTES:
                self.close()
            return
        status = process.wait()
        self.close()
        if status != OUT_OF_TIME:
            raise ProverEndedError(f"Java ended with status {status} on {recording.sheet}")
        recording.seconds += 3 * seconds + 60
        if recording.skips:
            recording.skip()
            return
        recording.error = f"a position took more than {3 * seconds + 60:g} s of CPU time"

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            java = ["java", "-Xss512m", "-Xmx4g", "-XX:+UseSerialGC", "-XX:ActiveProcessorCount=1"]
            classes = os.pathsep.join(map(str, (BUILD / "classes", BUILD / GUAVA)))
            self._process = subprocess.Popen(
                [*java, "-cp", classes, "GdlTraces"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    @staticmethod
    def _cpu_seconds(process: int) -> float:
        """Return the CPU seconds of a process, from Linux's `/proc`."""
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
