"""Plots of the study of policies in bandits, as PNG files."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from ludoteca.evaluate.figures import figure_png
from ludoteca.evaluate.studies.bandit_policies.analysis import BOUNDS, OTHER_CONSTANT, Z, record_of
from ludoteca.evaluate.studies.bandit_policies.problems import AUER
from ludoteca.evaluate.studies.study import Records

MEASURED = ("ucb1", OTHER_CONSTANT, "moss")  # policies whose regret is drawn with its bounds


def draw(records: Records, folder: Path) -> dict[str, bytes]:
    """Return the figures whose records are there.

    Args:
        records: records of the tasks.
        folder: folder of all tasks, which is not used.
    """
    figures = {}
    if all(f"policy-{policy.replace(':', '-')}" in records for policy in MEASURED):
        figures["bounds.png"] = figure_png(draw_bounds(records))
    shares = {name: each for name, each in records.items() if name.startswith("policy-")}
    if shares:
        figures["shares.png"] = figure_png(draw_shares(shares))
    return figures


def _panels() -> tuple[Figure, list[Any]]:
    figure = Figure(figsize=(15, 7), layout="constrained")
    panels = list(figure.subplots(2, 4).flat)
    for axes in panels[len(AUER) :]:
        axes.set_axis_off()
    return figure, panels[: len(AUER)]


def draw_bounds(records: Records) -> Figure:
    """Draw the regret of UCB1 and MOSS and its bounds over the rounds, a panel for each problem."""
    figure, panels = _panels()
    colors = {policy: colormaps["tab10"](number) for number, policy in enumerate(MEASURED)}
    for axes, (name, probabilities) in zip(panels, AUER.items(), strict=True):
        for policy in MEASURED:
            record = record_of(records, policy)
            rounds, regret = record["checkpoints"], record["problems"][f"auer-{name}"]["regret"]
            mean, error = np.array(regret["mean"]), np.array(regret["error"])
            axes.plot(rounds, mean, color=colors[policy], label=policy)
            axes.fill_between(
                rounds, mean - Z * error, mean + Z * error, alpha=0.3, color=colors[policy]
            )
        for number, (policy, label, bound) in enumerate(BOUNDS):
            axes.plot(
                rounds, bound(probabilities, rounds), ("--", ":", "--", "--")[number],
                color=colors[policy], label=f"bound of {policy}, {label}",
            )  # fmt: skip
        gap = max(probabilities) - min(probabilities)
        axes.plot(rounds, gap * np.array(rounds), color="0.6", lw=1, label="always the worst arm")
        axes.set(xscale="log", yscale="log", xlabel="rounds", title=f"distribution {name}")
        axes.grid(alpha=0.3)
    handles = figure.axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="lower right", fontsize="small")
    figure.axes[0].set_ylabel("regret")
    return figure


def draw_shares(records: Records) -> Figure:
    """Draw the share of pulls of the best arm over the rounds, a line for each policy."""
    figure, panels = _panels()
    for axes, name in zip(panels, AUER, strict=True):
        for number, record in enumerate(records.values()):
            color = colormaps["turbo"]((number + 0.5) / len(records))
            share = record["problems"][f"auer-{name}"]["share"]["mean"]
            style = ("-", "--", ":")[number % 3]
            axes.plot(record["checkpoints"], 100 * np.array(share), style, color=color, lw=1.3,
                      label=record["policy"])  # fmt: skip
        axes.set(xscale="log", xlabel="rounds", ylim=(0, 100), title=f"distribution {name}")
        axes.grid(alpha=0.3)
    handles = figure.axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="lower right", fontsize="small", ncols=2)
    figure.axes[0].set_ylabel("pulls of the best arm, %")
    return figure
