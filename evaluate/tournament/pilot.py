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
    play_games,
    play_missing_games,
)
from ludoteca.executor import LOCAL, WAIT, _Wait

TASKS_PER_PAIR = 3  # number of tasks of each pair in each game
SAMPLE_SECONDS = 1.0  # intended duration of a pilot task


@dataclass(frozen=True)
class PilotRun:
    """Result of a pilot run.

    Attributes:
        tournament: the tournament.
        played: number of games in the log.
        seconds_per_game: expected mean over the missing games.
        slowest: seconds per game of the slowest pair in its slowest game, and their names.
        compile_seconds: seconds of compilation before the first game.
        forecast: forecast of the time of the missing games.
    """

    tournament: Tournament
    played: int
    seconds_per_game: float
    slowest: tuple[float, str]
    compile_seconds: float
    forecast: Forecast

    def lines(self, price: float) -> list[str]:
        """Return the lines of the plan; `price` is the price of a core hour in dollars."""
        num_missing = self.tournament.total_games - self.played
        seconds, name = self.slowest
        return [
            f"plan: {self.tournament.total_games:,} games, {self.played:,} of them played, "
            f"{num_missing:,} left",
            f"a game takes {self.seconds_per_game:.4g} s of one core on average; the slowest, "
            f"{name}, {seconds:.4g} s",
            f"remaining: {format_duration(self.forecast.seconds)} of one worker, in tasks of "
            f"{TASK_SECONDS:g} s; each machine compiles first, which took "
            f"{format_duration(self.compile_seconds)} here",
            *forecast_lines(self.forecast, price),
            "The same command without --plan plays the remaining games. Results are saved every "
            "few seconds; after an interruption, the same command resumes.",
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

    The games are those of the tournament, so they stay in its log.

    Args:
        tournament: the tournament.
        folder: folder of the log.
        processes: number of processes, see `run_tournament`.
        progress: show progress on standard error.
        executor: executor of the games.

    Raises:
        ValueError: if the folder belongs to another tournament, or agents cannot play a game.
    """
    with GameLog(tournament, Path(folder)) as log:
        compile_seconds, last_seconds = play_missing_games(
            log, processes, progress, executor, _pilot_tasks
        )
        num_missing = (log.outcomes == MISSING).sum((2, 3))
        seconds_per_game = log.seconds / np.maximum((log.outcomes != MISSING).sum((2, 3)), 1)
        # The last task gives the best estimate: it has the most games, and no first ones.
        for (game, pair), seconds in last_seconds.items():
            seconds_per_game[game, tournament.pairs.index(pair)] = seconds
        total = float((seconds_per_game * num_missing).sum())
        slowest_game, slowest_pair = divmod(int(seconds_per_game.argmax()), len(tournament.pairs))
        names = " against ".join(tournament.names[a] for a in tournament.pairs[slowest_pair])
        return PilotRun(
            tournament=tournament,
            played=log.games_played,
            seconds_per_game=total / max(int(num_missing.sum()), 1),
            slowest=(
                float(seconds_per_game.max()),
                f"{names} in {tournament.games[slowest_game]}",
            ),
            compile_seconds=compile_seconds,
            forecast=Forecast(
                total,
                chain=min(max(TASK_SECONDS, float(seconds_per_game.max())), total),
                driver=log.seconds_per_result * total / TASK_SECONDS,
            ),
        )


def _pilot_tasks(
    log: GameLog, matches: list[Match], seconds_per_game: SecondsPerGame
) -> Iterator[Callable[[], PlayedGames] | _Wait]:
    """Yield `TASKS_PER_PAIR` tasks of every pair in every game, or `WAIT`.

    They play the first missing games of the pair's first unfinished match; if these do not suffice,
    there are fewer tasks.

    The number of games of a task follows from the `seconds_per_game` of the pair's last task: the
    first games of a process take longer, and few games give a poor estimate.
    """
    first_matches = {(match.game, match.pair): match for match in reversed(matches)}
    ranges = {key: log.missing(match)[0] for key, match in sorted(first_matches.items())}
    for _ in range(TASKS_PER_PAIR):
        for key, (low, high) in ranges.items():
            # Wait until the games of this pair's last task are in the log: then the first missing
            # games are those from `low`, or none.
            while log.missing(first_matches[key])[:1] not in ([], [(low, high)]):
                yield WAIT
            count = (
                INITIAL_GAMES
                if key not in seconds_per_game
                else max(int(SAMPLE_SECONDS / seconds_per_game[key]), INITIAL_GAMES)
            )
            count = min(count, high - low)
            if count > 0:
                yield partial(play_games, log.tournament, first_matches[key], low, count)
                ranges[key] = low + count, high
