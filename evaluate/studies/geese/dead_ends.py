"""Shares of the deaths of flat Monte Carlo in dead ends, with intervals and verdicts.

The claim is that of Martín Miralles, "Hungry Geese" (UIB, 2021): flat Monte Carlo dies because it
does not see dead ends, that is, more than half of its deaths are in dead ends. Their number is at
least that of forced deaths (no other move would have saved the goose in that step), and at most
that of all deaths except avoidable collisions of heads.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.statistics.verdicts import FAILS, HOLDS, INCONCLUSIVE
from ludoteca.evaluate.studies.geese.agents import DECLARED, Labels, match_titles
from ludoteca.evaluate.studies.study import Records

# Names of the competitions of four agents of flat Monte Carlo.
FLAT = tuple(row["name"] for row in DECLARED["tables"]["flat"])
DEPENDS = "depends on the opponents"


class DeadEnds(NamedTuple):
    """Deaths of an agent in the games of one or several matches.

    Attributes:
        deaths: number of deaths.
        forced: number of forced deaths.
        avoidable: number of collisions of heads that another move would have avoided.
        deaths_per_game: the largest possible number of these deaths in one game.
        agent: title of the agent; `""` for several.
        opponents: titles of the other agents of the match, joined.
    """

    deaths: int
    forced: int
    avoidable: int
    deaths_per_game: int = 1
    agent: str = ""
    opponents: str = ""

    def interval(self, count: int) -> tuple[float, float]:
        """Return Wilson's 95 % interval of the share `count` of the deaths.

        Deaths in one game are not independent. The interval is that of fewer deaths, as if all
        those that are possible in a game were alike, so it is at least as wide as necessary.
        """
        independent = self.deaths / self.deaths_per_game
        return wilson(count / self.deaths_per_game, round(independent))

    @property
    def verdict(self) -> str:
        """Verdict on the claim that more than half of the deaths are in dead ends."""
        low, high = self.interval(self.forced)[0], self.interval(self.deaths - self.avoidable)[1]
        return HOLDS if low > 0.5 else FAILS if high < 0.5 else INCONCLUSIVE


def dead_ends(lives: Iterable[Mapping[str, Any]], **fields: Any) -> DeadEnds:
    """Return the deaths in the counts `lives` of agents, see `Lives.counts`.

    Args:
        lives: the counts.
        **fields: further fields of `DeadEnds`.
    """
    lives = list(lives)
    return DeadEnds(
        sum(counts["deaths"] for counts in lives),
        sum(sum(counts["forced"].values()) for counts in lives),
        sum(counts["causes"]["head on"] - counts["forced"]["head on"] for counts in lives),
        **fields,
    )


def among_four(records: Records) -> DeadEnds:
    """Return all deaths in the competitions `FLAT`, in whose games four such agents can die.

    Args:
        records: records of all tasks.
    """
    agents = [agent for name in FLAT for agent in records[name]["agents"]]
    return dead_ends((agent["lives"] for agent in agents), deaths_per_game=4)


def in_matches(records: Records, labels: Labels) -> list[DeadEnds]:
    """Return the deaths of flat Monte Carlo in each match against agents of other types.

    Args:
        records: records of all tasks; those that are not matches of four agents are skipped.
        labels: titles of networks.

    Returns:
        Those of matches in which it died, the smallest share of forced deaths first.
    """
    found = []
    for name, match in records.items():
        if name in FLAT or "outcomes" not in match:
            continue
        titles = match_titles(match, labels)
        for k, agent in enumerate(match["agents"]):
            if agent["agent"].startswith("flat:") and agent["lives"]["deaths"]:
                others = "; ".join(titles[:k] + titles[k + 1 :])
                found.append(dead_ends([agent["lives"]], agent=titles[k], opponents=others))
    return sorted(found, key=lambda row: row.forced / row.deaths)


def count_verdicts(rows: Iterable[DeadEnds]) -> tuple[str, dict[str, int]]:
    """Return the verdict on the claim in several matches, and the number of each verdict.

    If the claim holds in some matches and does not hold in others, it depends on the opponents.
    """
    verdicts = [row.verdict for row in rows]
    counts = {verdict: verdicts.count(verdict) for verdict in (HOLDS, FAILS, INCONCLUSIVE)}
    if counts[HOLDS] and counts[FAILS]:
        return DEPENDS, counts
    return next((v for v in (HOLDS, FAILS) if counts[v] == len(verdicts)), INCONCLUSIVE), counts
