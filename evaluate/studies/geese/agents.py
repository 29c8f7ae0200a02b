"""Agents in the report on Hungry Geese: titles, tests against the thesis, rivals and ratings.

"The thesis" is Martín Miralles, "Hungry Geese" (UIB, 2021). The counts `agent["lives"]` are of
`ludoteca.agents.games.hungry_geese.lives.Lives.counts`.
"""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from ludoteca.agents.networks.cards import load_card, trained_against
from ludoteca.evaluate.statistics.outcomes import rate_all, read_outcomes
from ludoteca.evaluate.statistics.ratings import Ratings
from ludoteca.evaluate.statistics.verdicts import LEVEL
from ludoteca.evaluate.statistics.wilcoxon import holm
from ludoteca.evaluate.studies.data import read_data
from ludoteca.evaluate.studies.study import Records

THESIS = read_data("geese/uib2021.toml")
DECLARED = read_data("geese/study.toml")
# Titles of networks, by the name of the task that trains them and of its folder.
Labels = Mapping[str, str]


def agent_title(spec: str, networks: Labels | None = None) -> str:
    """Return the title in the report of the agent with a spec string."""
    name, _, argument = spec.partition(":")
    options = dict(pair.split("=", 1) for pair in argument.split(",") if "=" in pair)
    if name == "cnn":
        folder = Path(argument.partition(",")[0]).name
        return (networks or {}).get(folder, folder)
    for row in DECLARED["titles"]:
        if row["agent"] in (name, spec) and row["option"] in ("", *options):
            return str(row["title"].format(**options))
    return spec


def compare_counts(matches: Records, labels: Labels) -> tuple[int, list[str]]:
    """Compare the thesis' counts of wins and deaths with ours, by Fisher's exact test.

    `matches` are our records of the thesis' competitions. Return the number of compared counts, and
    descriptions of those that differ significantly, with the thesis' count and our percentage.
    """
    from scipy.stats import fisher_exact

    tests: list[tuple[str, float]] = []
    for name, match in matches.items():
        theirs = THESIS["results"][name]  # wins, deaths and mean length of each agent
        for agent, (wins, deaths, _) in zip(match["agents"], theirs, strict=True):
            lives = agent["lives"]
            for measure, count in (("wins", wins), ("deaths", deaths)):
                ours = (lives[measure], lives["geese"] - lives[measure])
                p = fisher_exact([(count, THESIS["games"] - count), ours]).pvalue
                rate = 100 * lives[measure] / lives["geese"]
                title = agent_title(agent["agent"], labels)
                tests.append((f"{measure} of {title} ({count}, {rate:.1f})", float(p)))
    corrected = holm([p for _, p in tests])
    differing = [text for (text, _), p in zip(tests, corrected, strict=True) if p < LEVEL]
    return len(tests), differing


def rivals(match: Mapping[str, Any], labels: Labels) -> tuple[str, str]:
    """Return the opponents of a match's first agent, and whether it was trained against them.

    Both are texts, see `trained_against`.
    """
    ours, *others = (agent["agent"] for agent in match["agents"])
    # Only networks are trained; `"-"` stands for a tree search.
    card = load_card(*ours.partition(",")[0].split(":")) if ours.startswith("ac:") else None
    relations = [trained_against(card, spec) for spec in others] if card else ["-"]
    names = [agent_title(spec, labels) for spec in others]
    if len(set(names)) == 1:
        return f"three {names[0]}", relations[0]
    return "; ".join(names), "; ".join(relations)


def ratings(records: Records, labels: Labels) -> list[tuple[str, Ratings, dict[str, int]]]:
    """Return the agents of all competitions of four different agents, the highest rating first.

    Each has its title, rating and `total_lives`. Matches of two agents have no `"outcomes"`; in
    matches of four, some agents may be equal.
    """
    rated = {
        name: ([agent_title(spec, labels) for spec in specs], read_outcomes(match["outcomes"]))
        for name, match in records.items()
        if "outcomes" in match
        if len(set(specs := [agent["agent"] for agent in match["agents"]])) == len(specs)
    }
    totals = total_lives({name: records[name] for name in rated}, labels)
    best_first = sorted(rate_all(rated).items(), key=lambda item: -float(item[1].elo))
    return [(name, rating, totals[name]) for name, rating in best_first]


def total_lives(records: Records, labels: Labels) -> dict[str, dict[str, int]]:
    """Return the total counts of geese, wins and deaths, by title of the agent; see `Lives.counts`.

    The deaths are counted by cause, too, and those that no other move would have prevented, as
    `"forced"`. Only matches of four agents count: those with `"outcomes"`.
    """
    totals: dict[str, dict[str, int]] = {}
    matches = [match["agents"] for match in records.values() if "outcomes" in match]
    for agent in chain.from_iterable(matches):
        lives = agent["lives"]
        counts = {key: lives[key] for key in ("geese", "wins", "deaths")}
        counts |= {"forced": sum(lives["forced"].values()), **lives["causes"]}
        sums = totals.setdefault(agent_title(agent["agent"], labels), dict.fromkeys(counts, 0))
        for key, count in counts.items():
            sums[key] += count
    return totals
