"""Outcomes of games of several agents: differences between the agents, and their ratings.

An outcome of a game is the places of all agents, and which of them survived to the end.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.statistics.intervals import Z_95
from ludoteca.evaluate.statistics.ranks import ranks
from ludoteca.evaluate.statistics.ratings import Order, Ratings, rate_orders


@dataclass(frozen=True)
class Outcomes:
    """Distinct outcomes of the games of a competition, and their numbers of games.

    Attributes:
        places: places of the agents from 1; tied agents have the mean. `[outcomes, agents]`.
        alive: whether each agent survived the game. `[outcomes, agents]`.
        games: number of games with this outcome. `[outcomes]`.
    """

    places: NDArray[np.float64]
    alive: NDArray[np.bool_]
    games: NDArray[np.int64]

    @property
    def scores(self) -> NDArray[np.float64]:
        """Mean over an agent's opponents of 1 if it is ahead, 0 if tied, -1 if it is behind.

        Shape `[outcomes, agents]`.
        """
        agents = self.places.shape[1]
        scores: NDArray[np.float64] = (agents + 1 - 2 * self.places) / (agents - 1)
        return scores

    def score_contrast(self, weights: Sequence[float]) -> "Difference":
        """Return the mean over games of a weighted sum of the agents' scores, each in [-1, 1].

        Args:
            weights: weights of the agents. Shape `[agents]`.
        """
        return difference(self.scores, self.games, weights)

    def survival_contrast(self, weights: Sequence[float]) -> "Difference":
        """Return the mean over games of a weighted sum of the agents' survivals, each 0 or 1.

        Args:
            weights: weights of the agents. Shape `[agents]`.
        """
        return difference(self.alive.astype(float), self.games, weights)


class Difference(NamedTuple):
    """Mean of a difference over games, with its normal 95 % interval."""

    mean: float
    low: float
    high: float


def count_outcomes(
    scores: NDArray[Any], alive: NDArray[np.bool_], seat_agents: NDArray[np.int64]
) -> dict[str, int]:
    """Return the number of games by outcome, for a match with as many agents as seats.

    An outcome is a text with the place of each agent, in the order of the agents; 1 is the best,
    and agents that tie share the mean of their places. A star marks agents that survived: `"2 1*
    3.5 3.5"`.

    Args:
        scores: score in each seat, by which the agents are ranked. Shape `[games, seats]`.
        alive: whether the agent in each seat survived. Shape `[games, seats]`.
        seat_agents: index of the agent in each seat. Shape `[games, seats]`.
    """
    seats = np.argsort(seat_agents, axis=1)
    places = np.take_along_axis(ranks(scores), seats, 1)
    survived = np.take_along_axis(alive, seats, 1)
    formats = np.array(["{:g}", "{:g}*"])[survived.astype(int)].tolist()
    texts = (" ".join(row).format(*values) for row, values in zip(formats, places, strict=True))
    return dict(Counter(texts).most_common())


def read_outcomes(counts: Mapping[str, int]) -> Outcomes:
    """Return the outcomes of a match from the texts of `count_outcomes`."""
    rows = [text.split() for text in counts]
    return Outcomes(
        np.array([[float(place.rstrip("*")) for place in row] for row in rows]),
        np.array([[place.endswith("*") for place in row] for row in rows]),
        np.array(list(counts.values())),
    )


def difference(
    values: NDArray[np.float64], games: NDArray[np.int64], weights: Sequence[float]
) -> Difference:
    """Return the mean over games of a weighted sum of the agents' values in the same game.

    Args:
        values: a value of each agent in each outcome, `[outcomes, agents]`.
        games: number of games with each outcome, `[outcomes]`.
        weights: weights of the agents.
    """
    sums = values @ np.asarray(weights, np.float64)
    count = int(games.sum())
    mean = float(games @ sums) / count
    variance = float(games @ (sums - mean) ** 2) / max(count - 1, 1)
    half_width = Z_95 * math.sqrt(variance / count)
    return Difference(mean, mean - half_width, mean + half_width)


def orders(outcomes: Outcomes, indices: Sequence[int]) -> Counter[Order]:
    """Return the number of games by the final order of the agents, for `rate_orders`.

    Args:
        outcomes: outcomes of a competition.
        indices: indices of the competition's agents among all rated agents.
    """
    counts: Counter[Order] = Counter()
    for row, count in zip(outcomes.places, outcomes.games.tolist(), strict=True):
        tied = [np.flatnonzero(row == place).tolist() for place in np.unique(row)]
        counts[tuple(tuple(indices[a] for a in agents) for agents in tied)] += count
    return counts


def rate_all(competitions: Mapping[str, tuple[Sequence[str], Outcomes]]) -> dict[str, Ratings]:
    """Rate all agents that games connect with the agents of the first competition.

    Args:
        competitions: names of the agents and outcomes of the games, by competition.

    Returns:
        Ratings by agent; each holds the numbers of one agent instead of arrays.
    """
    unconnected = list(competitions.values())
    names = list(unconnected[0][0]) if unconnected else []
    counts: Counter[Order] = Counter()
    while connected := [entry for entry in unconnected if set(names) & set(entry[0])]:
        unconnected = [entry for entry in unconnected if not set(names) & set(entry[0])]
        for agents, outcomes in connected:
            names += [agent for agent in agents if agent not in names]
            counts += orders(outcomes, [names.index(agent) for agent in agents])
    if not names:
        return {}
    ratings = rate_orders(counts, len(names))
    return {
        name: Ratings(ratings.elo[k], ratings.low[k], ratings.high[k])
        for k, name in enumerate(names)
    }
