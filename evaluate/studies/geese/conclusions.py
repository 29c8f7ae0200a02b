"""Conclusions of the thesis on Hungry Geese, and whether they hold in our records."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ludoteca.evaluate.markdown import percent
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.studies.geese.names import FLAT, called
from ludoteca.evaluate.studies.geese.outcomes import Difference, difference, read_outcomes
from ludoteca.evaluate.studies.study import Records
from ludoteca.evaluate.studies.verdicts import FAILS, HOLDS, OPEN, by_interval


@dataclass(frozen=True)
class Conclusion:
    """A conclusion of the thesis.

    Attributes:
        claim: what the thesis says.
        verdict: whether it is so in the numbers at hand, see `verdicts`.
        evidence: the numbers that decide it.
    """

    claim: str
    verdict: str
    evidence: str


def conclusions(found: Records) -> Iterator[Conclusion]:
    """Check the thesis' conclusions, as far as the tasks that decide them are finished.

    Args:
        found: what is kept of the tasks of all parts, by name.
    """
    for needed, check in CHECKS:
        if found.keys() >= set(needed):
            yield check(found)


def scores(match: Mapping[str, Any], weights: Sequence[float]) -> Difference:
    """Return a weighted sum of the agents' scores in the same games, each in [-1, 1]."""
    outcomes = read_outcomes(match["outcomes"])
    return difference(outcomes.scores, outcomes.games, weights)


def survival(match: Mapping[str, Any], weights: Sequence[float]) -> Difference:
    """Return a weighted sum of how often agents lived to the end, as a share of the games."""
    outcomes = read_outcomes(match["outcomes"])
    return difference(outcomes.alive.astype(float), outcomes.games, weights)


def verdict(found: Difference) -> str:
    """Return whether a difference that ought to be positive is."""
    return by_interval(found.low, found.high)


def signed(found: Difference, scale: float = 1.0, digits: int = 3) -> str:
    """Return a difference with its interval."""
    mean, low, high = (scale * x for x in (found.mean, found.low, found.high))
    return f"{mean:+.{digits}f} ({low:+.{digits}f} to {high:+.{digits}f})"


TEACHERS = FLAT["depth-6"]
# Agents of "factors": 125 and 1000 simulations with depth 4, then both with depth 6.
DEPTH = (-0.5, -0.5, 0.5, 0.5)
COUNT = (-0.5, 0.5, -0.5, 0.5)
DEPTH_OVER_COUNT = tuple(depth - count for depth, count in zip(DEPTH, COUNT, strict=True))


def _depth(found: Records) -> Conclusion:
    match = found["factors"]
    over = scores(match, DEPTH_OVER_COUNT)
    return Conclusion(
        "depth matters more than the number of simulations",
        verdict(over),
        f"score for depth 6 instead of 4: {signed(scores(match, DEPTH))}, for 1000 simulations "
        f"instead of 125: {signed(scores(match, COUNT))}, difference {signed(over)}",
    )


def _few(found: Records) -> Conclusion:
    lives = survival(found["depth-4"], (0.5, 0.5, -0.5, -0.5))
    return Conclusion(
        "with depth 4, 125 and 250 simulations die less often than 500 and 1000",
        verdict(lives),
        f"they survive in {signed(lives, 100, 1)} % points more of the games",
    )


def _dead_ends(found: Records) -> Conclusion:
    """Check how many deaths are dead ends: at least the forced ones, at most all but heads' own."""
    lives = [agent["lives"] for name in FLAT for agent in found[name]["agents"]]
    counts = [
        (
            one["deaths"],
            sum(one["forced"].values()),
            one["causes"]["head on"],
            one["forced"]["head on"],
        )
        for one in lives
    ]
    deaths, forced, heads, forced_heads = np.array(counts).sum(0).tolist()
    most = deaths - heads + forced_heads
    low, high = wilson(forced, deaths)[0], wilson(most, deaths)[1]
    elsewhere = _forced_elsewhere(found)
    others = (
        f". That is among equals: against agents of other kinds it is {percent(min(elsewhere))} to "
        f"{percent(max(elsewhere))}, by the competition"
        if elsewhere
        else ""
    )
    return Conclusion(
        "flat Monte Carlo dies because it does not see dead ends",
        HOLDS if low > 0.5 else FAILS if high < 0.5 else OPEN,
        f"in competitions of four such agents, of {deaths:,} deaths, no other move would have "
        f"helped in {percent(forced / deaths)}, and {percent(1 - most / deaths)} are collisions of "
        "heads that another move would have avoided; it holds if the former are more than half, "
        f"and not if the latter are{others}",
    )


