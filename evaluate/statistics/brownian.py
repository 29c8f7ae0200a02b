"""Brownian motion that stops at either of two bounds, the limit of a sequential test.

The log-likelihood ratio of a test with many small steps is nearly such a motion, so the test's
error rates, expected length, and the distribution of its outcome follow from it (Siegmund,
"Sequential Analysis", 1985, chapter 3).
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NODES = 400  # number of nodes of the Gauss-Legendre quadrature
SPREAD = 10.0  # number of standard deviations beyond which a normal density is ignored
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
                "expected lower < 0 < upper and a positive variance, got "
                f"{self.lower}, {self.upper} and {self.variance}"
            )

    def lower_probability(self) -> float:
        """Return the probability of stopping at the lower bound."""
        return float(self._lower_probability_from(np.array([0.0]))[0])

    def expected_time(self) -> float:
        """Return the expected time until the motion stops (Wald's identity)."""
        p = self.lower_probability()
        if abs(self._gamma) * (self.upper - self.lower) < 1e-5:  # no drift
            return -self.lower * self.upper / self.variance
        return (self.lower * p + self.upper * (1 - p)) / self.drift

    def worse_probability(self, time: float, position: float) -> float:
        """Return the probability of a worse outcome than to be at `position` at `time`.

        An outcome is worse if the motion stops at the lower bound earlier, or is at a lower
        position at `time`. Reaching the upper bound later than `time` is worse than reaching it at
        `time`. With `position` at a bound, this is the distribution of the outcome in Siegmund's
        order: by the bound, then by the time (chapter 3.4).
        """
        position = min(max(position, self.lower), self.upper)
        center = self.drift * time
        margin = SPREAD * math.sqrt(self.variance * time)
        low, high = max(self.lower, center - margin), min(self.upper, center + margin)
        # P(ever stop below) = P(stopped below by `time`) + the mean of P(stop below from x) over
        # the motions at x that have not stopped. In the result, these count 1 if x is worse than
        # `position`, else 0, instead of P(stop below from x).
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
        return self.drift / self.variance

    def _lower_probability_from(self, x: Array) -> Array:
        """Return the probability of stopping at the lower bound from each position."""
        width, rate = self.upper - self.lower, 2 * self._gamma
        if abs(rate) * width < 1e-9:
            return (self.upper - x) / width
        if rate > 0:
            falling: Array = np.exp(-rate * (x - self.lower)) * np.expm1(-rate * (self.upper - x))
            return falling / math.expm1(-rate * width)
        p: Array = np.expm1(rate * (self.upper - x)) / math.expm1(rate * width)
        return p

    def _density(self, time: float, x: Array) -> Array:
        """Return the density of the positions at `time` of motions that have not stopped."""
        spread = self.variance * time
        width = self.upper - self.lower
        tilt = (
            self._gamma * x - self._gamma**2 * spread / 2
        )  # log of the factor by which drift changes the density (Girsanov)
        if spread < 0.3 * width**2:  # series of mirror images of the start
            k = np.arange(-TERMS, TERMS + 1)[:, None]
            direct = np.exp(tilt - (x - 2 * k * width) ** 2 / (2 * spread))
            reflected = np.exp(tilt - (x - 2 * self.lower - 2 * k * width) ** 2 / (2 * spread))
            density: Array = (direct - reflected).sum(0) / math.sqrt(2 * math.pi * spread)
            return density
        n = np.arange(1, TERMS + 1)[:, None] * math.pi / width  # series of eigenfunctions
        waves = np.sin(-n * self.lower) * np.sin(n * (x - self.lower))
        modes: Array = (2 / width) * (waves * np.exp(tilt - n**2 * spread / 2)).sum(0)
        return modes


def _quadrature(start: float, end: float) -> tuple[Array, Array]:
    """Return nodes and weights of Gauss-Legendre quadrature from `start` to `end`."""
    nodes, weights = _legendre()
    half = (end - start) / 2
    return start + half * (nodes + 1), half * weights


@cache
def _legendre() -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return nodes, weights
