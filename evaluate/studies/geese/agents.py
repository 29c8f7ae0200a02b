"""Agents in the report on Hungry Geese: titles, tests against the thesis, rivals and ratings.

"The thesis" is Martín Miralles, "Hungry Geese" (UIB, 2021). The counts `agent["lives"]` are of
`ludoteca.agents.games.hungry_geese.lives.Lives.counts`.
"""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from ludoteca.agents.networks.cards import NOT_TRAINED, TRAINED, load_card, trained_against
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


def match_titles(match: Mapping[str, Any], labels: Labels) -> list[str]:
    """Return the titles of the agents of a match.

    The record's `"titles"`, if it has them, are those of networks that were trained again for this
    match, by the name of their task. So they differ from the networks of other matches.
    """
    titles = {**labels, **match.get("titles", {})}
    return [agent_title(agent["agent"], titles) for agent in match["agents"]]


def compare_counts(matches: Records, labels: Labels) -> tuple[int, list[str]]:
    """Compare the thesis' counts of wins and deaths with ours, by Fisher's exact test.

    `matches` are our records of the thesis' competitions. Return the number of compared counts, and
    descriptions of those that differ significantly, with the thesis' count and our percentage.
    """
    from scipy.stats import fisher_exact

    tests: list[tuple[str, float]] = []
    for name, match in matches.items():
        theirs = THESIS["results"][name]  # wins, deaths and mean length of each agent
        titles = match_titles(match, labels)
        for agent, title, counts in zip(match["agents"], titles, theirs, strict=True):
            lives, (wins, deaths, _) = agent["lives"], counts
            for measure, count in (("wins", wins), ("deaths", deaths)):
                ours = (lives[measure], lives["geese"] - lives[measure])
                p = fisher_exact([(count, THESIS["games"] - count), ours]).pvalue
                rate = 100 * lives[measure] / lives["geese"]
                tests.append((f"{measure} of {title} ({count}, {rate:.1f})", float(p)))
    corrected = holm([p for _, p in tests])
    differing = [text for (text, _), p in zip(tests, corrected, strict=True) if p < LEVEL]
    return len(tests), differing


def rivals(match: Mapping[str, Any], labels: Labels) -> tuple[str, str]:
    """Return the opponents of a match's first agent, and its training opponents of their types.

    Both are texts. Only networks are trained; `"-"` stands for a tree search.
    """
    ours, *others = (agent["agent"] for agent in match["agents"])
    card = load_card(*ours.partition(",")[0].split(":")) if ours.startswith("ac:") else None
    names = match_titles(match, labels)[1:]
    met = dict.fromkeys(training_opponent(card, spec) for spec in others) if card else "-"
    return f"three {names[0]}" if len(set(names)) == 1 else "; ".join(names), "; ".join(met)


def training_opponent(card: dict[str, Any], spec: str) -> str:
    """Return the title of the training opponents of a network that are of an agent's type.

    Args:
        card: the network's card, see `ludoteca.agents.networks.cards`.
        spec: spec string of the agent.
    """
    relation = trained_against(card, spec)
    if relation == NOT_TRAINED:
        return "no agent of this type"
    name = spec.partition(":")[0]
    if relation != TRAINED and name == "cnn":
        return "another imitation network"
    same_type = [other for other in card["trained_against"] if other.partition(":")[0] == name]
    return agent_title(spec) if relation == TRAINED else ", ".join(map(agent_title, same_type))


def ratings(records: Records, labels: Labels) -> list[tuple[str, Ratings, dict[str, int]]]:
    """Return the agents of all competitions of four different agents, the highest rating first.

    Each has its title, rating and `total_lives`. Matches of two agents have no `"outcomes"`; in
    matches of four, some agents may be equal.
    """
    rated = {
        name: (titles, read_outcomes(match["outcomes"]))
        for name, match in records.items()
        if "outcomes" in match
        if len(set(titles := match_titles(match, labels))) == len(titles)
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
    matches = [match for match in records.values() if "outcomes" in match]
    agents = chain.from_iterable(
        zip(match_titles(match, labels), match["agents"], strict=True) for match in matches
    )
    for title, agent in agents:
        lives = agent["lives"]
        counts = {key: lives[key] for key in ("geese", "wins", "deaths")}
        counts |= {"forced": sum(lives["forced"].values()), **lives["causes"]}
        sums = totals.setdefault(title, dict.fromkeys(counts, 0))
        for key, count in counts.items():
            sums[key] += count
    return totals
