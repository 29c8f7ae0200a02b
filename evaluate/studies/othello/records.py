"""What is kept of the tasks of the study on Othello: enough to write the report without them."""

from pathlib import Path
from typing import Any

from ludoteca.evaluate.studies.othello.plan import Data, Task, Tasks
from ludoteca.evaluate.studies.study import as_json, read_records_with_settings
from ludoteca.files import read_json

PARTS = ("document", "alphazero")
# What a network's training found, without its machine's details.
KEPT = ("data", "training", "validation", "metrics")


def record(task: Task, folder: Path) -> dict[str, Any] | None:
    """Return what is kept of a finished task; None of games, which are only learned from.

    Args:
        task: the task.
        folder: where all tasks are.
    """
    if isinstance(task, Data):
        return None
    found = read_json(task.artifact(folder))
    if "metrics" in found:
        found = {key: found[key] for key in ("about", "game", *KEPT)}
    return {"settings": as_json(task), **found}


def read_records(out: Path, planned: dict[str, Tasks]) -> dict[str, dict[str, Any]]:
    """Return the records of a report that was written before, see `read_records_with_settings`."""
    return read_records_with_settings(out, planned, lambda task: not isinstance(task, Data))
