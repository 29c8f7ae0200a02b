"""Tests of Wilson and score intervals against published and hand-computed values."""

import math

import numpy as np
import pytest

from ludoteca.evaluate.statistics.differences import mean_interval
from ludoteca.evaluate.statistics.intervals import return_interval, score_interval, wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in
        # Medicine 17, 1998, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_interval_matches_published_values(successes, n, low, high):
    assert wilson(successes, n) == pytest.approx((low, high), abs=6e-5)


@pytest.mark.parametrize(("confidence", "z"), [(0.9, 1.644854), (0.95, 1.959964), (0.99, 2.575829)])
@pytest.mark.parametrize(("successes", "n"), [(0, 1), (7, 10), (500, 1000), (1000, 1000)])
def test_wilson_interval_matches_the_formula(successes, n, confidence, z):
    p = successes / n
    center = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    expected = (max(center - half, 0), min(center + half, 1))
    assert wilson(successes, n, confidence) == pytest.approx(expected, abs=1e-6)


def test_interval_without_trials_is_from_0_to_1():
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("arguments", [(-1, 10), (11, 10), (1, 0), (5, 10, 0.0), (5, 10, 1.0)])
def test_invalid_arguments_are_rejected(arguments):
    with pytest.raises(ValueError, match=r"must be (from 0 to n|between 0 and 1)"):
        wilson(*arguments)


@pytest.mark.parametrize(("wins", "n"), [(0, 1), (7, 10), (500, 1000), (1000, 1000)])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_score_interval_without_draws_is_the_wilson_interval(wins, n, confidence):
    assert score_interval(wins, 0, n, confidence) == pytest.approx(wilson(wins, n, confidence))


def test_bounds_of_the_score_interval_solve_its_equation():
    wins, draws, n = 30, 40, 100
    score, z = 0.5, 1.959964
    for p in score_interval(wins, draws, n):
        variance = p * (1 - p) - draws / n / 4
        assert abs(p - score) == pytest.approx(z * math.sqrt(variance / n), rel=1e-5)


def test_draws_narrow_the_score_interval():
    widths = []
    for draws in (0, 50, 90, 100):
        low, high = score_interval((100 - draws) // 2, draws, 100)
        assert (low + high) / 2 == pytest.approx(0.5)
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == pytest.approx(0, abs=1e-6)


def test_score_interval_has_its_coverage():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(2000):
        wins, draws, _ = rng.multinomial(80, [0.5, 0.3, 0.2])
        low, high = score_interval(int(wins), int(draws), 80)
        covered += low <= 0.65 <= high  # the mean score, 0.5 + 0.3 / 2
    assert 0.93 < covered / 2000 < 0.97


def test_invalid_counts_are_rejected():
    assert score_interval(0, 0, 0) == (0.0, 1.0)
    for wins, draws, n in ((-1, 0, 5), (0, -1, 5), (3, 3, 5)):
        with pytest.raises(ValueError, match="wins and draws must be 0 or more, and at most n"):
            score_interval(wins, draws, n)
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        score_interval(1, 1, 5, 1.0)


def test_interval_of_a_mean_matches_hand_computation():
    # The standard error is 1 / sqrt(3); Student's quantile with 2 degrees of freedom is 4.30265.
    assert mean_interval([1, 2, 3]) == pytest.approx((2, 2 - 2.48414, 2 + 2.48414), abs=1e-5)
    assert mean_interval([5.0, 5.0]) == (5.0, 5.0, 5.0)
    with pytest.raises(ValueError, match="at least 2 values, got 1"):
        mean_interval([1.0])


def test_interval_of_returns_is_that_of_their_scores():
    # Returns of -1 and 1 only: 15 of 148 games won.
    low, high = wilson(15, 148)
    assert return_interval(2 * 15 / 148 - 1, 148) == pytest.approx((2 * low - 1, 2 * high - 1))
    assert return_interval(0.3, 0) == (-1, 1)
    with pytest.raises(ValueError, match=r"mean of returns must be from -1 to 1, got 1\.5"):
        return_interval(1.5, 10)
