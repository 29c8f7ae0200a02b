"""Cooling schedules of simulated annealing, section 1.4 of the thesis (Valencia, UAEMex, 2021)."""

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from types import MappingProxyType


def geometric(initial: float = 100.0, beta: float = 0.9) -> Iterator[float]:
    """Yield the temperatures `initial * beta^t`, from t = 0; the thesis uses this schedule."""
    return (initial * beta**t for t in count())


def logarithmic(c: float = 100.0) -> Iterator[float]:
    """Yield the temperatures `c / ln(1 + t)`, from t = 1."""
    return (c / math.log(1 + t) for t in count(1))


def linear(initial: float = 100.0, n: float = 2.5) -> Iterator[float]:
    """Yield the temperatures `initial - n t`, from t = 0, and then 0.

    The thesis prints `n^t`, which is not linear.
    """
    return (max(initial - n * t, 0.0) for t in count())


def arithmetic_geometric(initial: float = 100.0, a: float = 0.9, b: float = 0.1) -> Iterator[float]:
    """Yield `initial` and then always `a` times the last temperature plus `b`."""
    temperature = initial
    while True:
        yield temperature
        temperature = a * temperature + b


DEFAULT_COOLING = "geometric"
COOLING: Mapping[str, Callable[[], Iterator[float]]] = MappingProxyType(
    {
        "geometric": geometric,
        "logarithmic": logarithmic,
        "linear": linear,
        "arithmetic_geometric": arithmetic_geometric,
    }
)
