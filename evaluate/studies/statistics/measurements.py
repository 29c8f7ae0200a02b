"""Measurements of statistics: `python -m ludoteca.evaluate.studies.statistics.measurements KIND`.

The kinds are `tests`, `power`, `coverage` and `libraries`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from ludoteca.envs.clock import clock
from ludoteca.evaluate.match_cells import write_cells
from ludoteca.evaluate.statistics.elo_models import expected_score
from ludoteca.evaluate.statistics.power import power_analysis_of_elo
from ludoteca.evaluate.statistics.simulation import count_detections, simulate_tests
from ludoteca.evaluate.statistics.sprt import parse_sprt
from ludoteca.evaluate.studies.statistics.coverage import count_covered
from ludoteca.evaluate.studies.statistics.libraries import (
    compare_estimates,
    compare_rankings,
    recorded,
)

Cells = list[dict[str, Any]]


def measure_tests(
    out: Path,
    test: str,
    elos: tuple[float, ...],
    draws: float,
    advantage: float,
    count: int,
    seed: int,
) -> None:
    """Simulate sequential tests at some true Elo differences."""
    start, rng, cells = clock(), np.random.default_rng(seed), Cells()
    for elo in elos:
        score = expected_score(elo)
        tests = simulate_tests(parse_sprt(test), score, draws, advantage, count, rng)
        cell = {"elo": elo, "accepted": int(tests.accepted.sum())}
        cell["games"] = float(tests.games.mean())
        cell["standard_error"] = float(tests.games.std(ddof=1) / np.sqrt(count))
        cells.append(cell | {"long": float(np.quantile(tests.games, 0.95))})
    write(out, cells, start)


def measure_power(
    out: Path,
    elos: tuple[float, ...],
    draws: float,
    alpha: float,
    power: float,
    count: int,
    seed: int,
    one_sided: bool = False,
) -> None:
    """Simulate matches of as many games as `ludoteca power` computes, also of equal agents."""
    start, rng, cells = clock(), np.random.default_rng(seed), Cells()
    confidence = 1 - alpha * (2 if one_sided else 1)
    for elo in elos:
        games = power_analysis_of_elo(elo, draws, alpha, not one_sided).games(power)
        cells.append({"elo": elo, "games": games})
        for name, score in (("detected", expected_score(elo)), ("false", 0.5)):
            above, below = count_detections(score, draws, games, confidence, count, rng)
            cells[-1][name] = above if one_sided else above + below
    write(out, cells, start)


def measure_coverage(
    out: Path, distribution: str, runs: int, count: int, resamples: int, seed: int
) -> None:
    """Compare simulated groups of training runs, and count the intervals with the true values."""
    start, rng = clock(), np.random.default_rng(seed)
    write(out, count_covered(distribution, runs, count, resamples, rng), start)


def measure_libraries(out: Path) -> None:
    """Compute statistics of the recorded data of other libraries, and write both results."""
    start, record = clock(), recorded()
    rankings = compare_rankings(record)
    versions = {"libraries": record["versions"], "resamples": record["resamples"]}
    write(out, compare_estimates(record), start, rankings=rankings, **versions)


def write(out: Path, cells: Cells, start: float, **settings: Any) -> None:
    """Write cells with the seconds since `start`, which count as those of the first cell."""
    seconds = [clock() - start, *[0.0] * (len(cells) - 1)]
    timed = [cell | {"seconds": each} for cell, each in zip(cells, seconds, strict=True)]
    write_cells(out, settings, timed)


KINDS: dict[str, Callable[..., None]] = {
    "tests": measure_tests,
    "power": measure_power,
    "coverage": measure_coverage,
    "libraries": measure_libraries,
}

if __name__ == "__main__":
    tyro.extras.subcommand_cli_from_dict(KINDS)
