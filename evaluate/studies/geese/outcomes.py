"""Outcomes of games of Hungry Geese: differences between agents, and their ratings."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.statistics.ratings import Order, Ratings, rate_orders

Z = 1.959963984540054  # quantile of a 95 % interval of the normal distribution


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of the games of a competition; each line stands for many games.

    Attributes:
        places: places of the agents from 1; tied agents have the mean. Shape `[lines, agents]`.
        alive: agents that lived to the end. Shape `[lines, agents]`.
        games: number of games with this outcome. Shape `[lines]`.
    """

    places: NDArray[np.float64]
    alive: NDArray[np.bool_]
    games: NDArray[np.int64]

    @property
    def scores(self) -> NDArray[np.float64]:
        """The game's returns: mean over rivals of 1 ahead of it, -1 behind. Shape as `places`."""
        agents = self.places.shape[1]
        scores: NDArray[np.float64] = (agents + 1 - 2 * self.places) / (agents - 1)
        return scores


class Difference(NamedTuple):
    """A mean over games, with its normal 95 % interval."""

    mean: float
    low: float
    high: float


def read_outcomes(counts: Mapping[str, int]) -> Outcomes:
    """Return the outcomes that `ludoteca.evaluate.studies.geese.match` counts."""
    rows = [text.split() for text in counts]
    return Outcomes(
        np.array([[float(word.rstrip("*")) for word in row] for row in rows]),
        np.array([[word.endswith("*") for word in row] for row in rows]),
        np.array(list(counts.values())),
    )


def difference(
    values: NDArray[np.float64], games: NDArray[np.int64], weights: Sequence[float]
) -> Difference:
    """Return the mean over games of a weighted sum of the agents' values in the same game.

    Args:
        values: shape `[lines, agents]`.
        games: number of games of each line. Shape `[lines]`.
        weights: weights of the agents.
    """
    sums = values @ np.asarray(weights, np.float64)
    count = int(games.sum())
    mean = float(games @ sums) / count
    variance = float(games @ (sums - mean) ** 2) / max(count - 1, 1)
    reach = Z * math.sqrt(variance / count)
    return Difference(mean, mean - reach, mean + reach)


def orders(outcomes: Outcomes, numbers: Sequence[int]) -> Counter[Order]:
    """Return how often agents came in in an order, as `rate_orders` takes it.

    `numbers` are the indices of the competition's agents among all rated agents.
    """
    counts: Counter[Order] = Counter()
    for row, count in zip(outcomes.places, outcomes.games.tolist(), strict=True):
        tied = [np.flatnonzero(row == place).tolist() for place in np.unique(row)]
        counts[tuple(tuple(numbers[a] for a in agents) for agents in tied)] += count
    return counts


def rate_all(competitions: Mapping[str, tuple[Sequence[str], Outcomes]]) -> dict[str, Ratings]:
    """Rate all agents that games connect with the agents of the first competition.

    Args:
        competitions: the names of the agents, and how the games ended.

    Returns:
        Ratings of one agent each, by its name.
    """
    waiting = list(competitions.values())
    names = list(waiting[0][0]) if waiting else []
    counts: Counter[Order] = Counter()
    while near := [entry for entry in waiting if set(names) & set(entry[0])]:
        waiting = [entry for entry in waiting if not set(names) & set(entry[0])]
        for agents, outcomes in near:
            names += [agent for agent in agents if agent not in names]
            counts += orders(outcomes, [names.index(agent) for agent in agents])
    if not names:
        return {}
    ratings = rate_orders(counts, len(names))
    return {
        name: Ratings(ratings.elo[k], ratings.low[k], ratings.high[k])
        for k, name in enumerate(names)
    }
