"""Win rates and mean returns of an agent by seat, with Wilson intervals."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import MatchResult
from ludoteca.evaluate.match_schedule import assign_seats
from ludoteca.evaluate.statistics.intervals import return_interval, wilson

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def seat_names(game: Game) -> tuple[str, ...]:
    """Return the names of the seats in which an agent is evaluated.

    In simultaneous games seats are not distinguished: the agent sits in each of them equally often,
    and the opponent in all others. In one-player games the agent plays alone.
    """
    if game.num_players == 1:
        return ("alone",)
    if game.simultaneous:
        return ("any",)
    further_seats = (f"seat {seat + 1}" for seat in range(len(ORDINALS), game.num_players))
    return (*ORDINALS, *further_seats)[: game.num_players]


def seat_results(match: MatchResult, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the results of the match's first agent in each seat, with 95 % Wilson intervals.

    Args:
        match: result of a match.
        names: names of the seats, or one name for the result over all seats.

    Returns:
        For each name the counts, the fraction of wins `"win_rate"`, and the bounds `"low"` and
        `"high"` of its interval. `"distinct"` is the number of distinct games: if all are equal, as
        between two deterministic agents, the interval is that of a single game. In games that
        `has_mean_returns` names, also `"mean_return"`, with the bounds `"return_low"` and
        `"return_high"`, and `"score"`, (1 + mean return) / 2.
    """
    game = make_game(match.game)
    is_over_all_seats = len(names) == 1
    records = (match.totals[0],) if is_over_all_seats else match.seats[0]
    game_numbers = match.first_game + np.arange(match.games)
    seating = assign_seats(game_numbers, game.num_players, len(match.agents))
    results = []
    for seat, (name, record) in enumerate(zip(names, records, strict=True)):
        num_distinct = record.games
        if match.game_digests is not None:
            is_agent = seating == 0
            in_seat = is_agent.any(1) if is_over_all_seats else is_agent[:, seat]
            num_distinct = len(np.unique(match.game_digests[in_seat]))
        wins, games = (min(record.wins, 1), 1) if num_distinct == 1 else (record.wins, record.games)
        low, high = wilson(wins, games)
        result = {
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
        if has_mean_returns(game):
            return_low, return_high = return_interval(record.mean_return, games)
            result |= {
                "mean_return": record.mean_return,
                "return_low": return_low,
                "return_high": return_high,
                "score": (1 + record.mean_return) / 2,
            }
        results.append(result)
    return results


def has_mean_returns(game: Game) -> bool:
    """Return whether results in a game include mean returns.

    They do in games that are not zero-sum, those for one player among them: a higher return need
    not be a win there.
    """
    return not game.zero_sum or game.num_players == 1
