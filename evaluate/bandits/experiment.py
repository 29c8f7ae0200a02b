"""Experiment with bandits in cells, each of which is computed and stored on its own.

The experiment searches for the best exploration constant alpha of UCB1 for each number of arms K,
and compares selection policies over the rounds. A cell is the unit of computation and of storage:
the regrets of one policy in a block of problems.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.params import check_choice, check_integer
from ludoteca.evaluate.bandits.play import play_bandits, random_problems
from ludoteca.evaluate.tuning.annealing import COOLING, DEFAULT_COOLING
from ludoteca.files import read_json, write_atomically

Regrets = NDArray[np.float64]  # `[problems]`, or `[problems, checkpoints]` over the rounds
Constants = Mapping[int, Sequence[float]]  # alphas by number of arms K
NO_CONSTANTS: Constants = MappingProxyType({})


def intervals(high: float, low: float, count: int) -> list[float]:
    """Return `count` numbers from `high` to `low`, each halfway between the previous one and `low`.

    Valencia, "Desarrollo de una política de selección para General Game Playing basada en el
    problema del bandido multi-armado", 2021, algorithm 16 as its tables 4.18 and 4.19 show it.
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


@dataclass(frozen=True)
class BanditExperiment:
    """Settings of the experiment."""

    arms: tuple[int, ...]  # numbers of arms K for which the best alpha is sought
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
            check_integer(name, getattr(self, name), 1, 10**9)
        check_integer("alphas", self.alphas, 3, 100)
        check_integer("annealing_steps", self.annealing_steps, 0, 10**6)
        check_integer("annealing_problems", self.annealing_problems, 1, self.problems)
        check_integer("seed", self.seed, 0, 2**63 - 1)
        check_choice("cooling", self.cooling, tuple(COOLING))
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

    def play(
        self, experiment: BanditExperiment, max_problems: int | None = None, threads: int = 1
    ) -> Any:
        """Play the problems, and return their regrets.

        Args:
            experiment: settings of the experiment.
            max_problems: play at most this number of the block's problems.
            threads: number of threads that share the problems.

        Returns:
            The final regret of each problem, or for each problem a list of the regrets after each
            checkpoint.
        """
        curve, start = self.alpha is None, self.block * experiment.block
        count = experiment.curve_problems if curve else experiment.problems
        rounds = experiment.curve_rounds if curve else experiment.rounds
        end = start + min(experiment.block, max_problems or experiment.block)
        regrets = play_bandits(
            self.policy,
            random_problems(count, self.arms, experiment.seed)[start:end],
            rounds,
            params=None if self.alpha is None else {"alpha": self.alpha},
            seed=experiment.seed,
            runs=experiment.runs,
            checkpoints=log_spaced(rounds) if curve else None,
            first_problem=start,
            num_threads=threads,
        )
        return (regrets if curve else regrets[:, 0]).tolist()


class Cells:
    """Folder with the computed cells of an experiment, each of which is a small file.

    Attributes:
        experiment: settings of the experiment.
        folder: the subfolder `cells` of the experiment's folder, which holds the files.
    """

    def __init__(self, experiment: BanditExperiment, folder: Path) -> None:
        """Open a folder that is new or has cells of the same experiment.

        Raises:
            ValueError: if the folder has cells of an experiment with other settings.
        """
        self.experiment, self.folder = experiment, folder / "cells"
        text, file = json.dumps(asdict(experiment), indent=2) + "\n", folder / "study.json"
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
