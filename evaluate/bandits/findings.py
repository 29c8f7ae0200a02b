"""Findings of an experiment with bandits, and tables of them."""

from dataclasses import dataclass
from typing import Any

from ludoteca.evaluate.bandits.experiment import BanditExperiment, Regrets, between_neighbors
from ludoteca.evaluate.statistics.differences import not_worse, standard_error

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Findings:
    """Results of an experiment, by the number of arms K."""

    experiment: BanditExperiment
    # Regret in each problem, by alpha: both grids, 1/K, e/(2K), 2, the best alpha of simulated
    # annealing, and the further constants of `run_experiment`.
    regrets: dict[int, dict[float, Regrets]]
    first_best: dict[int, float]  # the best alpha of the first grid
    best: dict[int, float]  # the best alpha of both grids
    annealed: dict[int, list[tuple[float, float]]]  # `(alpha, mean regret)` of each step
    checkpoints: list[int]  # numbers of rounds after which `curves` has regrets
    curves: dict[int, dict[str, Regrets]]  # regret in each problem after each checkpoint, by policy

    def candidates(self, arms: int) -> list[float]:
        """Return the alphas of both grids, of which `best` is the best one, in ascending order."""
        grid = self.experiment.grid
        return sorted({*grid, *between_neighbors(grid, self.first_best[arms])})

    def range_not_worse(self, arms: int) -> tuple[float, float]:
        """Return the lowest and highest alpha whose regret is not significantly above the best's.

        All alphas played the same problems with the same rewards, see `not_worse`.
        """
        alphas = not_worse(self.regrets[arms], self.best[arms])
        return min(alphas), max(alphas)

    def regret_rows(self) -> Rows:
        """Return a row for each K and alpha: mean regret and its standard error."""
        return [
            {
                "arms": k,
                "alpha": alpha,
                "regret": float(values.mean()),
                "standard_error": standard_error(values),
            }
            for k, by_alpha in self.regrets.items()
            for alpha, values in by_alpha.items()
        ]

    def curve_rows(self) -> Rows:
        """Return a row for each K, policy and checkpoint: mean regret and its standard error."""
        return [
            {
                "arms": k,
                "policy": policy,
                "rounds": rounds,
                "regret": round(float(values[:, slot].mean()), 4),
                "standard_error": round(standard_error(values[:, slot]), 4),
            }
            for k, by_policy in self.curves.items()
            for policy, values in by_policy.items()
            for slot, rounds in enumerate(self.checkpoints)
        ]
