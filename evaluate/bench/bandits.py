"""Benchmark of UCB1 in Bernoulli bandits: `ludoteca bench bandits`.

It measures by how much pulling arms many times at once (`evaluate.bandits.ucb1_kernel`) is faster
than the loop that serves every selection policy, which computes all scores in every round. Both
pull the same arms.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.bandits.play import play_bandits, random_problems
from ludoteca.evaluate.bench.measures import Comparison, Group
from ludoteca.evaluate.bench.report import Report
from ludoteca.evaluate.bench.rounds import measure_groups
from ludoteca.evaluate.bench.workloads import CPUWorkload

# Valencia, "Desarrollo de una política de selección para General Game Playing basada en el problema
# del bandido multi-armado", 2021: its rounds, and numbers of arms and constants alpha of its grid.
ROUNDS = 100_000
ARMS, ALPHAS = (2, 10, 100), (2.0, 0.5, 0.016)
PROBLEMS = 10  # the same for both loops
RUNS = {True: 10, False: 1}  # of each problem in a call, by `lazy`


class BanditWorkload(CPUWorkload):
    """Runs of UCB1 in random problems; the steps are pulls."""

    def __init__(self, arms: int, alpha: float, lazy: bool, rounds: int = ROUNDS):
        """Make the workload.

        Args:
            arms: number of arms K.
            alpha: exploration constant.
            lazy: whether to pull arms many times at once, see `bandit_curves`.
            rounds: number of pulls in each run.
        """
        self._alpha, self._lazy, self._rounds = alpha, lazy, rounds
        self._problems = random_problems(PROBLEMS, arms, seed=0)
        self.play(self._problems[:1], runs=1)  # warm-up

    def run_once(self) -> int:
        """Play some runs of each problem; return the number of pulls."""
        runs = RUNS[self._lazy]
        self.play(self._problems, runs)
        return PROBLEMS * runs * self._rounds

    def play(self, problems: NDArray[np.float64], runs: int) -> NDArray[np.float64]:
        """Play runs of some problems, `[N, K]`; return their mean regrets, float64 `[N, 1]`."""
        return play_bandits(
            "ucb1", problems, self._rounds,
            params={"alpha": self._alpha}, runs=runs, lazy=self._lazy,
        )  # fmt: skip


def groups() -> dict[str, Callable[[], Group]]:
    """Return the makers of the groups of comparisons, by name: one for each number of arms."""
    return {f"arms_{arms}": partial(arms_group, arms) for arms in ARMS}


def arms_group(arms: int) -> Group:
    """Compare the two loops with a number of arms, for each constant."""
    work = f"runs of {ROUNDS:,} rounds in {PROBLEMS} problems, one thread, CPU time; "
    return Group(
        ours={
            f"alpha = {alpha:g}, {name}": partial(BanditWorkload, arms, alpha, lazy)
            for alpha in ALPHAS
            for name, lazy in (("many pulls at once", True), ("all scores", False))
        },
        comparisons=tuple(
            Comparison(
                f"UCB1, {arms} arms, alpha = {alpha:g}",
                ours=f"alpha = {alpha:g}, many pulls at once",
                peer=f"alpha = {alpha:g}, all scores",
                floor=None,
                timed=(f"{work}many pulls at once", f"{work}all scores in every round"),
                unit="pulls/s",
            )
            for alpha in ALPHAS
        ),
    )


def bench_bandits(json: Path | None, seconds: float = 2.0, only: tuple[str, ...] = ()) -> Report:
    """Measure, print the table, and write all numbers as JSON; see `measure_groups`."""
    title = "UCB1 in bandits: many pulls at once, and all scores in every round"
    return measure_groups(groups(), title, json, seconds, only)