def _forced_elsewhere(found: Records) -> list[float]:
    """Return the shares of flat Monte Carlo's deaths without a way out, by other competition."""
    return [
        sum(agent["lives"]["forced"].values()) / agent["lives"]["deaths"]
        for name, match in found.items()
        if name not in FLAT and "outcomes" in match
        for agent in match["agents"]
        if agent["agent"].startswith("flat:") and agent["lives"]["deaths"] > 0
    ]


def _pupil(found: Records) -> Conclusion:
    behind = scores(found["teachers"], (1, -1, 0, 0))
    return Conclusion(
        "a network that flat Monte Carlo teaches plays badly",
        verdict(behind),
        f"the teacher with 1000 simulations scores {signed(behind)} more than its network",
    )


def _noise(found: Records) -> Conclusion:
    match = found["teachers"]
    gap, clear = scores(match, (1, -1, 0, 0)), scores(match, (0, 0, 1, -1))
    more = scores(match, (1, -1, -1, 1))
    ceilings = ", ".join(
        percent(one["predictable"])
        for one in found["agreement"]["agents"]
        if "flat" in one["agent"]
    )
    reached = ", ".join(
        percent(found[f"net-{count}"]["training"]["best"]["accuracy"]) for count, _ in TEACHERS
    )
    return Conclusion(
        "... because its labels are noisy",
        verdict(more),
        f"behind a teacher without chance a network falls {signed(clear)}, behind flat Monte Carlo "
        f"{signed(gap)}, difference {signed(more)}; of its moves {ceilings} could be predicted, "
        f"and the networks predict {reached}",
    )


def _bands(found: Records) -> Conclusion:
    weak = scores(found["real"], (1, 0, 0, -1))
    return Conclusion(
        "a network that weak players teach plays better than one that strong players teach",
        verdict(weak),
        f"score of the first of the four minus that of the last: {signed(weak)}",
    )


def _real(found: Records) -> Conclusion:
    ahead = scores(found["final"], (0, -1, 0, 1))
    return Conclusion(
        "a network that imitates recorded games plays better than flat Monte Carlo",
        verdict(ahead),
        f"score in the final: {signed(ahead)} more",
    )


def _deterministic(found: Records) -> Conclusion:
    """Compare both in the final, with the thesis' goose; beside it with other readings of it."""
    ahead = scores(found["final"], (-1, 1, 0, 0))
    goose, monte_carlo = (agent["lives"] for agent in found["final"]["agents"][:2])
    others = [
        f"{called(match['agents'][0]['agent'])}: {signed(scores(match, (-1, 1, 0, 0)))}"
        for match in (found.get(name) for name in ("final-tail", "final-default"))
        if match
    ]
    beside = f"; with other readings of that agent, {'; '.join(others)}" if others else ""
    return Conclusion(
        "flat Monte Carlo plays better than the deterministic agent",
        verdict(ahead),
        f"in the final with the thesis' rules to the letter it scores {signed(ahead)} more, and "
        f"wins {monte_carlo['wins']:,} of {monte_carlo['geese']:,} games, the deterministic agent "
        f"{goose['wins']:,}{beside}",
    )


# Names of the tasks that decide a conclusion, and what checks it.
CHECKS: tuple[tuple[tuple[str, ...], Callable[[Records], Conclusion]], ...] = (
    (("factors",), _depth),
    (("depth-4",), _few),
    (tuple(FLAT), _dead_ends),
    (("final",), _deterministic),
    (("teachers",), _pupil),
    (("teachers", "agreement", *(f"net-{count}" for count, _ in TEACHERS)), _noise),
    (("real",), _bands),
    (("final",), _real),
)
