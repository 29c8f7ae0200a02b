"""What is kept of the training runs on Hex: enough to write the report without their folders."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ludoteca.evaluate.studies import study
from ludoteca.evaluate.studies.hex.plan import Run
from ludoteca.evaluate.studies.study import RESULTS
from ludoteca.files import read_json

PARTS = ("document", "beyond")


class Curve:
    """Wins and losses of a training run, from its `metrics.csv`."""

    def __init__(self, folder: Path):
        self.rows = study.measured(folder, "loss")
        self.seat = "first" if self.rows and self.rows[0]["training__first"] else "second"

    def points(self, name: str) -> tuple[list[int], list[float]]:
        """Return games and values."""
        return [int(row["step"]) for row in self.rows], [float(row[name]) for row in self.rows]

    def wins(self, low: float = 0.0, high: float = 1.0) -> float:
        """Return the share of games won, in %, in a part of the run.

        Args:
            low: where the part begins, as a share of all games.
            high: where it ends.
        """
        steps, rates = self.points(f"training__{self.seat}")
        before, won, played = 0, 0.0, 0
        for step, rate in zip(steps, rates, strict=True):
            if low * steps[-1] < step <= high * steps[-1]:
                won += rate * (step - before)
                played += step - before
            before = step
        return 100 * won / max(played, 1)


def record(folder: Path) -> dict[str, Any]:
    """Return what is kept of a finished run.

    Args:
        folder: of the run.
    """
    results = read_json(folder / RESULTS)
    kept = {key: results[key] for key in ("config", "training", "evaluation", "about")}
    if results["config"]["opponent"] == "self":
        return kept
    curve = Curve(folder)
    losses = curve.points("loss")[1]
    kept["wins"] = {
        "all": curve.wins(),
        "first_half": curve.wins(0, 0.5),
        "last_fifth": curve.wins(0.8),
        "last_twentieth": curve.wins(0.95),
    }
    # As text, since JSON has no word for numbers that are none.
    kept["loss"] = {"largest": f"{max(losses):.3g}", "last": f"{losses[-1]:.3g}"}
    return kept


def read_records(out: Path, runs: Mapping[str, Mapping[str, Run]]) -> dict[str, dict[str, Any]]:
    """Return the records of a report that was written before, by part and name.

    Args:
        out: folder of the report.
        runs: what belongs there now; records of other runs, or of shorter ones, are left out.
    """
    return study.read_records(
        out,
        {part: runs[part] for part in PARTS},
        lambda found, run: bool(found["config"]["games"] >= run.games),
    )
