"""What is kept of the tasks of the study on Hungry Geese: enough to write the report."""

from pathlib import Path
from typing import Any

from ludoteca.evaluate.studies.geese.plan import OPPONENT
from ludoteca.evaluate.studies.geese.tasks import Games, Recorded, SelfPlay, Task, Tasks
from ludoteca.evaluate.studies.study import as_json, measured, read_records_with_settings
from ludoteca.files import read_json

PARTS = ("document", "real", "beyond")
# What a network's training found, without the losses of each epoch.
KEPT = ("about", "data", "training")


def record(task: Task, folder: Path) -> dict[str, Any] | None:
    """Return what is kept of a finished task; None of games, which are only learned from.

    Args:
        task: the task.
        folder: where all tasks are.
    """
    if not is_recorded(task):
        return None
    found = read_json(task.artifact(folder))
    if isinstance(task, SelfPlay):
        found = {key: found[key] for key in ("about", "training", "evaluation")}
        found["curve"] = curve(folder / task.name)
    elif "training" in found:
        found = {key: found[key] for key in KEPT}
    return {"settings": as_json(task), **found}


def curve(folder: Path) -> list[dict[str, Any]]:
    """Return how self-play went: the wins in each evaluation, and what was kept until then.

    Args:
        folder: of the run.
    """
    name = f"{OPPONENT}__any"
    return [
        {
            "games": int(row["step"]),
            "win_rate": float(row[name]),
            # Only the thesis' loop puts its networks to a test.
            **{
                key: int(row[key])
                for key in ("candidates_tested", "candidates_accepted")
                if key in row
            },
        }
        for row in measured(folder, name)
    ]


def read_records(out: Path, planned: dict[str, Tasks]) -> dict[str, dict[str, Any]]:
    """Return the records of a report that was written before, see `read_records_with_settings`."""
    return read_records_with_settings(out, planned, is_recorded)


def is_recorded(task: Task) -> bool:
    """Tell whether anything is kept of a task."""
    return not isinstance(task, Games | Recorded)
