"""Sections of a tournament report in Markdown: points, ranks, significance tests and ratings."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.forfeits import Forfeit, forfeit_counts
from ludoteca.evaluate.markdown import bold, number, p_text, p_value, table
from ludoteca.evaluate.match_clock import MoveTimes
from ludoteca.evaluate.statistics.nash_averaging import NashAverage
from ludoteca.evaluate.statistics.ranks import MIN_RANKED_AGENTS, MIN_RANKED_GAMES
from ludoteca.evaluate.statistics.ratings import Ratings
from ludoteca.evaluate.statistics.wilcoxon import MIN_SIGNIFICANT_GAMES
from ludoteca.evaluate.tournament.analysis import Analysis

SIGNIFICANCE = 0.05  # level of significance of the tests
MAX_MATRIX_AGENTS = 12  # maximum number of agents in a matrix of tests


def points_table(analysis: Analysis, names: Sequence[str], games: Sequence[str]) -> str:
    """Return the table of points by game and agent, with totals; the most in a game are bold."""
    rows = [
        [title, *(bold(number(x), x == max(row)) for x in row)]
        for title, row in zip(games, analysis.points.tolist(), strict=True)
    ]
    summaries = [("total", analysis.total, 1)]
    if analysis.sd is not None:
        summaries += [
            ("mean", analysis.mean, 2),
            ("standard deviation", analysis.sd, 2),
            ("median", analysis.median, 2),
        ]
    for label, values, digits in summaries:
        rows.append([f"*{label}*", *(number(x, digits) for x in values.tolist())])
    return table(("game", *names), rows)


def rank_table(analysis: Analysis, names: Sequence[str], games: Sequence[str]) -> str:
    """Return the table of ranks of each agent in each game; 1 is the best."""
    rows = [
        [title, *(number(x) for x in row)]
        for title, row in zip(games, analysis.ranks.tolist(), strict=True)
    ]
    rows.append(["*sum*", *(number(x) for x in analysis.ranks.sum(0).tolist())])
    rows.append(["*mean*", *(f"{x:.2f}" for x in analysis.mean_ranks.tolist())])
    return table(("game", *names), rows)


def forfeits_table(forfeits: Sequence[Forfeit], names: Sequence[str]) -> str:
    """Return the table of forfeits by agent, with reasons; `""` without forfeits."""
    rows = []
    for a, name in enumerate(names):
        of_agent = [forfeit for forfeit in forfeits if forfeit.agent == a]
        if of_agent:
            kinds = forfeit_counts(of_agent, a)
            reasons = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
            rows.append(
                (name, f"{len(of_agent):,}", reasons, " ".join(of_agent[0].message.split()))
            )
    return table(("agent", "forfeits", "reasons", "first message"), rows) if rows else ""


def times_table(times: Sequence[MoveTimes], names: Sequence[str]) -> str:
    """Return the table of the times of the agents' moves."""
    rows = [
        (
            name,
            f"{move_times.moves:,}",
            f"{move_times.mean:.3f}",
            f"{move_times.slowest:.3f}",
            f"{move_times.out_of_time:,}",
        )
        for name, move_times in zip(names, times, strict=True)
    ]
    return table(("agent", "moves", "mean seconds", "slowest, seconds", "out of time"), rows)


def friedman_text(analysis: Analysis) -> str:
    """Return a paragraph about Friedman's test."""
    test = analysis.friedman
    if test is None:
        games, agents = analysis.points.shape
        return (
            f"Friedman's test and Nemenyi's are left out: they need {MIN_RANKED_GAMES} games and "
            f"{MIN_RANKED_AGENTS} agents or more, and there are {games} and {agents}."
        )
    corrected = (
        f" ({test.corrected:.3f} corrected for ties)"
        if abs(test.corrected - test.statistic) > 1e-9
        else ""
    )
    verdict = "differ significantly" if test.p < SIGNIFICANCE else "do not differ significantly"
    return (
        f"**Friedman:** chi-squared = {test.statistic:.3f}{corrected}, {test.degrees} degrees of "
        f"freedom, {p_text(test.p)}: over all games, the agents {verdict} ({SIGNIFICANCE})."
    )


