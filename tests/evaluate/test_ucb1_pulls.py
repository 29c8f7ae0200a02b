"""Tests of the pulls that UCB1 makes at once, against pulls one by one."""

import math
from typing import Any

import numpy as np
import pytest

from ludoteca.evaluate.bandits import ucb1_pulls
from ludoteca.evaluate.bandits.run import draw_rewards, reset_streams
from ludoteca.evaluate.bandits.ucb1_kernel import make_scratch, make_tables
from ludoteca.evaluate.bandits.ucb1_pulls import (
    count_certain_pulls,
    pull_level_by_level,
    pull_to_level,
)

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


def draw_all() -> list[list[int]]:
    """Return the rewards of the first pulls of each arm, at least `ROUNDS`."""
    streams = start()[3]
    reset_streams(streams, SEED, PROBLEM, RUN)
    words = [
        [int(draw_rewards(stream, probability)) for _ in range(ROUNDS // 64 + 1)]
        for stream, probability in zip(streams, PROBABILITIES, strict=False)
    ]
    return [[word >> i & 1 for word in arm_words for i in range(64)] for arm_words in words]


def visits_one_by_one(alpha: float, level: float, rounds: int = ROUNDS) -> list[int]:
    """Return the visits in the first round in which no score exceeds a level, or in `rounds`."""
    results, visits = draw_all(), [1] * ARMS
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


def check_sums(sums: Any, means: Any, roots: Any, visits: list[int]) -> None:
    """Check visits, sums of rewards and what follows from them."""
    successes = [sum(rewards[:n]) for rewards, n in zip(draw_all(), visits, strict=True)]
    assert sums.tolist() == [visits, successes]
    np.testing.assert_allclose(means[:ARMS], sums[1] / sums[0])
    np.testing.assert_allclose(roots[:ARMS], sums[0] ** -0.5)


@pytest.fixture(autouse=True)
def _wrap_around() -> Any:
    with np.errstate(over="ignore"):  # the random number generator wraps around
        yield


@pytest.mark.interpreted
def test_certain_pulls_keep_the_score_above_the_bound() -> None:
    rng, many = np.random.default_rng(1), 0
    for _ in range(3000):
        visits, probability = int(rng.integers(1, 3000)), float(rng.random())
        successes = int(rng.binomial(visits, probability))
        bits = rng.random(64) < probability
        word = np.uint64(sum(1 << i for i in range(64) if bits[i]))
        width, margin = float(rng.exponential()), float(rng.exponential(0.03))
        mean, root = successes / visits, visits**-0.5
        most = int(rng.integers(1, 65))
        pulls, gained = count_certain_pulls(
            word, most, margin, 0.5 * width * root / visits, mean, 1 / visits
        )
        assert 1 <= pulls <= most
        assert gained == bits[:pulls].sum()
        bound = mean + width * root - margin
        for made in range(1, pulls):
            total = visits + made
            assert (successes + bits[:made].sum()) / total + width * total**-0.5 > bound
        many += pulls > 8
    assert many > 500


@pytest.mark.interpreted
@pytest.mark.parametrize("alpha", [0.01, 0.5, 2.0])
def test_pulls_to_a_level_are_those_of_the_policy(alpha: float) -> None:
    tables = math.sqrt(alpha), *make_tables(ROUNDS)
    top = 1 + tables[0] * tables[1][ARMS]  # the score of an arm with a success
    ends = set()
    for level in np.linspace(top, 1.01, 20):
        arguments = start()
        # The level that equals a score but for rounding errors is lowered a little.
        expected = visits_one_by_one(alpha, level - 3e-12 if level == top else level)
        end = pull_to_level(level, ARMS, ROUNDS - 1, PROBABILITIES, *tables, *arguments[:5])
        if end:
            check_sums(*arguments[:3], expected)
            assert end == sum(expected)
        else:
            assert sum(expected) == ROUNDS
        ends.add(end)
    assert len(ends) > 10


@pytest.mark.interpreted
def test_a_level_is_given_up_where_scores_fall_by_less_than_rounding_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arguments, count = start(), 0

    def count_calls(*args: Any) -> Any:
        nonlocal count
        count += 1
        return count_certain_pulls(*args)

    monkeypatch.setattr(ucb1_pulls, "count_certain_pulls", count_calls)
    probabilities, tables = np.ones(ARMS), (1e-10, *make_tables(ROUNDS))
    arguments[0][1], arguments[1][:ARMS], arguments[4][:] = 1, 1, ~np.uint64(0)
    # At about 25 visits a pull lowers the score by less than 1e-12.
    level = 1 + 3e-11
    assert pull_to_level(level, ARMS, ROUNDS, probabilities, *tables, *arguments[:5]) == 0
    assert 10 < count < 100


@pytest.mark.interpreted
@pytest.mark.parametrize("alpha", [0.01, 0.5, 2.0])
def test_pulls_level_by_level_are_those_of_the_policy(alpha: float) -> None:
    arguments = start()
    tables = math.sqrt(alpha), *make_tables(ROUNDS)
    end = pull_level_by_level(ARMS, ROUNDS, PROBABILITIES, *tables, *arguments)
    visits = visits_one_by_one(alpha, -math.inf, end)
    assert ROUNDS - ARMS <= end == sum(visits) < ROUNDS
    check_sums(*arguments[:3], visits)
    # Levels that were tried in vain have left no trace in the rewards.
    streams, rewards = arguments[3:5]
    fresh_streams, words = start()[3:5]
    for arm in range(ARMS):
        for _ in range(1, -(-visits[arm] // 64)):
            words[arm] = draw_rewards(fresh_streams[arm], PROBABILITIES[arm])
    np.testing.assert_array_equal(words, rewards)
    np.testing.assert_array_equal(fresh_streams, streams)
