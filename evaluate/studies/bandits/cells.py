"""Study of the best constant of UCB1: its settings, the alphas that it tries, and its cells.

Alpha is UCB1's exploration constant, and K the number of arms of a bandit problem. A cell is the
unit of computation and of storage: the regrets of one policy in a block of problems. A chain is a
generator that yields the cells that it needs for one result. The thesis is that of `uaemex2021`.
"""

import json
import math
from collections.abc import Generator, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.params import choice, integer
from ludoteca.evaluate.bandits.play import play_bandits, random_problems
from ludoteca.evaluate.studies.bandits.cooling import COOLING, DEFAULT_COOLING, geometric
from ludoteca.evaluate.studies.bandits.uaemex2021 import ARMS
from ludoteca.evaluate.studies.policies import PUBLISHED_POLICIES
from ludoteca.files import read_json, write_atomically

Regrets = NDArray[np.float64]  # `[problems]`, or `[problems, checkpoints]` over the rounds


@dataclass(frozen=True)
class BanditStudy:
    """Settings of the study; the defaults are smaller than the thesis' experiment, see `FULL`."""

    arms: tuple[int, ...] = ARMS  # numbers of arms K for which the best alpha is sought
    problems: int = 1000  # problems for each K, with success probabilities sampled from [0, 1)
    runs: int = 1  # runs of each problem
    rounds: int = 100_000  # pulls in each run
    alphas: int = 10  # values of alpha in each grid; the second grid refines the first one's best
    annealing_steps: int = 40  # steps of simulated annealing for each K
    annealing_problems: int = 200  # number of (first) problems that evaluate an alpha in annealing
    cooling: str = DEFAULT_COOLING  # cooling schedule of simulated annealing, a name in COOLING
    curve_arms: tuple[int, ...] = (2, 10, 100)  # numbers of arms for which policies are compared
    curve_problems: int = 200  # problems of the comparison of policies over the rounds
    curve_rounds: int = 10_000  # pulls in each run of that comparison
    block: int = 100  # number of problems of a cell
    seed: int = 1  # seed of all random numbers

    def __post_init__(self) -> None:
        for name in ("problems", "runs", "rounds", "curve_problems", "curve_rounds", "block"):
            integer(name, getattr(self, name), 1, 10**9)
        integer("alphas", self.alphas, 3, 100)
        integer("annealing_steps", self.annealing_steps, 0, 10**6)
        integer("annealing_problems", self.annealing_problems, 1, self.problems)
        integer("seed", self.seed, 0, 2**63 - 1)
        choice("cooling", self.cooling, tuple(COOLING))
        if not self.arms or min(self.arms + self.curve_arms) < 2:
            raise ValueError(
                "each number of arms must be at least 2, got "
                f"arms={self.arms}, curve_arms={self.curve_arms}"
            )
        for name in ("problems", "annealing_problems"):
            if (count := getattr(self, name)) % self.block:
                raise ValueError(f"{name} must be a multiple of block = {self.block}, got {count}")

    @property
    def grid(self) -> list[float]:
        """The first grid of alphas."""
        return intervals(0.5, 0.0, self.alphas)


# The thesis' experiment in full size: about 2 * 10^12 pulls for the grids, and 7 * 10^12 for
# simulated annealing, whose number of steps the thesis does not give.
FULL = BanditStudy(
    runs=100, annealing_steps=60, annealing_problems=1000, curve_problems=1000,
    curve_rounds=100_000, block=50,
)  # fmt: skip


def intervals(high: float, low: float, count: int) -> list[float]:
    """Return `count` numbers from `high` to `low`, each halfway between the previous one and `low`.

    Algorithm 16 of the thesis, in the form that its tables 4.18 and 4.19 show.
    """
    return [low + (high - low) / 2**n for n in range(count - 1)] + [low]


def between_neighbors(grid: list[float], best: float) -> list[float]:
    """Return the second grid, which lies between the neighbors of the first grid's best alpha.

    Args:
        grid: the first grid, in descending order.
        best: its best alpha.
    """
    index = grid.index(best)
    return intervals(grid[max(index - 1, 0)], grid[min(index + 1, len(grid) - 1)], len(grid))


def annealing(
    steps: int,
    seed: int | list[int],
    temperatures: Iterable[float] | None = None,
    step_size: float = 0.1,
) -> Generator[float, float, None]:
    """Minimize a cost over x in [0, 1] by simulated annealing, after algorithm 13 of the thesis.

    The generator yields each x to evaluate; the caller sends the cost of x. The first x is sampled
    from [0, 1], each later one within `step_size` of the current one. A lower cost is accepted, a
    higher one with probability exp(-increase / temperature). Each x is rounded to 6 decimals, as it
    is part of a cell's file name.

    Args:
        steps: number of steps after the first x.
        seed: seed of the samples.
        temperatures: temperature of each step, not negative; by default `cooling.geometric()`.
        step_size: maximum distance of the next x from the current one.
    """
    rng = np.random.default_rng(seed)
    x = round(rng.random(), 6)
    current = x, (yield x)
    for _, temperature in zip(range(steps), temperatures or geometric(), strict=False):
        x = round(min(max(current[0] + rng.uniform(-step_size, step_size), 0.0), 1.0), 6)
        cost = yield x
        increase = max(cost - current[1], 0.0)
        accepted = math.exp(-increase / temperature) if temperature > 0 else float(increase == 0)
        if rng.random() < accepted:
            current = x, cost


def log_spaced(rounds: int) -> list[int]:
    """Return up to 60 numbers of rounds from 10 to `rounds`, evenly spaced on a log scale."""
    steps = np.geomspace(10, rounds, 60) if rounds > 10 else np.array([rounds])
    return sorted({int(x) for x in steps.round()} | {rounds})


