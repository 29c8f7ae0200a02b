"""Where the games of a match are played, many side by side."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.baselines import RandomAgent
from ludoteca.envs.engine.episode_state import EVERY_SEAT, scratch_dtype
from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.engine.playouts import make_returns
from ludoteca.envs.engine.stepper import make_stepper
from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.forfeits import Forfeit
from ludoteca.evaluate.match_schedule import MatchSchedule, update_digests

NO_GAME = -1


class MatchRunner:
    """Where some games of a match are played: each that ends makes room for the next."""

    def __init__(
        self, schedule: MatchSchedule, agents: tuple[Agent, ...], low: int, high: int, batch: int
    ):
        self._schedule, self._agents, self._game = schedule, agents, schedule.game
        self._next, self._high = low, high  # the games low <= k < high are played here
        most = [agent.max_games for agent in agents if agent.max_games is not None]
        batch = max(1, min(batch, high - low, *most))
        self._batch = GameBatch(schedule.game, batch, record=schedule.num_replays > low)
        self._episode_states = self._batch.episode_states
        self._number = np.full(batch, NO_GAME)  # which game is played at each index
        self._rngs = np.zeros((batch, schedule.game.num_players), np.uint64)
        self._openings = np.zeros((batch, schedule.game.num_players), np.uint64)
        self._random = RandomAgent(schedule.game)
        self._stepper = make_stepper(schedule.game)
        self._scratch = np.zeros(1, scratch_dtype(schedule.game))

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
                env_indices = np.flatnonzero(self._number != NO_GAME)
                if len(env_indices) == 0:
                    return
                self._play(env_indices)
        except BaseException:
            stop.set()
            raise

    def _refill(self) -> int:
        """Take down the games that are over, and begin new ones; return how many are over."""
        free = np.flatnonzero(self._episode_states["over"])
        ended = free[self._number[free] != NO_GAME]
        if len(ended) > 0:
            self._take_down(ended)
        count = min(len(free), self._high - self._next)
        if count > 0:
            self._begin(free[:count], np.arange(self._next, self._next + count))
            self._next += count
        return len(ended)

    def _take_down(self, ended: NDArray[np.int64]) -> None:
        schedule, numbers = self._schedule, self._number[ended]
        returns = np.zeros((len(ended), self._game.num_players))
        make_returns(self._game)(self._batch.states, ended, returns)
        schedule.returns[numbers] = returns
        for env_index, k in zip(ended, numbers, strict=True):
            if k < schedule.num_replays:
                players = [schedule.names[a] for a in schedule.seating[k]]
                schedule.replays[int(k)] = Replay.from_batch(self._batch, int(env_index), players)
        self._number[ended] = NO_GAME

    def _begin(self, env_indices: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
        streams, batch = self._schedule.streams[numbers], self._batch
        self._number[env_indices] = numbers
        self._episode_states["rng"][env_indices, 0] = streams[:, 0]
        self._rngs[env_indices] = streams[:, 1:]
        self._openings[env_indices] = self._schedule.openings[numbers]
        which = np.zeros(batch.count, np.bool_)
        which[env_indices] = True
        self._stepper.reset(batch.states, self._episode_states, which, batch.history, EVERY_SEAT)
        for agent in {id(agent): agent for agent in self._agents}.values():
            agent.reset(env_indices)

    def _play(self, env_indices: NDArray[np.int64]) -> None:
        """Ask the agents, and play one ply in each of the games at `env_indices`."""
        numbers, batch = self._number[env_indices], self._batch
        asked = self._to_move(env_indices)
        who = self._schedule.seating[numbers]
        joint = np.zeros(asked.shape, np.int64)
        opening = self._schedule.plies[numbers] < self._schedule.random_plies
        if opening.any():
            rows, seats = np.divmod(
                np.flatnonzero(asked & opening[:, None]), self._game.num_players
            )
            streams = self._openings[env_indices[rows], seats].reshape(-1, 1)
            joint[rows, seats] = self._random.act(
                batch.states[env_indices[rows]], seats, streams, env_indices[rows]
            )
            self._openings[env_indices[rows], seats] = streams[:, 0]
            asked = asked & ~opening[:, None]
        for a in range(len(self._agents)):
            # np.nonzero would return strided arrays, for which agents would be compiled anew.
            rows, seats = np.divmod(np.flatnonzero(asked & (who == a)), self._game.num_players)
            if len(rows) > 0:
                joint[rows, seats] = self._ask(a, env_indices[rows], seats)
        wrong = self._stepper.apply_joint_actions(
            batch.states, self._episode_states, env_indices, joint, batch.history, self._scratch
        )
        if wrong >= 0:
            k, p = divmod(int(wrong), self._game.num_players)
            self._complain(int(env_indices[k]), p, int(joint[k, p]))
        self._schedule.plies[numbers] += 1
        for p in range(self._game.num_players):
            digests = self._schedule.game_digests
            digests[numbers] = update_digests(digests[numbers], joint[:, p])

    def _to_move(self, env_indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which seats are to act in which of the games. Shape `[K, P]`."""
        seats = self._game.num_players
        if not self._game.simultaneous:
            movers: NDArray[np.int8] = self._episode_states["mover"][env_indices]
            asked: NDArray[np.bool_] = movers[:, None] == np.arange(seats)
            return asked
        active = np.zeros((seats, len(env_indices)), np.bool_)
        for p in range(seats):
            self._stepper.is_active(self._batch.states, env_indices, p, active[p])
        return active.T

    def _ask(
        self, a: int, env_indices: NDArray[np.int64], seats: NDArray[np.int64]
    ) -> NDArray[Any]:
        """Return what agent `a` chooses in seat `seats[i]` of game `env_indices[i]`, `[K]`."""
        rngs = self._rngs[env_indices, seats].reshape(-1, 1)
        actions = np.asarray(
            self._agents[a].act(self._batch.states[env_indices], seats, rngs, env_indices)
        )
        if actions.shape != seats.shape or actions.dtype.kind not in "iu":
            raise ValueError(
                f"agent {self._schedule.names[a]!r} must return integers of shape {seats.shape}, "
                f"got {actions.dtype} of shape {actions.shape}"
            )
        self._rngs[env_indices, seats] = rngs[:, 0]
        for i in np.flatnonzero(actions == FORFEIT):
            self._note_forfeit(a, int(env_indices[i]), int(seats[i]))
        return actions

    def _note_forfeit(self, a: int, env_index: int, seat: int) -> None:
        schedule, k = self._schedule, int(self._number[env_index])
        reason = self._agents[a].forfeit_reason(env_index, seat)
        schedule.forfeits.append(
            Forfeit(schedule.first_game + k, a, seat, int(schedule.plies[k]), *reason)
        )

    def _complain(self, env_index: int, seat: int, action: int) -> NoReturn:
        game, schedule, k = self._game, self._schedule, int(self._number[env_index])
        s = self._batch.states.view(np.recarray)[env_index]
        legal = np.zeros(game.num_actions, np.int16)
        n = (
            game.legal_actions(s, seat, legal)
            if game.simultaneous
            else game.legal_actions(s, legal)
        )
        raise ValueError(
            f"agent {schedule.names[schedule.seating[k, seat]]!r} in seat {seat} of game "
            f"{schedule.first_game + k} chose {action} at ply {schedule.plies[k]}, which is "
            f"illegal: legal are {legal[:n].tolist()}"
        )


