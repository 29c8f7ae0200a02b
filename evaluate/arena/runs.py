"""Curves of training runs, read from the tables in their folders while they are written."""

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ludoteca.files import read_text

METRICS = "metrics.csv"  # written by trainings after each iteration
MAX_BYTES = 16 << 20  # of a table
MAX_POINTS = 1000  # of a curve; longer ones are thinned out
MAX_RUNS = 200


def find_runs(folders: Sequence[Path]) -> list[Path]:
    """Return the run folders among some folders and the folders in them, in order.

    Raises:
        ValueError: if one of `folders` is not a folder.
    """
    runs: list[Path] = []
    for folder in folders:
        if not folder.is_dir():
            raise ValueError(f"{folder} is not a folder with training runs")
        candidates = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
        runs += [path for path in candidates if (path / METRICS).is_file() and path not in runs]
    return runs[:MAX_RUNS]


def run_curves(run: Path) -> dict[str, Any]:
    """Return the curves of a run: for each metric, its points (step, value).

    Raises:
        ValueError: if the table is damaged.
        OSError: if it cannot be read.
    """
    rows = list(csv.DictReader(io.StringIO(read_text(run / METRICS, MAX_BYTES))))
    curves = []
    for name in (rows[0] if rows else {}) or {}:
        points = [(_number(row.get("step")), _number(row.get(name))) for row in rows]
        known = [(step, value) for step, value in points if step is not None and value is not None]
        if name != "step" and known:
            stride = math.ceil(len(known) / MAX_POINTS)
            curves.append({"name": name, "points": [*known[:-1:stride], known[-1]]})
    return {"name": run.name, "curves": curves}


def _number(text: str | None) -> float | None:
    """Return a finite number, or None."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None
