"""Chains of cells: searches for the best constant of UCB1, and the curves of policies.

A chain is a generator that yields the cells that it needs, is resumed when these are computed, and
at last returns a result.
"""

from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ludoteca.evaluate.bandits.experiment import (
    BanditExperiment,
    Cell,
    Cells,
    Regrets,
    between_neighbors,
)
from ludoteca.evaluate.tuning.annealing import COOLING, annealing

Chain = Generator[list[Cell], None, Any]


def blocks(
    experiment: BanditExperiment, arms: int, alphas: Iterable[float], problems: int
) -> list[Cell]:
    """Return the cells of UCB1 with some alphas, for the first `problems` problems of some arms."""
    return [Cell(arms, block, a) for a in alphas for block in range(problems // experiment.block)]


def annealing_chain(cells: Cells, arms: int) -> Chain:
    """Search for the best alpha by simulated annealing, and evaluate it on all problems.

    Returns:
        `(alpha, mean regret)` of each step, in order, and the regrets of the step with the lowest
        one, of all problems.
    """
    experiment, steps = cells.experiment, list[tuple[float, float]]()
    temperatures = COOLING[experiment.cooling]()
    search = annealing(experiment.annealing_steps, [experiment.seed, arms], temperatures)
    alpha = next(search)
    with suppress(StopIteration):
        while True:
            required = blocks(experiment, arms, [alpha], experiment.annealing_problems)
            yield required
            steps.append((alpha, float(cells.read(required).mean())))
            alpha = search.send(steps[-1][1])
    required = blocks(experiment, arms, [best_step(steps)], experiment.problems)
    yield required
    return steps, cells.read(required)


def best_step(steps: Sequence[tuple[float, float]]) -> float:
    """Return the alpha of the first step with the lowest regret; steps are `(alpha, regret)`."""
    return min(steps, key=lambda step: step[1])[0]


def grid_chain(cells: Cells, arms: int, constants: Sequence[float] = ()) -> Chain:
    """Compute the regrets of both grids of alphas, and of the constants 1/K, e/(2K) and 2.

    These are the constants of UCB-alpha1, UCB-alpha2 and UCB1.

    Args:
        cells: folder of the cells.
        arms: number of arms.
        constants: further alphas, which are not candidates for the best one.

    Returns:
        The regrets by alpha, the best alpha of the first grid, and the best alpha of both grids.
    """
    experiment, grid = cells.experiment, cells.experiment.grid

    def regrets(alphas: Iterable[float]) -> dict[float, Regrets]:
        return {a: cells.read(blocks(experiment, arms, [a], experiment.problems)) for a in alphas}

    def best(alphas: list[float]) -> float:
        means = {alpha: values.mean() for alpha, values in regrets(alphas).items()}
        return min(means, key=means.__getitem__)

    yield blocks(experiment, arms, grid, experiment.problems)
    first_best = best(grid)
    second = between_neighbors(grid, first_best)
    others = [*second, 1 / arms, np.e / (2 * arms), 2.0, *constants]
    yield blocks(experiment, arms, others, experiment.problems)
    return regrets(sorted({*grid, *others})), first_best, best([*grid, *second])


def curve_chain(cells: Cells, policies: Sequence[str]) -> Chain:
    """Compute the regrets of some policies over the rounds.

    Returns:
        The regrets by K and policy, each of shape `[problems, checkpoints]`.
    """
    experiment = cells.experiment
    block_indices = range(-(-experiment.curve_problems // experiment.block))

    def policy_cells(arms: int, policy: str) -> list[Cell]:
        return [Cell(arms, block, policy=policy) for block in block_indices]

    yield [
        cell
        for k in experiment.curve_arms
        for policy in policies
        for cell in policy_cells(k, policy)
    ]
    return {
        k: {policy: cells.read(policy_cells(k, policy)) for policy in policies}
        for k in experiment.curve_arms
    }
