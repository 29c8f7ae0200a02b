"""Recorder of games of rule sheets in GGP-Base, whose prover reads the rules as they are written.

`make gdl-oracle` fetches GGP-Base (https://github.com/ggp-org/ggp-base, version in the Makefile)
into the ignored folder `.ggp-base`, compiles it and `GdlTraces.java` there, and runs this script
without arguments: it records the golden games of our own sheets in `tests/golden/gdl_traces.zip`,
with one member `NAME.jsonl` per sheet. `GdlTraces.java` describes the format of the lines.

Other sheets are read from a folder, and recorded into another with one file per sheet:

    make gdl-traces SHEETS=ggp-repository TRACES=build/traces

`ludoteca bench gdl --sheets ggp-repository --traces build/traces` compares with them. The same seed
records the same games. Sheets whose games take least time come first. A recording that was
interrupted, or has run out of time, continues where it ended, also with `--transformed`, with which
the prover reads the rules as GGP-Base's `CondensationIsolator` splits them: some sheets are then
faster, others slower. With `--skip-unanswered` a game is left unfinished, and the next one begins,
if the prover has no answer for a position in 90 s of CPU time.
"""

import argparse
import io
import json
import sys
import time
import zipfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ggp_base import BUILD, ROOT, GGPBase, ProverEndedError, Recording

from ludoteca.evaluate.gdl.sheet_files import sheet_files, trace_file
from ludoteca.evaluate.gdl.traces import read_trace
from ludoteca.files import atomic_writer, read_json, write_atomically

GOLDEN = ROOT / "tests" / "golden" / "gdl_traces.zip"
OWN_SHEETS = ROOT / "envs" / "gdl" / "sheets"
# More games of sheets whose games are short.
MORE_GAMES = {
    "dice_race": 5, "kriegspiel_tictactoe": 10, "kuhn_poker": 20, "leduc_poker": 20,
    "prisoners_dilemma": 5, "three_in_line": 10, "tictactoe": 10, "tron": 20,
}  # fmt: skip
DATE = (1980, 1, 1, 0, 0, 0)  # in the archive: the same games give the same file
FIRST_SECONDS = 1.0  # CPU seconds of the first part of a recording
GOLDEN_SECONDS = 3600.0  # CPU seconds in which all games of one of our sheets are recorded
MAX_GROWTH = 4  # a part takes at most this multiple of the parts before it
SKIPPING_SECONDS = 10.0  # most CPU seconds of a part if games are skipped: 3 * 10 + 60 s a position


def record_golden(games: int, seed: int) -> None:
    """Record the games of our own sheets."""
    with (
        closing(GGPBase()) as prover,
        atomic_writer(GOLDEN) as file,
        zipfile.ZipFile(file, "w", compresslevel=9) as archive,
    ):
        for sheet in sorted(OWN_SHEETS.glob("*.kif")):
            count = max(games, MORE_GAMES.get(sheet.stem, 0))
            recording, trace = Recording(sheet, count, seed, 1000), io.BytesIO()
            prover.record(recording, trace, GOLDEN_SECONDS)
            if recording.error:
                sys.exit(f"{sheet}: {recording.error}")
            if not recording.is_done():
                games_done = f"{recording.finished} of {count} games"
                sys.exit(f"{sheet}: {games_done} recorded in {GOLDEN_SECONDS:g} s of CPU time")
            member = zipfile.ZipInfo(f"{sheet.stem}.jsonl", DATE)
            archive.writestr(member, trace.getvalue(), zipfile.ZIP_DEFLATED)
            positions = trace.getvalue().count(b"\n")
            print(f"{sheet.stem}: {positions} positions", flush=True)
    print(f"{GOLDEN}: {GOLDEN.stat().st_size:,} bytes")


