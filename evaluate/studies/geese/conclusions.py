"""Conclusions of Martín Miralles' thesis on Hungry Geese, and verdicts on them by our results.

The data file `uib2021.toml` cites the thesis (2021). A record has the results of a task of the
study, such as a match.
"""

from collections.abc import Sequence
from typing import Any

from ludoteca.evaluate.markdown import percent
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.statistics.outcomes import read_outcomes
from ludoteca.evaluate.statistics.verdicts import FAILS, HOLDS, INCONCLUSIVE
from ludoteca.evaluate.studies.conclusions import Conclusion, conclusions_of
from ludoteca.evaluate.studies.geese.agents import DECLARED, agent_title
from ludoteca.evaluate.studies.study import Records

# Names of the competitions of flat Monte Carlo.
FLAT = tuple(row["name"] for row in DECLARED["tables"]["flat"])


def conclusions(records: Records) -> list[Conclusion]:
    """Return the conclusions in `conclusions.md.j2` whose tasks have records, with verdicts.

    Args:
        records: records of the tasks of all parts.
    """
    names = {
        "records": records, "FLAT": FLAT, "read_outcomes": read_outcomes, "dead_ends": dead_ends,
        "share_range": share_range, "agent_title": agent_title,
    }  # fmt: skip
    return conclusions_of("geese/conclusions.md.j2", names)


def dead_ends(records: Records) -> dict[str, Any]:
    """Return the verdict on the claim that most deaths of flat Monte Carlo are in dead ends.

    The number of deaths in dead ends is at least that of forced deaths (no other move would have
    helped), and at most that of all deaths except avoidable collisions of heads.

    Args:
        records: records of all tasks; the claim is tested in the matches of `FLAT`.

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
