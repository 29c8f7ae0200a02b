"""Putting an agent to the test while it learns, and when it has learned."""

from typing import Any

from ludoteca.agents.agent import Agent
from ludoteca.envs.game import Game
from ludoteca.evaluate.intervals import wilson
from ludoteca.evaluate.match import MatchResult, play_match

SEATS = ("first", "second")


def evaluate(
    game: Game, agent: Agent, opponent: str, games: int, seed: int, record: int = 0
) -> tuple[list[dict[str, Any]], MatchResult]:
    """Let an agent play `games` games in each of two seats.

    Returns:
        For each seat the counts, the win rate, and its 95 % Wilson interval from `low` to `high`;
        and the match.
    """
    match = play_match(game, [agent, opponent], 2 * games, seed=seed, record=record)
    return rate_seats(match), match


def rate_seats(match: MatchResult) -> list[dict[str, Any]]:
    """Return how the match's first agent did in each seat, with 95 % Wilson intervals."""
    rated = []
    for seat, tally in zip(SEATS, match.seats[0], strict=True):
        low, high = wilson(tally.wins, tally.games)
        rated.append(
            {
                "seat": seat,
                "games": tally.games,
                "wins": tally.wins,
                "draws": tally.draws,
                "losses": tally.losses,
                "win_rate": tally.win_rate,
                "low": low,
                "high": high,
            }
        )
    return rated
