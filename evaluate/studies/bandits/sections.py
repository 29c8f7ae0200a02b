"""The text of a report of the study, in Markdown."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from ludoteca.evaluate.markdown import bold, table
from ludoteca.evaluate.studies.bandits import uaemex2021 as thesis
from ludoteca.evaluate.studies.bandits.grids import intervals
from ludoteca.evaluate.studies.bandits.study import Findings

Rows = list[dict[str, Any]]


def to_markdown(findings: Findings, alphas: Rows, about: dict[str, Any]) -> str:
    """Return the report.

    Args:
        findings: of the study.
        alphas: the rows of `report.alpha_rows`.
        about: command, date, machine and versions.
    """
    study = findings.study
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    return f"""# The best constant of UCB1 by the number of arms

UCB1 pulls the arm that maximizes x + sqrt(alpha ln t / T), where x is the mean of its T rewards
after t pulls of all arms. For each number of arms K it played Bernoulli problems with success
probabilities drawn uniformly. All alphas met the same problems, and the n-th pull of an arm paid
the same under all.

| | problems | runs of each | rounds of each run |
|:--|--:|--:|--:|
| here | {study.problems} | {study.runs} | {study.rounds} |
| thesis | 1000 | 100 | 100000 |

- Command: `{about["command"]}`, {about["date"]}, seed {study.seed}
- Machine: {about["cpu"]}, {about["cores"]} cores; {versions}

## Findings

{_findings(findings, alphas)}

## Best alpha

"Intervals" is the best of both grids. "Not told apart" are the lowest and the highest alpha tried
there whose regret is not above the best's by more than 1.96 standard errors of the differences,
taken problem by problem. "Annealing" is the best of {study.annealing_steps} steps, judged by the
first {study.annealing_problems} problems.

{_alpha_table(alphas)}

![Best alpha by the number of arms](alphas.png)

## What it is worth

Mean regret after {study.rounds} rounds.

{_worth_table(alphas)}

## Regret on the first grid

Ours / the thesis' (table 4.18); the lowest of each in bold.

{_grid_table(findings)}

![Regret by alpha](regret_by_alpha.png)

## All policies

Each with the parameters of its table line. Problems: {study.curve_problems}, runs of each:
{study.runs}. Mean regret after {study.curve_rounds} rounds, with its standard error:

{_curve_table(findings)}

![Regret of all policies](curves.png)
"""


def standard_error(values: NDArray[np.float64]) -> float:
    """Return the standard error of a mean; NaN for a single value."""
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def _findings(findings: Findings, alphas: Rows) -> str:
    lines = []
    if len(alphas) > 2:
        ours = [row["intervals"] for row in alphas]
        rank = spearmanr([row["arms"] for row in alphas], ours).statistic
        lines.append(
            f"- The best alpha goes from {ours[0]:.4g} at K = {alphas[0]['arms']} to "
            f"{ours[-1]:.4g} at K = {alphas[-1]['arms']}; rank correlation of K and alpha: "
            f"{rank:.3f} (1 if it always rises, -1 if it always falls)."
        )
    last = alphas[-1]
    line = (
        f"- At K = {last['arms']} alpha = 0.5 costs {last['regret_0.5']:.0f} and the best alpha "
        f"{last['regret_best']:.0f}: {last['regret_0.5'] / last['regret_best']:.1f} to 1."
    )
    if last["arms"] == 100:
        best = min(regrets[100] for regrets in thesis.REGRETS.values())
        half = thesis.REGRETS[0.5][100]
        line += f" (The thesis: {half:.0f} and {best:.0f}, {half / best:.1f} to 1.)"
    lines.append(line)
    for name in ("1/K", "e/(2K)"):
        worst = max(alphas, key=lambda row: row[f"regret_{name}"] / row["regret_best"])
        ratio = worst[f"regret_{name}"] / worst["regret_best"]
        better = sum(row[f"regret_{name}"] < row["regret_2"] for row in alphas)
        lines.append(
            f"- alpha = {name} costs at most {ratio:.2f} times the best alpha's regret (at K = "
            f"{worst['arms']}), and less than alpha = 2 for {better} of {len(alphas)} K."
        )
    inside = [
        str(row["arms"])
        for row in alphas
        if row["thesis_intervals"] is not None
        and row["lowest_not_told_apart"] <= row["thesis_intervals"] <= row["highest_not_told_apart"]
    ]
    lines.append(
        "- The thesis' best alpha lies within our range of alphas that are not told apart for K = "
        f"{', '.join(inside) or 'none'}."
    )
    return "\n".join(lines)


def _alpha_table(alphas: Rows) -> str:
    headings = ("K", "intervals", "not told apart", "annealing", "thesis: intervals", "annealing")
    rows = []
    for row in alphas:
        k, theirs = row["arms"], row["thesis_intervals"]
        near = f"{row['lowest_not_told_apart']:.4f} to {row['highest_not_told_apart']:.4f}"
        rows.append(
            (
                *(k, _number(row["intervals"]), near, _number(row["annealing"])),
                *(_number(theirs), _number(row["thesis_annealing"])),
                *(_number(row["1/K"]), _number(row["e/(2K)"])),
                *(_number(k * row["intervals"], 2), _number(theirs and k * theirs, 2)),
            )
        )
    return table((*headings, "1/K", "e/(2K)", "K x ours", "K x thesis'"), rows, texts=0)


def _worth_table(alphas: Rows) -> str:
    names = ("best", "1/K", "e/(2K)", "0.5", "2")
    rows = [(row["arms"], *(_number(row[f"regret_{name}"], 1) for name in names)) for row in alphas]
    return table(("K", "best alpha", *names[1:]), rows, texts=0)


def _grid_table(findings: Findings) -> str:
    arms, grid = findings.study.arms, intervals(0.5, 0.0, findings.study.alphas)
    means = {k: {a: float(findings.regrets[k][a].mean()) for a in grid} for k in arms}
    theirs = {k: {a: thesis.REGRETS.get(a, {}).get(k) for a in grid} for k in arms}
    lowest = {k: min(means[k].values()) for k in arms}
    their_lowest = {k: min((x for x in theirs[k].values() if x), default=None) for k in arms}
    rows = []
    for alpha in grid:
        row = [f"{alpha:g}"]
        for k in arms:
            our, their = means[k][alpha], theirs[k][alpha]
            marked = bold(_number(our, 1), our == lowest[k])
            row.append(f"{marked} / {bold(_number(their, 1), their == their_lowest[k])}")
        rows.append(row)
    return table(("alpha", *(f"K = {k}" for k in arms)), rows, texts=0)


def _curve_table(findings: Findings) -> str:
    curves = findings.curves
    rows = []
    for policy in next(iter(curves.values())):
        last = [curves[k][policy][:, -1] for k in curves]
        rows.append((policy, *(f"{x.mean():.1f} ± {standard_error(x):.1f}" for x in last)))
    return table(("policy", *(f"K = {k}" for k in curves)), rows)


def _number(value: float | None, digits: int = 4) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