@dataclass(frozen=True)
class Cell:
    """Cell: the regrets of a policy in each problem of a block.

    With an alpha it has the final regrets of UCB1, without one the regrets of `policy` after each
    checkpoint of `log_spaced`.
    """

    arms: int  # number of arms of the problems
    block: int  # index of the block of problems
    alpha: float | None = None  # exploration constant of UCB1
    policy: str = "ucb1"  # name of the selection policy

    @property
    def name(self) -> str:
        """The path of the cell's file in the folder of all cells."""
        folder, label = ("curves", self.policy) if self.alpha is None else ("ucb1", self.alpha)
        return f"{folder}/K{self.arms}/{label}-{self.block}.json"

    def play(self, study: BanditStudy, max_problems: int | None = None, threads: int = 1) -> Any:
        """Play the problems, and return their regrets.

        Args:
            study: settings of the study.
            max_problems: play at most this number of the block's problems.
            threads: number of threads that share the problems.

        Returns:
            The final regret of each problem, or for each problem a list of the regrets after each
            checkpoint.
        """
        curve, start = self.alpha is None, self.block * study.block
        count = study.curve_problems if curve else study.problems
        rounds = study.curve_rounds if curve else study.rounds
        end = start + min(study.block, max_problems or study.block)
        regrets = play_bandits(
            self.policy,
            random_problems(count, self.arms, study.seed)[start:end],
            rounds,
            params=None if self.alpha is None else {"alpha": self.alpha},
            seed=study.seed,
            runs=study.runs,
            checkpoints=log_spaced(rounds) if curve else None,
            first_problem=start,
            num_threads=threads,
        )
        return (regrets if curve else regrets[:, 0]).tolist()


class Cells:
    """Folder with the computed cells of a study, each of which is a small file.

    Attributes:
        study: settings of the study.
        folder: the subfolder `cells` of the study's folder, which holds the files.
    """

    def __init__(self, study: BanditStudy, folder: Path) -> None:
        """Open a folder that is new or has cells of the same study.

        Raises:
            ValueError: if the folder has cells of a study with other settings.
        """
        self.study, self.folder = study, folder / "cells"
        text, file = json.dumps(asdict(study), indent=2) + "\n", folder / "study.json"
        if file.exists() and read_json(file) != json.loads(text):
            raise ValueError(
                f"{file} has other settings than this study; resume with those settings, or choose "
                "another folder"
            )
        write_atomically(file, text)

    def file(self, cell: Cell) -> Path:
        """Return the path of a cell's file."""
        return self.folder / cell.name

    def read(self, cells: Iterable[Cell]) -> Regrets:
        """Return the regrets of some cells, concatenated over their problems."""
        return np.concatenate([read_json(self.file(cell)) for cell in cells])


# Generator that yields the cells that it needs, is resumed when these are computed, and at last
# returns a result.
Chain = Generator[list[Cell], None, Any]


def blocks(study: BanditStudy, arms: int, alphas: Iterable[float], problems: int) -> list[Cell]:
    """Return the cells of UCB1 with some alphas, for the first `problems` problems of some arms."""
    return [Cell(arms, block, a) for a in alphas for block in range(problems // study.block)]


def annealing_chain(cells: Cells, arms: int) -> Chain:
    """Search for the best alpha by simulated annealing.

    Returns:
        `(alpha, mean regret)` of each step, in order.
    """
    study, steps = cells.study, list[tuple[float, float]]()
    temperatures = COOLING[study.cooling]()
    search = annealing(study.annealing_steps, [study.seed, arms], temperatures)
    alpha = next(search)
    with suppress(StopIteration):
        while True:
            required = blocks(study, arms, [alpha], study.annealing_problems)
            yield required
            steps.append((alpha, float(cells.read(required).mean())))
            alpha = search.send(steps[-1][1])
    return steps


def grid_chain(cells: Cells, arms: int) -> Chain:
    """Compute the regrets of both grids of alphas and of the constants 1/K, e/(2K) and 2.

    These are the constants of UCB-alpha1, UCB-alpha2 and UCB1.

    Returns:
        The regrets by alpha, the best alpha of the first grid, and the best alpha of both grids.
    """
    study, grid = cells.study, cells.study.grid

    def regrets(alphas: Iterable[float]) -> dict[float, Regrets]:
        return {a: cells.read(blocks(study, arms, [a], study.problems)) for a in alphas}

    def best(alphas: list[float]) -> float:
        means = {alpha: values.mean() for alpha, values in regrets(alphas).items()}
        return min(means, key=means.__getitem__)

    yield blocks(study, arms, grid, study.problems)
    first_best = best(grid)
    second = between_neighbors(grid, first_best)
    others = [*second, 1 / arms, np.e / (2 * arms), 2.0]
    yield blocks(study, arms, others, study.problems)
    return regrets(sorted({*grid, *others})), first_best, best([*grid, *second])


def curve_chain(cells: Cells) -> Chain:
    """Compute the regrets of all policies over the rounds.

    Returns:
        The regrets by K and policy, each of shape `[problems, checkpoints]`.
    """
    study = cells.study
    block_indices = range(-(-study.curve_problems // study.block))

    def policy_cells(arms: int, policy: str) -> list[Cell]:
        return [Cell(arms, block, policy=policy) for block in block_indices]

    yield [
        cell
        for k in study.curve_arms
        for policy in PUBLISHED_POLICIES
        for cell in policy_cells(k, policy)
    ]
    return {
        k: {policy: cells.read(policy_cells(k, policy)) for policy in PUBLISHED_POLICIES}
        for k in study.curve_arms
    }
