"""Forecast of the time of a study of bandits, from a measured slice of it."""

from dataclasses import dataclass, replace
from time import process_time

from ludoteca.duration import format_duration
from ludoteca.envs.clock import clock
from ludoteca.evaluate.forecast import Forecast, forecast_lines
from ludoteca.evaluate.studies.bandits.cells import BanditStudy, Cell
from ludoteca.evaluate.studies.policies import PUBLISHED_POLICIES
from ludoteca.evaluate.studies.report import render

MEASURED_PROBLEMS = 10  # problems of a measured cell


@dataclass(frozen=True)
class Plan:
    """Forecast of the time of a study."""

    study: BanditStudy
    cells: dict[str, int]  # number of cells of each kind
    seconds: dict[str, float]  # core seconds of all cells, by kind
    measured: float  # seconds that the slice took
    forecast: Forecast  # forecast of the study
    pulls: float  # pulls in all cells

    def text(self, price: float) -> str:
        """Return the plan as text; `price` is the price of a core hour, in dollars."""
        forecast_table = "\n".join(forecast_lines(self.forecast, price))
        names = {**vars(self), "format_duration": format_duration, "forecast_table": forecast_table}
        return render("bandits/plan.txt.j2", names)


def make_plan(study: BanditStudy) -> Plan:
    """Measure a slice of a study in this process, and predict the time of the whole study.

    Of each kind of cell and each K one is played, for some problems and one run of each; cells of
    other alphas of the same K are taken to cost the same, as the number of rounds is.
    """
    began, steps = clock(), study.annealing_steps + 1
    # The first grid's middle: lower alphas leave more arms alone, higher ones fewer.
    alpha = study.grid[study.alphas // 2]
    per_block = [_seconds(Cell(k, 0, alpha), study) for k in study.arms]
    curves = [Cell(k, 0, policy=policy) for k in study.curve_arms for policy in PUBLISHED_POLICIES]
    per_curve = [_seconds(cell, study) for cell in curves]
    kinds = {  # seconds of one cell for each K or curve, and the number of such cells
        # The ends of the second grid are in the first.
        "grids": (per_block, (2 * study.alphas - 2 + 3) * (study.problems // study.block)),
        "annealing": (per_block, steps * (study.annealing_problems // study.block)),
        "curves": (per_curve, -(-study.curve_problems // study.block)),
    }
    cells = {kind: len(seconds) * number for kind, (seconds, number) in kinds.items()}
    total = {kind: sum(seconds) * number for kind, (seconds, number) in kinds.items()}
    forecast = Forecast(sum(total.values()), max(steps * max(per_block), *per_curve))
    pulls = study.block * study.rounds * (cells["grids"] + cells["annealing"])
    pulls += len(curves) * study.curve_problems * study.curve_rounds
    return Plan(study, cells, total, clock() - began, forecast, float(study.runs * pulls))


def _seconds(cell: Cell, study: BanditStudy) -> float:
    """Return the processor's seconds for a cell, by a few of its problems, compiling left out."""
    small = replace(study, runs=1)
    cell.play(replace(small, rounds=100, curve_rounds=100), MEASURED_PROBLEMS)
    start = process_time()
    cell.play(small, MEASURED_PROBLEMS)
    return (process_time() - start) * study.block / MEASURED_PROBLEMS * study.runs
