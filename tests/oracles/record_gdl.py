"""Recorder of games of rule sheets in GGP-Base.

`make gdl-oracle` fetches GGP-Base (https://github.com/ggp-org/ggp-base, version in the Makefile)
into the ignored folder `.ggp-base`, compiles it and `GdlTraces.java` there, and runs this script
without arguments: it records the golden games of our own sheets in `tests/golden/gdl_traces.zip`,
with one member `NAME.jsonl` per sheet. `GdlTraces.java` describes the format of the lines.

Other sheets are read from a folder, and recorded into another with one file per sheet:

    make gdl-traces SHEETS=ggp-repository TRACES=build/traces

`ludoteca bench gdl --sheets ggp-repository --traces build/traces` compares with them. The same seed
records the same games. Sheets whose games take least time come first. A recording that was
interrupted, or has run out of time, continues where it ended.
"""

import argparse
import io
import json
import sys
import time
import zipfile
from pathlib import Path

from ggp_base import BUILD, ROOT, GGPBase, Recording

from ludoteca.evaluate.gdl.traces import read_trace
from ludoteca.files import write_atomically

GOLDEN = ROOT / "tests" / "golden" / "gdl_traces.zip"
OWN_SHEETS = ROOT / "envs" / "gdl" / "sheets"
# More games of sheets whose games are short.
MORE_GAMES = {"prisoners_dilemma": 5, "three_in_line": 10, "tictactoe": 10, "tron": 20}
DATE = (1980, 1, 1, 0, 0, 0)  # in the archive: the same games give the same file
FIRST_SECONDS = 1.0  # CPU seconds of the first part of a recording
MAX_GROWTH = 4  # a part takes at most this multiple of the parts before it


def record_golden(games: int, seed: int) -> None:
    """Record the games of our own sheets with the prover."""
    prover = GGPBase("prover")
    partial = GOLDEN.with_suffix(".partial")
    with zipfile.ZipFile(partial, "w", compresslevel=9) as archive:
        for sheet in sorted(OWN_SHEETS.glob("*.kif")):
            count = max(games, MORE_GAMES.get(sheet.stem, 0))
            recording, trace = Recording(sheet, count, seed, 1000), io.BytesIO()
            prover.record(recording, trace, 3600.0)
            if recording.error:
                sys.exit(f"{sheet}: {recording.error}")
            member = zipfile.ZipInfo(f"{sheet.stem}.jsonl", DATE)
            archive.writestr(member, trace.getvalue(), zipfile.ZIP_DEFLATED)
            positions = trace.getvalue().count(b"\n")
            print(f"{sheet.stem}: {positions} positions", flush=True)
    prover.close()
    partial.rename(GOLDEN)
    print(f"{GOLDEN}: {GOLDEN.stat().st_size:,} bytes")


def read_recording(trace: Path, recording: Recording, seconds: float) -> None:
    """Add the positions of a trace; an incomplete last line is cut off."""
    recording.seconds = seconds
    error = trace.with_suffix(".error")
    recording.error = error.read_text() if error.exists() else ""
    if not trace.exists():
        return
    text = trace.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if len(whole) < len(text):
        write_atomically(trace, whole)
    for position in read_trace(whole.splitlines()):
        recording.add(position)


def record_folder(sheets: Path, out: Path, arguments: argparse.Namespace) -> None:
    """Record the games of all sheets in a folder; errors are written beside the traces.

    Folders of the GGP base repository hold a file METADATA and, in folders within, old versions,
    which are left out.
    """
    out.mkdir(parents=True, exist_ok=True)
    spent_file = out / "seconds.json"
    spent = json.loads(spent_file.read_text()) if spent_file.exists() else {}
    recordings = {}
    for sheet in sorted(sheets.rglob("*.kif")):
        if (sheet.parent.parent / "METADATA").exists():
            continue
        name = "+".join(sheet.relative_to(sheets).with_suffix("").parts)
        recording = Recording(sheet, arguments.games, arguments.seed, arguments.max_plies)
        read_recording(out / f"{name}.jsonl", recording, spent.get(name, 0.0))
        recordings[name] = recording
    oracle, end = GGPBase(arguments.reasoner), time.monotonic() + 60 * arguments.minutes
    while time.monotonic() < end:
        rest = {
            name: recording.expected_seconds()
            for name, recording in recordings.items()
            if not recording.is_done() and recording.seconds < arguments.seconds
        }
        if not rest:
            break
        name = min(rest, key=lambda name: rest[name])
        recording = recordings[name]
        seconds = min(1.2 * rest[name], MAX_GROWTH * recording.seconds)
        seconds = min(max(seconds, FIRST_SECONDS), max(arguments.seconds - recording.seconds, 0.1))
        with (out / f"{name}.jsonl").open("ab") as trace:
            oracle.record(recording, trace, round(seconds, 1))
        if recording.error:
            (out / f"{name}.error").write_text(recording.error)
        spent[name] = round(recording.seconds, 2)
        write_atomically(spent_file, json.dumps(spent, indent=1, sort_keys=True))
        print(
            f"{name}: {recording.finished} games, {len(recording.draws)} moves,"
            f" {recording.seconds:.1f} s {recording.error}",
            flush=True,
        )
    oracle.close()


def main() -> None:
    """Record golden games, or those of a folder of sheets."""
    parser = argparse.ArgumentParser(description="Record games of rule sheets in GGP-Base.")
    parser.add_argument("--sheets", type=Path, help="folder of rule sheets; default: our own")
    parser.add_argument("--out", type=Path, help="folder of the traces (--sheets)")
    parser.add_argument("--games", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-plies", type=int, default=1000)
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="CPU time per sheet (--sheets)"
    )
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="time of the whole run (--sheets)"
    )
    parser.add_argument(
        "--reasoner",
        choices=("prover", "network"),
        default="prover",
        help="GGP-Base's prover, or its propositional network (--sheets)",
    )
    arguments = parser.parse_args()
    if not (BUILD / "classes" / "GdlTraces.class").exists():
        sys.exit(f"{BUILD} does not hold GGP-Base: run `make gdl-oracle`")
    if arguments.sheets is None:
        record_golden(arguments.games, arguments.seed)
    elif arguments.out is None:
        parser.error("--sheets needs --out")
    else:
        record_folder(arguments.sheets, arguments.out, arguments)


if __name__ == "__main__":
    main()
