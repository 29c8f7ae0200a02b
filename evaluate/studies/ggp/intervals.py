"""Intervals of our shares of wins, of those of Valencia's thesis, and of their differences."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.statistics.differences import shares_differ, shares_difference
from ludoteca.evaluate.statistics.equivalence import MeanScore, stratified_score
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.studies.ggp import uaemex2021 as thesis
from ludoteca.evaluate.tournament.export import csv_text
from ludoteca.evaluate.tournament.results import Results

INTERVALS_FILE = "intervals.csv"
Wins = NDArray[Any]  # wins by game, and by policy or pair


def mean_score(results: Results, first: int, second: int) -> MeanScore:
    """Return the mean score over the games of an agent against another, a draw being half a point.

    Args:
        results: results of a tournament.
        first: index of the agent.
        second: index of its opponent.
    """
    wins, draws = results.wins()[:, first, second], results.draws()[:, first, second]
    games = results.tournament.games_per_pair
    return stratified_score([(int(w), int(d), games) for w, d in zip(wins, draws, strict=True)])


def half_widths(wins: Wins, games: int, thesis_wins: Wins) -> NDArray[np.float64]:
    """Return half the width of the 95 % interval of each difference to the thesis.

    Args:
        wins: our wins by game and policy. Shape `[8, 5]`.
        games: number of our games of each policy and game.
        thesis_wins: wins of the thesis, of `PLAYED` games. The same shape.

    Returns:
        Half widths in wins of `PLAYED` games, and those of the sums over the games in the last row.
        Shape `[9, 5]`.
    """
    low, high = shares_difference(wins / games, games, thesis_wins / thesis.PLAYED, thesis.PLAYED)
    half = thesis.PLAYED * (high - low) / 2
    return np.vstack([half, np.sqrt((half**2).sum(0))])


def intervals_csv(tables: Mapping[int, list[tuple[tuple[str, ...], Wins, int, Wins, int]]]) -> str:
    """Return shares of wins in % with 95 % intervals as CSV, a line for each share.

    Intervals of shares are Wilson's, those of differences normal ones. A difference is significant
    by the z test of two proportions at the 5 % level.

    Args:
        tables: tables of wins by the number of simulations per move. A table has the names of its
            columns, our wins by game and column, the number of games of each, and the wins and the
            number of games of the thesis.
    """
    rows = list[dict[str, Any]]()
    for simulations, entries in tables.items():
        for columns, ours, games, theirs, their_games in entries:
            shares = ours / games, games, theirs / their_games, their_games
            low, high = shares_difference(*shares)
            differ = shares_differ(*shares)
            for g, game in enumerate(thesis.GAME_NAMES):
                for k, column in enumerate(columns):
                    rows.append(
                        {
                            "simulations": simulations,
                            "game": game,
                            "wins_of": column,
                            **_share("here", float(ours[g, k]), games),
                            **_share("thesis", float(theirs[g, k]), their_games),
                            "difference": _percent(shares[0][g, k] - shares[2][g, k]),
                            "difference_low": _percent(low[g, k]),
                            "difference_high": _percent(high[g, k]),
                            "significant": bool(differ[g, k]),
                        }
                    )
    return csv_text(rows)


def _share(source: str, wins: float, games: int) -> dict[str, Any]:
    """Return the columns of a share of wins, whose names begin with its source."""
    low, high = wilson(wins, games)
    return {
        f"{source}_games": games,
        source: _percent(wins / games),
        f"{source}_low": _percent(low),
        f"{source}_high": _percent(high),
    }


def _percent(fraction: float) -> str:
    """Return a fraction as a percentage with two digits."""
    return f"{100 * fraction:.2f}"
