"""Verdicts on claims, such as those of a paper, each by a confidence interval or a test.

A claim is about the sign of a difference. It holds if the difference's 95 % interval lies on the
claimed side of zero, and does not hold if it lies on the other side; if the interval contains zero,
the verdict is "inconclusive".
"""

from collections.abc import Iterable

HOLDS, FAILS, INCONCLUSIVE = "holds", "does not hold", "inconclusive"
UNCORRECTED = "holds only without Holm's correction"
LEVEL = 0.05  # significance level


def verdict_by_interval(low: float, high: float) -> str:
    """Return the verdict on the claim that a number is positive, by its 95 % interval."""
    return HOLDS if low > 0 else FAILS if high < 0 else INCONCLUSIVE


def verdict_by_intervals(intervals: Iterable[tuple[float, float]]) -> str:
    """Return the verdict on the claim that several numbers are positive, by their intervals."""
    return verdict_of_all(verdict_by_interval(*interval) for interval in intervals)


def verdict_of_all(verdicts: Iterable[str]) -> str:
    """Return the verdict on several claims together.

    It holds if all of them hold, does not hold if one does not, and else is inconclusive.
    """
    distinct = set(verdicts)
    return FAILS if FAILS in distinct else HOLDS if distinct <= {HOLDS} else INCONCLUSIVE


def verdict_by_test(p: float, corrected: float, as_claimed: bool) -> str:
    """Return the verdict on a claimed difference, by a test.

    Args:
        p: p-value of the test.
        corrected: p-value corrected for the number of tests.
        as_claimed: whether the measured difference has the claimed sign.
    """
    if corrected < LEVEL:
        return HOLDS if as_claimed else FAILS
    return UNCORRECTED if p < LEVEL and as_claimed else INCONCLUSIVE


def verdict_of_no_difference(p: float, corrected: float, p_equivalent: float = 1.0) -> str:
    """Return the verdict on the claim that there is no significant difference.

    A test that does not reject may only have had too few data, so that the claim holds only if a
    test of equivalence rejects a difference beyond its margin.

    Args:
        p: p-value of the test of a difference.
        corrected: p-value of that test, corrected for the number of tests.
        p_equivalent: corrected p-value of the test of equivalence; 1 if there is none.
    """
    if corrected < LEVEL:
        return FAILS
    return HOLDS if p >= LEVEL and p_equivalent < LEVEL else INCONCLUSIVE


def target_verdict(target: float, *intervals: tuple[float, float]) -> str:
    """Return whether numbers reach a target, `"yes"` or `"**no**"`, by their 95 % intervals."""
    if all(low >= target for low, _ in intervals):
        return "yes"
    return "**no**" if any(high < target for _, high in intervals) else INCONCLUSIVE
