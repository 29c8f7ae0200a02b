"""The parts of a report about a table of points: who has how many, and whether that is chance."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ludoteca.evaluate.forfeits import Forfeit, forfeit_counts
from ludoteca.evaluate.markdown import bold, number, p_text, p_value, table
from ludoteca.evaluate.statistics.ranks import AGENTS, GAMES
from ludoteca.evaluate.statistics.ratings import Ratings
from ludoteca.evaluate.statistics.wilcoxon import NEEDED
from ludoteca.evaluate.tournament.analysis import Analysis

LEVEL = 0.05  # of significance
MATRIX = 12  # more agents get a list of tests instead of a matrix


def points_table(analysis: Analysis, names: Sequence[str], games: Sequence[str]) -> str:
    """Return the points per game and agent, and what they add up to; the most are bold."""
    rows = [
        [title, *(bold(number(x), x == max(row)) for x in row)]
        for title, row in zip(games, analysis.points.tolist(), strict=True)
    ]
    sums = [("total", analysis.total, 1)]
    if analysis.sd is not None:
        sums += [
            ("mean", analysis.mean, 2),
            ("standard deviation", analysis.sd, 2),
            ("median", analysis.median, 2),
        ]
    for label, values, digits in sums:
        rows.append([f"*{label}*", *(number(x, digits) for x in values.tolist())])
    return table(("game", *names), rows)


def rank_table(analysis: Analysis, names: Sequence[str], games: Sequence[str]) -> str:
    """Return the place of each agent in each game, 1 the best."""
    rows = [
        [title, *(number(x) for x in row)]
        for title, row in zip(games, analysis.ranks.tolist(), strict=True)
    ]
    rows.append(["*sum*", *(number(x) for x in analysis.ranks.sum(0).tolist())])
    rows.append(["*mean*", *(f"{x:.2f}" for x in analysis.mean_ranks.tolist())])
    return table(("game", *names), rows)


def forfeits_table(forfeits: Sequence[Forfeit], names: Sequence[str]) -> str:
    """Return who left how many games and why; empty if nobody did."""
    rows = []
    for a, name in enumerate(names):
        mine = [one for one in forfeits if one.agent == a]
        if mine:
            kinds = forfeit_counts(mine, a)
            reasons = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
            rows.append((name, f"{len(mine):,}", reasons, " ".join(mine[0].message.split())))
    return table(("agent", "times", "reasons", "the first one"), rows) if rows else ""


def friedman_text(analysis: Analysis) -> str:
    """Return what Friedman's test says."""
    test = analysis.friedman
    if test is None:
        games, agents = analysis.points.shape
        return (
            f"Friedman's test and Nemenyi's are left out: they need {GAMES} games and {AGENTS} "
            f"agents or more, and here are {games} and {agents}."
        )
    corrected = (
        f" ({test.corrected:.3f} corrected for ties)"
        if abs(test.corrected - test.statistic) > 1e-9
        else ""
    )
    verdict = "more than chance explains" if test.p < LEVEL else "no more than chance may explain"
    return (
        f"**Friedman:** chi-squared = {test.statistic:.3f}{corrected}, {test.degrees} degrees of "
        f"freedom, {p_text(test.p)}: over all games, the agents differ {verdict}."
    )


def nemenyi_text(analysis: Analysis, names: Sequence[str]) -> str:
    """Return what Nemenyi's test says; empty without one."""
    test = analysis.nemenyi
    if test is None:
        return ""
    means = analysis.mean_ranks
    apart = [
        f"{names[a]} and {names[b]}"
        for a, b in combinations(range(len(names)), 2)
        if abs(means[a] - means[b]) >= test.critical_difference
    ]
    if not apart:
        found = "no two agents do"
    elif len(apart) <= MATRIX:
        found = f"so do {'; '.join(apart)}"
    else:
        found = f"so do {len(apart)} of {len(names) * (len(names) - 1) // 2} pairs, see the picture"
    return (
        f"**Nemenyi:** agents differ significantly ({LEVEL}) if their mean ranks are "
        f"{test.critical_difference:.2f} or more apart; {found}."
    )


def wilcoxon_text(analysis: Analysis, names: Sequence[str]) -> str:
    """Return what the signed-rank tests say: a matrix, or for many agents a list."""
    games, agents = analysis.points.shape
    if not analysis.differences:
        return (
            f"Wilcoxon's test is left out: it compares agents over several games, here is {games}."
        )
    text = (
        "**Wilcoxon signed-rank**, exact, two-sided: p that two equally good agents differ as much "
        "over the games as these do. "
    )
    if games < NEEDED:
        least = 2.0 ** (1 - games)
        text += (
            f"With {games} games p is at least {least:.3g}, so nothing can be significant at "
            f"{LEVEL}. "
        )
    if agents > MATRIX:
        found = [one for one in analysis.differences if one.test.p < LEVEL]
        return (
            f"{text}{len(found)} of {len(analysis.differences)} pairs differ at {LEVEL}, "
            f"{sum(one.holm < LEVEL for one in found)} after Holm's correction for their number; "
            "all are in `results.json`."
        )
    cells = [["" for _ in names] for _ in names]
    for one in analysis.differences:
        a, b = one.pair
        better = "+" if one.test.plus > one.test.minus else "-"
        worse = "-" if better == "+" else "+"
        for x, y, sign in ((a, b, better), (b, a, worse)):
            value = p_value(one.test.p)
            cells[x][y] = bold(f"{sign} {value}", True) if one.test.p < LEVEL else value
    rows = [[name, *row] for name, row in zip(names, cells, strict=True)]
    least_holm = min(one.holm for one in analysis.differences)
    return (
        f"{text}Bold with + where the row's agent is significantly ({LEVEL}) better than the "
        f"column's, with - where it is worse.\n\n{table(('', *names), rows)}\n\n"
        f"These p are not corrected for there being {len(analysis.differences)} tests; by Holm's "
        f"correction the smallest becomes {p_value(least_holm)}."
    )


def rating_table(
    overall: Ratings, by_game: Sequence[Ratings], titles: Sequence[str], names: Sequence[str]
) -> str:
    """Return the ratings with their intervals, the best first, and those in each game."""
    several = len(titles) > 1
    rows = []
    for a in np.argsort(-overall.elo, kind="stable"):
        interval = f"{overall.low[a]:+.0f} to {overall.high[a]:+.0f}"
        each = [f"{one.elo[a]:+.0f}" for one in by_game] if several else []
        rows.append([names[a], f"**{overall.elo[a]:+.0f}**", interval, *each])
    return table(("agent", "Elo", "95 % interval", *(titles if several else ())), rows)