class TraceFolder:
    """Folder with the recorded games of sheets: `NAME.jsonl`, or `NAME.error` if GGP-Base fails.

    The file `recording.json` has the seed and the maximum number of plies, which all recordings in
    the folder share, the CPU seconds of each recording, and the list `transformed` of those that
    have positions of transformed rules.

    Attributes:
        recordings: the recordings by file.
    """

    def __init__(
        self,
        sheets: Path,
        folder: Path,
        games: int,
        seed: int,
        max_plies: int,
        transformed: bool = False,
        skips: bool = False,
        only: Sequence[str] = (),
    ):
        """Read what has been recorded of the games of the sheets in the folder `sheets`.

        Args:
            sheets: folder of the sheets.
            folder: folder of the traces.
            games: number of games of each sheet.
            seed: seed of the moves.
            max_plies: maximum number of plies.
            transformed: whether what remains is recorded with transformed rules.
            skips: whether games without an answer in time are left unfinished.
            only: names of sheets, as `sheet_files` gives them; by default all.

        Raises:
            ValueError: if the traces have another seed or maximum number of plies, or there is no
                sheet of a name in `only`.
        """
        files = dict(sheet_files(sheets))
        if missing := set(only).difference(files):
            raise ValueError(f"{sheets} has no sheet {min(missing)}")
        self._file = folder / "recording.json"
        about: dict[str, Any] = {"seed": seed, "max_plies": max_plies}
        self._about = read_json(self._file) if self._file.exists() else about
        if self._about | about != self._about:
            raise ValueError(f"{self._file} has other settings than {about}")
        self._seconds = self._about.setdefault("seconds", {})
        self._transformed = set(self._about.get("transformed", ()))
        self.recordings = {}
        for name in only or files:
            trace = trace_file(folder, sheets, files[name])
            recording = Recording(files[name], games, seed, max_plies, transformed, skips)
            recording.seconds = self._seconds.get(trace.stem, 0.0)
            self._read(trace, recording)
            self.recordings[trace] = recording

    @staticmethod
    def _read(trace: Path, recording: Recording) -> None:
        """Add the positions of a trace; an incomplete last line is cut off."""
        error = trace.with_suffix(".error")
        recording.error = error.read_text() if error.exists() else ""
        text = trace.read_bytes() if trace.exists() else b""
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):
            write_atomically(trace, whole)
        for position in read_trace(whole.splitlines()):
            recording.add(position)

    def save(self, trace: Path) -> None:
        """Write the CPU seconds of a recording, how it was made, and its error."""
        recording = self.recordings[trace]
        if recording.error:
            write_atomically(trace.with_suffix(".error"), recording.error)
        self._seconds[trace.stem] = round(recording.seconds, 2)
        if recording.transformed:
            self._transformed.add(trace.stem)
            self._about["transformed"] = sorted(self._transformed)
        write_atomically(self._file, json.dumps(self._about, indent=1, sort_keys=True))


def record_folder(folder: TraceFolder, max_seconds: float, minutes: float) -> None:
    """Record the games of all sheets in a folder, in the order of the time that they need.

    Args:
        folder: the traces.
        max_seconds: maximum CPU seconds for each sheet.
        minutes: time of the whole run.
    """
    prover, end = GGPBase(), time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        expected = {
            trace: recording.expected_seconds()
            for trace, recording in folder.recordings.items()
            if not recording.is_done() and recording.seconds < max_seconds
        }
        if not expected:
            break
        trace = min(expected, key=lambda trace: expected[trace])
        recording = folder.recordings[trace]
        seconds = max(min(1.2 * expected[trace], MAX_GROWTH * recording.seconds), FIRST_SECONDS)
        if recording.skips:
            seconds = min(seconds, SKIPPING_SECONDS)
        trace.parent.mkdir(parents=True, exist_ok=True)
        with trace.open("ab") as file:
            prover.record(recording, file, round(min(seconds, max_seconds), 1))
        folder.save(trace)
        print(
            f"{trace.stem}: {recording.finished} games, {recording.seconds:.1f} s"
            f" {recording.error}",
            flush=True,
        )
    prover.close()


def main() -> None:
    """Record golden games, or those of a folder of sheets."""
    parser = argparse.ArgumentParser(description="Record games of rule sheets in GGP-Base.")
    parser.add_argument("--sheets", type=Path, help="folder of rule sheets; default: our own")
    parser.add_argument("--out", type=Path, help="folder of the traces (--sheets)")
    parser.add_argument("--games", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-plies", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU time per sheet (--sheets)")
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="time of the whole run (--sheets)"
    )
    parser.add_argument("--only", nargs="+", default=[], help="names of sheets (--sheets)")
    parser.add_argument(
        "--transformed",
        action="store_true",
        help="split rules by GGP-Base's CondensationIsolator (--sheets)",
    )
    parser.add_argument(
        "--skip-unanswered",
        action="store_true",
        help="leave a game unfinished if a position takes more than 90 s of CPU time (--sheets)",
    )
    arguments = parser.parse_args()
    if not (BUILD / "classes" / "GdlTraces.class").exists():
        sys.exit(f"{BUILD} does not hold GGP-Base: run `make gdl-oracle`")
    if arguments.sheets is not None and arguments.out is None:
        parser.error("--sheets needs --out")
    options = (arguments.only, arguments.transformed, arguments.skip_unanswered)
    if arguments.sheets is None and any(options):
        parser.error("--only, --transformed and --skip-unanswered need --sheets")
    try:
        if arguments.sheets is None:
            record_golden(arguments.games, arguments.seed)
        else:
            folder = TraceFolder(
                arguments.sheets,
                arguments.out,
                arguments.games,
                arguments.seed,
                arguments.max_plies,
                arguments.transformed,
                arguments.skip_unanswered,
                arguments.only,
            )
            record_folder(folder, arguments.seconds, arguments.minutes)
    except (ProverEndedError, ValueError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
