"""Cells of a study of bandits on the workers of an executor, and a forecast of their time."""

import heapq
from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from time import process_time
from typing import Any

from ludoteca.envs.clock import clock
from ludoteca.evaluate.forecast import Forecast, forecast_lines, long_time
from ludoteca.evaluate.studies.bandits.annealing import annealing
from ludoteca.evaluate.studies.bandits.cells import (
    COMPARED,
    BanditStudy,
    Block,
    Cell,
    Cells,
    CurvePart,
)
from ludoteca.evaluate.studies.bandits.grids import best_alpha, between_neighbors, intervals, others
from ludoteca.executor import WAIT, Executor, Task, _Wait

Chain = Generator[list[Cell], None, None]  # yields cells, and resumes when they are computed
MEASURED_PROBLEMS = 10  # of a cell that is measured


def compute_all(cells: Cells, workers: Executor) -> Generator[tuple[int, int], None, None]:
    """Compute all cells that are missing; yields how many are there and how many are known.

    Cells that later ones depend on come first: the steps of simulated annealing, one after another
    for each K, and the first grids. Each is written as it comes.
    """
    study, order = cells.study, count()
    queue: list[tuple[int, int, Cell]] = []
    waiting: dict[Cell, list[_Progress]] = {}
    done = known = 0

    def advance(progress: "_Progress") -> None:
        """Let a chain ask for its next cells, until some of these are missing."""
        nonlocal known, done
        while progress.left == 0:
            wanted = next(progress.chain, None)
            if wanted is None:
                return
            for cell in dict.fromkeys(wanted):
                if cell in waiting:
                    waiting[cell].append(progress)
                elif cells.has(cell):
                    continue
                else:
                    waiting[cell] = [progress]
                    heapq.heappush(queue, (progress.priority, next(order), cell))
                    known += 1
                progress.left += 1

    chains = [_Progress(0, _annealing_chain(cells, k)) for k in study.arms]
    chains += [_Progress(1, _grid_chain(cells, k)) for k in study.arms]
    chains += [_Progress(2, iter_chain(curve_parts(study)))]
    for chain in chains:
        advance(chain)
    taken: list[Cell] = []

    def next_task(worker: int) -> Task[Any] | _Wait | None:
        if not queue:
            return WAIT if waiting else None
        cell = heapq.heappop(queue)[2]
        taken.append(cell)
        return partial(cell.play, study)

    with workers.stream(next_task) as stream:
        for number, result in stream:
            cell = taken[number]
            cells.write(cell, result)
            done += 1
            for progress in waiting.pop(cell):
                progress.left -= 1
                advance(progress)
            yield done, known


@dataclass
class _Progress:
    """A chain, and how many of its cells it waits for; the lowest priority number comes first."""

    priority: int
    chain: Chain
    left: int = 0


def iter_chain(wanted: Iterable[Cell]) -> Chain:
    """Return a chain that asks for all cells at once."""
    yield list(wanted)


def _annealing_chain(cells: Cells, arms: int) -> Chain:
    study = cells.study
    search = annealing(study.annealing_steps, [study.seed, arms])
    alpha = next(search)
    while True:
        yield blocks(study, arms, [alpha], study.annealing_problems)
        regrets = cells.regrets(arms, alpha, study.annealing_problems, False)
        try:
            alpha = search.send(float(regrets.mean()))
        except StopIteration:
            return


def _grid_chain(cells: Cells, arms: int) -> Chain:
    study, grid = cells.study, intervals(0.5, 0.0, cells.study.alphas)
    yield blocks(study, arms, grid, study.problems)
    second = between_neighbors(grid, best_alpha(cells, arms, grid))
    yield blocks(study, arms, [*second, *others(arms)], study.problems)


