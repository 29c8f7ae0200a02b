"""The study of deep Q-learning in Hex (Tanaka, University of Sao Paulo, 2018), and beyond it."""

import sys
from pathlib import Path

from ludoteca.envs.params import choice, integer
from ludoteca.evaluate.reproduce import hex_report
from ludoteca.evaluate.reproduce.hex_runs import (
    Run,
    beyond_runs,
    document_runs,
    play_all,
    results_of,
)
from ludoteca.evaluate.tournament.run import cores

FAST = 1 / 75
FAST_BEYOND = 1 / 16
PARTS = ("all", "document", "beyond")


def reproduce(
    out: Path | None = None,
    runs: Path = Path("runs/reproduce"),
    fast: bool = False,
    part: str = "all",
    precision: str = "auto",
    processes: int | None = None,
) -> None:
    """Train all networks of the document on Hex and ours, and compare with its tables.

    Interrupted or killed, it goes on where it was when the same command is given again.

    Args:
        out: folder for the report; by default docs/results/hex, and for fast runs a folder in
            `runs`.
        runs: folder for the training runs.
        fast: train for a small part of the games, in some minutes: nothing is learned so soon, but
            all of it runs.
        part: "document", the experiments of the document; "beyond", the networks that ought to do
            better; or "all".
        precision: numbers of the networks: "float32", "bfloat16", which is several times faster on
            processors made for it, or "auto", the faster one.
        processes: how many runs of the document's go side by side; one for each core by default.
    """
    choice("part", part, PARTS)
    choice("precision", precision, ("auto", "float32", "bfloat16"))
    processes = integer("processes", cores() if processes is None else processes, 1, 1024)
    folder = runs / ("hex_fast" if fast else "hex")
    out = (folder / "report" if fast else Path("docs/results/hex")) if out is None else out
    # Ours use two cores each, and one begins with another's network.
    ours = beyond_runs(FAST_BEYOND if fast else 1, precision) if part != "document" else {}
    theirs = document_runs(FAST if fast else 1, precision) if part != "beyond" else {}
    show = sys.stderr.isatty()
    _train("beyond", ours, folder, 1, show)
    _train("document", theirs, folder, processes, show)
    hex_report.write(
        results_of(theirs, folder), results_of(ours, folder), folder, out, part=part, fast=fast
    )
    print(f"report: {out / 'report.md'}")


def _train(title: str, runs: dict[str, Run], folder: Path, processes: int, show: bool) -> None:
    if runs:
        print(f"{title}: {len(runs)} runs", file=sys.stderr)
        play_all(runs, folder, processes, show)
