"""Putting an agent to the test while it learns, and when it has learned."""

from typing import Any

from ludoteca.agents.agent import Agent
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.evaluate import rated
from ludoteca.evaluate.match import MatchResult, play_match

ANY = ("any",)


def seat_names(game: Game) -> tuple[str, ...]:
    """Return what the seats are called in which an agent is tested: those where moves are in turn.

    Where all move at once, seats do not differ: an agent sits in each of them equally often, and
    the opponent in all others.
    """
    return ANY if game.simultaneous else ("first", "second")


def evaluate(
    game: Game, agent: Agent, opponent: str, games: int, seed: int, record: int = 0
) -> tuple[list[dict[str, Any]], MatchResult]:
    """Let an agent play `games` games in each seat, against an opponent in all others.

    Returns:
        For each of `seat_names(game)` the counts, the win rate, and its 95 % Wilson interval from
        `low` to `high`; and the match.
    """
    players = game.num_players
    agents: list[str | Agent] = [agent, *[opponent] * (players - 1)]
    match = play_match(game, agents, players * games, seed=seed, record=record)
    return rate_seats(match), match


def rate_seats(match: MatchResult) -> list[dict[str, Any]]:
    """Return how the match's first agent did in each seat, see `rated.rate_seats`."""
    return rated.rate_seats(match, seat_names(make_game(match.game)))
