"""Matches: many games side by side, between agents who take turns in every seat."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.baselines import RandomAgent
from ludoteca.agents.registry import make_agent
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.envs.params import integer
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay
from ludoteca.envs.validation import check_seed
from ludoteca.evaluate.forfeits import Forfeit
from ludoteca.evaluate.match_record import MatchRecord, agent_record, seat_record
from ludoteca.evaluate.match_runner import MatchRunner, compile_match, play_all
from ludoteca.evaluate.match_schedule import MatchSchedule

BATCH_SIZE = 1024


@dataclass(frozen=True)
class MatchResult:
    """A finished match.

    Attributes:
        game: the game's spec string.
        agents: the agents' spec strings (or names of classes).
        games: how many games were played.
        seed: what the match was seeded with.
        totals: all games of each agent, see `agent_record`.
        seats: the games of agent a in seat p are `seats[a][p]`.
        by_seat: all games, as they ended for each seat, whoever sat there.
        mean_plies: how long the games were.
        seconds: how long playing took, compiling left out.
        replays: the first games, as many as were asked for.
        first_game: number of the first game.
        returns: the result of every game for every seat. Shape `[games, P]`.
        game_digests: digests of the games, equal where the same agents in the same seats made the
            same moves. Shape `[games]`.
        forfeits: what agents left, see `Agent.forfeit_reason`; by game, ply and seat.
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
    forfeits: tuple[Forfeit, ...] = field(default=(), repr=False)
    game_digests: NDArray[np.uint64] | None = field(default=None, repr=False, compare=False)

    @property
    def distinct(self) -> int:
        """How many different games were played: agents without chance repeat theirs."""
        return self.games if self.game_digests is None else len(np.unique(self.game_digests))

    def __repr__(self) -> str:
        wins = {name: total.wins for name, total in zip(self.agents, self.totals, strict=True)}
        if len(wins) < len(self.agents):  # agents of the same name
            return f"MatchResult({self.game!r}, games={self.games}, agents={self.agents}, " + (
                f"wins={tuple(total.wins for total in self.totals)})"
            )
        return f"MatchResult({self.game!r}, games={self.games}, wins={wins})"

    def __str__(self) -> str:
        from ludoteca.evaluate.match_table import match_text  # which imports this module

        return match_text(self)


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
    on_step: Callable[[int], None] | None = None,
) -> MatchResult:
    """Play a match of `games` games.

    Seats rotate: in game k, seat p belongs to agent `(k + p) % n` of the n agents. Two agents thus
    take turns in moving first, and in a game of four seats hold every other one. If n divides
    `games`, each agent sits in each seat equally often.

    Game k has random streams of its own, drawn from `seed` and k: one for the game, and one per
    seat for the agent that sits there. Which games are played side by side changes none of them.

    Args:
        game: a game or its spec string.
        agents: spec strings or agents, from two to one per seat.
        games: how many games are played.
        seed: determines the match, as far as the agents draw only from the streams they are given.
        first_game: number of the first game: matches that start at 0 and at 100 are parts of one.
        batch_size: how many games are played side by side, unless an agent can only play fewer.
        num_threads: threads that share the games, each with agents of its own, made from the spec
            strings. Worth it for agents that think in compiled code for longer than a move takes.
        num_replays: of how many games, the first ones, replays are kept.
        progress: show a progress bar on standard error.
        random_plies: how many plies at the beginning of each game are random. The n agents get the
            same ones in n games, once in every seat: so that agents that always answer the same
            play different games, and none is helped by luck.
        on_step: called after every ply of the games that are played side by side, with the number
            of games that have ended so far; an exception that it raises ends the match. With
            several threads, each of them calls it.

    Raises:
        ValueError: if an argument is out of range, a spec string names nothing, or an agent chooses
            an illegal action.
    """
    game = make_game(game) if isinstance(game, str) else game
    integer("games", games, 1, 10**9)
    integer("first_game", first_game, 0, 10**9)
    integer("batch_size", batch_size, 1, 10**6)
    integer("num_threads", num_threads, 1, 1024)
    integer("num_replays", num_replays, 0, games)
    integer("random_plies", random_plies, 0, 10**6)
    if num_threads > 1 and not all(isinstance(agent, str) for agent in agents):
        raise ValueError("agents that are no spec strings cannot play in more than one thread")
    threads = min(num_threads, games)
    teams = [seat_agents(game, agents) for _ in range(threads)]
    names = tuple(one if isinstance(one, str) else type(one).__name__ for one in agents)
    schedule = MatchSchedule(
        game, names, first_game, games, check_seed(seed), num_replays, random_plies
    )
    compile_match(game)
    for agent in teams[0]:
        agent.prepare()
    if random_plies > 0:
        RandomAgent(game).prepare()
    start = clock()
    with _progress_bar(games) if progress else nullcontext(lambda ended: None) as show:
        runners = [
            MatchRunner(
                schedule,
                team,
                games * t // threads,
                games * (t + 1) // threads,
                batch_size // threads,
            )
            for t, team in enumerate(teams)
        ]
        play_all(runners, show if on_step is None else _both(show, on_step), on_step is not None)
    seconds = clock() - start
    returns, who, seats = schedule.returns, schedule.seating, range(game.num_players)
    return MatchResult(
        game=game.spec,
        agents=names,
        games=games,
        seed=seed,
        totals=tuple(agent_record(returns, who, a) for a in range(len(names))),
        seats=tuple(
            tuple(seat_record(returns, p, who[:, p] == a) for p in seats) for a in range(len(names))
        ),
        by_seat=tuple(seat_record(returns, p, np.ones(games, np.bool_)) for p in seats),
        mean_plies=float(schedule.plies.mean()),
        seconds=seconds,
        replays=tuple(schedule.replays[k] for k in range(num_replays)),
        first_game=first_game,
        returns=returns,
        forfeits=tuple(sorted(schedule.forfeits, key=lambda one: (one.game, one.ply, one.seat))),
        game_digests=schedule.game_digests,
    )


def seat_agents(game: Game, agents: Sequence[str | Agent]) -> tuple[Agent, ...]:
    """Return the agents of a match, made from their spec strings.

    Raises:
        ValueError: if there are too few or too many, or one is unknown or of another game.
    """
    if game.num_players < 2:
        raise ValueError(f"{game.spec} has one player, and a match needs two")
    if not 2 <= len(agents) <= game.num_players:
        wanted = "2" if game.num_players == 2 else f"2 to {game.num_players}"
        raise ValueError(
            f"a match of {game.name} is between {wanted} agents, got {len(agents)}: "
            f"{', '.join(map(str, agents))}"
        )
    made = tuple(make_agent(one, game) if isinstance(one, str) else one for one in agents)
    for agent in made:
        if agent.game is not game:
            raise ValueError(f"{agent!r} was made for {agent.game.spec}, not for {game.spec}")
    return made


def _both(show: Callable[[int], None], on_step: Callable[[int], None]) -> Callable[[int], None]:
    """Return a function that passes the games that have just ended on, and their sum so far."""
    total = 0

    def show_both(ended: int) -> None:
        nonlocal total
        total += ended
        show(ended)
        on_step(total)

    return show_both


@contextmanager
def _progress_bar(games: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on standard error; yields the function that is told how many games have ended."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("playing", total=games)
        yield lambda ended: progress.advance(task, ended)
