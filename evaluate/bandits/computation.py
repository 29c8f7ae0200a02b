"""Computation of the cells of an experiment with bandits by the workers of an executor.

A cell holds the regrets of one policy in a block of problems; a chain is a generator that yields
the cells that it needs for one result. Several machines may each compute one shard of the cells.
"""

import heapq
import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from ludoteca.evaluate.bandits.chains import (
    Chain,
    annealing_chain,
    best_step,
    curve_chain,
    grid_chain,
)
from ludoteca.evaluate.bandits.experiment import (
    NO_CONSTANTS,
    BanditExperiment,
    Cell,
    Cells,
    Constants,
    log_spaced,
)
from ludoteca.evaluate.bandits.findings import Findings
from ludoteca.executor import WAIT, Executor, Task, _Wait
from ludoteca.files import write_atomically
from ludoteca.local_executor import InlineExecutor
from ludoteca.progress import RunStatus, show_progress


class CellMissingError(Exception):
    """Cells of other shards are missing."""


@dataclass(frozen=True)
class Shard:
    """Shard of an experiment: the cells whose number is `index` modulo `count`.

    A cell's number is its position among the cells that a chain yields at once, or the number of
    the chain.
    """

    index: int = 0
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Parse a shard from a text `"i/n"`.

        Raises:
            ValueError: if the text is not `i/n` with i from 0 to n - 1.
        """
        index, slash, count = text.partition("/")
        if not (slash and index.isdigit() and count.isdigit() and int(index) < int(count)):
            raise ValueError(f"shard must be i/n with i from 0 to n - 1, got {text!r}")
        return cls(int(index), int(count))

    def has(self, number: int) -> bool:
        """Return whether cell `number` belongs to the shard."""
        return number % self.count == self.index


ALL, NOTHING = Shard(), Shard(-1)  # no number is -1 modulo 1


class _Progress:
    """Progress of a chain: the number of missing cells that it waits for, and its result.

    Cells of chains with a lower `priority` are computed first.
    """

    def __init__(self, priority: int, chain: Chain, number: int | None = None):
        """Make the progress of a chain.

        Args:
            priority: priority of the chain's cells.
            chain: the chain.
            number: number of all cells of the chain, so that they are in one shard; by default the
                position of each cell.
        """
        self.priority, self.chain, self.number = priority, chain, number
        self.num_missing = 0
        self.result: Any = None


def compute_all(
    cells: Cells,
    policies: Sequence[str],
    workers: Executor,
    shard: Shard = ALL,
    threads: int = 1,
    constants: Constants = NO_CONSTANTS,
) -> Generator[tuple[int, int], None, Findings]:
    """Compute the missing cells; after each, yield two numbers: of computed and of queued cells.

    Cells that others depend on come first: the steps of simulated annealing, in sequence for each
    K, and the first grids. Each cell is written as soon as it is computed.

    Args:
        cells: folder of the cells.
        policies: policies that are compared over the rounds.
        workers: executor whose workers compute cells.
        shard: compute the cells of this shard only.
        threads: threads that share the problems of a cell.
        constants: alphas that are evaluated besides those of the grids, by number of arms.

    Raises:
        CellMissingError: if cells of other shards are missing, after this shard's are computed.
    """
    experiment, order = cells.experiment, count()
    queue: list[tuple[int, int, Cell]] = []  # heap by priority, then by order of arrival
    waiting: dict[Cell, list[_Progress]] = {}  # chains that wait for a missing cell
    queued = set[Cell]()  # all cells that have been in the queue

    def advance(progress: _Progress) -> None:
        """Resume a chain until cells that it needs are missing; put these into the queue."""
        while progress.num_missing == 0:
            try:
                required = next(progress.chain)
            except StopIteration as end:
                progress.result = end.value
                return
            for position, cell in enumerate(dict.fromkeys(required)):
                if cells.file(cell).exists():
                    continue
                waiting.setdefault(cell, []).append(progress)
                progress.num_missing += 1
                number = position if progress.number is None else progress.number
                if cell not in queued and shard.has(number):
                    queued.add(cell)
                    heapq.heappush(queue, (progress.priority, next(order), cell))

    annealings = [_Progress(0, annealing_chain(cells, k), i) for i, k in enumerate(experiment.arms)]
    grids = [_Progress(1, grid_chain(cells, k, constants.get(k, ()))) for k in experiment.arms]
    curves = _Progress(2, curve_chain(cells, policies))
    for progress in (*annealings, *grids, curves):
        advance(progress)
    started: list[Cell] = []

    def next_task(worker: int) -> Task[Any] | _Wait | None:
        """Return the next cell's task, `WAIT` if running cells may lead to more, else None."""
        if not queue:
            return WAIT if len(started) > num_computed else None
        started.append(heapq.heappop(queue)[2])
        return partial(started[-1].play, experiment, threads=threads)

    num_computed = 0
    with workers.stream(next_task) as stream:
        for number, regrets in stream:  # number: position of the cell in `started`
            write_atomically(cells.file(started[number]), json.dumps(regrets))
            num_computed += 1
            for progress in waiting.pop(started[number]):
                progress.num_missing -= 1
                advance(progress)
            yield num_computed, len(queued)
    if waiting:
        raise CellMissingError(
            f"{len(waiting)} cells of other shards are missing; the first: "
            f"{cells.file(next(iter(waiting)))}"
        )
    regrets, first_best, best = (
        {k: grid.result[i] for k, grid in zip(experiment.arms, grids, strict=True)}
        for i in range(3)
    )
    annealed = {}
    for k, chain in zip(experiment.arms, annealings, strict=True):
        annealed[k], regrets_of_best = chain.result
        evaluated = regrets[k] | {best_step(annealed[k]): regrets_of_best}
        regrets[k] = dict(sorted(evaluated.items()))
    checkpoints = log_spaced(experiment.curve_rounds)
    return Findings(experiment, regrets, first_best, best, annealed, checkpoints, curves.result)


def run_experiment(
    experiment: BanditExperiment,
    folder: Path,
    policies: Sequence[str],
    shard: Shard = ALL,
    threads: int = 1,
    workers: Executor | None = None,
    quiet: bool = True,
    constants: Constants = NO_CONSTANTS,
) -> Findings:
    """Compute the missing cells of an experiment, and return its results.

    Args:
        experiment: settings of the experiment.
        folder: folder of the cells; must not have cells of an experiment with other settings.
        policies: policies that are compared over the rounds.
        shard: compute the cells of this shard only; with `NOTHING`, only read the computed cells.
        threads: threads that share the problems of a cell.
        workers: executor whose workers compute cells; by default this process.
        quiet: whether to hide the progress.
        constants: alphas that are evaluated besides those of the grids, by number of arms.

    Raises:
        CellMissingError: if cells of other shards are missing, after this shard's are computed.
        ValueError: if the folder has cells of an experiment with other settings.
    """
    status = RunStatus("bandits", "", 0, 0, "cells")
    cells = Cells(experiment, folder)
    with show_progress(lambda: status, not quiet):
        steps = compute_all(cells, policies, workers or InlineExecutor(), shard, threads, constants)
        while True:
            try:
                done, total = next(steps)
            except StopIteration as end:
                findings: Findings = end.value
                return findings
            status = replace(status, done=done, total=total)
