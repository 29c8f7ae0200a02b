"""Differences of shares and of mean costs: tests at the 5 % level, and 95 % intervals."""

import math
from collections.abc import Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ludoteca.evaluate.statistics.intervals import Z_95

Z = 1.96  # standard errors within which a difference is not significant
Key = TypeVar("Key")


def shares_differ(
    first: NDArray[np.float64], n: int, second: NDArray[np.float64], m: int
) -> NDArray[np.bool_]:
    """Return which shares differ significantly at the 5 % level (z test of two proportions).

    Args:
        first: shares of successes in n trials each. Any shape, which the result has.
        n: number of trials of each share in `first`.
        second: shares of successes in m trials each. The same shape.
        m: number of trials of each share in `second`.
    """
    pooled = (first * n + second * m) / (n + m)
    deviation = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    differ: NDArray[np.bool_] = np.abs(first - second) > Z * deviation
    return differ


def shares_difference(
    first: NDArray[np.float64], n: int, second: NDArray[np.float64], m: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds of normal 95 % intervals of the differences of independent shares.

    Args:
        first: shares of successes in n trials each. Any shape, which both bounds have.
        n: number of trials of each share in `first`.
        second: shares of successes in m trials each, which are subtracted. The same shape.
        m: number of trials of each share in `second`.
    """
    deviation = np.sqrt(first * (1 - first) / n + second * (1 - second) / m)
    return first - second - Z_95 * deviation, first - second + Z_95 * deviation


def wins_difference(
    first: NDArray[np.float64], second: NDArray[np.float64], games: int, games_between: float
) -> tuple[float, float]:
    """Return a normal 95 % interval of the difference of two players' wins, summed over matches.

    The interval is conservative: games of the two players against each other, each of which changes
    both numbers of wins, are given the largest possible variance.

    Args:
        first: share of its games that one player won in each match. Shape `[matches]`.
        second: shares of the other player, like `first`.
        games: number of games of a player in each match.
        games_between: number of those games that the two players played against each other.

    Returns:
        The bounds, in matches: 1 is as many wins as there are games in a match.
    """
    shares = np.stack([first, second])
    # Of the difference of wins: the variances of both players' wins, and twice the largest possible
    # covariance, 1/4 for each game between them.
    variance = (games * shares * (1 - shares)).sum() + 2 * games_between / 4 * shares.shape[1]
    half_width = Z_95 * float(np.sqrt(variance)) / games
    center = float((shares[0] - shares[1]).sum())
    return center - half_width, center + half_width


def standard_error(values: NDArray[np.float64]) -> float:
    """Return the standard error of a mean; NaN for a single value.

    Args:
        values: independent values. Shape `[n]`.
    """
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def mean_interval(values: ArrayLike, confidence: float = 0.95) -> tuple[float, float, float]:
    """Return a mean, such as that of runs over seeds, and its interval by Student's t.

    Args:
        values: at least two independent values, about normally distributed. Shape `[n]`.
        confidence: probability that the interval contains the mean.

    Raises:
        ValueError: if there are fewer than two values.
    """
    from scipy.stats import t as student

    array = np.asarray(values, dtype=np.float64)
    if len(array) < 2:
        raise ValueError(f"an interval of a mean needs at least 2 values, got {len(array)}")
    mean = float(array.mean())
    half_width = float(student.ppf((1 + confidence) / 2, len(array) - 1)) * standard_error(array)
    return mean, mean - half_width, mean + half_width


def not_worse(costs: Mapping[Key, NDArray[np.float64]], best: Key) -> list[Key]:
    """Return the keys whose mean cost is not significantly above that of the best, and the best.

    All costs are of the same cases. So the differences are taken case by case, and their mean is
    compared with its standard error. With a single case, which has none, no key is worse.

    Args:
        costs: costs by key, each of shape `[cases]`.
        best: the key with the lowest mean cost.
    """
    excesses = {key: cost - costs[best] for key, cost in costs.items()}
    return [
        key
        for key, excess in excesses.items()
        if key == best or not excess.mean() > Z * standard_error(excess)
    ]
