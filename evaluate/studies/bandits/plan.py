"""Forecast of the computing time of the study of bandits, from a measured sample of its cells."""

from dataclasses import dataclass, replace
from time import process_time

from ludoteca.duration import format_duration
from ludoteca.envs.clock import clock
from ludoteca.evaluate.forecast import Forecast, forecast_lines
from ludoteca.evaluate.studies.bandits.cells import BanditStudy, Cell
from ludoteca.evaluate.studies.policies import PUBLISHED_POLICIES
from ludoteca.evaluate.studies.report import render

MEASURED_PROBLEMS = 10  # number of problems that are played of each cell of the sample


@dataclass(frozen=True)
class Plan:
    """Forecast of the computing time of a study.

    Attributes:
        study: settings of the study.
        cells: number of cells by stage: `"grids"`, `"annealing"` and `"curves"`.
        seconds: core seconds of all cells, by stage.
        measured: seconds that the measurement took.
        forecast: forecast of the study's time by the number of processes.
        pulls: number of pulls in all cells.
    """

    study: BanditStudy
    cells: dict[str, int]
    seconds: dict[str, float]
    measured: float
    forecast: Forecast
    pulls: float

    def text(self, price: float) -> str:
        """Return the plan as text; `price` is the price of a core hour, in dollars."""
        forecast_table = "\n".join(forecast_lines(self.forecast, price))
        names = {**vars(self), "format_duration": format_duration, "forecast_table": forecast_table}
        return render("bandits/plan.txt.j2", names)


def make_plan(study: BanditStudy) -> Plan:
    """Measure a sample of cells in this process, and predict the computing time of the study.

    The sample has one cell for each number of arms K, and one for each policy and K of the curves.
    Some problems of these cells are played, with one run of each problem. Cells of other alphas
    with the same K are assumed to take the same time, as they have the same number of rounds.
    """
    start, steps = clock(), study.annealing_steps + 1
    # The middle of the first grid stands for all alphas: lower ones explore fewer arms, higher ones
    # more.
    alpha = study.grid[study.alphas // 2]
    per_block = [_seconds(Cell(k, 0, alpha), study) for k in study.arms]
    curves = [Cell(k, 0, policy=policy) for k in study.curve_arms for policy in PUBLISHED_POLICIES]
    per_curve = [_seconds(cell, study) for cell in curves]
    stages = {  # seconds of a cell for each K or curve, and the number of such cells
        # Both grids, without the ends of the second one, which are in the first, and the three
        # constants 1/K, e/(2K) and 2.
        "grids": (per_block, (2 * study.alphas - 2 + 3) * (study.problems // study.block)),
        "annealing": (per_block, steps * (study.annealing_problems // study.block)),
        "curves": (per_curve, -(-study.curve_problems // study.block)),
    }
    cells = {stage: len(seconds) * number for stage, (seconds, number) in stages.items()}
    total = {stage: sum(seconds) * number for stage, (seconds, number) in stages.items()}
    # The longest chain: the annealing steps of one K, or a single cell of the curves.
    forecast = Forecast(sum(total.values()), max(steps * max(per_block), *per_curve))
    pulls = study.block * study.rounds * (cells["grids"] + cells["annealing"])
    pulls += len(curves) * study.curve_problems * study.curve_rounds
    return Plan(study, cells, total, clock() - start, forecast, float(study.runs * pulls))


def _seconds(cell: Cell, study: BanditStudy) -> float:
    """Return the estimated CPU seconds of a cell, without compilation, from a few problems."""
    small = replace(study, runs=1)
    cell.play(replace(small, rounds=100, curve_rounds=100), MEASURED_PROBLEMS)  # compiles
    start = process_time()
    cell.play(small, MEASURED_PROBLEMS)
    return (process_time() - start) * study.block / MEASURED_PROBLEMS * study.runs
