"""Results beside those of rliable, arch and OpenSpiel, which are in `libraries.json`.

`tests/oracles/record_statistics.py` records them, and describes the file.
"""

from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np

from ludoteca.evaluate.statistics.alpha_rank import alpha_rank
from ludoteca.evaluate.statistics.bootstrap import bootstrap, mean
from ludoteca.evaluate.statistics.nash_averaging import nash_average
from ludoteca.evaluate.studies.statistics.coverage import estimates
from ludoteca.files import read_json


def recorded() -> Any:
    """Return the recorded data and results of the other libraries."""
    return read_json(Path(__file__).with_name("libraries.json"))


def compare_estimates(record: Any) -> list[dict[str, Any]]:
    """Return our estimates, as value, low and high end, beside those of rliable and of arch."""
    cells, resamples = list[dict[str, Any]](), record["resamples"]
    for each in record["comparisons"]:
        groups = np.array(each["first"]), np.array(each["second"])
        for name, estimate in estimates(*groups, resamples, 0).items():
            cell = {"library": "rliable", "aggregate": name, "shape": groups[0].shape}
            cells.append(cell | {"ours": astuple(estimate), "theirs": each["estimates"][name]})
    for each in record["single_tasks"]:
        scores = np.array(each["scores"])[:, None]
        estimate = bootstrap(mean, scores, resamples=resamples)
        cell = {"library": "arch", "aggregate": "mean", "shape": scores.shape}
        cells.append(cell | {"ours": astuple(estimate), "theirs": each["mean"]})
    return cells


def compare_rankings(record: Any) -> list[dict[str, Any]]:
    """Return our Nash averaging and alpha-rank beside those of OpenSpiel."""
    cells = list[dict[str, Any]]()
    for each in record["rankings"]:
        average, finite = nash_average(each["advantages"]), each["finite"]
        masses = alpha_rank(each["advantages"], finite["alpha"], finite["population"])
        ours = {
            "probabilities": average.probabilities.tolist(),
            "ratings": average.ratings.tolist(),
            "alpha_rank": alpha_rank(each["advantages"]).tolist(),
            "finite_alpha_rank": masses.tolist(),
        }
        theirs = {name: each[name] for name in ours}
        cells.append(
            {"name": each["name"], "agents": each["agents"], "ours": ours, "theirs": theirs}
        )
    return cells
