"""Wilson intervals, against published and hand-computed values."""

import math

import pytest

from ludoteca.evaluate.intervals import wilson


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
def test_published_values(successes, n, low, high):
    assert wilson(successes, n) == pytest.approx((low, high), abs=6e-5)


@pytest.mark.parametrize(("confidence", "z"), [(0.9, 1.644854), (0.95, 1.959964), (0.99, 2.575829)])
@pytest.mark.parametrize(("successes", "n"), [(0, 1), (7, 10), (500, 1000), (1000, 1000)])
def test_the_formula(successes, n, confidence, z):
    p = successes / n
    center = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    expected = (max(center - half, 0), min(center + half, 1))
    assert wilson(successes, n, confidence) == pytest.approx(expected, abs=1e-6)


def test_without_trials_nothing_is_known():
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("arguments", [(-1, 10), (11, 10), (1, 0), (5, 10, 0.0), (5, 10, 1.0)])
def test_what_cannot_be_is_refused(arguments):
    with pytest.raises(ValueError, match=r"must be (from 0 to n|between 0 and 1)"):
        wilson(*arguments)
