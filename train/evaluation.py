"""Evaluation of agents during and after training.

A seat is the player whose place an agent takes: first, second, and so on, or any one of several
players. In one-player games an agent plays alone.
"""

import time
from collections.abc import Callable, Sequence
from math import inf
from typing import Any

from ludoteca.agents.agent import Agent
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import MatchResult, play_match
from ludoteca.evaluate.seat_results import has_mean_returns, seat_names, seat_results
from ludoteca.train.algorithm import NOBODY
from ludoteca.train.monitor import Monitor, Stopped

# Metrics of one-player games: mean return, and fraction of games with the return 1.
MEAN_RETURN, SOLVED = "evaluation__mean_return", "evaluation__solved"
FIRST_GAMES = 4  # games per seat of the first match, from which later durations are estimated
GROWTH = 4  # factor of the number of games from one match to the next, if there is time


def evaluated_against(game: Game, opponents: Sequence[str]) -> tuple[str, ...]:
    """Return the opponents of evaluation matches: `NOBODY` in one-player games, else as given."""
    return (NOBODY,) if game.num_players == 1 else tuple(dict.fromkeys(opponents))


def evaluation_metrics(
    game: Game, opponent: str, results: Sequence[dict[str, Any]]
) -> dict[str, float]:
    """Return the metrics of a match, by name.

    Win rates are named `{opponent}__{seat}`. In games that are not zero-sum there are also mean
    returns, `{opponent}__{seat}_return`; in one-player games only `MEAN_RETURN` and `SOLVED`.

    Args:
        game: the game.
        opponent: the opponent.
        results: results of the match by seat, see `rate_seats`.
    """
    if game.num_players == 1:
        return {MEAN_RETURN: results[0]["mean_return"], SOLVED: results[0]["win_rate"]}
    metrics = {f"{opponent}__{result['seat']}": result["win_rate"] for result in results}
    if has_mean_returns(game):
        metrics |= {
            f"{opponent}__{result['seat']}_return": result["mean_return"] for result in results
        }
    return metrics


def evaluate(
    game: Game,
    agent: Agent,
    opponent: str | Agent,
    games: int,
    seed: int,
    num_replays: int = 0,
    on_step: Callable[[int], None] | None = None,
) -> tuple[list[dict[str, Any]], MatchResult]:
    """Play `games` games of an agent in each seat, against an opponent in all others.

    Args:
        game: the game.
        agent: the agent.
        opponent: agent in all other seats, or its spec string; without effect in one-player games.
        games: number of games per seat.
        seed: seed of the match.
        num_replays: number of games, counted from the first, with replays.
        on_step: called after every ply of the batch with the number of finished games.

    Returns:
        For each of `seat_names(game)` the results, see `seat_results`; and the match.
    """
    players = game.num_players
    agents: list[str | Agent] = [agent, *[opponent] * (players - 1)]
    match = play_match(
        game, agents, players * games, seed=seed, num_replays=num_replays, on_step=on_step
    )
    return rate_seats(match), match


class Evaluator:
    """Evaluation of the network of a run, with the same games each time.

    Attributes:
        seconds: duration of the longest evaluation.
        num_replays: number of games of each match to record.
    """

    def __init__(self, game: Game, games: int, seed: int, monitor: Monitor):
        """Make an evaluator.

        Args:
            game: the game.
            games: games per seat and opponent.
            seed: seed of the matches.
            monitor: receives the progress, and can stop it.
        """
        self._game, self._games, self._seed, self._monitor = game, games, seed, monitor
        self.seconds, self.num_replays = 0.0, 0

    def evaluate(
        self, agent: Agent, opponents: Sequence[str]
    ) -> tuple[dict[str, float], list[MatchResult]]:
        """Play an agent against each opponent.

        Returns:
            Metrics, see `evaluation_metrics`, and the match against each opponent; in one-player
            games a single match.

        Raises:
            Stopped: if the run is to stop, or has less time left than the longest evaluation took.
        """
        values: dict[str, float] = {}
        matches: list[MatchResult] = []
        monitor, games = self._monitor, self._games * self._game.num_players
        monitor.phase, start = "evaluating", time.monotonic()
        if self.seconds > monitor.seconds_left:
            raise Stopped
        opponents = evaluated_against(self._game, opponents)
        monitor.begin("evaluating", games * len(opponents))
        for opponent in opponents:

            def report_progress(finished: int, earlier: int = games * len(matches)) -> None:
                monitor.step("evaluating", earlier + finished)

            results, match = evaluate(
                self._game,
                agent,
                opponent,
                self._games,
                self._seed,
                self.num_replays,
                on_step=report_progress,
            )
            values |= evaluation_metrics(self._game, opponent, results)
            matches.append(match)
        self.seconds = max(self.seconds, time.monotonic() - start)
        return values, matches


def evaluate_in_time(
    game: Game,
    agent: Agent,
    opponent: str | Agent,
    games: int,
    seed: int,
    monitor: Monitor,
    seconds: float = inf,
    num_replays: int = 0,
) -> tuple[list[dict[str, Any]], MatchResult]:
    """Play up to `games` games of an agent in each seat, as many as time allows.

    These are the first of the games that `evaluate` would play.

    Args:
        game: the game.
        agent: the agent.
        opponent: as for `evaluate`.
        games: maximum number of games per seat.
        seed: seed of the match.
        monitor: receives the progress, and can stop it.
        seconds: time for this opponent. A few games are played even if they take longer.
        num_replays: number of games, counted from the first, with replays.

    Returns:
        See `evaluate`.

    Raises:
        Stopped: if the run is to stop before the first match ends.
    """
    first_start = time.monotonic()
    count = games if seconds == inf else min(games, FIRST_GAMES)
    results = None
    try:
        while True:
            start = time.monotonic()
            monitor.begin("evaluating", count * game.num_players)
            results = evaluate(
                game,
                agent,
                opponent,
                count,
                seed,
                num_replays,
                on_step=lambda finished: monitor.step("evaluating", finished),
            )
            # If the time left is as long as this match took, the larger one may fit in: games of a
            # larger batch take less time each.
            now = time.monotonic()
            if count == games or first_start + seconds - now < now - start:
                return results
            count = min(games, GROWTH * count)
            monitor.task_deadline = first_start + seconds
    except Stopped:
        if results is None:
            raise
        return results
    finally:
        monitor.task_deadline = inf


def rate_seats(match: MatchResult) -> list[dict[str, Any]]:
    """Return the first agent's results in each seat, see `seat_results`."""
    return seat_results(match, seat_names(make_game(match.game)))
