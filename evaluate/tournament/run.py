"""Execution of a tournament in parallel processes, resumable after an interruption.

The processes play tasks: some consecutive games of a match, about two seconds long.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

from ludoteca.agents.registry import make_agent
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.clock import clock
from ludoteca.envs.params import check_integer
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import make_match_agents, play_match
from ludoteca.evaluate.match_compilation import compile_match
from ludoteca.evaluate.tournament.game_log import GameLog
from ludoteca.evaluate.tournament.plan import Match, Tournament
from ludoteca.evaluate.tournament.played_games import OUTCOME_LETTERS, PlayedGames
from ludoteca.evaluate.tournament.results import Results
from ludoteca.executor import LOCAL, Executor, _Wait, make_executor
from ludoteca.progress import progress_bar
from ludoteca.worker import add_worker_location_to_errors

INITIAL_GAMES = 2  # number of games of a task before the time of a game is known
SecondsPerGame = dict[tuple[int, tuple[int, int]], float]  # by indices of the game and the pair
# Generator function that yields tasks for workers; its arguments are the log, the matches with
# missing games, and the seconds per game so far.
Tasks = Callable[
    [GameLog, list[Match], SecondsPerGame], Iterator[Callable[[], PlayedGames] | _Wait]
]
TASK_SECONDS = 2.0  # intended duration of a task; short, as a killed process loses its task


def run_tournament(
    tournament: Tournament,
    folder: str | Path,
    *,
    processes: int | None = None,
    progress: bool = False,
    executor: str = LOCAL,
) -> Results:
    """Play the missing games of a tournament, and return all its results.

    Games are saved in the folder every few seconds, and the same call resumes the tournament after
    an interruption. Game k of a match has its own random streams, so the results depend neither on
    interruptions nor on the number of processes.

    Args:
        tournament: the tournament.
        folder: folder of the game log, used by no other tournament.
        processes: number of processes, by default one per core; with 1, this process plays
            the games.
        progress: show progress on standard error.
        executor: executor of the games, see `ludoteca.executor.make_executor`.

    Raises:
        ValueError: if the folder belongs to another tournament, or agents cannot play a game.
        RuntimeError: if a process crashes repeatedly, or cannot load the games or agents.
        ConnectionError: if the cluster cannot be reached.
        OSError: if the folder cannot be written.
    """
    if processes is not None:
        check_integer("processes", processes, 1, 10**5)
    with GameLog(tournament, Path(folder)) as log:
        play_missing_games(log, processes, progress, executor)
        return Results(tournament, log.outcomes, log.plies, log.seconds, log.forfeits, log.times)


def play_missing_games(
    log: GameLog, processes: int | None, progress: bool, executor: str, tasks: Tasks | None = None
) -> tuple[float, SecondsPerGame]:
    """Play the missing games of a tournament, see `run_tournament`.

    Args:
        log: log of the games.
        processes: number of processes.
        progress: show progress on standard error.
        executor: executor of the games.
        tasks: generator function that yields the tasks; by default they are all missing games.

    Returns:
        The seconds of compilation, and the seconds per game in the last task of each pair.
    """
    matches = [match for match in log.tournament.matches() if log.missing(match)]
    if not matches:
        return 0.0, {}
    with make_executor(executor, processes) as workers:
        compile_seconds = _compile(log, matches, workers, progress)
        return compile_seconds, _run_tasks(log, matches, workers, progress, tasks or _game_tasks)


def _compile(log: GameLog, matches: list[Match], workers: Executor, progress: bool) -> float:
    """Compile each agent for each game, which fills the workers' caches; return the seconds."""
    tournament, start = log.tournament, perf_counter()
    game_agents = {(match.game, a): None for match in matches for a in match.pair}
    tasks = (
        partial(
            compile_agent, tournament.games[game], tournament.agents[a], tournament.time_control
        )
        for game, a in game_agents
    )
    with progress_bar(len(game_agents), progress, "agents compiled", transient=True) as advance:
        for _ in workers.run_unordered(tasks):
            advance(1)
    return perf_counter() - start


def _run_tasks(
    log: GameLog, matches: list[Match], workers: Executor, progress: bool, tasks: Tasks
) -> SecondsPerGame:
    """Run the tasks and log their games; return the seconds per game in each pair's last task."""
    seconds_per_game: SecondsPerGame = {}
    total = log.tournament.total_games
    with progress_bar(total, progress, done=log.games_played) as advance:
        for played_games in workers.run_unordered(tasks(log, matches, seconds_per_game)):
            log.add(played_games)
            count = len(played_games.outcomes)
            # At least a microsecond, as `_game_tasks` divides by it.
            seconds_per_game[played_games.match.game, played_games.match.pair] = (
                max(played_games.seconds, 1e-6) / count
            )
            advance(count)
    return seconds_per_game


def _game_tasks(
    log: GameLog,
    matches: list[Match],
    seconds_per_game: SecondsPerGame,
) -> Iterator[Callable[[], PlayedGames]]:
    """Yield the missing games as tasks of about `TASK_SECONDS`.

    `seconds_per_game` changes between two tasks: it has the time of a pair's latest finished task.
    """
    tournament = log.tournament
    for match in matches:
        for low, high in log.missing(match):
            while low < high:
                seconds = seconds_per_game.get((match.game, match.pair))
                count = INITIAL_GAMES if seconds is None else max(int(TASK_SECONDS / seconds), 1)
                count = min(count, high - low)
                yield partial(play_games, tournament, match, low, count)
                low += count


def compile_agent(game: str, agent: str, time_control: TimeControl | None = None) -> None:
    """Compile the code of a game and an agent, by choosing the agent's first action."""
    with add_worker_location_to_errors(game, agent):
        rules = make_game(game)
        agent_object = make_agent(agent, rules)
    compile_match(rules)
    if time_control is not None:
        agent_object.set_time_control(time_control)
    agent_object.prepare()
    state, env_index = rules.empty(1), np.zeros(1, np.int64)
    state[0] = rules.new()
    # In a simultaneous game the agent acts in seat 0.
    mover = env_index if rules.player is None else np.full(1, rules.player(rules.new()))
    agent_object.reset(env_index)
    agent_object.act(state, mover, np.zeros((1, 1), np.uint64), env_index)


def play_games(tournament: Tournament, match: Match, first: int, count: int) -> PlayedGames:
    """Play `count` consecutive games of a match, from game `first`."""
    start = clock()
    spec, agents = tournament.games[match.game], [tournament.agents[a] for a in match.pair]
    with add_worker_location_to_errors(spec, *agents):
        game = make_game(spec)
        pair = make_match_agents(game, agents)
    result = play_match(
        game,
        pair,
        count,
        seed=tournament.match_seed(match),
        first_game=first,
        time_control=tournament.time_control,
    )
    assert result.returns is not None
    seats = np.arange(result.returns.shape[1])
    # Whether the first agent of the pair plays the seat, `[count, seats]`: agents alternate. An
    # agent with several seats has the return of its best one.
    is_first = (first + np.arange(count)[:, None] + seats) % 2 == 0
    best = np.where(is_first, result.returns, -np.inf).max(1)
    best_other = np.where(is_first, -np.inf, result.returns).max(1)
    letters = "".join(OUTCOME_LETTERS[int(sign) + 1] for sign in np.sign(best - best_other))
    plies = round(result.mean_plies * count)
    seconds = clock() - start
    return PlayedGames(match, first, letters, plies, seconds, result.forfeits, result.times)