def blocks(study: BanditStudy, arms: int, alphas: Iterable[float], problems: int) -> list[Cell]:
    """Return the cells of some alphas."""
    return [
        Block(arms, alpha, block) for alpha in alphas for block in range(problems // study.block)
    ]


def curve_parts(study: BanditStudy) -> list[Cell]:
    """Return the cells of the comparison of all policies."""
    starts = range(0, study.curve_problems, study.block)
    return [
        CurvePart(k, policy, start // study.block)
        for k in study.curve_arms
        for policy in COMPARED
        for start in starts
    ]


@dataclass(frozen=True)
class Plan:
    """Forecast of the time of a study, by a slice of it that was measured.

    Attributes:
        study: the study.
        cells: how many there are of each kind.
        seconds: of one core, of all cells of each kind.
        measured: seconds that the slice took.
        forecast: of all.
    """

    study: BanditStudy
    cells: dict[str, int]
    seconds: dict[str, float]
    measured: float
    forecast: Forecast

    def lines(self, price: float) -> list[str]:
        """Return the plan as text; `price` is that of a core for an hour, in dollars."""
        study, kinds = self.study, self.cells
        parts = [
            f"{kinds[kind]:,} {kind} ({long_time(self.seconds[kind])} of one core, "
            f"{self.seconds[kind] / kinds[kind]:.3g} s each)"
            for kind in kinds
        ]
        return [
            f"plan: {len(study.arms)} numbers of arms, {study.problems:,} problems, {study.runs:,} "
            f"runs of each, {study.rounds:,} rounds: {self.pulls:.3g} pulls",
            f"cells: {'; '.join(parts)}",
            f"measured on this machine in {long_time(self.measured)}, "
            f"{self.pulls / self.forecast.seconds:,.0f} pulls/s; the longest chain, "
            f"{study.annealing_steps + 1} steps of annealing one after another or a single curve, "
            f"takes {long_time(self.forecast.chain)}",
            *forecast_lines(self.forecast, price),
            "The same command without --plan computes all cells. Each is a file, written as it "
            "comes; a run that was stopped resumes there.",
        ]

    @property
    def pulls(self) -> float:
        """The number of pulls in all cells."""
        study = self.study
        pulls = study.block * study.runs * (self.cells["grids"] + self.cells["annealing"])
        in_curves = len(study.curve_arms) * len(COMPARED) * study.curve_problems * study.runs
        return float(pulls * study.rounds + in_curves * study.curve_rounds)


def make_plan(study: BanditStudy) -> Plan:
    """Measure a slice of a study in this process, and predict the time of all of it.

    Of each kind of cell and each K one is played, for some problems and one run of each; cells of
    other alphas of the same K are taken to cost the same, as the number of rounds is.
    """
    began = clock()
    small = replace(study, runs=1)
    share = study.block / MEASURED_PROBLEMS * study.runs
    per_block: dict[int, float] = {}
    for k in study.arms:
        # The first grid's middle: lower alphas leave more arms alone, higher ones fewer.
        alpha = intervals(0.5, 0.0, study.alphas)[study.alphas // 2]
        per_block[k] = share * _seconds(Block(k, alpha, 0), small)
    per_curve = {
        (k, policy): share * _seconds(CurvePart(k, policy, 0), small)
        for k in study.curve_arms
        for policy in COMPARED
    }
    grids = 2 * study.alphas - 2 + 3  # the ends of the second are in the first
    in_grid, in_annealing = (
        number // study.block for number in (study.problems, study.annealing_problems)
    )
    steps, parts = study.annealing_steps + 1, -(-study.curve_problems // study.block)
    numbers = {
        "grids": len(study.arms) * grids * in_grid,
        "annealing": len(study.arms) * steps * in_annealing,
        "curves": len(per_curve) * parts,
    }
    seconds = {
        "grids": sum(per_block.values()) * grids * in_grid,
        "annealing": sum(per_block.values()) * steps * in_annealing,
        "curves": sum(per_curve.values()) * parts,
    }
    chain = max([steps * max(per_block.values()), *per_curve.values()])
    forecast = Forecast(sum(seconds.values()), chain)
    return Plan(study, numbers, seconds, clock() - began, forecast)


def _seconds(cell: Cell, study: BanditStudy) -> float:
    """Return the processor's seconds for a few problems of a cell, compiling left out."""
    cell.play(replace(study, rounds=100, curve_rounds=100), MEASURED_PROBLEMS)
    start = process_time()
    cell.play(study, MEASURED_PROBLEMS)
    return process_time() - start