def play_all(
    runners: Sequence[MatchRunner], show: Callable[[int], None], every_ply: bool = False
) -> None:
    """Play all games, a thread for each runner; a failure anywhere stops all.

    `show`, `every_ply`: see `MatchRunner.play_all`.
    """
    stop = Event()
    if len(runners) == 1:
        runners[0].play_all(show, stop, every_ply)
        return
    with ThreadPoolExecutor(len(runners)) as pool:
        futures = [pool.submit(runner.play_all, show, stop, every_ply) for runner in runners]
        try:
            wait(futures)
        finally:
            stop.set()
        for future in futures:
            future.result()


def compile_match(game: Game) -> None:
    """Compile what matches of a game need, by playing none, so that no match is timed with it."""
    game_batch, stepper = GameBatch(game, 1), make_stepper(game)
    none = np.zeros(0, np.int64)
    stepper.reset(
        game_batch.states,
        game_batch.episode_states,
        np.zeros(1, np.bool_),
        game_batch.history,
        EVERY_SEAT,
    )
    joint = np.zeros((0, game.num_players), np.int64)
    scratch = np.zeros(1, scratch_dtype(game))
    stepper.apply_joint_actions(
        game_batch.states, game_batch.episode_states, none, joint, game_batch.history, scratch
    )
    if game.simultaneous:
        stepper.is_active(game_batch.states, none, 0, np.zeros(0, np.bool_))
    make_returns(game)(game_batch.states, none, np.zeros((0, game.num_players)))
