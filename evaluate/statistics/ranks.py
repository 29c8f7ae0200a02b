"""Rank tests of agents over several games: Friedman's test, and Nemenyi's post-hoc test.

Both as in Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of
Machine Learning Research 7, 2006, section 3.2, with games for data sets and agents for classifiers.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MIN_RANKED_AGENTS, MIN_RANKED_GAMES = 3, 2  # minimum numbers for rank tests


@dataclass(frozen=True)
class Friedman:
    """Result of Friedman's test of the hypothesis that all agents are equally good.

    Attributes:
        statistic: chi-squared of the rank sums, without correction for ties.
        corrected: chi-squared corrected for ties, as in SciPy; equal without ties.
        degrees: degrees of freedom, agents - 1.
        p: p value of `corrected` by the chi-squared distribution.
    """

    statistic: float
    corrected: float
    degrees: int
    p: float


@dataclass(frozen=True)
class Nemenyi:
    """Result of Nemenyi's test of all pairs of agents.

    Attributes:
        critical_difference: minimum significant difference of mean ranks.
        p: p values of the differences, corrected for the number of pairs. Shape `[agents, agents]`.
    """

    critical_difference: float
    p: NDArray[np.float64]


def ranks(scores: NDArray[Any]) -> NDArray[np.float64]:
    """Return the ranks of the agents in each game: 1 for the highest score, mean ranks for ties.

    Args:
        scores: scores. Shape `[games, agents]`, like the result.
    """
    from scipy.stats import rankdata

    agent_ranks: NDArray[np.float64] = rankdata(-np.asarray(scores), axis=1)
    return agent_ranks


def friedman(scores: NDArray[Any]) -> Friedman:
    """Test whether all agents are equally good, over all games.

    Args:
        scores: scores. Shape `[games, agents]`.

    Raises:
        ValueError: if there are fewer than 2 games or 3 agents.
    """
    from scipy.stats import chi2

    games, agents = _check_shape(scores)
    agent_ranks = ranks(scores)
    sums = agent_ranks.sum(0)
    statistic = 12 / (games * agents * (agents + 1)) * (sums**2).sum() - 3 * games * (agents + 1)
    tied = sum(
        (count**3 - count)
        for row in agent_ranks
        for count in np.unique(row, return_counts=True)[1].tolist()
    )
    correction = 1 - tied / (games * (agents**3 - agents))
    corrected = statistic / correction if correction > 0 else 0.0  # all agents tie in all games
    degrees = agents - 1
    return Friedman(float(statistic), float(corrected), degrees, float(chi2.sf(corrected, degrees)))


def nemenyi(scores: NDArray[Any], alpha: float = 0.05) -> Nemenyi:
    """Test all pairs of agents by their mean ranks.

    Args:
        scores: scores. Shape `[games, agents]`.
        alpha: level of significance of `critical_difference`.

    Raises:
        ValueError: if there are fewer than 2 games or 3 agents.
    """
    from scipy.stats import studentized_range

    games, agents = _check_shape(scores)
    standard_error = math.sqrt(agents * (agents + 1) / (6 * games)) / math.sqrt(2)
    means = ranks(scores).mean(0)
    # The integration of the distribution is slow, so it is done once for each distinct difference;
    # the rounding makes differences equal that differ by rounding errors.
    differences = np.abs(means[:, None] - means).round(9)
    values, inverse = np.unique(differences, return_inverse=True)
    return Nemenyi(
        critical_difference=float(studentized_range.isf(alpha, agents, np.inf)) * standard_error,
        p=studentized_range.sf(values / standard_error, agents, np.inf)[inverse].reshape(
            agents, agents
        ),
    )


def groups(means: NDArray[Any], critical_difference: float) -> list[tuple[int, int]]:
    """Return the maximal groups of agents whose mean ranks do not differ significantly.

    Args:
        means: mean ranks. Shape `[agents]`.
        critical_difference: see `Nemenyi`.

    Returns:
        Groups `(low, high)` of indices in the order of mean ranks, from the best agent; both are
        included. Groups of one agent are omitted.
    """
    ordered = np.sort(np.asarray(means, np.float64))
    intervals: list[tuple[int, int]] = []
    for low in range(len(ordered)):
        high = int(np.searchsorted(ordered - ordered[low], critical_difference)) - 1
        if high > low and (not intervals or high > intervals[-1][1]):
            intervals.append((low, high))
    return intervals


def _check_shape(scores: NDArray[Any]) -> tuple[int, int]:
    """Return the numbers of games and agents, validated."""
    games, agents = np.shape(scores)
    if games < MIN_RANKED_GAMES or agents < MIN_RANKED_AGENTS:
        raise ValueError(
            f"a rank test needs at least {MIN_RANKED_GAMES} games and {MIN_RANKED_AGENTS} agents, "
            f"got {games} and {agents}"
        )
    return games, agents
