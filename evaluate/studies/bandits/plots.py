"""Figures of the study of bandits (after the thesis of Valencia, UAEMex, 2021), as PNG files."""

from typing import Any

import numpy as np
from matplotlib import colormaps

from ludoteca.evaluate.bandits.findings import Findings
from ludoteca.evaluate.figures import SMALL, Panel, Series, panels_png


def alphas_by_arms(rows: list[dict[str, Any]]) -> bytes:
    """Draw the best alpha by K: ours, the thesis', and the curves 1/K and e/(2K); return PNG.

    Args:
        rows: rows of `ludoteca.evaluate.studies.bandits.report.alpha_rows`.
    """
    column = {name: np.array([row[name] for row in rows], float) for name in rows[0]}  # None: NaN
    arms, bounds = column["arms"], (column["lowest_not_worse"], column["highest_not_worse"])
    line = np.linspace(arms.min(), arms.max(), 400)
    bars = {"capsize": 3, "label": "intervals (bar: not worse)"}
    by_intervals = {"color": "k", "label": "thesis, intervals"}
    by_annealing = {"color": "k", "label": "thesis, annealing"}
    series = [
        Series(arms, column["intervals"], "o", bounds, bars),
        Series(arms, column["annealing"], "d", options={"label": "simulated annealing"}),
        Series(arms, column["thesis_intervals"], "x", options=by_intervals),
        Series(arms, column["thesis_annealing"], "+", options=by_annealing),
        Series(line, 1 / line, "-", options={"lw": 1, "label": "1 / K"}),
        Series(line, np.e / (2 * line), "--", options={"lw": 1, "label": "e / (2 K)"}),
    ]
    axes = {"yscale": "log", "xlabel": "arms K", "ylabel": "alpha", "title": "Best alpha of UCB1"}
    return panels_png([Panel(series, axes, legend={})], (8, 5))


def regret_by_alpha(rows: list[dict[str, Any]]) -> bytes:
    """Draw the regret by alpha, a line for each K; return PNG.

    Args:
        rows: rows of `Findings.regret_rows`.
    """
    arms = sorted({row["arms"] for row in rows})
    series = []
    for color, k in zip(colormaps["viridis"](np.linspace(0, 1, len(arms))), arms, strict=True):
        points = sorted((row["alpha"], row["regret"]) for row in rows if row["arms"] == k)
        x, y = np.array([point for point in points if point[0] > 0]).T
        line = {"ms": 3, "lw": 1, "color": color, "label": f"K = {k}"}
        series.append(Series(x, y, ".-", options=line))
        series.append(Series(x[y.argmin()], y.min(), "o", options={"color": color}))
    axes = {
        "xscale": "log", "yscale": "log", "title": "Regret of UCB1 (dots: the lowest)",
        "xlabel": "alpha (0 is not shown)", "ylabel": "mean regret",
    }  # fmt: skip
    return panels_png([Panel(series, axes, legend={"ncols": 2} | SMALL)], (8, 5))


def curves(findings: Findings) -> bytes:
    """Draw the regret of all policies over the rounds, in one panel for each K; return PNG."""
    axes = {"xscale": "log", "yscale": "log", "xlabel": "rounds"}
    panels = list[Panel]()
    for k, by_policy in findings.curves.items():
        colors = colormaps["turbo"]((np.arange(len(by_policy)) + 0.5) / len(by_policy))
        lines = zip(by_policy.items(), colors, ("-", "--", ":") * len(by_policy), strict=False)
        series = [
            Series(
                findings.checkpoints, values.mean(axis=0), style,
                options={"lw": 1.5, "color": color, "label": policy},
            )
            for (policy, values), color, style in lines
        ]  # fmt: skip
        label = {} if panels else {"ylabel": "mean regret"}
        panels.append(Panel(series, {**axes, **label, "title": f"K = {k}"}))
    size, legend = (5 * len(panels) + 2, 6), {"loc": "outside right center"} | SMALL
    return panels_png(panels, size, columns=len(panels), legend=legend)
