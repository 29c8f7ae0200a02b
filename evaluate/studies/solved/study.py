"""AlphaZero in games whose results are known: Tic-Tac-Toe, Hex 5x5 and Connect Four."""

import json
from pathlib import Path
from typing import Any

from ludoteca.evaluate.studies.solved import report as solved_report
from ludoteca.evaluate.studies.solved.plan import Network, Task, planned
from ludoteca.evaluate.studies.solved.report import PART
from ludoteca.evaluate.studies.study import RESULTS, read_records, run_part
from ludoteca.files import read_json

FAST = 1 / 32


def reproduce(
    out: Path | None = None,
    runs: Path = Path("runs/reproduce"),
    fast: bool = False,
    keep: bool = False,
    rewrite: bool = False,
) -> None:
    """Let AlphaZero learn games that are solved, and measure how perfectly it plays.

    Interrupted or killed, it goes on where it was when the same command is given again.

    Args:
        out: folder for the report; by default docs/results/solved, and for fast runs a folder in
            `runs`.
        runs: folder for the training runs.
        fast: train for a small part of the games: nothing is learned so soon, but all of it runs.
        keep: leave out the runs that the report has already, even if `runs` is empty.
        rewrite: write the report again from its results.json, and make nothing.
    """
    folder = runs / ("solved_fast" if fast else "solved")
    out = (folder / "report" if fast else Path("docs/results/solved")) if out is None else out
    tasks = planned(FAST if fast else 1)
    records = read_records(out, {PART: tasks}, _fits)

    if rewrite:
        solved_report.write(records, tasks, out, fast)
        print(f"report: {out / 'report.md'}")
        return

    def write(finished: str) -> None:
        records[PART][finished] = _record(folder / finished, tasks[finished])
        solved_report.write(records, tasks, out, fast)

    # Trainings use two cores each.
    run_part(PART, tasks, folder, 1, write, set(records[PART]) if keep else ())
    print(f"report: {out / 'report.md'}")


def _record(folder: Path, task: Task) -> dict[str, Any]:
    results = read_json(folder / RESULTS)
    kept = ("config", "training", "evaluation", "about") if isinstance(task, Network) else results
    settings: Any = dict(task.settings)
    return {key: results[key] for key in kept} | {"settings": settings}


def _fits(found: dict[str, Any], task: Task) -> bool:
    wanted = json.loads(json.dumps(dict(task.settings)))
    return bool(found.get("settings") == wanted)
