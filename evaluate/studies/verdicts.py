"""Verdicts on the conclusions of a paper, each by a confidence interval or a statistical test.

A conclusion claims the sign of a difference. It holds if the difference's 95 % interval lies on the
claimed side of zero, and does not hold if it lies on the other side; if the interval contains zero,
the verdict is "inconclusive".
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ludoteca.evaluate.studies.report import render

HOLDS, FAILS, INCONCLUSIVE = "holds", "does not hold", "inconclusive"
UNCORRECTED = "holds only without Holm's correction"
LEVEL = 0.05  # significance level


@dataclass(frozen=True)
class Conclusion:
    """Conclusion of a paper, and our verdict on it."""

    simulations: str  # simulations per move in the games of the claim; "" if it is not about them
    claim: str  # statement of the paper
    verdict: str  # verdict by our results
    evidence: str  # the numbers that decide the verdict


def conclusions_of(template: str, names: Mapping[str, Any]) -> list[Conclusion]:
    """Return the conclusions in a template, which is rendered only to collect them.

    Each block `{% call conclude(claim, verdict) %}` of the template is a conclusion, and the text
    in the block is its evidence. The template may use the names of this module.

    Args:
        template: path of the template, as for `render`.
        names: further values and functions that the template uses, by name.
    """
    found: list[Conclusion] = []

    def conclude(
        claim: str, verdict: str, simulations: object = "", *, caller: Callable[[], str]
    ) -> str:
        """Add a conclusion; `caller` (Jinja2's name) renders the body of the block."""
        found.append(Conclusion(str(simulations), claim, verdict, " ".join(caller().split())))
        return ""

    render(template, {**globals(), **names, "conclude": conclude})
    return found


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


def verdict_of_no_difference(p: float, corrected: float) -> str:
    """Return the verdict on the claim that a test shows no significant difference.

    Args:
        p: p-value of the test.
        corrected: p-value corrected for the number of tests.
    """
    return HOLDS if p >= LEVEL else FAILS if corrected < LEVEL else INCONCLUSIVE


def target_verdict(target: float, *intervals: tuple[float, float]) -> str:
    """Return whether numbers reach a target, `"yes"` or `"**no**"`, by their 95 % intervals."""
    if all(low >= target for low, _ in intervals):
        return "yes"
    return "**no**" if any(high < target for _, high in intervals) else INCONCLUSIVE
