"""Tests of the bandit study: simulated annealing of the parameter of a policy."""

import math
from contextlib import suppress
from itertools import islice, repeat

import numpy as np
import pytest

from ludoteca.evaluate.tuning.annealing import COOLING, annealing


def anneal(cost, steps, seed, **options):
    """Return every `(x, cost)` that simulated annealing tries, in order."""
    search = annealing(steps, seed, **options)
    tried, x = [], next(search)
    with suppress(StopIteration):
        while True:
            tried.append((x, cost(x)))
            x = search.send(tried[-1][1])
    return tried


def test_annealing_finds_the_minimum() -> None:
    tried = anneal(lambda x: 1000 * (x - 0.3) ** 2, steps=100, seed=1)
    assert min(tried, key=lambda pair: pair[1])[0] == pytest.approx(0.3, abs=0.02)
    assert tried[-1][0] == pytest.approx(0.3, abs=0.12)
    assert all(0 <= x <= 1 and cost == 1000 * (x - 0.3) ** 2 for x, cost in tried)


def test_annealing_walks_while_hot_and_descends_when_cold() -> None:
    def steps(temperature: float) -> np.ndarray:
        tried = anneal(cost, steps=60, seed=2, temperatures=repeat(temperature))
        return np.array([x for x, _ in tried])

    def cost(x: float) -> float:
        return 100 * abs(x - 0.5)

    cold, hot = steps(1e-9), steps(1e9)
    # Cold, each step starts from the best x so far; hot, from the last x. Steps are at most 0.1
    # long (0.1001 allows rounding); from the best x they can lead farther from the last x.
    best_so_far = np.array([min(cold[: i + 1], key=cost) for i in range(60)])
    assert np.all(np.abs(cold[1:] - best_so_far) < 0.1001)
    assert np.all(np.abs(np.diff(hot)) < 0.1001)
    assert np.abs(np.diff(cold)).max() > 0.11
    assert cost(cold[-20:].mean()) < 5
    assert cost(hot[-20:].mean()) > 30


def test_cooling_schedules_match_the_thesis() -> None:
    """Check section 1.4 of the thesis at temperature 100 and beta = 0.9 (section 4.2.1)."""
    first = {name: list(islice(schedule(), 60)) for name, schedule in COOLING.items()}
    assert first["geometric"][:3] == pytest.approx([100, 90, 81])
    assert first["logarithmic"][:2] == pytest.approx([100 / math.log(2), 100 / math.log(3)])
    assert first["linear"][:2] == [100, 97.5]
    assert first["linear"][40:] == [0] * 20
    assert first["arithmetic_geometric"][:3] == pytest.approx([100, 90.1, 81.19])
    for temperatures in first.values():
        assert np.all(np.diff(temperatures) <= 0)


def test_annealing_at_temperature_zero_accepts_no_higher_cost() -> None:
    tried = anneal(lambda x: 100 * abs(x - 0.5), steps=60, seed=2, temperatures=repeat(0.0))
    best_so_far = np.minimum.accumulate([cost for _, cost in tried])
    # The current x is one of the two with the lowest cost so far.
    current = np.array([0.5 - best_so_far / 100, 0.5 + best_so_far / 100])[:, :-1]
    steps = np.abs(np.array([x for x, _ in tried[1:]]) - current).min(axis=0)
    assert steps.max() < 0.1001
