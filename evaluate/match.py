"""Matches: a batch of games between agents that rotate through the seats."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.baselines import RandomAgent
from ludoteca.agents.registry import make_agent
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay
from ludoteca.envs.validation import check_seed
from ludoteca.evaluate.forfeits import Forfeit
from ludoteca.evaluate.match_clock import MoveTimes, agent_times, validate_time_control
from ludoteca.evaluate.match_compilation import compile_match
from ludoteca.evaluate.match_record import MatchRecord, agent_record, seat_record
from ludoteca.evaluate.match_runner import MatchRunner, play_all
from ludoteca.evaluate.match_schedule import empty_results, schedule_match
from ludoteca.progress import progress_bar

BATCH_SIZE = 1024  # default maximum number of concurrent games


@dataclass(frozen=True)
class MatchResult:
    """Result of a match.

    Attributes:
        game: spec string of the game.
        agents: spec strings of the agents, or names of their classes.
        games: number of games.
        seed: seed of the match.
        totals: record of each agent over all games, see `agent_record`.
        seats: `seats[a][p]` is the record of agent a in seat p.
        by_seat: record of each seat over all games and agents.
        mean_plies: mean number of plies of a game.
        seconds: time of playing, compilation excluded.
        replays: replays of the first `num_replays` games.
        first_game: number of the first game.
        returns: returns of the games by seat. Shape `[games, P]`.
        plies: number of plies of every game. Shape `[games]`.
        forfeits: forfeits of the agents, sorted by game, ply and seat, see `Agent.forfeit_reason`.
        game_digests: digests of the games, equal if the same agents in the same seats chose the
            same actions. Shape `[games]`.
        time_control: time control of the games, or None.
        times: times of each agent's moves over all games; empty without a time control.
        move_times: times of the moves by game and seat, see `match_clock.MOVE_TIMES`. Shape
            `[games, P]`.
    """

    game: str
    agents: tuple[str, ...]
    games: int
    seed: int
    totals: tuple[MatchRecord, ...]
    seats: tuple[tuple[MatchRecord, ...], ...]
    by_seat: tuple[MatchRecord, ...]
    mean_plies: float
    seconds: float
    replays: tuple[Replay, ...] = ()
    first_game: int = 0
    returns: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)
    plies: NDArray[np.int64] | None = field(default=None, repr=False, compare=False)
    forfeits: tuple[Forfeit, ...] = field(default=(), repr=False)
    game_digests: NDArray[np.uint64] | None = field(default=None, repr=False, compare=False)
    time_control: TimeControl | None = None
    times: tuple[MoveTimes, ...] = field(default=(), compare=False)
    move_times: NDArray[np.void] | None = field(default=None, repr=False, compare=False)

    @property
    def num_distinct_games(self) -> int:
        """Number of distinct games; deterministic agents play the same games again."""
        return self.games if self.game_digests is None else len(np.unique(self.game_digests))

    def __repr__(self) -> str:
        wins = {name: record.wins for name, record in zip(self.agents, self.totals, strict=True)}
        if len(wins) < len(self.agents):  # agents with the same name
            return f"MatchResult({self.game!r}, games={self.games}, agents={self.agents}, " + (
                f"wins={tuple(record.wins for record in self.totals)})"
            )
        return f"MatchResult({self.game!r}, games={self.games}, wins={wins})"

    def __str__(self) -> str:
        from ludoteca.evaluate.match_table import match_text  # imports this module

        return match_text(self)

    def _repr_html_(self) -> str:
        """Return the match as an HTML table, for notebooks."""
        from ludoteca.evaluate.match_table import match_html  # imports this module

        return match_html(self)


def play_match(
    game: Game | str,
    agents: Sequence[str | Agent],
    games: int,
    *,
    seed: int = 0,
    first_game: int = 0,
    batch_size: int = BATCH_SIZE,
    num_threads: int = 1,
    num_replays: int = 0,
    progress: bool = False,
    random_plies: int = 0,
    rotate_seats: bool = True,
    on_step: Callable[[int], None] | None = None,
    time_control: TimeControl | None = None,
) -> MatchResult:
    """Play a match of `games` games.

    Seats rotate by default: in game k, seat p belongs to agent `(k + p) % n` of the n agents. Two
    agents thus alternate in moving first, and in a game of four seats each holds every other seat.
    If n divides `games`, each agent plays each seat equally often.

    Game k has its own random streams, derived from `seed` and k: one for the game, and one per
    seat for the agent there. The batch size does not change the games.

    In one-player games there are no opponents: the n agents, one or more, play alone in turn.

    Args:
        game: a game or its spec string.
        agents: spec strings or agents, from two to one per seat; in one-player games any number.
        games: number of games.
        seed: seed of the match, which makes it reproducible if the agents draw random numbers only
            from the streams passed to them.
        first_game: number of the first game. Matches of games 0 to 99 and of games 100 to 199 have
            the same games as one match of 200 games.
        batch_size: maximum number of concurrent games, over all threads; fewer if an agent has a
            lower `Agent.max_games`.
        num_threads: number of threads that share the games, each with its own agents, made from the
            spec strings. Faster for agents that mostly run compiled code.
        num_replays: number of games, counted from the first, whose replays are returned.
        progress: show a progress bar on standard error.
        random_plies: number of random plies at the beginning of each game. Deterministic agents
            then play different games. The random plies are the same in n consecutive games, in
            which each of the n agents takes every seat once, so they favor no agent.
        rotate_seats: whether seats rotate; otherwise seat p belongs to agent `p % n` in all games.
        on_step: function called after every ply of the batch with the number of finished games; an
            exception that it raises ends the match. With several threads, each thread calls it.
        time_control: time control of the games: each thread then plays one game at a time, and
            searches use the time of the clock, see `Agent.set_time_control`. Compilation does not
            count. The time of a move is checked after the move: searches are not interrupted.

    Raises:
        ValueError: if an argument is out of range, a spec string is unknown, or an agent chooses an
            illegal action.
    """
    game = make_game(game) if isinstance(game, str) else game
    check_integer("games", games, 1, 10**9)
    check_integer("first_game", first_game, 0, 10**9)
    check_integer("batch_size", batch_size, 1, 10**6)
    check_integer("num_threads", num_threads, 1, 1024)
    check_integer("num_replays", num_replays, 0, games)
    check_integer("random_plies", random_plies, 0, 10**6)
    if num_threads > 1 and not all(isinstance(agent, str) for agent in agents):
        raise ValueError("agents that are not spec strings cannot play in more than one thread")
    if time_control is not None:
        validate_time_control(game, time_control)
    threads = min(num_threads, games)
    agents_by_thread = [make_match_agents(game, agents, alone=True) for _ in range(threads)]
    names = tuple(agent if isinstance(agent, str) else type(agent).__name__ for agent in agents)
    schedule = schedule_match(
        game, names, first_game, games, check_seed(seed), num_replays, random_plies, rotate_seats
    )
    results = empty_results(schedule)
    compile_match(game)
    if time_control is not None:
        for agent in chain.from_iterable(agents_by_thread):
            agent.set_time_control(time_control)
    # Threads share compiled code; with a clock, no agent may spend its time on other preparations.
    for agent in agents_by_thread[0] if time_control is None else chain(*agents_by_thread):
        agent.prepare()
    if random_plies > 0 or time_control is not None:
        RandomAgent(game).prepare()
    start = clock()
    with progress_bar(games, progress, transient=True) as advance:
        runners = [
            MatchRunner(
                schedule,
                results,
                thread_agents,
                games * t // threads,
                games * (t + 1) // threads,
                batch_size // threads,
                time_control,
            )
            for t, thread_agents in enumerate(agents_by_thread)
        ]
        on_finished = advance if on_step is None else _advance_and_call(advance, on_step)
        play_all(runners, on_finished, on_step is not None)
    seconds = clock() - start
    returns, seating, seats = results.returns, schedule.seating, range(game.num_players)
    return MatchResult(
        game=game.spec,
        agents=names,
        games=games,
        seed=seed,
        totals=tuple(agent_record(returns, seating, a) for a in range(len(names))),
        seats=tuple(
            tuple(seat_record(returns, p, seating[:, p] == a) for p in seats)
            for a in range(len(names))
        ),
        by_seat=tuple(seat_record(returns, p, np.ones(games, np.bool_)) for p in seats),
        mean_plies=float(results.plies.mean()),
        seconds=seconds,
        replays=tuple(results.replays[k] for k in range(num_replays)),
        first_game=first_game,
        returns=returns,
        plies=results.plies,
        forfeits=tuple(
            sorted(results.forfeits, key=lambda forfeit: (forfeit.game, forfeit.ply, forfeit.seat))
        ),
        game_digests=results.game_digests,
        time_control=time_control,
        times=() if time_control is None else agent_times(results.move_times, seating, len(names)),
        move_times=None if time_control is None else results.move_times,
    )


def make_match_agents(
    game: Game, agents: Sequence[str | Agent], alone: bool = False
) -> tuple[Agent, ...]:
    """Return the agents of a match, made from their spec strings.

    Args:
        game: the game.
        agents: the agents or their spec strings.
        alone: whether the game may be for one player, in which any number of agents play alone.

    Raises:
        ValueError: if there are too few or too many agents, or an agent is unknown or was made for
            another game.
    """
    if not alone:
        require_opponents(game)
    if game.num_players == 1 and len(agents) == 0:
        raise ValueError(f"a match of {game.name} needs an agent, got none")
    if game.num_players > 1 and not 2 <= len(agents) <= game.num_players:
        expected = "2" if game.num_players == 2 else f"2 to {game.num_players}"
        raise ValueError(
            f"a match of {game.name} is between {expected} agents, got {len(agents)}: "
            f"{', '.join(map(str, agents))}"
        )
    match_agents = tuple(
        make_agent(agent, game) if isinstance(agent, str) else agent for agent in agents
    )
    for agent in match_agents:
        if agent.game is not game:
            raise ValueError(f"{agent!r} was made for {agent.game.spec}, not for {game.spec}")
    return match_agents


def require_opponents(game: Game) -> None:
    """Check that a game is for two players or more.

    Raises:
        ValueError: if it is for one.
    """
    if game.num_players < 2:
        raise ValueError(
            f"{game.short_spec} has one player, and a match between agents needs two players"
        )


def _advance_and_call(
    advance: Callable[[int], None], on_step: Callable[[int], None]
) -> Callable[[int], None]:
    """Return a function of the number of newly finished games, for `MatchRunner.play_all`.

    It passes this number to `advance`, and the total since the start of the match to `on_step`.
    """
    total = 0

    def on_finished(num_finished: int) -> None:
        nonlocal total
        total += num_finished
        advance(num_finished)
        on_step(total)

    return on_finished
