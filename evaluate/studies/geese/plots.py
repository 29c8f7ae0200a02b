"""Figures of the report on Hungry Geese: ratings, the competition of figure 10, and positions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ludoteca.agents.games.hungry_geese.patterns import LEAD, Example
from ludoteca.envs.registry import make_game
from ludoteca.envs.render import render
from ludoteca.evaluate.figures import figure_png
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.statistics.outcomes import read_outcomes
from ludoteca.evaluate.statistics.repetitions import range_95, repeat_competition
from ludoteca.evaluate.studies.geese.statistics import THESIS, ratings
from ludoteca.evaluate.studies.geese.titles import Labels, agent_title
from ludoteca.evaluate.studies.study import Records

BIN = 50  # Elo points of a bar of the distribution of ratings
# Start of an agent's title -> its type in the distribution of ratings.
TYPES = {
    "network": "networks that imitate",
    "flat": "flat Monte Carlo",
    "self-play": "self-play network",
}
OTHERS = "rules and tree search"
COLORS = {
    "networks that imitate": "#9bc4e8", "flat Monte Carlo": "#1f77d0", OTHERS: "#0b3d73",
    "self-play network": "#d6452b",
}  # fmt: skip
CAPTIONS = {
    "contested food": "two heads beside a food (figure 3)",
    "own tail": "a goose that follows its tail (figure 4)",
    "dead end": "flat Monte Carlo in a dead end (figure 12)",
    "enclosed": "a network encloses itself (figure 13)",
}


def draw(records: Records, folder: Path, labels: Labels) -> dict[str, bytes]:
    """Return the figures whose tasks have records, as PNG files by name."""
    figures = {}
    if any("outcomes" in record for record in records.values()):
        figures["ratings.png"] = rating_distribution(records, labels)
    if "real" in records:
        figures["figure_10.png"] = repeated_competition(records["real"], labels)
    if records.get("examples", {}).get("examples"):
        figures["positions.png"] = example_positions(records["examples"])
    return figures


def rating_distribution(records: Records, labels: Labels) -> bytes:
    """Return the distribution of the agents' ratings, and each rating, as a PNG file."""
    rated = ratings(records, labels)
    types = [next((TYPES[k] for k in TYPES if name.startswith(k)), OTHERS) for name, *_ in rated]
    elo = [float(rating.elo) for _, rating, _ in rated]
    figure = Figure(figsize=(7.5, 8), dpi=110, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1, 3))
    edges = np.arange(BIN * np.floor(min(elo) / BIN), max(elo) + BIN, BIN)
    above.hist(
        [[e for e, t in zip(elo, types, strict=True) if t == kind] for kind in COLORS],
        bins=edges.tolist(), stacked=True, color=list(COLORS.values()), label=list(COLORS),
    )  # fmt: skip
    above.set_ylabel("agents")
    above.legend(fontsize="small")
    for k, ((_, rating, _), kind) in enumerate(zip(rated, types, strict=True)):
        low, high = float(rating.elo - rating.low), float(rating.high - rating.elo)
        below.errorbar(
            float(rating.elo), k, xerr=[[low], [high]], color=COLORS[kind], marker="o",
            markersize=4, capsize=2,
        )  # fmt: skip
    below.set_yticks(range(len(rated)), [name for name, *_ in rated], fontsize="small")
    below.invert_yaxis()
    below.set_xlabel("Elo, 95 % interval")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    return figure_png(figure, colors=64)


def repeated_competition(match: Mapping[str, Any], labels: Labels) -> bytes:
    """Return wins and deaths in the thesis' figure 10 and ours, as a PNG file."""
    games, theirs = THESIS["games"], THESIS["results"]["real"]
    repetitions = repeat_competition(read_outcomes(match["outcomes"]), games)
    figure = Figure(figsize=(9, 4.2), dpi=110, layout="constrained")
    panels: tuple[Axes, Axes] = figure.subplots(1, 2)
    names = [agent_title(agent["agent"], labels) for agent in match["agents"]]
    for column, (axes, measure) in enumerate(zip(panels, ("wins", "deaths"), strict=True)):
        counts = getattr(repetitions, measure)
        for k, agent in enumerate(match["agents"]):
            low, high = range_95(counts[:, k])
            axes.plot((k, k), (low, high), color="#9bc4e8", linewidth=9, solid_capstyle="butt",
                      label="95 % of competitions of 100 games" if k == 0 else None)  # fmt: skip
            lives = agent["lives"]
            share = 100 * lives[measure] / lives["geese"]
            bounds = [100 * bound for bound in wilson(lives[measure], lives["geese"])]
            axes.errorbar(
                k, share, yerr=[[share - bounds[0]], [bounds[1] - share]], color="#0b3d73",
                marker="o", capsize=4, label=f"ours, {lives['geese']:,} games" if k == 0 else None,
            )  # fmt: skip
            axes.plot(k, theirs[k][column], color="#d6452b", marker="D", linestyle="",
                      label=f"thesis, {games} games" if k == 0 else None)  # fmt: skip
        axes.set_xticks(range(len(names)), [name.partition(":")[0].removeprefix("network of ")
                                            for name in names])  # fmt: skip
        axes.set_ylabel(f"{measure}, % of games")
        axes.grid(alpha=0.3)
    panels[0].legend(fontsize="small")
    return figure_png(figure, colors=64)


def example_positions(record: Mapping[str, Any]) -> bytes:
    """Return the example positions as a PNG file."""
    panels: list[tuple[str, Any]] = []
    for example in map(Example.from_json, record["examples"]):
        positions, pattern = example.positions(), example.pattern
        title = f"{CAPTIONS[pattern]}: goose {'ABCD'[example.seat]}"
        if pattern in ("dead end", "enclosed"):
            panels.append((f"{title},\n{LEAD} steps before its last", positions[-1 - LEAD]))
            panels.append((f"{title},\nbefore its last step", positions[-1]))
        else:
            panels.append((title, positions[-1]))
    game = make_game(record["examples"][0]["game"])
    figure = Figure(figsize=(10, 3.2 * ((len(panels) + 1) // 2)), dpi=110, layout="constrained")
    for k, (title, s) in enumerate(panels):
        axes = figure.add_subplot((len(panels) + 1) // 2, 2, k + 1)
        axes.imshow(render(game, s, "rgb_array", captions=()))
        axes.set_title(title, fontsize="small")
        axes.axis("off")
    return figure_png(figure, colors=64)
