"""Simulated annealing of one number, as algorithm 13 of the thesis has it."""

import math
from collections.abc import Callable

import numpy as np


def anneal(
    cost: Callable[[float], float],
    steps: int,
    seed: int | list[int],
    temperature: float = 100.0,
    beta: float = 0.9,
    reach: float = 0.1,
) -> list[tuple[float, float]]:
    """Look for the x in [0, 1] of lowest cost and return every `(x, cost)` tried, in order.

    The first x is drawn from [0, 1], each later one within `reach` of the current one. Better ones
    are accepted, worse ones with probability exp(-increase / temperature), and the temperature is
    multiplied by `beta` after each. Numbers are rounded to 6 decimals.
    """
    rng = np.random.default_rng(seed)
    x = round(rng.random(), 6)
    tried = [(x, cost(x))]
    current = tried[0]
    for _ in range(steps):
        x = round(min(max(current[0] + rng.uniform(-reach, reach), 0.0), 1.0), 6)
        tried.append((x, cost(x)))
        increase = tried[-1][1] - current[1]
        if rng.random() < math.exp(-max(increase, 0.0) / temperature):
            current = tried[-1]
        temperature *= beta
    return tried
