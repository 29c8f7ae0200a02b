"""Comparisons of failures in the same trees, with intervals and exact tests."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.statistics.differences import standard_error

Failures = NDArray[np.float64]  # 1 for each tree in which a search fails, else 0; `[trees]`


@dataclass(frozen=True)
class Difference:
    """Difference of two failure rates in the same trees.

    Attributes:
        value: the first rate minus the second.
        low: lower end of its interval.
        high: upper end.
        p: exact two-sided p value of the sign test over the trees in which only one search fails.
    """

    value: float
    low: float
    high: float
    p: float


def difference(first: Failures, second: Failures, comparisons: int = 1) -> Difference:
    """Return the difference of two failure rates, with a normal interval tree by tree.

    Args:
        first: failures of one search.
        second: failures of another one in the same trees.
        comparisons: number of intervals that hold together with a probability of 95 %
            (Bonferroni's correction).
    """
    from scipy.stats import binomtest

    differences = first - second
    worse, better = int((differences > 0).sum()), int((differences < 0).sum())
    p = float(binomtest(worse, worse + better).pvalue) if worse + better else 1.0
    value = float(differences.mean())
    half_width = NormalDist().inv_cdf(1 - 0.025 / comparisons) * standard_error(differences)
    return Difference(value, value - half_width, value + half_width, p)


def resampled_failures(
    failures: NDArray[np.float64], samples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the numbers of failures in bootstrap samples of the trees, `[samples, searches]`.

    Args:
        failures: failures of several searches in the same trees. Shape `[trees, searches]`.
        samples: number of samples.
        rng: generator of the random numbers.
    """
    trees = len(failures)
    counts = rng.multinomial(trees, np.full(trees, 1 / trees), samples)
    numbers: NDArray[np.float64] = counts @ failures
    return numbers