def nemenyi_text(analysis: Analysis, names: Sequence[str]) -> str:
    """Return a paragraph about Nemenyi's test; `""` without one."""
    test = analysis.nemenyi
    if test is None:
        return ""
    means = analysis.mean_ranks
    different_pairs = [
        f"{names[a]} and {names[b]}"
        for a, b in combinations(range(len(names)), 2)
        if abs(means[a] - means[b]) >= test.critical_difference
    ]
    if not different_pairs:
        result = "no two agents do"
    elif len(different_pairs) <= MAX_MATRIX_AGENTS:
        result = f"so do {'; '.join(different_pairs)}"
    else:
        pairs = len(names) * (len(names) - 1) // 2
        result = f"so do {len(different_pairs)} of {pairs} pairs, see the figure"
    return (
        f"**Nemenyi:** agents differ significantly ({SIGNIFICANCE}) if their mean ranks are "
        f"{test.critical_difference:.2f} or more apart; {result}."
    )


def wilcoxon_text(analysis: Analysis, names: Sequence[str]) -> str:
    """Return a paragraph about the signed-rank tests, with a matrix of p values for few agents."""
    games, agents = analysis.points.shape
    if not analysis.differences:
        return f"Wilcoxon's test is left out: it needs several games, and there is {games}."
    text = (
        "**Wilcoxon signed-rank**, exact, two-sided: p is the probability that two equally good "
        "agents differ at least as much over the games. "
    )
    if games < MIN_SIGNIFICANT_GAMES:
        least_p = 2.0 ** (1 - games)
        text += (
            f"With {games} games p is at least {least_p:.3g}, so nothing can be significant at "
            f"{SIGNIFICANCE}. "
        )
    if agents > MAX_MATRIX_AGENTS:
        significant = [d for d in analysis.differences if d.test.p < SIGNIFICANCE]
        return (
            f"{text}{len(significant)} of {len(analysis.differences)} pairs differ at "
            f"{SIGNIFICANCE}, {sum(d.holm < SIGNIFICANCE for d in significant)} after Holm's "
            "correction for their number; all are in `results.json`."
        )
    cells = [["" for _ in names] for _ in names]
    for difference in analysis.differences:
        a, b = difference.pair
        p = difference.test.p
        better = "+" if difference.test.plus > difference.test.minus else "-"
        worse = "-" if better == "+" else "+"
        for x, y, sign in ((a, b, better), (b, a, worse)):
            cells[x][y] = bold(f"{sign} {p_value(p)}") if p < SIGNIFICANCE else p_value(p)
    rows = [[name, *row] for name, row in zip(names, cells, strict=True)]
    least_holm = min(difference.holm for difference in analysis.differences)
    return (
        f"{text}Bold with + where the row's agent is significantly ({SIGNIFICANCE}) better than "
        f"the column's, with - where it is worse.\n\n{table(('', *names), rows)}\n\n"
        f"These p values are not corrected for the number of tests, {len(analysis.differences)}; "
        f"after Holm's correction the smallest is {p_value(least_holm)}."
    )


def nash_table(average: NashAverage, mass: NDArray[np.float64], names: Sequence[str]) -> str:
    """Return the table of Nash averaging and alpha-rank, the highest Nash rating first.

    Args:
        average: the Nash average.
        mass: alpha-rank mass of each agent. Shape `[agents]`.
        names: names of the agents.
    """
    order = sorted(
        range(len(names)),
        # Rounded, so that ratings that differ by numerical errors only are equal.
        key=lambda a: (-round(float(average.ratings[a]), 4), -average.probabilities[a], -mass[a]),
    )
    rows = [
        (
            names[a],
            f"{average.probabilities[a]:.3f}",
            f"{round(float(average.ratings[a]), 3) + 0.0:+.3f}",  # + 0.0 turns -0.0 into 0.0
            f"{mass[a]:.3f}",
        )
        for a in order
    ]
    return table(("agent", "Nash probability", "Nash rating", "alpha-rank mass"), rows)


def rating_table(
    overall: Ratings, by_game: Sequence[Ratings], titles: Sequence[str], names: Sequence[str]
) -> str:
    """Return the table of ratings with their intervals, the best first.

    Args:
        overall: ratings over all games.
        by_game: ratings in each game, which have a column each if there are several games.
        titles: titles of the games.
        names: names of the agents.
    """
    several = len(titles) > 1
    rows = []
    # Ratings of equal numbers of wins may differ by numerical errors.
    for a in np.argsort(-overall.elo.round(6), kind="stable"):
        interval = f"{overall.low[a]:+.0f} to {overall.high[a]:+.0f}"
        game_ratings = [f"{ratings.elo[a]:+.0f}" for ratings in by_game] if several else []
        rows.append([names[a], f"**{overall.elo[a]:+.0f}**", interval, *game_ratings])
    return table(("agent", "Elo", "95 % interval", *(titles if several else ())), rows)
