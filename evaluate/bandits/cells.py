"""Regrets on disk: a study is made of cells, each a small file that is written whole."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.files import read_json, write_whole
from ludoteca.envs.params import integer
from ludoteca.evaluate.bandits.play import play_bandits, random_problems
from ludoteca.evaluate.bandits.thesis import ARMS


@dataclass(frozen=True)
class Study:
    """What is played; the defaults are the scaled experiment."""

    arms: tuple[int, ...] = ARMS
    """The numbers of arms K."""
    problems: int = 1000
    """Bandit problems for each K, with success probabilities drawn from [0, 1)."""
    runs: int = 1
    """Runs of every problem."""
    rounds: int = 100_000
    """Pulls in each run."""
    alphas: int = 10
    """Values in the first grid, and in the second, between the neighbors of the best."""
    annealing_steps: int = 40
    """Steps of simulated annealing for each K."""
    annealing_problems: int = 200
    """The first so many problems judge an alpha in simulated annealing."""
    curve_arms: tuple[int, ...] = (2, 10, 100)
    """The numbers of arms for which all policies are compared."""
    curve_problems: int = 200
    """Problems of that comparison."""
    curve_rounds: int = 10_000
    """Pulls in each run of that comparison."""
    block: int = 100
    """Problems in a cell: what is computed at a time, kept, and shared among shards."""
    seed: int = 1
    """Decides all chance."""

    def __post_init__(self) -> None:
        for name in ("problems", "runs", "rounds", "curve_problems", "curve_rounds", "block"):
            integer(name, getattr(self, name), 1, 10**9)
        integer("alphas", self.alphas, 3, 100)
        integer("annealing_steps", self.annealing_steps, 0, 10**6)
        integer("annealing_problems", self.annealing_problems, 1, self.problems)
        integer("seed", self.seed, 0, 2**63 - 1)
        if not self.arms or min(self.arms + self.curve_arms) < 2:
            raise ValueError(f"each K must be 2 at least, got {self.arms} and {self.curve_arms}")
        for name in ("problems", "annealing_problems"):
            if getattr(self, name) % self.block:
                raise ValueError(
                    f"{name} must be a multiple of block = {self.block}, got {getattr(self, name)}"
                )


# The thesis' own size: about 2 * 10^12 pulls for the grids, and 7 * 10^12 for simulated annealing,
# of which the thesis does not say how many steps it took.
FULL = Study(
    problems=1000,
    runs=100,
    annealing_steps=60,
    annealing_problems=1000,
    curve_problems=1000,
    curve_rounds=100_000,
    block=50,
)


class CellMissingError(Exception):
    """A cell that belongs to another shard, or that a merge did not find."""


class Cells:
    """The cells of a study in a folder: looked up, or else computed."""

    def __init__(self, study: Study, folder: Path, threads: int = 1) -> None:
        """Open a folder, a new one or one that holds cells of the same study.

        Raises:
            ValueError: if it holds another study.
        """
        self.study, self.folder, self.threads = study, folder, threads
        text = json.dumps(asdict(study), indent=2) + "\n"
        file = folder / "study.json"
        if file.exists() and read_json(file) != json.loads(text):
            raise ValueError(
                f"{file} describes another study; go on with its settings, or choose another folder"
            )
        write_whole(file, text)

    def regrets(self, arms: int, alpha: float, problems: int, compute: bool) -> NDArray[np.float64]:
        """Return the regret of UCB1 with `alpha` in each of the first `problems`.

        Raises:
            CellMissingError: if some are not there and must not be computed.
        """
        blocks = range(problems // self.study.block)
        return np.concatenate([self.block(arms, alpha, block, compute) for block in blocks])

    def block(self, arms: int, alpha: float, block: int, compute: bool) -> NDArray[np.float64]:
        """Return the regrets of one block of problems."""
        study, start = self.study, block * self.study.block

        def play() -> Any:
            problems = random_problems(study.problems, arms, study.seed)
            regrets = play_bandits(
                "ucb1",
                problems[start : start + study.block],
                study.rounds,
                params={"alpha": alpha},
                seed=study.seed,
                runs=study.runs,
                first_problem=start,
                num_threads=self.threads,
            )
            return regrets[:, 0].tolist()

        return np.array(self._cell(f"ucb1/K{arms}/{alpha!r}-{block}.json", play, compute))

    def curve(
        self, policy: str, arms: int, checkpoints: list[int], compute: bool
    ) -> NDArray[np.float64]:
        """Return a policy's regret after each of `checkpoints`, for each problem of the comparison.

        Raises:
            CellMissingError: if it is not there and must not be computed.
        """
        study = self.study

        def play() -> Any:
            return play_bandits(
                policy,
                random_problems(study.curve_problems, arms, study.seed),
                study.curve_rounds,
                seed=study.seed,
                runs=study.runs,
                checkpoints=checkpoints,
                num_threads=self.threads,
            ).tolist()

        return np.array(self._cell(f"curves/K{arms}/{policy}.json", play, compute))

    def _cell(self, name: str, play: Callable[[], Any], compute: bool) -> Any:
        file = self.folder / "cells" / name
        if file.exists():
            return read_json(file)
        if not compute:
            raise CellMissingError(f"{file} is missing")
        result = play()
        write_whole(file, json.dumps(result))
        return result
