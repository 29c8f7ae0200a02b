"""Simulated annealing of one number, after algorithm 13 of the thesis."""

import math
from collections.abc import Callable, Generator

import numpy as np


def anneal(
    cost: Callable[[float], float],
    steps: int,
    seed: int | list[int],
    temperature: float = 100.0,
    beta: float = 0.9,
    reach: float = 0.1,
) -> list[tuple[float, float]]:
    """Search for the x in [0, 1] of lowest cost and return every `(x, cost)` tried, in order.

    The first x is drawn from [0, 1], each later one within `reach` of the current one. Better ones
    are accepted, worse ones with probability exp(-increase / temperature), and the temperature is
    multiplied by `beta` after each. Numbers are rounded to 6 decimals.
    """
    search = annealing(steps, seed, temperature, beta, reach)
    tried, x = list[tuple[float, float]](), next(search)
    while True:
        tried.append((x, cost(x)))
        try:
            x = search.send(tried[-1][1])
        except StopIteration:
            return tried


def annealing(
    steps: int,
    seed: int | list[int],
    temperature: float = 100.0,
    beta: float = 0.9,
    reach: float = 0.1,
) -> Generator[float, float, None]:
    """Yield each x to try, as `anneal` does; is sent its cost."""
    rng = np.random.default_rng(seed)
    x = round(rng.random(), 6)
    current = x, (yield x)
    for _ in range(steps):
        x = round(min(max(current[0] + rng.uniform(-reach, reach), 0.0), 1.0), 6)
        found = yield x
        if rng.random() < math.exp(-max(found - current[1], 0.0) / temperature):
            current = x, found
        temperature *= beta
