"""Report of the study of bandits, after the thesis of Valencia (UAEMex, 2021), with its files."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scipy.stats import spearmanr

from ludoteca.evaluate.bandits.experiment import intervals
from ludoteca.evaluate.bandits.findings import Findings
from ludoteca.evaluate.studies.bandits import plots
from ludoteca.evaluate.studies.data import Row, read_data
from ludoteca.evaluate.studies.report import render
from ludoteca.evaluate.tournament.export import csv_text
from ludoteca.files import write_atomically
from ludoteca.provenance import package_versions, run_info

THESIS = read_data("bandits/uaemex2021.toml")
BEST = {row["arms"]: row for row in THESIS["best"]}  # the thesis' best alphas, by K
# The thesis' mean regrets by alpha and K, and its second grids by K.
REGRETS = {
    row["alpha"]: dict(zip(THESIS["arms"], row["regrets"], strict=True))
    for row in THESIS["regrets"]
}
SECOND_GRIDS = {row["arms"]: row for row in THESIS["second_grids"]}
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
    results = {"about": about, "alphas": alphas, "annealed": findings.annealed}
    files: dict[str, str | bytes] = {
        "alphas.csv": csv_text(alphas),
        "regrets.csv": csv_text(regrets),
        "curves.csv": csv_text(curves),
        "results.json": json.dumps(results, indent=1) + "\n",
        "alphas.png": plots.alphas_by_arms(alphas),
        "regret_by_alpha.png": plots.regret_by_alpha(regrets),
        "curves.png": plots.curves(findings),
        "report.md": to_markdown(about, alphas, regrets, curves),
    }
    for name, content in files.items():
        write_atomically(folder / name, content)
    return folder / "report.md"


def to_markdown(about: Mapping[str, Any], alphas: Rows, regrets: Rows, curves: Rows) -> str:
    """Return the report in Markdown.

    Args:
        about: command, date, machine, versions and settings of the study.
        alphas: rows of `alpha_rows`.
        regrets: rows of `Findings.regret_rows`, with the thesis' regret.
        curves: rows of `Findings.curve_rows`.
    """
    study, best = about["study"], [row["intervals"] for row in alphas]
    grid = intervals(0.5, 0.0, study["alphas"])
    ours = {(row["arms"], row["alpha"]): row["regret"] for row in regrets}
    last = [row for row in curves if row["rounds"] == study["curve_rounds"]]
    names = {
        "study": study,
        "about": about,
        "alphas": alphas,
        "rank": spearmanr(study["arms"], best).statistic if len(best) > 2 else None,
        "thesis": REGRETS,
        "grid": grid,
        "ours": {k: {a: ours[k, a] for a in grid} for k in study["arms"]},
        "theirs": {k: {a: REGRETS.get(a, {}).get(k) for a in grid} for k in study["arms"]},
        "second": {k: second_grid(k, ours) for k in study["arms"] if k in SECOND_GRIDS},
        "curves": {(row["policy"], row["arms"]): row for row in last},
    }
    return render("bandits/report.md.j2", names)


def second_grid(
    arms: int, ours: Mapping[tuple[int, float], float]
) -> list[tuple[float, float | None, float]]:
    """Return alpha, our regret or None, and the thesis' regret on its second grid.

    Args:
        arms: number of arms.
        ours: our mean regret by number of arms and alpha.
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
                "annealing": min(findings.annealed[k], key=lambda pair: pair[1])[0],
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
