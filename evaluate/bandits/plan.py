"""Forecast of the computing time of an experiment with bandits, from a sample of its cells."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import process_time
from typing import Any

import numpy as np

from ludoteca.envs.clock import clock
from ludoteca.evaluate.bandits.experiment import (
    NO_CONSTANTS,
    BanditExperiment,
    Cell,
    Constants,
    between_neighbors,
)
from ludoteca.evaluate.forecast import Forecast
from ludoteca.evaluate.tuning.annealing import COOLING, annealing

MEASURED_PROBLEMS = 10  # number of problems that are played of each cell of the sample


@dataclass(frozen=True)
class Plan:
    """Forecast of the computing time of an experiment.

    Attributes:
        experiment: settings of the experiment.
        cells: number of cells by stage: `"grids"`, `"annealing"` and `"curves"`.
        seconds: core seconds of all cells, by stage.
        measured: seconds that the measurement took.
        forecast: forecast of the experiment's time by the number of processes.
        pulls: number of pulls in all cells.
    """

    experiment: BanditExperiment
    cells: dict[str, int]
    seconds: dict[str, float]
    measured: float
    forecast: Forecast
    pulls: float


def make_plan(
    experiment: BanditExperiment,
    policies: Sequence[str],
    constants: Constants = NO_CONSTANTS,
) -> Plan:
    """Measure a sample in this process, and predict the computing time of an experiment.

    The time of UCB1 grows with alpha, as arms are chosen anew more often. So the sample has all
    alphas of the first grid, and the steps of simulated annealing, but only a few problems with one
    run of each. Its searches accept other steps than those of the experiment. The second grid is
    that around the best alpha of the sample. Its alphas and those in `constants` are assumed to
    take the mean time of the first grid, and the constant that simulated annealing finds that of
    1/K.

    Args:
        experiment: settings of the experiment.
        policies: policies that are compared over the rounds.
        constants: see `ludoteca.evaluate.bandits.computation.run_experiment`.
    """
    start, blocks = clock(), experiment.problems // experiment.block
    grids, chains, num_alphas = [], [], 0
    for arms in experiment.arms:
        others = 1 / arms, 1 / arms, np.e / (2 * arms), 2.0
        grid = experiment.grid
        seconds, regrets = dict[float, float](), dict[float, float]()
        for alpha in (*grid, *others):
            seconds[alpha], played = _play(Cell(arms, 0, alpha), experiment)
            regrets[alpha] = float(np.mean(played))
        best = min(grid, key=regrets.__getitem__)
        count = len({*grid, *between_neighbors(grid, best), *constants.get(arms, ())})
        num_alphas += count + len(others)
        of_count = count / len(grid) * sum(seconds[alpha] for alpha in grid)
        grids.append(blocks * (of_count + sum(seconds[alpha] for alpha in others)))
        chains.append(_annealing_seconds(experiment, arms))
    curves = [Cell(k, 0, policy=policy) for k in experiment.curve_arms for policy in policies]
    per_curve = [_play(cell, experiment)[0] for cell in curves]
    curve_blocks = -(-experiment.curve_problems // experiment.block)
    steps = experiment.annealing_steps + 1
    cells = {
        "grids": num_alphas * blocks,
        "annealing": len(chains) * steps * (experiment.annealing_problems // experiment.block),
        "curves": len(curves) * curve_blocks,
    }
    total = {"grids": sum(grids), "annealing": sum(chains), "curves": sum(per_curve) * curve_blocks}
    # The longest chain: the annealing steps of one K, each with all its blocks in parallel, or a
    # single cell of the curves.
    longest = max(chains) / (experiment.annealing_problems // experiment.block)
    forecast = Forecast(sum(total.values()), max(longest, *per_curve))
    pulls = experiment.block * experiment.rounds * (cells["grids"] + cells["annealing"])
    pulls += len(curves) * experiment.curve_problems * experiment.curve_rounds
    return Plan(experiment, cells, total, clock() - start, forecast, float(experiment.runs * pulls))


def _annealing_seconds(experiment: BanditExperiment, arms: int) -> float:
    """Return the estimated CPU seconds of simulated annealing for a number of arms."""
    temperatures = COOLING[experiment.cooling]()
    search = annealing(experiment.annealing_steps, [experiment.seed, arms], temperatures)
    alpha, total = next(search), 0.0
    with suppress(StopIteration):
        while True:
            seconds, regrets = _play(Cell(arms, 0, alpha), experiment)
            total += seconds
            alpha = search.send(float(np.mean(regrets)))
    return total * (experiment.annealing_problems // experiment.block)


def _play(cell: Cell, experiment: BanditExperiment) -> tuple[float, Any]:
    """Play a few problems of a cell, one run of each.

    Returns:
        The estimated CPU seconds of the whole cell, without compilation, and the regrets.
    """
    small = replace(experiment, runs=1)
    cell.play(replace(small, rounds=100, curve_rounds=100), 1)  # compiles
    start = process_time()
    regrets = cell.play(small, MEASURED_PROBLEMS)
    seconds = process_time() - start
    return seconds * experiment.block / MEASURED_PROBLEMS * experiment.runs, regrets
