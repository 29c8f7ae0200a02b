"""Study of value networks in Othello (University of Seville, 2019), and AlphaZero."""

from collections.abc import Sequence
from pathlib import Path

from ludoteca.evaluate.figures import DOTTED, SMALL, Panel, Series, panels_png, percentages
from ludoteca.evaluate.markdown import mean_text
from ludoteca.evaluate.statistics.differences import mean_interval
from ludoteca.evaluate.statistics.verdicts import INCONCLUSIVE
from ludoteca.evaluate.studies.data import read_data
from ludoteca.evaluate.studies.declaration import Declaration
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.study import Records, Study

TABLES = read_data("othello/study.toml")["tables"]
SIZES = [row["name"] for row in TABLES["sizes"]]
BUDGETS = [row["name"] for row in TABLES["budgets"]]
NETWORKS = [*SIZES, *(row["name"] for row in TABLES["variants"])]


def make_study(fast: bool = False, precision: str = "auto") -> Study:
    """Return the study.

    Args:
        fast: learn from few games and play few games, in some minutes, to check that everything
            runs.
        precision: numeric precision of the networks: "float32", "bfloat16", which is several times
            faster on processors that support it, or "auto", the faster one.
    """
    return Declaration("othello", fast, {"precision": precision}).make_study(
        template_names={"mean_text": mean_text, "strength_of_seeds": strength_of_seeds}, draw=draw
    )


def strength_of_seeds(points: Sequence[float]) -> str:
    """Return whether networks of several training seeds are stronger than their opponent.

    Args:
        points: percentages of points, a draw being half a point, one for each seed.

    Returns:
        The verdict by Student's 95 % interval of the mean: "stronger", "weaker" or "inconclusive".
    """
    _, low, high = mean_interval(points)
    return "stronger" if low > 50 else "weaker" if high < 50 else INCONCLUSIVE


def draw(records: Records, folder: Path) -> dict[str, bytes]:
    """Return the figures whose tasks have records, as PNG files by name."""
    figures = {}
    if records.keys() >= {f"net-{name}" for name in NETWORKS}:
        figures["learning_curves.png"] = learning_curves(records)
    if records.keys() >= {f"{name}-{budget}" for name in SIZES for budget in BUDGETS}:
        figures["strength.png"] = strength(records)
    return figures


def learning_curves(records: Records) -> bytes:
    """Return the losses of all networks by epoch, as a PNG file."""
    panels = []
    for k, name in enumerate(NETWORKS):
        record = records[f"net-{name}"]
        epochs = [row["step"] for row in record["metrics"]]
        series = [
            Series(
                epochs, [row[f"{label}_loss"] for row in record["metrics"]],
                options={"color": color, "marker": ".", "label": label},
            )
            for label, color in (("training", "#5b6770"), ("validation", "#1f77d0"))
        ]  # fmt: skip
        axes = {"title": f"{name}: {record['data']['games']:,} games"}
        axes |= {"ylabel": "mean squared error"} if k % 3 == 0 else {}
        axes |= {"xlabel": "epoch"} if k >= 3 else {}
        # The network of the epoch with the lowest validation loss is kept.
        best = {record["training"]["best"]["epoch"]: DOTTED | {"label": "kept network"}}
        legend = SMALL if k == 0 else None
        panels.append(Panel(series, axes, legend, best, integers=True, title_size="medium"))
    return panels_png(panels, (9, 5.5), columns=3, dpi=110, sharey=True)


def strength(records: Records) -> bytes:
    """Return the percentage of games that UCT + network wins, by training games, as a PNG file."""
    games, series = [records[f"net-{name}"]["data"]["games"] for name in SIZES], []
    for k, budget in enumerate(TABLES["budgets"]):
        totals = [records[f"{name}-{budget['name']}"]["agents"][0]["total"] for name in SIZES]
        won = percentages([one["wins"] for one in totals], [one["games"] for one in totals])
        # Shifted on the logarithmic axis, so that the bars of the four budgets do not overlap.
        shifted = [count * 1.04 ** (k - 1.5) for count in games]
        line = {"color": budget["color"], "label": budget["label"], "marker": "o", "capsize": 3}
        series.append(Series(shifted, won[0], "", won[1], line))
    axes = {
        "xscale": "log", "ylim": (-2, 102), "xlabel": "training games of the network",
        "ylabel": "won against plain UCT, %",
    }  # fmt: skip
    ticks = {count: f"{count:,}" for count in games}
    panel = Panel(series, axes, SMALL, horizontal={50: DOTTED}, xticks=ticks)
    return panels_png([panel], (6.5, 4), dpi=110)


reproduce = study_command(
    make_study,
    "Generate games of UCT, train value networks on them, and play all matches. Some matches have "
    "a time limit per move: no other program should run on the same cores.",
)
