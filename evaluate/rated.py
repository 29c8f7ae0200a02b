"""Results of an agent by seat, with intervals that count equal games once."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import MatchResult
from ludoteca.evaluate.match_schedule import seating
from ludoteca.evaluate.statistics.intervals import wilson


def rate_seats(match: MatchResult, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return how the match's first agent did in each seat, with 95 % Wilson intervals.

    Args:
        match: a finished match.
        names: of the seats; a single one stands for all seats together.

    Returns:
        For each seat the counts, the share of wins `"win_rate"`, and the ends `"low"` and `"high"`
        of its interval. `"distinct"` is how many of the games are different: where all are the
        same, as between two agents without chance, the interval is that of one game.
    """
    together = len(names) == 1
    tallies = (match.totals[0],) if together else match.seats[0]
    numbers = match.first + np.arange(match.games)
    who = seating(numbers, make_game(match.game).num_players, len(match.agents))
    rated = []
    for p, (seat, tally) in enumerate(zip(names, tallies, strict=True)):
        distinct = tally.games
        if match.courses is not None:
            courses = match.courses if together else match.courses[who[:, p] == 0]
            distinct = len(np.unique(courses))
        won, of = (min(tally.wins, 1), 1) if distinct == 1 else (tally.wins, tally.games)
        low, high = wilson(won, of)
        rated.append(
            {
                "seat": seat,
                "games": tally.games,
                "distinct": distinct,
                "wins": tally.wins,
                "draws": tally.draws,
                "losses": tally.losses,
                "win_rate": tally.win_rate,
                "low": low,
                "high": high,
            }
        )
    return rated
