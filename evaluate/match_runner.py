"""Where the games of a match are played, many side by side."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.baselines import RandomAgent
from ludoteca.envs.engine.env_info import EVERY_SEAT, scratch_dtype
from ludoteca.envs.engine.game_batch import Lanes
from ludoteca.envs.engine.playouts import make_scores
from ludoteca.envs.engine.stepper import make_stepper
from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.forfeits import Forfeit
from ludoteca.evaluate.match_schedule import Book, digest

NO_GAME = -1


class Hall:
    """Where some games of a match are played: each that ends makes room for the next."""

    def __init__(self, book: Book, agents: tuple[Agent, ...], low: int, high: int, batch: int):
        self._book, self._agents, self._game = book, agents, book.game
        self._next, self._high = low, high  # the games low <= k < high are played here
        most = [agent.max_games for agent in agents if agent.max_games is not None]
        batch = max(1, min(batch, high - low, *most))
        self._batch = Lanes(book.game, batch, record=book.record > low)
        self._lanes = self._batch.lanes
        self._number = np.full(batch, NO_GAME)  # which game is played in each lane
        self._rngs = np.zeros((batch, book.game.num_players), np.uint64)
        self._openings = np.zeros((batch, book.game.num_players), np.uint64)
        self._random = RandomAgent(book.game)
        self._stepper = make_stepper(book.game)
        self._scratch = np.zeros(1, scratch_dtype(book.game))

    def play_all(self, show: Callable[[int], None], stop: Event, every_ply: bool = False) -> None:
        """Play all games, or until `stop` is set.

        `show` is called with the number of games that have just ended, after every ply or only if
        there are any; an exception that it raises ends all.
        """
        try:
            while not stop.is_set():
                ended = self._refill()
                if ended > 0 or every_ply:
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
        for p in range(self._game.num_players):
            courses = self._book.courses
            courses[numbers] = digest(courses[numbers], joint[:, p])

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
        why = self._agents[a].forfeit_reason(lane, seat)
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


def play_all(halls: Sequence[Hall], show: Callable[[int], None], every_ply: bool = False) -> None:
    """Play all games, a thread for each hall; a failure anywhere stops all.

    `show`, `every_ply`: see `Hall.play_all`.
    """
    stop = Event()
    if len(halls) == 1:
        halls[0].play_all(show, stop, every_ply)
        return
    with ThreadPoolExecutor(len(halls)) as pool:
        futures = [pool.submit(hall.play_all, show, stop, every_ply) for hall in halls]
        try:
            wait(futures)
        finally:
            stop.set()
        for future in futures:
            future.result()


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
