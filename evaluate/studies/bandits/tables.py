"""Tables and findings of the report on bandits, from the rows of its CSV files."""

from collections.abc import Iterable, Mapping
from typing import Any

from scipy.stats import spearmanr

from ludoteca.evaluate.markdown import bold
from ludoteca.evaluate.studies.bandits import uaemex2021 as thesis

Rows = list[dict[str, Any]]
ALPHA_HEADINGS = (
    "K", "intervals", "not worse", "annealing", "thesis: intervals", "annealing", "1/K", "e/(2K)",
    "K x ours", "K x thesis'",
)  # fmt: skip


def template_names(
    settings: Mapping[str, Any], alphas: Rows, regrets: Rows, curves: Rows, about: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the template of the report uses.

    Args:
        settings: of the study.
        alphas: rows of `report.alpha_rows`.
        regrets: rows of `report.regret_rows`.
        curves: rows of `report.curve_rows`.
        about: command, date, machine and versions.
    """
    return {
        "study": settings,
        "about": about,
        "versions": ", ".join(f"{name} {number}" for name, number in about["versions"].items()),
        "findings": findings(alphas),
        "ALPHA_HEADINGS": ALPHA_HEADINGS,
        "alpha_rows": alpha_table(alphas),
        "alphas": alphas,
        "grid_rows": grid_table(regrets, settings["arms"], settings["alphas"]),
        "curve_rows": curve_table(curves, settings["curve_arms"], settings["curve_rounds"]),
    }


def findings(alphas: Rows) -> dict[str, Any]:
    """Return the findings on the best alpha, and on the constants of the thesis' policies."""
    last = alphas[-1]
    arms, ours = [row["arms"] for row in alphas], [row["intervals"] for row in alphas]
    ratios = {
        name: max(
            ((row[f"regret_{name}"] / row["regret_best"], row["arms"]) for row in alphas),
            key=lambda pair: pair[0],
        )
        for name in ("1/K", "e/(2K)")
    }
    half, best = thesis.REGRETS[0.5][100], min(by[100] for by in thesis.REGRETS.values())
    return {
        "first": alphas[0],
        "last": last,
        "rank": spearmanr(arms, ours).statistic if len(ours) > 2 else None,
        "thesis": (half, best) if last["arms"] == 100 else None,
        "ratios": ratios,
        "better": {
            name: sum(row[f"regret_{name}"] < row["regret_2"] for row in alphas) for name in ratios
        },
        "agree": [
            row["arms"]
            for row in alphas
            if row["thesis_intervals"] is not None
            and row["lowest_not_worse"] <= row["thesis_intervals"] <= row["highest_not_worse"]
        ],
    }


def alpha_table(alphas: Rows) -> list[tuple[Any, ...]]:
    """Return the best alphas, a row of `ALPHA_HEADINGS` for each K."""
    rows = []
    for row in alphas:
        k, theirs = row["arms"], row["thesis_intervals"]
        rows.append(
            (
                *(k, fixed(row["intervals"])),
                f"{row['lowest_not_worse']:.4f} to {row['highest_not_worse']:.4f}",
                *(fixed(row["annealing"]), fixed(theirs), fixed(row["thesis_annealing"])),
                *(fixed(row["1/K"]), fixed(row["e/(2K)"])),
                *(fixed(k * row["intervals"], 2), fixed(theirs and k * theirs, 2)),
            )
        )
    return rows


def grid_table(regrets: Rows, arms: Iterable[int], alphas: int) -> list[list[str]]:
    """Return the regrets on the first grid beside the thesis', the lowest of each bold."""
    grid = [0.5 / 2**n for n in range(alphas - 1)] + [0.0]
    ours = {(row["arms"], row["alpha"]): row["regret"] for row in regrets}
    rows = []
    for alpha in grid:
        cells = [f"{alpha:g}"]
        for k in arms:
            theirs = {a: thesis.REGRETS.get(a, {}).get(k) for a in grid}
            lowest = min(ours[k, a] for a in grid)
            their_lowest = min((x for x in theirs.values() if x), default=None)
            mine = bold(fixed(ours[k, alpha], 1), ours[k, alpha] == lowest)
            cells.append(f"{mine} / {bold(fixed(theirs[alpha], 1), theirs[alpha] == their_lowest)}")
        rows.append(cells)
    return rows


def curve_table(curves: Rows, arms: Iterable[int], rounds: int) -> list[tuple[str, ...]]:
    """Return the regret of all policies after the last round, with its standard error."""
    last = {(row["policy"], row["arms"]): row for row in curves if row["rounds"] == rounds}
    return [
        (
            policy,
            *(
                f"{last[policy, k]['regret']:.1f} ± {last[policy, k]['standard_error']:.1f}"
                for k in arms
            ),
        )
        for policy in dict.fromkeys(policy for policy, _ in last)
    ]


def fixed(value: float | None, digits: int = 4) -> str:
    """Return a number with fixed digits; `"-"` for none."""
    return "-" if value is None else f"{value:.{digits}f}"
