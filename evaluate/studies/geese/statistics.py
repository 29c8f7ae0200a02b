"""Statistics of the report on Hungry Geese: tests against the thesis, ratings and targets."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from ludoteca.agents.games.hungry_geese.lives import CAUSES
from ludoteca.agents.networks.cards import load_card, trained_against
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.statistics.ratings import Ratings
from ludoteca.evaluate.statistics.wilcoxon import holm
from ludoteca.evaluate.studies.geese.names import FINALS, SHIPPED, TARGET, called
from ludoteca.evaluate.studies.geese.outcomes import rate_all, read_outcomes
from ludoteca.evaluate.studies.geese.uib2021 import GAMES, RESULTS
from ludoteca.evaluate.studies.study import Records
from ludoteca.evaluate.studies.verdicts import LEVEL, OPEN

Labels = Mapping[str, str]  # labels of networks, by the names of their tasks


def tested_counts(matches: Records, labels: Labels) -> tuple[int, list[str]]:
    """Return the number of the thesis' counts, and those that differ significantly from ours."""
    from scipy.stats import fisher_exact

    tests: list[tuple[str, float]] = []
    for name, match in matches.items():
        for agent, theirs in zip(match["agents"], RESULTS[name], strict=True):
            lives = agent["lives"]
            for count, measure in zip(theirs, ("wins", "deaths"), strict=False):
                ours = (lives[measure], lives["geese"] - lives[measure])
                p = fisher_exact([(count, GAMES - count), ours]).pvalue
                rate = 100 * lives[measure] / lives["geese"]
                who = called(agent["agent"], labels)
                tests.append((f"{measure} of {who} ({count}, {rate:.1f})", float(p)))
    corrected = holm([p for _, p in tests])
    apart = [text for (text, _), p in zip(tests, corrected, strict=True) if p < LEVEL]
    return len(tests), apart


def slowest(records: Records) -> float:
    """Return the seconds per move of the slowest agent of the final.

    Other work on the machine slows agents down, not in all of these competitions.
    """
    finals = [records[name]["agents"] for name in FINALS if name in records]
    return min(float(max(agent["seconds_per_move"] for agent in agents)) for agents in finals)


def rivals(match: Mapping[str, Any], labels: Labels) -> tuple[str, str]:
    """Return the rivals of a competition's first agent, and whether it was trained against them."""
    ours, *others = (agent["agent"] for agent in match["agents"])
    # A tree search has not learned from any agent.
    card = load_card("ac", SHIPPED) if ours.startswith("ac:") else None
    relations = [trained_against(card, spec) for spec in others] if card else ["-"]
    names = [called(spec, labels) for spec in others]
    if len(set(names)) == 1:
        return f"three {names[0]}", relations[0]
    return "; ".join(names), "; ".join(relations)


def both_targets(counts: tuple[int, int], games: int) -> str:
    """Return whether both shares reach the target, by their Wilson 95 % intervals."""
    intervals = [wilson(count, games) for count in counts]
    if all(low >= TARGET for low, _ in intervals):
        return "yes"
    return "**no**" if any(high < TARGET for _, high in intervals) else OPEN


def ratings(records: Records, labels: Labels) -> list[tuple[str, Ratings, dict[str, int]]]:
    """Return names, ratings and total counts of the agents of competitions of four different ones.

    The best come first.
    """
    rated = {
        name: ([called(spec, labels) for spec in specs], read_outcomes(match["outcomes"]))
        for name, match in records.items()
        if "outcomes" in match
        if len(set(specs := [agent["agent"] for agent in match["agents"]])) == len(specs)
    }
    totals = total_lives({name: records[name] for name in rated}, labels)
    best_first = sorted(rate_all(rated).items(), key=lambda item: -float(item[1].elo))
    return [(name, rating, totals[name]) for name, rating in best_first]


def total_lives(records: Records, labels: Labels) -> dict[str, dict[str, int]]:
    """Return the counts of the geese of each agent, in all competitions of four together."""
    totals: dict[str, dict[str, int]] = {}
    matches = [match["agents"] for match in records.values() if "outcomes" in match]
    for agent in chain.from_iterable(matches):
        lives = agent["lives"]
        counts = {key: lives[key] for key in ("geese", "wins", "deaths")}
        counts |= {"forced": sum(lives["forced"].values()), **lives["causes"]}
        sums = totals.setdefault(called(agent["agent"], labels), dict.fromkeys(counts, 0))
        for key, count in counts.items():
            sums[key] += count
    return totals


def causes_of(totals: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return the causes of death that occur in counts by agent."""
    return [cause for cause in CAUSES if any(counts[cause] for counts in totals.values())]
