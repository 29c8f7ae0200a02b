"""Trainings as JSON values: command, settings, and curves, from the files in their run folders."""

import csv
import io
import math
import re
from pathlib import Path
from typing import Any

from ludoteca.files import read_json, read_text
from ludoteca.lock import LOCK

METRICS = "metrics.csv"  # written by trainings after each iteration
SETTINGS = "config.json"
MAX_METRICS_BYTES = 16 << 20
MAX_SETTINGS_BYTES = 1 << 20
MAX_LOCK_BYTES = 4096
MAX_POINTS = 1000  # of a curve; of a longer one, every n-th point and the last are shown
MAX_SETTINGS = 200
MAX_LENGTH = 200  # characters of a setting
# Content of a lock file, with the command of the process that last locked the folder.
LOCK_HOLDER = re.compile(r"process \d+ \((.*)\)\s*", re.DOTALL)


def training_view(run: Path) -> dict[str, Any]:
    """Return the last command that ran in the folder of a training, its settings, and its curves.

    Raises:
        ValueError: if a file is damaged.
        OSError: if a file cannot be read.
    """
    return {"command": _command(run), "settings": run_settings(run), "curves": run_curves(run)}


def run_curves(run: Path) -> list[dict[str, Any]]:
    """Return the curves of a run: for each metric, its points (step, value).

    Raises:
        ValueError: if the file is damaged.
        OSError: if it cannot be read.
    """
    if not (run / METRICS).exists():
        return []
    rows = list(csv.DictReader(io.StringIO(read_text(run / METRICS, MAX_METRICS_BYTES))))
    curves = []
    for name in (rows[0] if rows else {}) or {}:
        points = [(_number(row.get("step")), _number(row.get(name))) for row in rows]
        valid = [(step, value) for step, value in points if step is not None and value is not None]
        if name != "step" and valid:
            stride = math.ceil(len(valid) / MAX_POINTS)
            curves.append({"name": name, "points": [*valid[:-1:stride], valid[-1]]})
    return curves


def run_settings(run: Path) -> list[tuple[str, str]]:
    """Return the names and values of the settings; those of a group are named `group.name`.

    Raises:
        ValueError: if the file is damaged.
        OSError: if it cannot be read.
    """
    if not (run / SETTINGS).exists():
        return []
    settings = read_json(run / SETTINGS, MAX_SETTINGS_BYTES)
    if not isinstance(settings, dict):
        raise ValueError(f"{run / SETTINGS} is damaged: expected an object, got {settings!r:.40}")
    pairs = []
    for name, value in settings.items():
        nested = value if isinstance(value, dict) else {"": value}
        pairs += [(f"{name}.{key}".strip("."), _text(entry)) for key, entry in nested.items()]
    return pairs[:MAX_SETTINGS]


def _command(run: Path) -> str:
    """Return the command in the lock file of a run, or "" if there is none."""
    try:
        match = LOCK_HOLDER.fullmatch(read_text(run / LOCK, MAX_LOCK_BYTES))
    except (OSError, ValueError):
        return ""
    return match[1] if match else ""


def _text(value: Any) -> str:
    """Return the value of a setting as text."""
    if isinstance(value, list) and not any(isinstance(entry, list | dict) for entry in value):
        value = " ".join(map(str, value))
    return f"{value!s:.{MAX_LENGTH}}"


def _number(text: str | None) -> float | None:
    """Return the number in a cell, or None if it is not a finite number."""
    try:
        value = float(text or "")
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None
