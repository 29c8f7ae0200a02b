"""Report of the study of bandits, after the thesis of Valencia (UAEMex, 2021), with its files."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ludoteca.evaluate.bandits.chains import best_step
from ludoteca.evaluate.bandits.comparisons import correlation_with_arms
from ludoteca.evaluate.bandits.experiment import intervals
from ludoteca.evaluate.bandits.findings import Findings
from ludoteca.evaluate.statistics.intervals import Z_95
from ludoteca.evaluate.studies.bandits import plots
from ludoteca.evaluate.studies.bandits.ratios import ratio_rows
from ludoteca.evaluate.studies.bandits.thesis import (
    BEST,
    REGRETS,
    SECOND_GRIDS,
    differing_regrets,
)
from ludoteca.evaluate.studies.data import Row
from ludoteca.evaluate.studies.report import render
from ludoteca.evaluate.tournament.export import csv_text
from ludoteca.files import write_atomically
from ludoteca.provenance import package_versions, run_info

Rows = list[Row]


def write_report(findings: Findings, folder: Path) -> Path:
    """Write `report.md` with its plots, tables and `results.json`, and return its path."""
    alphas, curves = alpha_rows(findings), findings.curve_rows()
    regrets = [
        row | {"thesis": REGRETS.get(row["alpha"], {}).get(row["arms"])}
        for row in findings.regret_rows()
    ]
    versions = {"versions": package_versions("scipy", "matplotlib")}
    about = run_info(study=asdict(findings.experiment)) | versions
    correlation = correlation_with_arms(findings) if len(alphas) > 2 else None
    comparisons: dict[str, Any] = {
        "ratios": ratio_rows(findings, alphas),
        "correlation": correlation,
    }
    results = {"about": about, "alphas": alphas, **comparisons, "annealed": findings.annealed}
    files: dict[str, str | bytes] = {
        "alphas.csv": csv_text(alphas),
        "regrets.csv": csv_text(regrets),
        "curves.csv": csv_text(curves),
        "results.json": json.dumps(results, indent=1) + "\n",
        "alphas.png": plots.alphas_by_arms(alphas),
        "regret_by_alpha.png": plots.regret_by_alpha(regrets),
        "curves.png": plots.curves(findings),
        "report.md": to_markdown(about, alphas, regrets, curves, **comparisons),
    }
    for name, content in files.items():
        write_atomically(folder / name, content)
    return folder / "report.md"


def to_markdown(
    about: Mapping[str, Any],
    alphas: Rows,
    regrets: Rows,
    curves: Rows,
    ratios: Rows,
    correlation: Sequence[float] | None,
) -> str:
    """Return the report in Markdown.

    Args:
        about: command, date, machine, versions and settings of the study.
        alphas: rows of `alpha_rows`.
        regrets: rows of `Findings.regret_rows`, with the thesis' regret.
        curves: rows of `Findings.curve_rows`.
        ratios: rows of `ratio_rows`.
        correlation: result of `correlation_with_arms`, or None with too few numbers of arms.
    """
    study = about["study"]
    grid = intervals(0.5, 0.0, study["alphas"])
    # Pulls of one alpha for each K.
    evaluation = len(study["arms"]) * study["problems"] * study["runs"] * study["rounds"]
    ours = {
        (row["arms"], row["alpha"]): (row["regret"], Z_95 * row["standard_error"])
        for row in regrets
    }
    last = [row for row in curves if row["rounds"] == study["curve_rounds"]]
    names = {
        "study": study,
        "about": about,
        "alphas": alphas,
        "correlation": correlation,
        "z": Z_95,
        "ratios": {(row["arms"], row["constant"], row["against"]): row for row in ratios},
        "differing": differing_regrets(regrets),
        "thesis": REGRETS,
        "grid": grid,
        "grid_pulls": (2 * len(grid) - 2) * evaluation,
        "evaluations": (study["annealing_steps"] + 1) * evaluation,
        "ours_all": ours,
        "ours": {k: {a: ours[k, a] for a in grid} for k in study["arms"]},
        "theirs": {k: {a: REGRETS.get(a, {}).get(k) for a in grid} for k in study["arms"]},
        "second": {k: second_grid(k, ours) for k in study["arms"] if k in SECOND_GRIDS},
        "curves": {(row["policy"], row["arms"]): row for row in last},
    }
    return render("bandits/report.md.j2", names)


def second_grid(
    arms: int, ours: Mapping[tuple[int, float], tuple[float, float]]
) -> list[tuple[float, tuple[float, float] | None, float]]:
    """Return alpha, our regret and half its interval or None, and the thesis' regret.

    There is a row for each alpha of the thesis' second grid.

    Args:
        arms: number of arms.
        ours: our mean regret and half its interval, by number of arms and alpha.
    """
    grid, regrets = SECOND_GRIDS[arms], SECOND_GRIDS[arms]["regrets"]
    alphas = intervals(grid["high"], grid["low"], len(regrets))
    return [
        (alpha, ours.get((arms, alpha)), regret)
        for alpha, regret in zip(alphas, regrets, strict=True)
    ]


def alpha_rows(findings: Findings) -> Rows:
    """Return a row for each K: our best alphas, the thesis' ones, and the regrets of our run.

    `"intervals"` is the best alpha of the two grids, `"annealing"` that of simulated annealing.
    """
    rows = []
    for k in findings.experiment.arms:
        regrets, best = findings.regrets[k], findings.best[k]
        near = findings.range_not_worse(k)
        mean = {alpha: float(values.mean()) for alpha, values in regrets.items()}
        rows.append(
            {
                "arms": k,
                "intervals": best,
                "lowest_not_worse": near[0],
                "highest_not_worse": near[1],
                "annealing": best_step(findings.annealed[k]),
                "thesis_intervals": BEST.get(k, {}).get("intervals"),
                "thesis_annealing": BEST.get(k, {}).get("annealing"),
                "1/K": 1 / k,
                "e/(2K)": math.e / (2 * k),
                "regret_best": mean[best],
                "regret_1/K": mean[1 / k],
                "regret_e/(2K)": mean[math.e / (2 * k)],
                "regret_0.5": mean[0.5],
                "regret_2": mean[2.0],
            }
        )
    return rows
