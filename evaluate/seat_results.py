"""Win rates of an agent by seat, with Wilson intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import MatchResult
from ludoteca.evaluate.match_schedule import assign_seats
from ludoteca.evaluate.statistics.intervals import wilson


def seat_results(match: MatchResult, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the results of the match's first agent in each seat, with 95 % Wilson intervals.

    Args:
        match: result of a match.
        names: names of the seats, or one name for the result over all seats.

    Returns:
        For each name the counts, the fraction of wins `"win_rate"`, and the bounds `"low"` and
        `"high"` of its interval. `"distinct"` is the number of distinct games: if all are equal, as
        between two deterministic agents, the interval is that of a single game.
    """
    is_over_all_seats = len(names) == 1
    records = (match.totals[0],) if is_over_all_seats else match.seats[0]
    game_numbers = match.first_game + np.arange(match.games)
    seating = assign_seats(game_numbers, make_game(match.game).num_players, len(match.agents))
    results = []
    for seat, (name, record) in enumerate(zip(names, records, strict=True)):
        num_distinct = record.games
        if match.game_digests is not None:
            digests = match.game_digests
            if not is_over_all_seats:
                digests = digests[seating[:, seat] == 0]  # games of agent 0 in this seat
            num_distinct = len(np.unique(digests))
        wins, games = (min(record.wins, 1), 1) if num_distinct == 1 else (record.wins, record.games)
        low, high = wilson(wins, games)
        results.append(
            {
                "seat": name,
                "games": record.games,
                "distinct": num_distinct,
                "wins": record.wins,
                "draws": record.draws,
                "losses": record.losses,
                "win_rate": record.win_rate,
                "low": low,
                "high": high,
            }
        )
    return results
