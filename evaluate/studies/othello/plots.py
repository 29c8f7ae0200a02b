"""Figures of the report on Othello."""

from pathlib import Path

from matplotlib.figure import Figure

from ludoteca.evaluate.figures import figure_png
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.studies.declaration import Declaration
from ludoteca.evaluate.studies.study import Records

NAMES = Declaration.read("othello", fast=False, options={"precision": "auto"}).template_names
SIZES, NETWORKS = ([row["name"] for row in NAMES[table]] for table in ("sizes", "networks"))
COLORS = ("#9bc4e8", "#1f77d0", "#0b3d73", "#d6452b")


def draw(records: Records, folder: Path) -> dict[str, bytes]:
    """Return the figures whose tasks have records, as PNG files by name."""
    figures = {}
    if records.keys() >= {f"net-{name}" for name in NETWORKS}:
        figures["learning_curves.png"] = learning_curves(records)
    if records.keys() >= {f"{name}-{budget}" for name in SIZES for budget in NAMES["budgets"]}:
        figures["strength.png"] = strength(records)
    return figures


def learning_curves(records: Records) -> bytes:
    """Return the losses of all networks by epoch, as a PNG file."""
    figure = Figure(figsize=(9, 5.5), layout="constrained", dpi=110)
    panels = figure.subplots(2, 3, sharey=True)
    for axes, name in zip(panels.flat, NETWORKS, strict=True):
        record = records[f"net-{name}"]
        epochs = [row["step"] for row in record["metrics"]]
        for label, color in (("training", "#5b6770"), ("validation", "#1f77d0")):
            losses = [row[f"{label}_loss"] for row in record["metrics"]]
            axes.plot(epochs, losses, color=color, marker=".", label=label)
        best = record["training"]["best"]["epoch"]
        # The network of the epoch with the lowest validation loss is kept.
        axes.axvline(best, color="#888888", linestyle=":", linewidth=1, label="kept network")
        axes.set_title(f"{name}: {record['data']['games']:,} games", fontsize="medium")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(alpha=0.3)
    for axes in panels[:, 0]:
        axes.set_ylabel("mean squared error")
    for axes in panels[-1]:
        axes.set_xlabel("epoch")
    panels[0, 0].legend(fontsize="small")
    return figure_png(figure)


def strength(records: Records) -> bytes:
    """Return the percentage of games that UCT + network wins, by training games, as a PNG file."""
    figure = Figure(figsize=(6.5, 4), layout="constrained", dpi=110)
    axes = figure.subplots()
    games = [records[f"net-{name}"]["data"]["games"] for name in SIZES]
    budgets = [(str(n), f"{n} iterations") for n in NAMES["iterations"]] + [("time", "equal time")]
    for k, ((budget, label), color) in enumerate(zip(budgets, COLORS, strict=True)):
        totals = [records[f"{name}-{budget}"]["agents"][0]["total"] for name in SIZES]
        rates = [total["wins"] / total["games"] for total in totals]
        intervals = [wilson(total["wins"], total["games"]) for total in totals]
        below = [100 * (rate - low) for rate, (low, _) in zip(rates, intervals, strict=True)]
        above = [100 * (high - rate) for rate, (_, high) in zip(rates, intervals, strict=True)]
        # Shifted on the logarithmic axis, so that the bars of the four budgets do not overlap.
        shifted = [count * 1.04 ** (k - 1.5) for count in games]
        axes.errorbar(
            shifted, [100 * rate for rate in rates], yerr=(below, above), color=color, marker="o",
            capsize=3, label=label,
        )  # fmt: skip
    axes.axhline(50, color="#888888", linestyle=":", linewidth=1)
    axes.set_xscale("log")
    axes.set_xticks(games, [f"{count:,}" for count in games], minor=False)
    axes.set_xticks([], minor=True)
    axes.set_ylim(-2, 102)
    axes.set_xlabel("training games of the network")
    axes.set_ylabel("won against plain UCT, %")
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)
    return figure_png(figure)
