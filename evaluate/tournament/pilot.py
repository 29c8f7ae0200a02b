"""Pilot run of a tournament: some games of every pair, and a forecast of the remaining time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ludoteca.duration import format_duration
from ludoteca.evaluate.forecast import Forecast, forecast_lines
from ludoteca.evaluate.tournament.game_log import GameLog
from ludoteca.evaluate.tournament.plan import Match, Tournament
from ludoteca.evaluate.tournament.played_games import MISSING, PlayedGames
from ludoteca.evaluate.tournament.run import (
    INITIAL_GAMES,
    TASK_SECONDS,
    SecondsPerGame,
    play,
    play_missing_games,
)
from ludoteca.executor import LOCAL, WAIT, _Wait

PASSES, SAMPLE = 3, 1.0  # tasks of each pair, and seconds of each task


@dataclass(frozen=True)
class PilotRun:
    """Result of a pilot run.

    Attributes:
        tournament: the whole tournament.
        played: number of games in the log.
        seconds_per_game: expected mean of the missing games.
        slowest: seconds per game of the slowest pair of agents and game, and its name.
        compiling: seconds of compilation before the first game.
        forecast: forecast for the missing games.
    """

    tournament: Tournament
    played: int
    seconds_per_game: float
    slowest: tuple[float, str]
    compiling: float
    forecast: Forecast

    def lines(self, price: float) -> list[str]:
        """Return the plan as text; `price` is the price of a core hour in dollars."""
        left = self.tournament.total_games - self.played
        seconds, name = self.slowest
        return [
            f"plan: {self.tournament.total_games:,} games, {self.played:,} of them on record, "
            f"{left:,} left",
            f"a game takes {self.seconds_per_game:.4g} s of one core on average; the slowest, "
            f"{name}, {seconds:.4g} s",
            f"left: {format_duration(self.forecast.seconds)} of one worker, in tasks of "
            f"{TASK_SECONDS:g} s; each machine first compiles, here "
            f"{format_duration(self.compiling)}",
            *forecast_lines(self.forecast, price),
            "The same command without --plan plays the rest. Every result is written as it comes; "
            "a run that was stopped resumes there.",
        ]


def play_pilot(
    tournament: Tournament,
    folder: str | Path,
    *,
    processes: int | None = None,
    progress: bool = False,
    executor: str = LOCAL,
) -> PilotRun:
    """Play some games of every pair in every game, and forecast the remaining time.

    They are games of the tournament and stay in its log.

    Args:
        tournament: the whole tournament.
        folder: folder of the log.
        processes: number of processes, see `run_tournament`.
        progress: show progress on standard error.
        executor: executor of the games.

    Raises:
        ValueError: if the folder belongs to another tournament, or agents cannot play a game.
    """
    with GameLog(tournament, Path(folder)) as log:
        compiling, last = play_missing_games(log, processes, progress, executor, _pilot_tasks)
        left = (log.outcomes == MISSING).sum((2, 3))
        pace = log.seconds / np.maximum((log.outcomes != MISSING).sum((2, 3)), 1)
        for (game, pair), seconds in last.items():
            pace[game, tournament.pairs.index(pair)] = seconds
        total = float((pace * left).sum())
        worst, number = divmod(int(pace.argmax()), pace.shape[1])
        names = " against ".join(tournament.names[a] for a in tournament.pairs[number])
        return PilotRun(
            tournament=tournament,
            played=log.games_played,
            seconds_per_game=total / max(int(left.sum()), 1),
            slowest=(float(pace[worst, number]), f"{names} in {tournament.games[worst]}"),
            compiling=compiling,
            forecast=Forecast(
                total,
                chain=min(max(TASK_SECONDS, float(pace.max())), total),
                driver=log.seconds_per_result * total / TASK_SECONDS,
            ),
        )


def _pilot_tasks(
    log: GameLog, matches: list[Match], pace: SecondsPerGame
) -> Iterator[Callable[[], PlayedGames] | _Wait]:
    """Yield `PASSES` tasks of every pair; `pace` holds the seconds per game of its last task.

    The first games of a process take longer, and few games give a poor estimate.
    """
    first = {(match.game, match.pair): match for match in reversed(matches)}
    ranges = {key: log.missing(match)[0] for key, match in sorted(first.items())}
    for _ in range(PASSES):
        for key, (low, high) in ranges.items():
            while log.missing(first[key])[:1] not in ([], [(low, high)]):
                yield WAIT
            count = (
                INITIAL_GAMES if key not in pace else max(int(SAMPLE / pace[key]), INITIAL_GAMES)
            )
            count = min(count, high - low)
            if count > 0:
                yield partial(play, log.tournament, first[key], low, count)
                ranges[key] = low + count, high
