"""Brownian motion that stops at either of two bounds, the limit of a sequential test.

The log-likelihood ratio of a test with many small steps is nearly a Brownian motion, which gives
approximations of the test's error rates, its expected length, and the distribution of its outcome
(Siegmund, "Sequential Analysis", 1985, chapter 3).
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NODES = 400  # number of nodes of the Gauss-Legendre quadrature
MAX_DEVIATIONS = 10.0  # number of standard deviations beyond which a normal density is ignored
TERMS = 12  # number of terms of each of the two series of the density


@dataclass(frozen=True)
class StoppedBrownianMotion:
    """Brownian motion that starts at 0 and stops at `lower` or `upper`.

    Attributes:
        lower: lower bound, negative.
        upper: upper bound, positive.
        drift: mean change per unit of time.
        variance: variance per unit of time, positive.
    """

    lower: float
    upper: float
    drift: float
    variance: float

    def __post_init__(self) -> None:
        if not self.lower < 0 < self.upper or self.variance <= 0:
            raise ValueError(
                f"expected lower < 0 < upper and a positive variance, got lower={self.lower}, "
                f"upper={self.upper} and variance={self.variance}"
            )

    def lower_probability(self) -> float:
        """Return the probability of stopping at the lower bound."""
        return float(self._lower_probability_from(np.array([0.0]))[0])

    def expected_time(self) -> float:
        """Return the expected time until the motion stops (Wald's identity)."""
        p = self.lower_probability()
        # Almost without drift, the formula below would divide two numbers near 0.
        if abs(self._gamma) * (self.upper - self.lower) < 1e-5:
            return -self.lower * self.upper / self.variance
        return (self.lower * p + self.upper * (1 - p)) / self.drift

    def worse_probability(self, time: float, position: float) -> float:
        """Return the probability of a worse outcome than to be at `position` at `time`.

        Outcomes have this order, from the worst: stops at the lower bound, earlier ones first;
        positions at `time` of motions that have not stopped, from below; stops at the upper bound,
        later ones first. With `position` at a bound this is Siegmund's order, by the bound, then by
        the time (chapter 3.4).
        """
        position = min(max(position, self.lower), self.upper)
        center = self.drift * time
        margin = MAX_DEVIATIONS * math.sqrt(self.variance * time)
        low, high = max(self.lower, center - margin), min(self.upper, center + margin)
        # P(stop at the lower bound) = P(stop there by `time`) + the mean of P(stop there from x)
        # over the positions x at `time` of motions that have not stopped. In the result, a motion
        # at x counts 1 if x is below `position`, else 0, instead of P(stop there from x).
        total = self.lower_probability()
        for start, end, is_worse in ((low, position, 1.0), (position, high, 0.0)):
            start, end = max(start, low), min(end, high)
            if start < end:
                x, weights = _quadrature(start, end)
                change = is_worse - self._lower_probability_from(x)
                total += float(weights @ (change * self._density(time, x)))
        return min(max(total, 0.0), 1.0)

    @property
    def _gamma(self) -> float:
        """Drift divided by variance."""
        return self.drift / self.variance

    def _lower_probability_from(self, x: Array) -> Array:
        """Return the probability of stopping at the lower bound from each position. Shape of x."""
        width, rate = self.upper - self.lower, 2 * self._gamma
        if abs(rate) * width < 1e-9:  # without drift
            return (self.upper - x) / width
        # Two forms of the same formula, so that no exponent is positive.
        if rate > 0:
            numerator: Array = np.exp(-rate * (x - self.lower)) * np.expm1(-rate * (self.upper - x))
            return numerator / math.expm1(-rate * width)
        p: Array = np.expm1(rate * (self.upper - x)) / math.expm1(rate * width)
        return p

    def _density(self, time: float, x: Array) -> Array:
        """Return the density at x of the positions at `time` of motions that have not stopped.

        Two series of the same density: one converges fast at early times, the other at late ones.
        Near the limit between them, both are accurate with `TERMS` terms.
        """
        position_variance = self.variance * time
        width = self.upper - self.lower
        # Logarithm of the factor by which drift changes the density (Girsanov).
        tilt = self._gamma * x - self._gamma**2 * position_variance / 2
        if position_variance < 0.3 * width**2:  # series of mirror images of the start
            k = np.arange(-TERMS, TERMS + 1)[:, None]
            direct = np.exp(tilt - (x - 2 * k * width) ** 2 / (2 * position_variance))
            reflected = np.exp(
                tilt - (x - 2 * self.lower - 2 * k * width) ** 2 / (2 * position_variance)
            )
            density: Array = (direct - reflected).sum(0) / math.sqrt(
                2 * math.pi * position_variance
            )
            return density
        n = np.arange(1, TERMS + 1)[:, None] * math.pi / width  # series of eigenfunctions
        waves = np.sin(-n * self.lower) * np.sin(n * (x - self.lower))
        modes: Array = (2 / width) * (waves * np.exp(tilt - n**2 * position_variance / 2)).sum(0)
        return modes


def _quadrature(start: float, end: float) -> tuple[Array, Array]:
    """Return nodes and weights of Gauss-Legendre quadrature from `start` to `end`."""
    nodes, weights = _legendre_nodes()
    half = (end - start) / 2
    return start + half * (nodes + 1), half * weights


@cache
def _legendre_nodes() -> tuple[Array, Array]:
    """Return nodes and weights of Gauss-Legendre quadrature from -1 to 1, `[NODES]` each."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return nodes, weights
