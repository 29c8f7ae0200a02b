"""Matches: many games side by side, between agents who take turns in every seat."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from threading import Event
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.baselines import RandomAgent
from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.jit import compiled
from ludoteca.envs.lanes import Lanes
from ludoteca.envs.params import integer
from ludoteca.envs.registry import make_game
from ludoteca.envs.replay import Replay
from ludoteca.envs.rng import GAMMA, next_u64
from ludoteca.envs.stepper import EVERY_SEAT, make_stepper, scratch_dtype
from ludoteca.envs.vector import check_seed
from ludoteca.evaluate.forfeits import Forfeit
from ludoteca.evaluate.tally import Tally, tally_agent, tally_seat

BATCH = 1024
NO_GAME = -1


@dataclass(frozen=True)
class MatchResult:
    """A finished match.

    Attributes:
        game: the game's spec string.
        agents: the agents' spec strings (or names of classes).
        games: how many games were played.
        seed: what the match was seeded with.
        totals: all games of each agent, see `tally_agent`.
        seats: the games of agent a in seat p are `seats[a][p]`.
        by_seat: all games, as they ended for each seat, whoever sat there.
        mean_plies: how long the games were.
        seconds: how long playing took, compiling left out.
        replays: the first games, as many as were asked for.
        first: number of the first game.
        returns: the result of every game for every seat. Shape `[games, P]`.
        forfeits: what agents left, see `Agent.why`; by game, ply and seat.
    """

    game: str
    agents: tuple[str, ...]
    games: int
    seed: int
    totals: tuple[Tally, ...]
    seats: tuple[tuple[Tally, ...], ...]
    by_seat: tuple[Tally, ...]
    mean_plies: float
    seconds: float
    replays: tuple[Replay, ...] = ()
    first: int = 0
    returns: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)
    forfeits: tuple[Forfeit, ...] = field(default=(), repr=False)


def play_match(
    game: Game | str,
    agents: Sequence[str | Agent],
    games: int,
    *,
    seed: int = 0,
    first: int = 0,
    batch: int = BATCH,
    num_threads: int = 1,
    record: int = 0,
    progress: bool = False,
    random_plies: int = 0,
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
        first: number of the first game: matches that start at 0 and at 100 are parts of one.
        batch: how many games are played side by side, unless an agent can only play fewer.
        num_threads: threads that share the games, each with agents of its own, made from the spec
            strings. Worth it for agents that think in compiled code for longer than a move takes.
        record: of how many games, the first ones, replays are kept.
        progress: show a progress bar on standard error.
        random_plies: how many plies at the beginning of each game are random. The n agents get the
            same ones in n games, once in every seat: so that agents that always answer the same
            play different games, and none is helped by luck.

    Raises:
        ValueError: if an argument is out of range, a spec string names nothing, or an agent chooses
            an illegal action.
    """
    game = make_game(game) if isinstance(game, str) else game
    integer("games", games, 1, 10**9)
    integer("first", first, 0, 10**9)
    integer("batch", batch, 1, 10**6)
    integer("num_threads", num_threads, 1, 1024)
    integer("record", record, 0, games)
    integer("random_plies", random_plies, 0, 10**6)
    if num_threads > 1 and not all(isinstance(agent, str) for agent in agents):
        raise ValueError("agents that are no spec strings cannot play in more than one thread")
    threads = min(num_threads, games)
    teams = [seat_agents(game, agents) for _ in range(threads)]
    names = tuple(one if isinstance(one, str) else type(one).__name__ for one in agents)
    book = _Book(game, names, first, games, check_seed(seed), record, random_plies)
    compile_match(game)
    for agent in teams[0]:
        agent.prepare()
    if random_plies > 0:
        RandomAgent(game).prepare()
    start = time.perf_counter()
    with _progress_bar(games) if progress else nullcontext(lambda ended: None) as show:
        halls = [
            _Hall(book, team, games * t // threads, games * (t + 1) // threads, batch // threads)
            for t, team in enumerate(teams)
        ]
        _play_all(halls, show)
    seconds = time.perf_counter() - start
    returns, who, seats = book.returns, book.who, range(game.num_players)
    return MatchResult(
        game=game.spec,
        agents=names,
        games=games,
        seed=seed,
        totals=tuple(tally_agent(returns, who, a) for a in range(len(names))),
        seats=tuple(
            tuple(tally_seat(returns, p, who[:, p] == a) for p in seats) for a in range(len(names))
        ),
        by_seat=tuple(tally_seat(returns, p, np.ones(games, np.bool_)) for p in seats),
        mean_plies=float(book.plies.mean()),
        seconds=seconds,
        replays=tuple(book.replays[k] for k in range(record)),
        first=first,
        returns=returns,
        forfeits=tuple(sorted(book.forfeits, key=lambda one: (one.game, one.ply, one.seat))),
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


def seating(games: NDArray[np.int64], seats: int, agents: int) -> NDArray[np.int64]:
    """Return which agent sits where, in the games of these numbers. Shape `[games, seats]`."""
    who: NDArray[np.int64] = (games[:, None] + np.arange(seats)) % agents
    return who


def compile_match(game: Game) -> None:
    """Compile what matches of a game need, by playing none, so that no match is timed with it."""
    lanes, stepper = Lanes(game, 1), make_stepper(game)
    none = np.zeros(0, np.int64)
    stepper.restart(lanes.states, lanes.lanes, np.zeros(1, np.bool_), lanes.history, EVERY_SEAT)
    joint = np.zeros((0, game.num_players), np.int64)
    scratch = np.zeros(1, scratch_dtype(game))
    stepper.reply(lanes.states, lanes.lanes, none, joint, lanes.history, scratch)
    if game.simultaneous:
        stepper.active(lanes.states, none, 0, np.zeros(0, np.bool_))
    make_scores(game)(lanes.states, none, np.zeros((0, game.num_players)))


class _Book:
    """What is known of all games of a match.

    Attributes:
        names: what the agents are called.
        record: how many replays are kept.
        first: number of the first game; the others are counted from it.
        who: which agent sits where. Shape `[games, P]`.
        streams: where the random streams of game and seats start. Shape `[games, 1 + P]`.
        random_plies: plies at the beginning of each game that are random.
        openings: where the random streams of the seats start that draw these. Shape `[games, P]`.
        returns: the results of the games that are over. Shape `[games, P]`.
        plies: how many plies were played. Shape `[games]`.
        replays: by number of the game.
        forfeits: in any order.
    """

    def __init__(
        self,
        game: Game,
        names: tuple[str, ...],
        first: int,
        games: int,
        seed: int,
        record: int,
        random_plies: int,
    ):
        self.game, self.names, self.first, self.record = game, names, first, record
        seats = game.num_players
        self.who = seating(first + np.arange(games), seats, len(names))
        self.streams = _streams(seed, first, games, 1 + seats)
        self.random_plies = random_plies
        group = (first + np.arange(games)) // len(names)  # games with the same opening
        drawn = _streams(seed, int(group[0]), int(group[-1] - group[0]) + 1, 1 + 2 * seats)
        self.openings = drawn[group - group[0], 1 + seats :]
        self.returns = np.zeros((games, seats))
        self.plies = np.zeros(games, np.int64)
        self.replays: dict[int, Replay] = {}
        self.forfeits: list[Forfeit] = []


class _Hall:
    """Where some games of a match are played: each that ends makes room for the next."""

    def __init__(self, book: _Book, agents: tuple[Agent, ...], low: int, high: int, batch: int):
        self._book, self._agents, self._game = book, agents, book.game
        self._next, self._high = low, high  # the games low <= k < high are played here
        most = [agent.most_games for agent in agents if agent.most_games is not None]
        batch = max(1, min(batch, high - low, *most))
        self._batch = Lanes(book.game, batch, record=book.record > low)
        self._lanes = self._batch.lanes
        self._number = np.full(batch, NO_GAME)  # which game is played in each lane
        self._rngs = np.zeros((batch, book.game.num_players), np.uint64)
        self._openings = np.zeros((batch, book.game.num_players), np.uint64)
        self._random = RandomAgent(book.game)
        self._stepper = make_stepper(book.game)
        self._scratch = np.zeros(1, scratch_dtype(book.game))

    def play_all(self, show: Callable[[int], None], stop: Event) -> None:
        """Play all games, or until `stop` is set; tell `show` how many have ended."""
        try:
            while not stop.is_set():
                ended = self._refill()
                if ended > 0:
                    show(ended)
                lanes = np.flatnonzero(self._number != NO_GAME)
                if len(lanes) == 0:
                    return
                self._play(lanes)
        except BaseException:
            stop.set()
            raise

    def _refill(self) -> int:
        """Take down the games that are over, and begin new ones; return how many are over."""
        free = np.flatnonzero(self._lanes["over"])
        ended = free[self._number[free] != NO_GAME]
        if len(ended) > 0:
            self._take_down(ended)
        count = min(len(free), self._high - self._next)
        if count > 0:
            self._begin(free[:count], np.arange(self._next, self._next + count))
            self._next += count
        return len(ended)

    def _take_down(self, ended: NDArray[np.int64]) -> None:
        book, numbers = self._book, self._number[ended]
        returns = np.zeros((len(ended), self._game.num_players))
        make_scores(self._game)(self._batch.states, ended, returns)
        book.returns[numbers] = returns
        for lane, k in zip(ended, numbers, strict=True):
            if k < book.record:
                players = [book.names[a] for a in book.who[k]]
                book.replays[int(k)] = Replay.of_lane(self._batch, int(lane), players)
        self._number[ended] = NO_GAME

    def _begin(self, lanes: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
        streams, batch = self._book.streams[numbers], self._batch
        self._number[lanes] = numbers
        self._lanes["rng"][lanes, 0] = streams[:, 0]
        self._rngs[lanes] = streams[:, 1:]
        self._openings[lanes] = self._book.openings[numbers]
        which = np.zeros(batch.count, np.bool_)
        which[lanes] = True
        self._stepper.restart(batch.states, self._lanes, which, batch.history, EVERY_SEAT)
        for agent in {id(agent): agent for agent in self._agents}.values():
            agent.start(lanes)

    def _play(self, lanes: NDArray[np.int64]) -> None:
        """Ask the agents, and play one ply in each of the lanes."""
        numbers, batch = self._number[lanes], self._batch
        asked = self._to_move(lanes)
        who = self._book.who[numbers]
        joint = np.zeros(asked.shape, np.int64)
        opening = self._book.plies[numbers] < self._book.random_plies
        if opening.any():
            rows, seats = np.divmod(
                np.flatnonzero(asked & opening[:, None]), self._game.num_players
            )
            streams = self._openings[lanes[rows], seats].reshape(-1, 1)
            joint[rows, seats] = self._random.act(
                batch.states[lanes[rows]], seats, streams, lanes[rows]
            )
            self._openings[lanes[rows], seats] = streams[:, 0]
            asked = asked & ~opening[:, None]
        for a in range(len(self._agents)):
            # np.nonzero would return strided arrays, for which agents would be compiled anew.
            rows, seats = np.divmod(np.flatnonzero(asked & (who == a)), self._game.num_players)
            if len(rows) > 0:
                joint[rows, seats] = self._ask(a, lanes[rows], seats)
        wrong = self._stepper.reply(
            batch.states, self._lanes, lanes, joint, batch.history, self._scratch
        )
        if wrong >= 0:
            k, p = divmod(int(wrong), self._game.num_players)
            self._complain(int(lanes[k]), p, int(joint[k, p]))
        self._book.plies[numbers] += 1

    def _to_move(self, lanes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which seats are to act in which of the lanes. Shape `[K, P]`."""
        seats = self._game.num_players
        if not self._game.simultaneous:
            movers: NDArray[np.int8] = self._lanes["mover"][lanes]
            asked: NDArray[np.bool_] = movers[:, None] == np.arange(seats)
            return asked
        active = np.zeros((seats, len(lanes)), np.bool_)
        for p in range(seats):
            self._stepper.active(self._batch.states, lanes, p, active[p])
        return active.T

    def _ask(self, a: int, lanes: NDArray[np.int64], seats: NDArray[np.int64]) -> NDArray[Any]:
        """Return what agent `a` chooses in seat `seats[i]` of lane `lanes[i]`. Shape `[K]`."""
        rngs = self._rngs[lanes, seats].reshape(-1, 1)
        actions = np.asarray(self._agents[a].act(self._batch.states[lanes], seats, rngs, lanes))
        if actions.shape != seats.shape or actions.dtype.kind not in "iu":
            raise ValueError(
                f"agent {self._book.names[a]!r} must return integers of shape {seats.shape}, "
                f"got {actions.dtype} of shape {actions.shape}"
            )
        self._rngs[lanes, seats] = rngs[:, 0]
        for i in np.flatnonzero(actions == FORFEIT):
            self._note_forfeit(a, int(lanes[i]), int(seats[i]))
        return actions

    def _note_forfeit(self, a: int, lane: int, seat: int) -> None:
        book, k = self._book, int(self._number[lane])
        why = self._agents[a].why(lane, seat)
        book.forfeits.append(Forfeit(book.first + k, a, seat, int(book.plies[k]), *why))

    def _complain(self, lane: int, seat: int, action: int) -> NoReturn:
        game, book, k = self._game, self._book, int(self._number[lane])
        s = self._batch.states.view(np.recarray)[lane]
        legal = np.zeros(game.num_actions, np.int16)
        n = (
            game.legal_actions(s, seat, legal)
            if game.simultaneous
            else game.legal_actions(s, legal)
        )
        raise ValueError(
            f"agent {book.names[book.who[k, seat]]!r} in seat {seat} of game {book.first + k} "
            f"chose {action} at ply {book.plies[k]}, which is illegal: "
            f"legal are {legal[:n].tolist()}"
        )


def _play_all(halls: Sequence[_Hall], show: Callable[[int], None]) -> None:
    """Play all games, a thread for each hall; a failure anywhere stops all."""
    stop = Event()
    if len(halls) == 1:
        halls[0].play_all(show, stop)
        return
    with ThreadPoolExecutor(len(halls)) as pool:
        futures = [pool.submit(hall.play_all, show, stop) for hall in halls]
        try:
            wait(futures)
        finally:
            stop.set()
        for future in futures:
            future.result()


@cache
def make_scores(game: Game) -> Any:
    """Return `scores(states, chosen, out)`, which writes the returns in some lanes to `out`.

    `chosen` is int64 `[K]`, `out` float64 `[K, num_players]`.
    """
    returns = game.returns

    @compiled
    def scores(states: Any, chosen: Any, out: Any) -> None:
        for k in range(len(chosen)):
            returns(states[chosen[k]], out[k])

    return scores


def _streams(seed: int, first: int, games: int, count: int) -> NDArray[np.uint64]:
    """Return where the random streams of each game start. Shape `[games, count]`."""
    # Stream 0 of game k starts from output k of a generator seeded with `seed`, and its further
    # outputs start the other streams: neighboring seeds and games have nothing in common.
    numbers = np.arange(first, first + games, dtype=np.uint64)
    rng = (np.full(games, seed, np.uint64) + GAMMA * numbers)[None]
    rng = next_u64(rng)[None]
    first = rng[0].copy()
    next_u64(rng)  # the output that seeds the game itself
    return np.stack([first, *(next_u64(rng) for _ in range(count - 1))], axis=1)


@contextmanager
def _progress_bar(games: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on standard error; yields the function that is told how many games have ended."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("playing", total=games)
        yield lambda ended: progress.advance(task, ended)
