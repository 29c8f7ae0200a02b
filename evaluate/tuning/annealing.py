"""Simulated annealing of a number in [0, 1], and its cooling schedules.

After Valencia, "Desarrollo de una política de selección para General Game Playing basada en el
problema del bandido multi-armado", Universidad Autónoma del Estado de México, 2021, "the thesis":
algorithm 13 and section 1.4.
"""

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from itertools import count
from types import MappingProxyType

import numpy as np


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


def annealing(
    steps: int,
    seed: int | list[int],
    temperatures: Iterable[float] | None = None,
    step_size: float = 0.1,
) -> Generator[float, float, None]:
    """Minimize a cost over x in [0, 1] by simulated annealing, after algorithm 13.

    The generator yields each x to evaluate; the caller sends the cost of x. The first x is sampled
    from [0, 1], each later one within `step_size` of the current one. A lower cost is accepted, a
    higher one with probability exp(-increase / temperature). Each x is rounded to 6 decimals, so
    that it can be part of a file name.

    Args:
        steps: number of steps after the first x.
        seed: seed of the samples.
        temperatures: temperature of each step, not negative; by default `geometric()`.
        step_size: maximum distance of the next x from the current one.
    """
    rng = np.random.default_rng(seed)
    x = round(rng.random(), 6)
    current = x, (yield x)
    for _, temperature in zip(range(steps), temperatures or geometric(), strict=False):
        x = round(min(max(current[0] + rng.uniform(-step_size, step_size), 0.0), 1.0), 6)
        cost = yield x
        increase = max(cost - current[1], 0.0)
        accepted = math.exp(-increase / temperature) if temperature > 0 else float(increase == 0)
        if rng.random() < accepted:
            current = x, cost
