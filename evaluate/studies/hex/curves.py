"""Learning curves of the training runs in Hex: wins and loss, for records and figures.

The record of a task is what the report keeps of its results. In `metrics.csv`, a row has the number
of games so far (`step`), and win rates, from 0 to 1, of the training games since the row before it:
`training__first` in the first seat, `training__second` in the second.
"""

from pathlib import Path
from typing import Any

from ludoteca.evaluate.figures import Panel, Series, panels_png
from ludoteca.evaluate.studies.study import RESULTS_FILE, Records, read_metrics
from ludoteca.files import read_json

# Titles of the figures, by the name of the run. Both have twice as many games as the runs over a
# grid of parameters; in "best" the network plays first, in "second" it plays second.
FIGURES = {"best": "wins and loss of the longer run", "second": "second player"}


class Curve:
    """Learning curve of a training run, from its `metrics.csv`: win rates, and the loss.

    Attributes:
        rows: rows of the file that have a loss, as text by column.
        seat: seat of the win rates: `"first"`, or `"second"` if the network was never first.
    """

    def __init__(self, folder: Path):
        self.rows = read_metrics(folder, "loss")
        # The column of a seat is empty if the network never had it.
        self.seat = "first" if self.rows and self.rows[0]["training__first"] else "second"

    def points(self, name: str) -> tuple[list[int], list[float]]:
        """Return the numbers of games, and the values of the column `name` after these games."""
        return [int(row["step"]) for row in self.rows], [float(row[name]) for row in self.rows]

    def wins(self, low: float = 0.0, high: float = 1.0) -> float:
        """Return the percentage of games won in `seat` in an interval of the run, from 0 to 100.

        Each row counts in proportion to the games since the row before it.

        Args:
            low: start of the interval, as a fraction of all games.
            high: end of the interval, as a fraction of all games.
        """
        steps, rates = self.points(f"training__{self.seat}")
        points = [
            (step - previous_step, rate)
            for previous_step, step, rate in zip((0, *steps), steps, rates, strict=False)
            if low * steps[-1] < step <= high * steps[-1]
        ]
        won = sum(rate * games for games, rate in points)
        return 100 * won / max(sum(games for games, _ in points), 1)


def summarize(folder: Path) -> dict[str, Any]:
    """Return the percentages of wins and the loss of a finished run, for its record.

    For self-play, in which the network plays both seats, the result is empty.
    """
    if read_json(folder / RESULTS_FILE)["config"]["opponent"] == "self":
        return {}
    curve = Curve(folder)
    losses = curve.points("loss")[1]
    wins = {
        "all": curve.wins(),
        "first_half": curve.wins(0, 0.5),
        "last_fifth": curve.wins(0.8),
        "last_twentieth": curve.wins(0.95),
    }
    # Losses as text, since they may be infinite, which JSON cannot express.
    return {"wins": wins, "loss": {"largest": f"{max(losses):.3g}", "last": f"{losses[-1]:.3g}"}}


def draw(records: Records, folder: Path) -> dict[str, bytes]:
    """Return the figures of the runs in `FIGURES`, as PNG files by name.

    Args:
        records: records of the finished tasks; runs without a record have no figure.
        folder: folder of all tasks, with a folder per run; runs without `metrics.csv` have none.
    """
    return {
        f"{name}.png": draw_curve(Curve(folder / name), title)
        for name, title in FIGURES.items()
        if name in records and (folder / name / "metrics.csv").exists()
    }


def draw_curve(curve: Curve, title: str) -> bytes:
    """Return the wins and the loss of a run as a PNG file."""
    steps, rates = curve.points(f"training__{curve.seat}")
    wins = Series(steps, [100 * x for x in rates], options={"color": "#1f77d0", "linewidth": 0.6})
    loss = Series(*curve.points("loss"), options={"color": "#5b6770", "linewidth": 0.6})
    axes = {"ylabel": "won, % of each point's games", "ylim": (-2, 102), "title": title}
    panels = [
        Panel([wins], axes),
        Panel([loss], {"ylabel": "loss", "xlabel": "games"}, integers="thousands"),
    ]
    return panels_png(panels, (7.5, 5.5), dpi=110, sharex=True)
