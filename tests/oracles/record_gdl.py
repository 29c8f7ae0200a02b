"""Recorder of games of rule sheets in GGP-Base, whose prover reads the rules as they are written.

`make gdl-oracle` fetches GGP-Base (https://github.com/ggp-org/ggp-base, version in the Makefile)
into the ignored folder `.ggp-base`, compiles its prover and `GdlTraces.java` there, and runs this
script without arguments: it records the golden games of our own sheets in
`tests/golden/gdl_traces.zip`, with one member `NAME.jsonl` per sheet. `GdlTraces.java` describes
the format of the lines.

Other sheets are read from a folder, and recorded into another with one file per sheet:

    make gdl-traces SHEETS=ggp-repository TRACES=build/traces

`ludoteca bench gdl --sheets ggp-repository --traces build/traces` compares with them. The same seed
records the same games. A sheet whose file exists is not recorded again.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / ".ggp-base"
GUAVA = "source/lib/Guava/guava-14.0.1.jar"
GOLDEN = ROOT / "tests" / "golden" / "gdl_traces.zip"
OWN_SHEETS = ROOT / "envs" / "gdl" / "sheets"
# More games of sheets whose games are short.
MORE_GAMES = {
    "dice_race": 5, "kriegspiel_tictactoe": 10, "kuhn_poker": 20, "prisoners_dilemma": 5,
    "three_in_line": 10, "tictactoe": 10, "tron": 20,
}  # fmt: skip
DATE = (1980, 1, 1, 0, 0, 0)  # in the archive: the same games give the same file


def record(sheet: Path, games: int, seed: int, max_plies: int, seconds: float) -> tuple[str, str]:
    """Return the trace of a sheet, and the error that ended it, if there was one.

    Args:
        sheet: the file.
        games: number of games.
        seed: seed of the moves.
        max_plies: longer games are cut off.
        seconds: after this time no further ply is recorded.
    """
    java = ["java", "-Xss64m", "-Xmx2g", "-XX:+UseSerialGC", "-cp"]
    classes = os.pathsep.join(map(str, (BUILD / "classes", BUILD / GUAVA)))
    command = [*java, classes, "GdlTraces", sheet, games, seed, max_plies, seconds]
    with tempfile.TemporaryFile() as out:
        try:
            done = subprocess.run(
                [str(part) for part in command],
                stdout=out,
                stderr=subprocess.PIPE,
                timeout=2 * seconds + 30,
            )
            error = done.stderr.decode(errors="replace").strip() if done.returncode else ""
        except subprocess.TimeoutExpired:
            error = f"a query took more than {2 * seconds + 30:g} s"
        out.seek(0)
        text = out.read().decode()
    return text[: text.rfind("\n") + 1], error


def record_golden(games: int, seed: int) -> None:
    """Record the games of our own sheets."""
    partial = GOLDEN.with_suffix(".partial")
    with zipfile.ZipFile(partial, "w", compresslevel=9) as archive:
        for sheet in sorted(OWN_SHEETS.glob("*.kif")):
            count = max(games, MORE_GAMES.get(sheet.stem, 0))
            text, error = record(sheet, count, seed, 1000, 3600.0)
            if error:
                sys.exit(f"{sheet}: {error}")
            member = zipfile.ZipInfo(f"{sheet.stem}.jsonl", DATE)
            archive.writestr(member, text.encode(), zipfile.ZIP_DEFLATED)
            print(f"{sheet.stem}: {text.count(chr(10))} positions", flush=True)
    partial.rename(GOLDEN)
    print(f"{GOLDEN}: {GOLDEN.stat().st_size:,} bytes")


def record_folder(
    sheets: Path, out: Path, games: int, seed: int, max_plies: int, seconds: float
) -> None:
    """Record the games of all sheets in a folder; errors are written beside the traces.

    Folders of the GGP base repository hold a file METADATA and, in folders within, old versions,
    which are left out.
    """
    out.mkdir(parents=True, exist_ok=True)
    for sheet in sorted(sheets.rglob("*.kif")):
        if (sheet.parent.parent / "METADATA").exists():
            continue
        name = "+".join(sheet.relative_to(sheets).with_suffix("").parts)
        file = out / f"{name}.jsonl"
        if file.exists():
            continue
        text, error = record(sheet, games, seed, max_plies, seconds)
        if error:
            file.with_suffix(".error").write_text(error)
        partial = file.with_suffix(".partial")
        partial.write_text(text)
        partial.rename(file)
        print(f"{name}: {text.count(chr(10))} positions {error.partition(chr(10))[0]}", flush=True)


def main() -> None:
    """Record golden games, or those of a folder of sheets."""
    parser = argparse.ArgumentParser(description="Record games of rule sheets in GGP-Base.")
    parser.add_argument("--sheets", type=Path, help="folder of rule sheets; default: our own")
    parser.add_argument("--out", type=Path, help="folder of the traces (--sheets)")
    parser.add_argument("--games", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-plies", type=int, default=200)
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="time limit per sheet (--sheets)"
    )
    arguments = parser.parse_args()
    if not (BUILD / "classes" / "GdlTraces.class").exists():
        sys.exit(f"{BUILD} does not hold GGP-Base: run `make gdl-oracle`")
    if arguments.sheets is None:
        record_golden(arguments.games, arguments.seed)
    elif arguments.out is None:
        parser.error("--sheets needs --out")
    else:
        record_folder(
            arguments.sheets,
            arguments.out,
            arguments.games,
            arguments.seed,
            arguments.max_plies,
            arguments.seconds,
        )


if __name__ == "__main__":
    main()
