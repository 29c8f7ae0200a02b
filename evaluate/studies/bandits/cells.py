"""Cells of a study of bandits: blocks of regrets, each a small file."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.policies import POLICIES
from ludoteca.envs.params import integer
from ludoteca.evaluate.studies.bandits.play import play_bandits, random_problems
from ludoteca.evaluate.studies.bandits.uaemex2021 import ARMS
from ludoteca.files import read_json, write_whole


@dataclass(frozen=True)
class BanditStudy:
    """Settings of a study; the defaults are the scaled experiment."""

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
    """Number of problems, the first ones, that evaluate an alpha in simulated annealing."""
    curve_arms: tuple[int, ...] = (2, 10, 100)
    """The numbers of arms for which all policies are compared."""
    curve_problems: int = 200
    """Problems of that comparison."""
    curve_rounds: int = 10_000
    """Pulls in each run of that comparison."""
    block: int = 100
    """Problems in a cell, the unit that is computed, written, and divided among shards."""
    seed: int = 1
    """Seed of all random numbers."""

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
# Policies of the published curves; later ones are not among them.
COMPARED = tuple(name for name in POLICIES if name != "kl_ucb")
FULL = BanditStudy(
    problems=1000,
    runs=100,
    annealing_steps=60,
    annealing_problems=1000,
    curve_problems=1000,
    curve_rounds=100_000,
    block=50,
)


def spread(rounds: int) -> list[int]:
    """Return numbers of rounds up to `rounds`, evenly spread on a logarithmic scale."""
    steps = np.geomspace(10, rounds, 60) if rounds > 10 else np.array([rounds])
    return sorted({int(x) for x in steps.round()} | {rounds})


class CellMissingError(Exception):
    """A cell that belongs to another shard, or that a merge lacks."""


@dataclass(frozen=True)
class Block:
    """The regret of UCB1 in each problem of a block.

    Attributes:
        arms: of the problems.
        alpha: of UCB1.
        block: number of the block.
    """

    arms: int
    alpha: float
    block: int

    @property
    def name(self) -> str:
        """Its file."""
        return f"ucb1/K{self.arms}/{self.alpha!r}-{self.block}.json"

    def play(self, study: BanditStudy, most: int | None = None, threads: int = 1) -> list[float]:
        """Return the regrets; `most` limits the problems."""
        start = self.block * study.block
        problems = random_problems(study.problems, self.arms, study.seed)
        regrets = play_bandits(
            "ucb1",
            problems[start : start + min(study.block, most or study.block)],
            study.rounds,
            params={"alpha": self.alpha},
            seed=study.seed,
            runs=study.runs,
            first_problem=start,
            num_threads=threads,
        )
        found: list[float] = regrets[:, 0].tolist()
        return found


@dataclass(frozen=True)
class CurvePart:
    """A policy's regret over the rounds, in each problem of a block of the comparison.

    Attributes:
        arms: of the problems.
        policy: its name.
        block: number of the block.
    """

    arms: int
    policy: str
    block: int

    @property
    def name(self) -> str:
        """Its file."""
        return f"curves/K{self.arms}/{self.policy}-{self.block}.json"

    def play(
        self, study: BanditStudy, most: int | None = None, threads: int = 1
    ) -> list[list[float]]:
        """Return the regrets, by problem and checkpoint; `most` limits the problems."""
        start = self.block * study.block
        problems = random_problems(study.curve_problems, self.arms, study.seed)
        regrets = play_bandits(
            self.policy,
            problems[start : start + min(study.block, most or study.block)],
            study.curve_rounds,
            seed=study.seed,
            runs=study.runs,
            checkpoints=spread(study.curve_rounds),
            first_problem=start,
            num_threads=threads,
        )
        found: list[list[float]] = regrets.tolist()
        return found


Cell = Block | CurvePart


class Cells:
    """Cells of a study in a folder, read or else computed."""

    def __init__(self, study: BanditStudy, folder: Path, threads: int = 1) -> None:
        """Open a folder, a new one or one that holds cells of the same study.

        Raises:
            ValueError: if it holds another study.
        """
        self.study, self.folder, self.threads = study, folder, threads
        text = json.dumps(asdict(study), indent=2) + "\n"
        file = folder / "study.json"
        if file.exists() and read_json(file) != json.loads(text):
            raise ValueError(
                f"{file} describes another study; resume with its settings, or choose another "
                "folder"
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
        cell = Block(arms, alpha, block)
        return np.array(
            self._cell(cell.name, lambda: cell.play(self.study, threads=self.threads), compute)
        )

    def curve(
        self, policy: str, arms: int, checkpoints: list[int], compute: bool
    ) -> NDArray[np.float64]:
        """Return a policy's regret after each of `checkpoints`, for each problem of the comparison.

        Raises:
            CellMissingError: if it is not there and must not be computed.
        """
        study = self.study
        parts = [CurvePart(arms, policy, k) for k in range(-(-study.curve_problems // study.block))]
        if all(self._file(part.name).exists() for part in parts):
            return np.concatenate([read_json(self._file(part.name)) for part in parts])

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

    def has(self, cell: Cell) -> bool:
        """Return whether a cell, or the whole that it is a part of, has been computed."""
        whole = isinstance(cell, CurvePart) and f"curves/K{cell.arms}/{cell.policy}.json"
        return self._file(cell.name).exists() or bool(whole and self._file(whole).exists())

    def write(self, cell: Cell, result: Any) -> None:
        """Write the result of a cell's `play`."""
        write_whole(self._file(cell.name), json.dumps(result))

    def _file(self, name: str) -> Path:
        return self.folder / "cells" / name

    def _cell(self, name: str, play: Callable[[], Any], compute: bool) -> Any:
        file = self._file(name)
        if file.exists():
            return read_json(file)
        if not compute:
            raise CellMissingError(f"{file} is missing")
        result = play()
        write_whole(file, json.dumps(result))
        return result
