"""Playing a tournament, and going on with one that was interrupted."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

from ludoteca.agents.registry import make_agent
from ludoteca.envs.clock import clock
from ludoteca.envs.params import integer
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match, seat_agents
from ludoteca.evaluate.match_runner import compile_match
from ludoteca.evaluate.tournament.game_log import LETTERS, GameLog, PlayedGames
from ludoteca.evaluate.tournament.plan import Match, Tournament
from ludoteca.evaluate.tournament.results import Results
from ludoteca.executor import LOCAL, Executor, _Wait, make_executor
from ludoteca.worker import resolving

FIRST_GAMES = 2  # how many games are asked for while it is not known how long they take
SecondsPerGame = dict[tuple[int, tuple[int, int]], float]  # seconds a game, by game and pair
Tasks = Callable[
    [GameLog, list[Match], SecondsPerGame], Iterator[Callable[[], PlayedGames] | _Wait]
]
TASK_SECONDS = 2.0  # seconds of games that are asked for at a time, and lost by a kill


def run_tournament(
    tournament: Tournament,
    folder: str | Path,
    *,
    processes: int | None = None,
    progress: bool = False,
    executor: str = LOCAL,
) -> Results:
    """Play a tournament, or what is left of it, and return all its results.

    Every game is recorded in the folder as soon as it and a few others are over. After an
    interruption of any kind, the same call goes on. Game k of a match draws from random streams of
    its own, so the results depend neither on interruptions nor on the number of processes.

    Args:
        tournament: what is to be played.
        folder: where the record is kept, and nothing else of another tournament.
        processes: how many play side by side; as many as there are cores by default, and with 1 no
            other process is started.
        progress: show progress on standard error.
        executor: where the processes run, see `ludoteca.executor.make_executor`.

    Raises:
        ValueError: if the folder belongs to another tournament, or agents cannot play a game.
        RuntimeError: if a process dies again and again, or cannot play these games.
        ConnectionError: if there is no such cluster.
        OSError: if the folder cannot be written.
    """
    if processes is not None:
        integer("processes", processes, 1, 10**5)
    with GameLog(tournament, Path(folder)) as log:
        play_missing_games(log, processes, progress, executor)
        return Results(tournament, log.outcomes, log.plies, log.seconds, log.forfeits)


def play_missing_games(
    log: GameLog, processes: int | None, progress: bool, executor: str, tasks: Tasks | None = None
) -> tuple[float, SecondsPerGame]:
    """Play what is left of a tournament, see `run_tournament`.

    Args:
        log: of the tournament.
        processes: how many play side by side.
        progress: show progress on standard error.
        executor: where they play.
        tasks: yields the games to play as tasks, by default all that are left.

    Returns:
        The seconds until everything was compiled, and what the last games of each pair took.
    """
    to_play = [match for match in log.tournament.matches() if log.missing(match)]
    if not to_play:
        return 0.0, {}
    with (
        make_executor(executor, processes) as workers,
        _progress_bar(log) if progress else nullcontext(_silent) as show,
    ):
        return _play(log, to_play, workers, show, tasks or _game_tasks)


def _play(
    log: GameLog,
    to_play: list[Match],
    workers: Executor,
    show: Callable[..., None],
    tasks: Tasks,
) -> tuple[float, SecondsPerGame]:
    """Compile everything once, then play the matches; see `play_missing_games`."""
    tournament, began = log.tournament, perf_counter()
    entrants = {(match.game, a): None for match in to_play for a in match.pair}
    for _ in workers.run_unordered(
        partial(prepare, tournament.games[game], tournament.agents[a]) for game, a in entrants
    ):
        show(prepared=1 / len(entrants))
    show(prepared=0.0)
    compiling = perf_counter() - began
    pace: SecondsPerGame = {}
    for played in workers.run_unordered(tasks(log, to_play, pace)):
        log.add(played)
        count = len(played.outcomes)
        pace[played.match.game, played.match.pair] = max(played.seconds, 1e-6) / count
        show(played=count)
    return compiling, pace


def _game_tasks(
    log: GameLog,
    to_play: list[Match],
    pace: SecondsPerGame,
) -> Iterator[Callable[[], PlayedGames]]:
    """Yield the games to play as tasks, some at a time; `pace` is read each time."""
    tournament = log.tournament
    for match in to_play:
        for low, high in log.missing(match):
            while low < high:
                seconds = pace.get((match.game, match.pair))
                count = FIRST_GAMES if seconds is None else max(int(TASK_SECONDS / seconds), 1)
                count = min(count, high - low)
                yield partial(play, tournament, match, low, count)
                low += count


def prepare(game: str, agent: str) -> None:
    """Compile what an agent and a game need, and try the agent's first move."""
    with resolving(game, agent):
        rules = make_game(game)
        player = make_agent(agent, rules)
    compile_match(rules)
    player.prepare()
    state, env_index = rules.empty(1), np.zeros(1, np.int64)
    state[0] = rules.new()
    mover = env_index if rules.player is None else np.full(1, rules.player(rules.new()))
    player.reset(env_index)
    player.act(state, mover, np.zeros((1, 1), np.uint64), env_index)


def play(tournament: Tournament, match: Match, first: int, count: int) -> PlayedGames:
    """Play some games of a match."""
    start = clock()
    spec, agents = tournament.games[match.game], [tournament.agents[a] for a in match.pair]
    with resolving(spec, *agents):
        game = make_game(spec)
        pair = seat_agents(game, agents)
    result = play_match(
        game,
        pair,
        count,
        seed=tournament.match_seed(match),
        first_game=first,
    )
    assert result.returns is not None
    seats = np.arange(result.returns.shape[1])
    mine = (first + np.arange(count)[:, None] + seats) % 2 == 0
    best = np.where(mine, result.returns, -np.inf).max(1)
    other = np.where(mine, -np.inf, result.returns).max(1)
    letters = "".join(LETTERS[int(sign) + 1] for sign in np.sign(best - other))
    plies = round(result.mean_plies * count)
    seconds = clock() - start
    return PlayedGames(match, first, letters, plies, seconds, result.forfeits)


def _silent(*, played: int = 0, prepared: float = 0.0) -> None:
    return


@contextmanager
def _progress_bar(log: GameLog) -> Iterator[Callable[..., None]]:
    """Show bars on standard error; yields the function that is told what has been done."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=300) as bar:
        total, before = log.tournament.total_games, log.games_played
        compiling = bar.add_task("compiling", total=100)
        playing = bar.add_task("playing", total=total, completed=before, start=False)

        def show(*, played: int = 0, prepared: float = 0.0) -> None:
            if played:
                bar.advance(playing, played)
            elif prepared:
                bar.advance(compiling, 100 * prepared)
            else:
                bar.update(compiling, completed=100, visible=False)
                bar.start_task(playing)

        yield show
