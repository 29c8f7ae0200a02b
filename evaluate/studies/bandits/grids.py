"""Alphas of a study: two grids, and the constants of the thesis' policies."""

from collections.abc import Iterable

import numpy as np

from ludoteca.evaluate.studies.bandits.cells import Cells


def intervals(high: float, low: float, count: int) -> list[float]:
    """Return `count` numbers from `high` to `low`, each halfway from the one before to `low`.

    Algorithm 16 of the thesis as its tables 4.18 and 4.19 show that it was run.
    """
    return [low + (high - low) / 2**n for n in range(count - 1)] + [low]


def between_neighbors(grid: list[float], best: float) -> list[float]:
    """Return the second grid: between the neighbors of the best in the first, a falling list."""
    at = grid.index(best)
    return intervals(grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)], len(grid))


def others(arms: int) -> list[float]:
    """Return the alphas of UCB-alpha1, UCB-alpha2 and UCB1 for so many arms."""
    return [1 / arms, np.e / (2 * arms), 2.0]


def best_alpha(cells: Cells, arms: int, alphas: Iterable[float]) -> float:
    """Return the alpha of lowest mean regret; all its cells are there."""
    means = {a: cells.regrets(arms, a, cells.study.problems, False).mean() for a in alphas}
    return min(means, key=means.__getitem__)
