"""Comparing agents over many games by their ranks: Friedman's test, and Nemenyi's after it.

Both as in Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of
Machine Learning Research 7, 2006, section 3.2, with games for data sets and agents for classifiers.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

AGENTS, GAMES = 3, 2  # fewer say nothing


@dataclass(frozen=True)
class Friedman:
    """Friedman's test: are all agents equally good?

    Attributes:
        statistic: chi-squared of the rank sums, without a correction for ties.
        corrected: the same corrected for ties, as SciPy has it; equal if there are none.
        degrees: of freedom, agents - 1.
        p: probability of `corrected` or more if all agents are equal, by the chi-squared
            distribution.
    """

    statistic: float
    corrected: float
    degrees: int
    p: float


@dataclass(frozen=True)
class Nemenyi:
    """Nemenyi's test: which agents differ?

    Attributes:
        critical_difference: mean ranks that differ by at least this much differ significantly.
        p: of the difference of each pair's mean ranks, corrected for there being many pairs. Shape
            `[agents, agents]`.
    """

    critical_difference: float
    p: NDArray[np.float64]


def ranks(scores: NDArray[Any]) -> NDArray[np.float64]:
    """Return the agents' places in each game: 1 the highest score, ties share the mean place.

    Args:
        scores: shape `[games, agents]`, and so is the result.
    """
    from scipy.stats import rankdata

    places: NDArray[np.float64] = rankdata(-np.asarray(scores), axis=1)
    return places


def friedman(scores: NDArray[Any]) -> Friedman:
    """Test whether the differences between agents, over all games, are more than chance.

    Args:
        scores: shape `[games, agents]`.

    Raises:
        ValueError: if there are fewer than 2 games or 3 agents.
    """
    from scipy.stats import chi2

    games, agents = _check_shape(scores)
    places = ranks(scores)
    sums = places.sum(0)
    statistic = 12 / (games * agents * (agents + 1)) * (sums**2).sum() - 3 * games * (agents + 1)
    tied = sum(
        (count**3 - count)
        for row in places
        for count in np.unique(row, return_counts=True)[1].tolist()
    )
    untied = 1 - tied / (games * (agents**3 - agents))
    corrected = statistic / untied if untied > 0 else 0.0  # all agents tie in all games
    degrees = agents - 1
    return Friedman(float(statistic), float(corrected), degrees, float(chi2.sf(corrected, degrees)))


def nemenyi(scores: NDArray[Any], alpha: float = 0.05) -> Nemenyi:
    """Compare all pairs of agents by their mean ranks.

    Args:
        scores: shape `[games, agents]`.
        alpha: level of significance of `critical_difference`.

    Raises:
        ValueError: if there are fewer than 2 games or 3 agents.
    """
    from scipy.stats import studentized_range

    games, agents = _check_shape(scores)
    unit = math.sqrt(agents * (agents + 1) / (6 * games)) / math.sqrt(2)
    means = ranks(scores).mean(0)
    differences = np.abs(means[:, None] - means).round(9)
    values, where = np.unique(differences, return_inverse=True)  # integrating takes long
    return Nemenyi(
        critical_difference=float(studentized_range.isf(alpha, agents, np.inf)) * unit,
        p=studentized_range.sf(values / unit, agents, np.inf)[where].reshape(agents, agents),
    )


def groups(means: NDArray[Any], critical_difference: float) -> list[tuple[int, int]]:
    """Return the largest groups of agents whose mean ranks differ by less than `critical`.

    Each is `(low, high)`, both included, counted from the best agent on; groups of one are left
    out.
    """
    ordered = np.sort(np.asarray(means, np.float64))
    found: list[tuple[int, int]] = []
    for low in range(len(ordered)):
        high = int(np.searchsorted(ordered - ordered[low], critical_difference)) - 1
        if high > low and (not found or high > found[-1][1]):
            found.append((low, high))
    return found


def _check_shape(scores: NDArray[Any]) -> tuple[int, int]:
    games, agents = np.shape(scores)
    if games < GAMES or agents < AGENTS:
        raise ValueError(
            f"needs at least {GAMES} games and {AGENTS} agents, got {games} and {agents}"
        )
    return games, agents
