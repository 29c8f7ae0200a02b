"""Report of the study of bandits: Markdown, CSV, JSON and plots."""

import csv
import io
import json
import math
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.studies.bandits import plots
from ludoteca.evaluate.studies.bandits import uaemex2021 as thesis
from ludoteca.evaluate.studies.bandits.study import Findings
from ludoteca.evaluate.studies.bandits.tables import template_names
from ludoteca.evaluate.studies.report import render
from ludoteca.files import write_whole
from ludoteca.provenance import package_versions, run_info


def write_report(findings: Findings, folder: Path) -> Path:
    """Write `report.md` and what belongs to it, and return its path."""
    alphas, regrets, curves = alpha_rows(findings), regret_rows(findings), curve_rows(findings)
    about = run_info(study=asdict(findings.study)) | {
        "versions": package_versions() | {name: version(name) for name in ("scipy", "matplotlib")},
    }
    write_whole(folder / "alphas.csv", _csv(alphas))
    write_whole(folder / "regrets.csv", _csv(regrets))
    write_whole(folder / "curves.csv", _csv(curves))
    results = {"about": about, "alphas": alphas, "annealed": findings.annealed}
    write_whole(folder / "results.json", json.dumps(results, indent=1) + "\n")
    write_whole(folder / "alphas.png", plots.alphas_by_arms(alphas))
    write_whole(folder / "regret_by_alpha.png", plots.regret_by_alpha(regrets))
    write_whole(folder / "curves.png", plots.curves(findings))
    names = template_names(asdict(findings.study), alphas, regrets, curves, about)
    write_whole(folder / "report.md", render("bandits/report.md.j2", names))
    return folder / "report.md"


def alpha_rows(findings: Findings) -> list[dict[str, Any]]:
    """Return a row for each K: the best alphas, the thesis' ones, and their regrets."""
    rows = []
    for k in findings.study.arms:
        regrets, best = findings.regrets[k], findings.best[k]
        near = not_worse(regrets, best)
        tried = findings.annealed[k]
        annealed, _ = min(tried, key=lambda pair: pair[1])
        rows.append(
            {
                "arms": k,
                "intervals": best,
                "lowest_not_worse": near[0],
                "highest_not_worse": near[1],
                "annealing": annealed,
                "thesis_intervals": thesis.BY_INTERVALS.get(k),
                "thesis_annealing": thesis.BY_ANNEALING.get(k),
                "1/K": 1 / k,
                "e/(2K)": math.e / (2 * k),
                "regret_best": float(regrets[best].mean()),
                "regret_1/K": float(regrets[1 / k].mean()),
                "regret_e/(2K)": float(regrets[math.e / (2 * k)].mean()),
                "regret_0.5": float(regrets[0.5].mean()),
                "regret_2": float(regrets[2.0].mean()),
            }
        )
    return rows


def not_worse(regrets: dict[float, NDArray[np.float64]], best: float) -> tuple[float, float]:
    """Return the lowest and highest alpha whose regret is not significantly above the best's.

    All alphas met the same problems and the same payoffs: the differences are taken problem by
    problem, and their mean compared with 1.96 of its standard errors.
    """
    near = [best]
    for alpha, values in regrets.items():
        excess = values - regrets[best]
        error = excess.std(ddof=1) / math.sqrt(len(excess)) if len(excess) > 1 else math.inf
        if excess.mean() <= 1.96 * error:
            near.append(alpha)
    return min(near), max(near)


def regret_rows(findings: Findings) -> list[dict[str, Any]]:
    """Return a row for each K and alpha: mean regret and its standard error."""
    return [
        {
            "arms": k,
            "alpha": alpha,
            "regret": float(values.mean()),
            "standard_error": standard_error(values),
            "thesis": thesis.REGRETS.get(alpha, {}).get(k),
        }
        for k, by_alpha in findings.regrets.items()
        for alpha, values in by_alpha.items()
    ]


def curve_rows(findings: Findings) -> list[dict[str, Any]]:
    """Return a row for each K, policy and checkpoint: mean regret and its standard error."""
    return [
        {
            "arms": k,
            "policy": policy,
            "rounds": rounds,
            "regret": round(float(values[:, slot].mean()), 4),
            "standard_error": round(standard_error(values[:, slot]), 4),
        }
        for k, by_policy in findings.curves.items()
        for policy, values in by_policy.items()
        for slot, rounds in enumerate(findings.checkpoints)
    ]


def standard_error(values: NDArray[np.float64]) -> float:
    """Return the standard error of a mean; NaN for a single value."""
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def _csv(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
