"""Tests of the pulls that UCB1 makes at once, against pulls one by one."""

import math
from typing import Any

import numpy as np
import pytest

from ludoteca.evaluate.bandits.run import draw_rewards, reset_streams
from ludoteca.evaluate.bandits.ucb1_kernel import make_scratch, make_tables
from ludoteca.evaluate.bandits.ucb1_pulls import pull_level_by_level, pull_to_level

ROUNDS = 400
SEED, PROBLEM, RUN = 3, 1, 2
PROBABILITIES = np.array([0.2, 0.8, 0.5, 0.75, 0.0, 1.0])
ARMS = len(PROBABILITIES)


def start() -> tuple[Any, ...]:
    """Return the arguments `sums` to `saved_rewards` after one pull of each arm."""
    sums, means, roots, _, _, _, streams, rewards, *saved = make_scratch(ARMS)
    reset_streams(streams, SEED, PROBLEM, RUN)
    for arm in range(ARMS):
        rewards[arm] = draw_rewards(streams[arm], PROBABILITIES[arm])
        sums[:, arm] = 1, int(rewards[arm]) & 1
    means[:ARMS], roots[:ARMS] = sums[1], 1
    return sums, means, roots, streams, rewards, *saved


def visits_one_by_one(alpha: float, level: float, rounds: int = ROUNDS) -> list[int]:
    """Return the visits in the first round in which no score exceeds a level, or in `rounds`."""
    streams = np.zeros((ARMS + 1, 1), np.uint64)
    reset_streams(streams, SEED, PROBLEM, RUN)
    words = [
        [int(draw_rewards(streams[arm], PROBABILITIES[arm])) for _ in range(ROUNDS // 64 + 1)]
        for arm in range(ARMS)
    ]
    results = [[word >> i & 1 for word in arm_words for i in range(64)] for arm_words in words]
    visits = [1] * ARMS
    while sum(visits) < rounds:
        log_t = math.log(sum(visits))
        scores = [
            sum(rewards[:n]) / n + math.sqrt(alpha * log_t / n)
            for rewards, n in zip(results, visits, strict=True)
        ]
        if max(scores) <= level:
            break
        visits[scores.index(max(scores))] += 1
    return visits


@pytest.fixture(autouse=True)
def _wrap_around() -> Any:
    with np.errstate(over="ignore"):  # the random number generator wraps around
        yield


@pytest.mark.interpreted
@pytest.mark.parametrize("alpha", [0.01, 0.5, 2.0])
def test_pulls_to_a_level_are_those_of_the_policy(alpha: float) -> None:
    tables = math.sqrt(alpha), *make_tables(ROUNDS)
    ends = set()
    for level in np.linspace(1.6, 1.01, 20):
        arguments = start()
        expected = visits_one_by_one(alpha, level)
        end = pull_to_level(level, ARMS, ROUNDS - 1, PROBABILITIES, *tables, *arguments[:5])
        if end:
            assert arguments[0][0].tolist() == expected
            assert end == sum(expected)
        else:
            assert sum(expected) == ROUNDS
        ends.add(end)
    assert len(ends) > 2


@pytest.mark.interpreted
@pytest.mark.parametrize("alpha", [0.01, 0.5, 2.0])
def test_pulls_level_by_level_are_those_of_the_policy(alpha: float) -> None:
    arguments = start()
    tables = math.sqrt(alpha), *make_tables(ROUNDS)
    end = pull_level_by_level(ARMS, ROUNDS, PROBABILITIES, *tables, *arguments)
    sums, means, roots, streams, rewards = arguments[:5]
    visits = visits_one_by_one(alpha, -math.inf, end)
    assert sums[0].tolist() == visits
    assert ARMS < end == sum(visits) < ROUNDS
    np.testing.assert_allclose(means[:ARMS], sums[1] / sums[0])
    np.testing.assert_allclose(roots[:ARMS], sums[0] ** -0.5)
    # Levels that were tried in vain have left no trace in the rewards.
    fresh_streams, words = start()[3:5]
    for arm in range(ARMS):
        for _ in range(1, -(-visits[arm] // 64)):
            words[arm] = draw_rewards(fresh_streams[arm], PROBABILITIES[arm])
    np.testing.assert_array_equal(words, rewards)
    np.testing.assert_array_equal(fresh_streams, streams)
