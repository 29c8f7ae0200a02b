"""Repetitions of a competition of few games, drawn from the outcomes of many games."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.statistics.outcomes import Outcomes

REPETITIONS = 10_000


@dataclass(frozen=True)
class Repetitions:
    """Competitions of the same number of games, drawn from outcomes with replacement.

    Attributes:
        wins: number of wins of each agent in each competition. Shape `[repetitions, agents]`.
        deaths: number of deaths. Shape `[repetitions, agents]`.
    """

    wins: NDArray[np.int64]
    deaths: NDArray[np.int64]

    @property
    def most_wins(self) -> NDArray[np.bool_]:
        """Whether an agent has more wins than every other. Shape `[repetitions, agents]`."""
        return is_only_maximum(self.wins)

    @property
    def fewest_deaths(self) -> NDArray[np.bool_]:
        """Whether an agent has fewer deaths than every other. Shape `[repetitions, agents]`."""
        return is_only_maximum(-self.deaths)

    def summaries(self) -> list["Summary"]:
        """Return the summaries of the agents, in their order."""
        both = self.most_wins & self.fewest_deaths
        return [
            Summary(
                range_95(self.wins[:, a]),
                range_95(self.deaths[:, a]),
                float(self.most_wins[:, a].mean()),
                float(self.fewest_deaths[:, a].mean()),
                float(both[:, a].mean()),
            )
            for a in range(self.wins.shape[1])
        ]


@dataclass(frozen=True)
class Summary:
    """Summary of an agent's results in the repetitions.

    Attributes:
        wins: bounds of its wins in 95 % of the repetitions.
        deaths: bounds of its deaths in 95 % of the repetitions.
        most_wins: fraction of the repetitions in which it alone has the most wins.
        fewest_deaths: fraction in which it alone has the fewest deaths.
        both: fraction in which it alone has both.
    """

    wins: tuple[int, int]
    deaths: tuple[int, int]
    most_wins: float
    fewest_deaths: float
    both: float


def repeat_competition(
    outcomes: Outcomes, games: int, repetitions: int = REPETITIONS, seed: int = 0
) -> Repetitions:
    """Draw competitions from the outcomes of a competition of more games.

    Args:
        outcomes: outcomes of the games that were played.
        games: number of games of a repetition.
        repetitions: number of repetitions.
        seed: seed of the draws.
    """
    shares = outcomes.games / outcomes.games.sum()
    drawn = np.random.default_rng(seed).multinomial(games, shares, size=repetitions)
    return Repetitions(drawn @ winners(outcomes), drawn @ ~outcomes.alive)


def winners(outcomes: Outcomes) -> NDArray[np.bool_]:
    """Return whether each agent wins: it survives, and none is ahead. `[outcomes, agents]`."""
    best = outcomes.places == outcomes.places.min(1, keepdims=True)
    won: NDArray[np.bool_] = best & outcomes.alive
    return won


def is_only_maximum(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each value is the only maximum of its row."""
    best = values == values.max(1, keepdims=True)
    only: NDArray[np.bool_] = best & (best.sum(1, keepdims=True) == 1)
    return only


def range_95(counts: NDArray[np.int64]) -> tuple[int, int]:
    """Return the bounds of the middle 95 % of some counts."""
    low, high = np.quantile(counts, (0.025, 0.975), method="inverted_cdf")
    return int(low), int(high)
