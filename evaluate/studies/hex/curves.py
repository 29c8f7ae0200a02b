"""Curves of wins and losses of the training runs on Hex: what records keep of them, and figures."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from ludoteca.evaluate.figures import figure_png
from ludoteca.evaluate.studies.study import RESULTS, Records, read_metrics
from ludoteca.files import read_json

FIGURES = {"best": "wins and loss of the longer run", "second": "second player"}


class Curve:
    """Wins and losses of a training run, from its `metrics.csv`."""

    def __init__(self, folder: Path):
        self.rows = read_metrics(folder, "loss")
        self.seat = "first" if self.rows and self.rows[0]["training__first"] else "second"

    def points(self, name: str) -> tuple[list[int], list[float]]:
        """Return games and values of a column."""
        return [int(row["step"]) for row in self.rows], [float(row[name]) for row in self.rows]

    def wins(self, low: float = 0.0, high: float = 1.0) -> float:
        """Return the share of games won, in %, in a part of the run.

        Args:
            low: start of the part, as a fraction of all games.
            high: end of the part.
        """
        steps, rates = self.points(f"training__{self.seat}")
        parts = [
            (step - before, rate)
            for before, step, rate in zip((0, *steps), steps, rates, strict=False)
            if low * steps[-1] < step <= high * steps[-1]
        ]
        won = sum(rate * games for games, rate in parts)
        return 100 * won / max(sum(games for games, _ in parts), 1)


def summarize(folder: Path) -> dict[str, Any]:
    """Return the wins and losses of a finished run for its record."""
    if read_json(folder / RESULTS)["config"]["opponent"] == "self":
        return {}
    curve = Curve(folder)
    losses = curve.points("loss")[1]
    wins = {
        "all": curve.wins(),
        "first_half": curve.wins(0, 0.5),
        "last_fifth": curve.wins(0.8),
        "last_twentieth": curve.wins(0.95),
    }
    # As text, since JSON has no infinities.
    return {"wins": wins, "loss": {"largest": f"{max(losses):.3g}", "last": f"{losses[-1]:.3g}"}}


def draw(found: Records, folder: Path) -> dict[str, bytes]:
    """Return the figures of the runs whose curves are in the folder, as PNG files by name."""
    return {
        f"{name}.png": draw_curve(Curve(folder / name), title)
        for name, title in FIGURES.items()
        if name in found and (folder / name / "metrics.csv").exists()
    }


def draw_curve(curve: Curve, title: str) -> bytes:
    """Return the wins and the loss of a run as a PNG file."""
    figure = Figure(figsize=(7.5, 5.5), dpi=110, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    steps, rates = curve.points(f"training__{curve.seat}")
    above.plot(steps, [100 * rate for rate in rates], color="#1f77d0", linewidth=0.6)
    above.set_ylabel("won, % of each point's games")
    above.set_ylim(-2, 102)
    above.set_title(title)
    below.plot(*curve.points("loss"), color="#5b6770", linewidth=0.6)
    below.set_ylabel("loss")
    below.set_xlabel("games")
    below.xaxis.set_major_formatter(lambda x, position: f"{x:,.0f}")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    return figure_png(figure)
