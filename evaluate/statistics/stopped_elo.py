"""Estimate of the Elo difference after a sequential test.

A test stops when the results are extreme, so their mean is a biased estimate: it is too far from
the middle of the two hypotheses. The median-unbiased estimate is too high as often as too low under
the stopping rule (Siegmund, "Sequential Analysis", 1985, section 4.5).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.statistics.elo_models import check_frequencies, mean_and_variance
from ludoteca.evaluate.statistics.ratings import elo_difference
from ludoteca.evaluate.statistics.sprt import Sprt

EDGE = 1e-9  # minimum distance from 0 and 1 of the mean scores that are tried


@dataclass(frozen=True)
class StoppedElo:
    """Logistic Elo difference after a sequential test.

    Attributes:
        elo: median-unbiased estimate; infinite at a mean score of 0 or 1.
        low: lower end of the confidence interval.
        high: upper end.
        uncorrected: Elo difference of the mean score, not corrected for the stopping rule.
        confidence: level of the interval.
    """

    elo: float
    low: float
    high: float
    uncorrected: float
    confidence: float


def estimate_elo(
    test: Sprt,
    frequencies: Sequence[float] | NDArray[np.float64],
    confidence: float = 0.95,
) -> StoppedElo | None:
    """Estimate the Elo difference from the results of a test, decided or undecided.

    The log-likelihood ratio is approximated by a Brownian motion with the observed variance, so the
    interval is exact only for small differences and many games. If the ratio is beyond a bound, the
    test is assumed to have stopped when the motion crossed it.

    Args:
        test: the test.
        frequencies: results up to the end of the test, see `check_frequencies`.
        confidence: level of the interval, between 0 and 1.

    Returns:
        The estimate, or None if there are no results or all are equal: their variance is unknown.
    """
    counts = check_frequencies(frequencies)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
    if counts.sum() == 0:
        return None
    mean, variance = mean_and_variance(counts)
    if variance == 0:
        return None
    time = float(counts.sum())
    motion = test.motion(mean, variance)
    position = motion.drift * time
    bound = min(max(position, motion.lower), motion.upper)
    if bound != position:
        time, position = bound / motion.drift, bound

    def worse_probability(score: float) -> float:
        """Return the probability of a worse outcome than the observed one at a mean score."""
        return test.motion(score, variance).worse_probability(time, position)

    error = math.sqrt(variance / time)
    scores = [
        _quantile(worse_probability, probability, mean, error)
        for probability in (0.5, (1 + confidence) / 2, (1 - confidence) / 2)
    ]
    elo, low, high, uncorrected = (_elo_of_score(score) for score in (*scores, mean))
    return StoppedElo(elo, low, high, uncorrected, confidence)


def _quantile(
    worse_probability: Callable[[float], float], probability: float, mean: float, error: float
) -> float:
    """Return the mean score at which `worse_probability` is `probability`; 0 or 1 if none is.

    Args:
        worse_probability: probability of a worse outcome by mean score, a decreasing function.
        probability: the probability to reach.
        mean: mean score at which the search begins.
        error: standard error of the mean: the first step of the search.
    """
    from scipy.optimize import brentq

    low = high = mean
    step = error
    while worse_probability(low) < probability and low > EDGE:
        low, step = max(EDGE, low - step), 2 * step
    step = error
    while worse_probability(high) > probability and high < 1 - EDGE:
        high, step = min(1 - EDGE, high + step), 2 * step
    if worse_probability(low) < probability:
        return 0.0
    if worse_probability(high) > probability:
        return 1.0
    if low == high:
        return low
    return float(brentq(lambda score: worse_probability(score) - probability, low, high))


def _elo_of_score(score: float) -> float:
    """Return the logistic Elo difference of a mean score, infinite at 0 and 1."""
    difference = elo_difference(score)
    return math.copysign(math.inf, score - 0.5) if difference is None else difference
