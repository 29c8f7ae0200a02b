"""Verdicts on the conclusions of a paper: none without an interval or a test.

A conclusion holds, or does not, if the whole 95 % interval of the number that decides it says so; a
difference whose interval contains zero is inconclusive.
"""

from collections.abc import Iterable

HOLDS, FAILS, OPEN = "holds", "does not hold", "inconclusive"
UNCORRECTED = "holds only without Holm's correction"
LEVEL = 0.05


def by_interval(low: float, high: float) -> str:
    """Return whether a number that ought to be positive is, by its interval."""
    return HOLDS if low > 0 else FAILS if high < 0 else OPEN


def all_of(verdicts: Iterable[str]) -> str:
    """Return the verdict on a conjunction of claims: it holds if all of them hold."""
    every = set(verdicts)
    return FAILS if FAILS in every else HOLDS if every <= {HOLDS} else OPEN


def by_test(p: float, corrected: float, as_claimed: bool) -> str:
    """Return whether a test confirms a claimed difference.

    Args:
        p: the probability that the test gives.
        corrected: the same, corrected for the number of tests.
        as_claimed: whether the difference found has the direction of the claim.
    """
    if corrected < LEVEL:
        return HOLDS if as_claimed else FAILS
    return UNCORRECTED if p < LEVEL and as_claimed else OPEN


def no_difference(p: float, corrected: float) -> str:
    """Return whether a test agrees with the claim that it shows no significant difference.

    Args:
        p: the probability that the test gives.
        corrected: the same, corrected for the number of tests.
    """
    return HOLDS if p >= LEVEL else FAILS if corrected < LEVEL else OPEN
