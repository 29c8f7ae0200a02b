"""Study of bandits: grids of alphas, simulated annealing, and the curves of all policies."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress, track

from ludoteca.evaluate.studies.bandits.annealing import anneal
from ludoteca.evaluate.studies.bandits.cells import (
    COMPARED,
    BanditStudy,
    CellMissingError,
    Cells,
    spread,
)
from ludoteca.evaluate.studies.bandits.grids import best_alpha, between_neighbors, intervals, others


@dataclass(frozen=True)
class Shard:
    """Part of the cells: those whose number is `index` modulo `count`."""

    index: int = 0
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Read `"i/n"`.

        Raises:
            ValueError: if the text is invalid.
        """
        index, slash, count = text.partition("/")
        if not (slash and index.isdigit() and count.isdigit() and int(index) < int(count)):
            raise ValueError(f"shard must be i/n with i from 0 to n - 1, got {text!r}")
        return cls(int(index), int(count))

    def has(self, number: int) -> bool:
        """Return whether cell `number` belongs to the shard."""
        return number % self.count == self.index


@dataclass(frozen=True)
class Findings:
    """Results of a study.

    Attributes:
        study: its settings.
        regrets: by K and alpha, the regret in each problem: both grids and 1/K, e/(2K) and 2.
        first_best: by K, the best alpha of the first grid.
        best: by K, the best alpha of both grids.
        annealed: by K, every `(alpha, mean regret)` that simulated annealing tried.
        checkpoints: rounds after which the curves have the regret.
        curves: by K and policy, the regret in each problem after each of them.
    """

    study: BanditStudy
    regrets: dict[int, dict[float, NDArray[np.float64]]]
    first_best: dict[int, float]
    best: dict[int, float]
    annealed: dict[int, list[tuple[float, float]]]
    checkpoints: list[int]
    curves: dict[int, dict[str, NDArray[np.float64]]]


def run_study(
    study: BanditStudy,
    folder: Path,
    shard: Shard | None = None,
    threads: int = 1,
    merge: bool = False,
    quiet: bool = False,
) -> Findings:
    """Compute what is missing in `folder`, and return everything.

    Args:
        study: what is played.
        folder: where the cells are kept; must hold no other study.
        shard: compute these cells only.
        threads: that share the problems.
        merge: compute nothing.
        quiet: without progress bars.

    Raises:
        CellMissingError: if cells are missing, after those were computed that may be.
        ValueError: if the folder holds another study.
    """
    cells = Cells(study, folder, threads)
    mine = shard or Shard()
    grid = intervals(0.5, 0.0, study.alphas)
    missing: list[str] = []
    _play_grid(cells, dict.fromkeys(study.arms, grid), mine, merge, quiet, missing)
    annealed = _anneal_all(cells, mine, merge, quiet, missing)
    checkpoints = spread(study.curve_rounds)
    curves = _draw_curves(cells, checkpoints, mine, merge, quiet, missing)
    _stop_if(missing)
    # The second grid depends on all of the first.
    first_best = {k: best_alpha(cells, k, grid) for k in study.arms}
    second = {k: between_neighbors(grid, first_best[k]) for k in study.arms}
    more = {k: second[k] + others(k) for k in study.arms}
    _play_grid(cells, more, mine, merge, quiet, missing)
    _stop_if(missing)
    regrets = {
        k: {
            alpha: cells.regrets(k, alpha, study.problems, False)
            for alpha in sorted({*grid, *more[k]})
        }
        for k in study.arms
    }
    best = {k: best_alpha(cells, k, [*grid, *second[k]]) for k in study.arms}
    return Findings(study, regrets, first_best, best, annealed, checkpoints, curves)


def _play_grid(
    cells: Cells,
    alphas: dict[int, list[float]],
    mine: Shard,
    merge: bool,
    quiet: bool,
    missing: list[str],
) -> None:
    """Compute the shard's blocks of these alphas, and note which are missing after that."""
    blocks = cells.study.problems // cells.study.block
    wanted = [
        (k, alpha, block)
        for k in alphas
        for alpha, block in product(dict.fromkeys(alphas[k]), range(blocks))
    ]
    for number, (k, alpha, block) in enumerate(_track(wanted, "grid of alphas", quiet)):
        compute = not merge and mine.has(number)
        _keep_missing(missing, cells.block, k, alpha, block, compute)


def _anneal_all(
    cells: Cells, mine: Shard, merge: bool, quiet: bool, missing: list[str]
) -> dict[int, list[tuple[float, float]]]:
    """Anneal each K of the shard; nothing here is shared by two K."""
    study = cells.study
    annealed: dict[int, list[tuple[float, float]]] = {}
    total = len(study.arms) * (study.annealing_steps + 1)
    with Progress(console=Console(stderr=True), disable=quiet) as bar:
        task = bar.add_task("simulated annealing", total=total)
        for number, k in enumerate(study.arms):
            compute = not merge and mine.has(number)
            found = _keep_missing(missing, _anneal, cells, k, compute, lambda: bar.advance(task))
            if found is not None:
                annealed[k] = found
    return annealed


def _anneal(
    cells: Cells, arms: int, compute: bool, advance: Callable[[], None]
) -> list[tuple[float, float]]:
    def cost(alpha: float) -> float:
        regrets = cells.regrets(arms, alpha, cells.study.annealing_problems, compute)
        advance()
        return float(regrets.mean())

    return anneal(cost, cells.study.annealing_steps, [cells.study.seed, arms])


def _draw_curves(
    cells: Cells,
    checkpoints: list[int],
    mine: Shard,
    merge: bool,
    quiet: bool,
    missing: list[str],
) -> dict[int, dict[str, NDArray[np.float64]]]:
    study = cells.study
    curves: dict[int, dict[str, NDArray[np.float64]]] = {k: {} for k in study.curve_arms}
    wanted = [(k, policy) for k in study.curve_arms for policy in COMPARED]
    for number, (k, policy) in enumerate(_track(wanted, "all policies", quiet)):
        compute = not merge and mine.has(number)
        found = _keep_missing(missing, cells.curve, policy, k, checkpoints, compute)
        if found is not None:
            curves[k][policy] = found
    return curves


def _track(wanted: Sequence[Any], name: str, quiet: bool) -> Iterable[Any]:
    return track(wanted, name, console=Console(stderr=True), disable=quiet)


def _keep_missing(missing: list[str], get: Callable[..., Any], *args: Any) -> Any:
    """Return the result of `get`, or None with a note in `missing`."""
    try:
        return get(*args)
    except CellMissingError as error:
        missing.append(str(error))
        return None


def _stop_if(missing: list[str]) -> None:
    if missing:
        raise CellMissingError(
            f"{len(missing)} cells of other shards are needed to resume; the first: {missing[0]}"
        )
