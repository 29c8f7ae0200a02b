"""Forecast of the computing time of an experiment with bandits, from a sample of its cells."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import process_time

from ludoteca.envs.clock import clock
from ludoteca.evaluate.bandits.experiment import BanditExperiment, Cell
from ludoteca.evaluate.forecast import Forecast

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


def make_plan(experiment: BanditExperiment, policies: Sequence[str]) -> Plan:
    """Measure a sample of cells in this process, and predict the computing time of an experiment.

    The sample has one cell for each number of arms K, and one for each policy and K of the curves.
    Some problems of these cells are played, with one run of each problem. Cells of other alphas
    with the same K are assumed to take the same time, as they have the same number of rounds.

    Args:
        experiment: settings of the experiment.
        policies: policies that are compared over the rounds.
    """
    start, steps = clock(), experiment.annealing_steps + 1
    # The middle of the first grid stands for all alphas: lower ones explore fewer arms, higher ones
    # more.
    alpha = experiment.grid[experiment.alphas // 2]
    per_block = [_seconds(Cell(k, 0, alpha), experiment) for k in experiment.arms]
    curves = [Cell(k, 0, policy=policy) for k in experiment.curve_arms for policy in policies]
    per_curve = [_seconds(cell, experiment) for cell in curves]
    stages = {  # seconds of a cell for each K or curve, and the number of such cells
        # Both grids, without the ends of the second one, which are in the first, and the three
        # constants 1/K, e/(2K) and 2.
        "grids": (
            per_block,
            (2 * experiment.alphas - 2 + 3) * (experiment.problems // experiment.block),
        ),
        "annealing": (per_block, steps * (experiment.annealing_problems // experiment.block)),
        "curves": (per_curve, -(-experiment.curve_problems // experiment.block)),
    }
    cells = {stage: len(seconds) * number for stage, (seconds, number) in stages.items()}
    total = {stage: sum(seconds) * number for stage, (seconds, number) in stages.items()}
    # The longest chain: the annealing steps of one K, or a single cell of the curves.
    forecast = Forecast(sum(total.values()), max(steps * max(per_block), *per_curve))
    pulls = experiment.block * experiment.rounds * (cells["grids"] + cells["annealing"])
    pulls += len(curves) * experiment.curve_problems * experiment.curve_rounds
    return Plan(experiment, cells, total, clock() - start, forecast, float(experiment.runs * pulls))


def _seconds(cell: Cell, experiment: BanditExperiment) -> float:
    """Return the estimated CPU seconds of a cell, without compilation, from a few problems."""
    small = replace(experiment, runs=1)
    cell.play(replace(small, rounds=100, curve_rounds=100), MEASURED_PROBLEMS)  # compiles
    start = process_time()
    cell.play(small, MEASURED_PROBLEMS)
    return (process_time() - start) * experiment.block / MEASURED_PROBLEMS * experiment.runs
