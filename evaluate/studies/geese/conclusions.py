"""Conclusions of the thesis on Hungry Geese, and whether they hold in our records."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ludoteca.evaluate.markdown import percent
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.studies.geese import names
from ludoteca.evaluate.studies.geese.names import FLAT
from ludoteca.evaluate.studies.geese.outcomes import Difference, difference, read_outcomes
from ludoteca.evaluate.studies.report import render
from ludoteca.evaluate.studies.study import Records
from ludoteca.evaluate.studies.verdicts import FAILS, HOLDS, OPEN, by_interval

# Agents of "factors": 125 and 1000 simulations with depth 4, then both with depth 6.
DEPTH, COUNT = (-0.5, -0.5, 0.5, 0.5), (-0.5, 0.5, -0.5, 0.5)
DEPTH_OVER_COUNT = tuple(depth - count for depth, count in zip(DEPTH, COUNT, strict=True))


class Conclusion(NamedTuple):
    """A conclusion of the thesis, whether it holds, and the numbers that decide."""

    claim: str
    verdict: str
    evidence: str


def conclusions(records: Records) -> list[Conclusion]:
    """Check the conclusions in `conclusions.md.j2` whose tasks, of all parts, have records."""
    checked: list[Conclusion] = []

    def conclude(claim: str, verdict: str, caller: Callable[[], str]) -> str:
        checked.append(Conclusion(claim, verdict, " ".join(caller().split())))
        return ""

    defined = {"by_interval": by_interval, "conclude": conclude, "found": records}
    render("geese/conclusions.md.j2", {**vars(names), **globals(), **defined})
    return checked


def scores(match: Mapping[str, Any], weights: Sequence[float]) -> Difference:
    """Return a weighted sum of the agents' scores in the same games, each in [-1, 1]."""
    outcomes = read_outcomes(match["outcomes"])
    return difference(outcomes.scores, outcomes.games, weights)


def survival(match: Mapping[str, Any], weights: Sequence[float]) -> Difference:
    """Return a weighted sum of how often agents lived to the end, as a share of the games."""
    outcomes = read_outcomes(match["outcomes"])
    return difference(outcomes.alive.astype(float), outcomes.games, weights)


def dead_ends(records: Records) -> dict[str, Any]:
    """Count deaths in dead ends: at least the forced ones, at most all but avoidable heads' own."""
    lives = [agent["lives"] for name in FLAT for agent in records[name]["agents"]]
    deaths = sum(one["deaths"] for one in lives)
    forced = sum(sum(one["forced"].values()) for one in lives)
    avoidable = sum(one["causes"]["head on"] - one["forced"]["head on"] for one in lives)
    low, high = wilson(forced, deaths)[0], wilson(deaths - avoidable, deaths)[1]
    verdict = HOLDS if low > 0.5 else FAILS if high < 0.5 else OPEN
    others = {name: record for name, record in records.items() if name not in FLAT}
    counts = {"deaths": deaths, "forced": forced, "avoidable": avoidable}
    return {"verdict": verdict, **counts, "elsewhere": forced_shares(others, "flat:")}


def forced_shares(records: Records, agent: str) -> list[float]:
    """Return the shares of deaths without a way out, of agents whose spec string begins so."""
    return [
        sum(one["lives"]["forced"].values()) / one["lives"]["deaths"]
        for match in records.values()
        if "outcomes" in match
        for one in match["agents"]
        if one["agent"].startswith(agent) and one["lives"]["deaths"]
    ]


def share_range(shares: Sequence[float]) -> str:
    """Return the range of some shares in %."""
    return f"{percent(min(shares))} to {percent(max(shares))}" if shares else "-"
