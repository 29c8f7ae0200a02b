"""Conclusions of Martín Miralles' thesis on Hungry Geese, and verdicts on them by our results.

`ludoteca.train.uib2021` cites the thesis. A record has the results of a task of the study, such as
a match.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ludoteca.evaluate.markdown import percent
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.statistics.outcomes import Difference, difference, read_outcomes
from ludoteca.evaluate.studies.geese import names
from ludoteca.evaluate.studies.geese.names import FLAT
from ludoteca.evaluate.studies.report import render
from ludoteca.evaluate.studies.study import Records
from ludoteca.evaluate.studies.verdicts import FAILS, HOLDS, INCONCLUSIVE, verdict_by_interval

# Weights of the agents' scores in the competition "factors" (125 and 1000 simulations with depth 4,
# then 125 and 1000 with depth 6). The weighted sums are the effect of the depth, the effect of the
# number of simulations, and the difference of both effects.
DEPTH_EFFECT, SIMULATIONS_EFFECT = (-0.5, -0.5, 0.5, 0.5), (-0.5, 0.5, -0.5, 0.5)
EFFECT_DIFFERENCE = tuple(
    depth - simulations for depth, simulations in zip(DEPTH_EFFECT, SIMULATIONS_EFFECT, strict=True)
)


class Conclusion(NamedTuple):
    """Conclusion of the thesis, and our verdict on it."""

    claim: str  # statement of the thesis
    verdict: str  # verdict by our results, see `verdicts`
    evidence: str  # the numbers that decide the verdict


def conclusions(records: Records) -> list[Conclusion]:
    """Return the conclusions in `conclusions.md.j2` whose tasks have records, with verdicts.

    Each block `{% call conclude(claim, verdict) %}` of the template is a conclusion, and the text
    in the block is its evidence. The template is rendered only to collect them.

    Args:
        records: records of the tasks of all parts.
    """
    checked: list[Conclusion] = []

    def conclude(claim: str, verdict: str, caller: Callable[[], str]) -> str:
        """Add a conclusion; `caller` (Jinja2's name) renders the body of the block."""
        checked.append(Conclusion(claim, verdict, " ".join(caller().split())))
        return ""

    # The template uses constants of `names` and the functions of this module.
    defined = {"verdict_by_interval": verdict_by_interval, "conclude": conclude, "records": records}
    render("geese/conclusions.md.j2", {**vars(names), **globals(), **defined})
    return checked


def score_contrast(match: Mapping[str, Any], weights: Sequence[float]) -> Difference:
    """Return the mean over games of a weighted sum of the agents' scores, each in [-1, 1].

    Args:
        match: record of the match.
        weights: weights of the agents, in the order of `match["agents"]`. Shape `[agents]`.
    """
    outcomes = read_outcomes(match["outcomes"])
    return difference(outcomes.scores, outcomes.games, weights)


def survival_contrast(match: Mapping[str, Any], weights: Sequence[float]) -> Difference:
    """Return the mean over games of a weighted sum of the agents' survivals, each 0 or 1.

    Args:
        match: record of the match.
        weights: weights of the agents, in the order of `match["agents"]`. Shape `[agents]`.
    """
    outcomes = read_outcomes(match["outcomes"])
    return difference(outcomes.alive.astype(float), outcomes.games, weights)


def dead_ends(records: Records) -> dict[str, Any]:
    """Return the verdict on the claim that most deaths of flat Monte Carlo are in dead ends.

    The number of deaths in dead ends is at least that of forced deaths (no other move would have
    helped), and at most that of all deaths except avoidable collisions of heads.

    Args:
        records: records of all tasks; the claim is tested in the matches of `names.FLAT`.

    Returns:
        `"verdict"`; the counts of all `"deaths"`, of `"forced"` ones and of `"avoidable"`
        collisions of heads; and `"shares_against_others"`, the fractions of forced deaths in
        matches against agents of other types.
    """
    lives = [agent["lives"] for name in FLAT for agent in records[name]["agents"]]
    deaths = sum(counts["deaths"] for counts in lives)
    forced = sum(sum(counts["forced"].values()) for counts in lives)
    avoidable = sum(counts["causes"]["head on"] - counts["forced"]["head on"] for counts in lives)
    # The interval of the share of deaths in dead ends, from the smallest to the largest number.
    low, high = wilson(forced, deaths)[0], wilson(deaths - avoidable, deaths)[1]
    verdict = HOLDS if low > 0.5 else FAILS if high < 0.5 else INCONCLUSIVE
    others = {name: record for name, record in records.items() if name not in FLAT}
    counts = {"deaths": deaths, "forced": forced, "avoidable": avoidable}
    return {"verdict": verdict, **counts, "shares_against_others": forced_shares(others, "flat:")}


def forced_shares(records: Records, agent: str) -> list[float]:
    """Return the fraction of forced deaths among the deaths of each agent in each match.

    Args:
        records: records of all tasks; those that are not matches are skipped.
        agent: first characters of the spec strings of the agents that are included.

    Returns:
        The fractions, of agents with deaths.
    """
    return [
        sum(result["lives"]["forced"].values()) / result["lives"]["deaths"]
        for match in records.values()
        if "outcomes" in match
        for result in match["agents"]
        if result["agent"].startswith(agent) and result["lives"]["deaths"]
    ]


def share_range(shares: Sequence[float]) -> str:
    """Return the range of fractions as text, such as `"21.0 % to 40.0 %"`; `"-"` without any."""
    return f"{percent(min(shares))} to {percent(max(shares))}" if shares else "-"
