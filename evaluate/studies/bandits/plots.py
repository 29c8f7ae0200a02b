"""Plots of the study of bandits, as PNG files."""

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from ludoteca.evaluate.bandits.computation import Findings
from ludoteca.evaluate.figures import figure_png


def _axes(**labels: Any) -> tuple[Figure, Any]:
    """Return a figure and its axes, with a logarithmic y axis and other properties of the axes."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    axes.set(yscale="log", **labels)
    axes.grid(alpha=0.3)
    return figure, axes


def alphas_by_arms(rows: list[dict[str, Any]]) -> bytes:
    """Draw the best alpha by K: ours, the thesis', and the curves 1/K and e/(2K); return PNG.

    Args:
        rows: rows of `report.alpha_rows`.
    """
    figure, axes = _axes(xlabel="arms K", ylabel="alpha", title="Best alpha of UCB1")
    column = {name: np.array([row[name] for row in rows], float) for name in rows[0]}  # None: NaN
    arms, ours = column["arms"], column["intervals"]
    bars = [ours - column["lowest_not_worse"], column["highest_not_worse"] - ours]
    axes.errorbar(arms, ours, bars, fmt="o", capsize=3, label="intervals (bar: not worse)")
    axes.plot(arms, column["annealing"], "d", label="simulated annealing")
    axes.plot(arms, column["thesis_intervals"], "x", color="k", label="thesis, intervals")
    axes.plot(arms, column["thesis_annealing"], "+", color="k", label="thesis, annealing")
    line = np.linspace(arms.min(), arms.max(), 400)
    axes.plot(line, 1 / line, "-", lw=1, label="1 / K")
    axes.plot(line, np.e / (2 * line), "--", lw=1, label="e / (2 K)")
    axes.legend()
    return figure_png(figure)


def regret_by_alpha(rows: list[dict[str, Any]]) -> bytes:
    """Draw the regret by alpha, a line for each K; return PNG.

    Args:
        rows: rows of `report.regret_rows`.
    """
    labels = {"xlabel": "alpha (0 is not shown)", "ylabel": "mean regret"}
    figure, axes = _axes(xscale="log", title="Regret of UCB1 (dots: the lowest)", **labels)
    arms = sorted({row["arms"] for row in rows})
    for color, k in zip(colormaps["viridis"](np.linspace(0, 1, len(arms))), arms, strict=True):
        points = sorted((row["alpha"], row["regret"]) for row in rows if row["arms"] == k)
        positive = np.array([point for point in points if point[0] > 0])
        axes.plot(*positive.T, ".-", ms=3, lw=1, color=color, label=f"K = {k}")
        axes.plot(*positive[positive[:, 1].argmin()], "o", color=color)
    axes.legend(ncols=2, fontsize="small")
    return figure_png(figure)


def curves(findings: Findings) -> bytes:
    """Draw the regret of all policies over the rounds, in one panel for each K; return PNG."""
    figure = Figure(figsize=(5 * len(findings.curves) + 2, 6), layout="constrained")
    grid = figure.subplots(1, len(findings.curves), squeeze=False)[0]
    for axes, (k, by_policy) in zip(grid, findings.curves.items(), strict=True):
        for number, (policy, values) in enumerate(by_policy.items()):
            color = colormaps["turbo"]((number + 0.5) / len(by_policy))
            style, means = ("-", "--", ":")[number % 3], values.mean(axis=0)
            axes.plot(findings.checkpoints, means, style, lw=1.5, color=color, label=policy)
        axes.set(xscale="log", yscale="log", xlabel="rounds", title=f"K = {k}")
        axes.grid(alpha=0.3)
    grid[0].set_ylabel("mean regret")
    figure.legend(
        *grid[0].get_legend_handles_labels(), loc="outside right center", fontsize="small"
    )
    return figure_png(figure)
