"""Runner of the games of a match: a batch of games, refilled as they end."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.baselines import RandomAgent
from ludoteca.agents.external.failure import TIMEOUT
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.clock import clock
from ludoteca.envs.engine.episode_state import EVERY_SEAT, scratch_dtype
from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.engine.playouts import make_returns
from ludoteca.envs.engine.stepper import make_stepper
from ludoteca.envs.game import FORFEIT
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.forfeits import Forfeit
from ludoteca.evaluate.match_clock import GameClock
from ludoteca.evaluate.match_schedule import GameResults, MatchSchedule, update_digests

NO_GAME = -1  # in place of the index of a game
NOBODY = -1  # in place of a seat


class MatchRunner:
    """Runner of the games `low <= k < high` of a match, in one thread.

    In shapes, K is a number of games in the batch, and P the number of seats.

    Args:
        schedule: schedule of the match.
        results: results of the match, to which the runner adds those of its games.
        agents: the agents, used by no other runner.
        low: index of the first game, counted from the first game of the match.
        high: index after the last game.
        batch_size: maximum number of concurrent games.
        time_control: time control of the games, which are then played one at a time, or None.
    """

    def __init__(
        self,
        schedule: MatchSchedule,
        results: GameResults,
        agents: tuple[Agent, ...],
        low: int,
        high: int,
        batch_size: int,
        time_control: TimeControl | None = None,
    ):
        self._schedule, self._results = schedule, results
        self._agents, self._game = agents, schedule.game
        self._next_game, self._high = low, high
        limits = [agent.max_games for agent in agents if agent.max_games is not None]
        batch_size = max(1, min(batch_size, high - low, *limits))
        self._time_control = time_control
        self._clock: GameClock | None = None
        if time_control is not None:
            batch_size = 1
        self._batch = GameBatch(schedule.game, batch_size, record=schedule.num_replays > low)
        self._episode_states = self._batch.episode_states
        # Index of the game in the match, counted from its first game, by index in the batch.
        self._game_numbers = np.full(batch_size, NO_GAME)
        # Player that forfeited the game at each index, in sequential games of at most two players.
        self._forfeited_by = np.full(batch_size, NOBODY)
        # Random streams of the agents, and those of the random plies, by index and seat.
        self._rngs = np.zeros((batch_size, schedule.game.num_players), np.uint64)
        self._opening_streams = np.zeros((batch_size, schedule.game.num_players), np.uint64)
        self._random = RandomAgent(schedule.game)
        self._stepper = make_stepper(schedule.game)
        self._scratch = np.zeros(1, scratch_dtype(schedule.game))

    def play_all(
        self, on_finished: Callable[[int], None], stop: Event, every_ply: bool = False
    ) -> None:
        """Play all games, or until `stop` is set.

        Args:
            on_finished: function called with the number of games that have just finished; an
                exception that it raises sets `stop`.
            stop: event that ends the match.
            every_ply: whether `on_finished` is called after every ply, or only when games have
                finished.
        """
        try:
            while not stop.is_set():
                num_finished = self._refill()
                if num_finished > 0 or every_ply:
                    on_finished(num_finished)
                env_indices = np.flatnonzero(self._game_numbers != NO_GAME)
                if len(env_indices) == 0:
                    return
                self._play(env_indices)
        except BaseException:
            stop.set()
            raise

    def _refill(self) -> int:
        """Save the results of finished games, start new ones, and return how many finished."""
        free = np.flatnonzero(self._episode_states["over"])
        ended = free[self._game_numbers[free] != NO_GAME]
        if len(ended) > 0:
            self._save_results(ended)
        count = min(len(free), self._high - self._next_game)
        if count > 0:
            self._start(free[:count], np.arange(self._next_game, self._next_game + count))
            self._next_game += count
        return len(ended)

    def _save_results(self, ended: NDArray[np.int64]) -> None:
        """Save the results of the games that have ended, by their indices in the batch."""
        schedule, results, numbers = self._schedule, self._results, self._game_numbers[ended]
        returns = np.zeros((len(ended), self._game.num_players))
        make_returns(self._game)(self._batch.states, ended, returns)
        forfeited = np.flatnonzero(self._forfeited_by[ended] != NOBODY)
        # A player that forfeits loses, and its opponent, if there is one, wins.
        returns[forfeited] = 1
        returns[forfeited, self._forfeited_by[ended[forfeited]]] = -1
        self._forfeited_by[ended] = NOBODY
        results.returns[numbers] = returns
        for env_index, k in zip(ended, numbers, strict=True):
            if k < schedule.num_replays:
                players = [schedule.names[a] for a in schedule.seating[k]]
                results.replays[int(k)] = Replay.from_batch(self._batch, int(env_index), players)
        self._game_numbers[ended] = NO_GAME

    def _start(self, env_indices: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
        """Start the games `numbers` of the match at `env_indices` of the batch."""
        streams, batch = self._schedule.streams[numbers], self._batch
        self._game_numbers[env_indices] = numbers
        self._episode_states["rng"][env_indices, 0] = streams[:, 0]
        self._rngs[env_indices] = streams[:, 1:]
        self._opening_streams[env_indices] = self._schedule.opening_streams[numbers]
        reset_mask = np.zeros(batch.count, np.bool_)
        reset_mask[env_indices] = True
        self._stepper.reset(
            batch.states, self._episode_states, reset_mask, batch.history, EVERY_SEAT
        )
        if self._time_control is not None:
            self._start_clock(self._time_control, int(numbers[0]))
            return
        for agent in {id(agent): agent for agent in self._agents}.values():  # each agent once
            agent.reset(env_indices)

    def _start_clock(self, time_control: TimeControl, number: int) -> None:
        """Start the clocks of the only game of the batch, and reset its agents.

        The time of an agent's reset is subtracted from the start clocks of its seats.
        """
        self._clock = GameClock(time_control, self._results.move_times[number])
        agent_of_seat = [self._agents[a] for a in self._schedule.seating[number]]
        for agent in {id(agent): agent for agent in agent_of_seat}.values():
            start = clock()
            agent.reset(np.zeros(1, np.int64))
            seconds = clock() - start
            for seat, seated_agent in enumerate(agent_of_seat):
                if seated_agent is agent:
                    self._clock.spend_reset(seat, seconds)

    def _play(self, env_indices: NDArray[np.int64]) -> None:
        """Play one ply in each of the games at `env_indices`."""
        numbers, batch, results = self._game_numbers[env_indices], self._batch, self._results
        active = self._active_seats(env_indices)
        seating = self._schedule.seating[numbers]
        joint_actions = np.zeros(active.shape, np.int64)
        opening = results.plies[numbers] < self._schedule.random_plies
        if opening.any():
            rows, seats = np.divmod(
                np.flatnonzero(active & opening[:, None]), self._game.num_players
            )
            streams = self._opening_streams[env_indices[rows], seats].reshape(-1, 1)
            joint_actions[rows, seats] = self._random.act(
                batch.states[env_indices[rows]], seats, streams, env_indices[rows]
            )
            self._opening_streams[env_indices[rows], seats] = streams[:, 0]
            active = active & ~opening[:, None]
        for a in range(len(self._agents)):
            # np.nonzero returns strided arrays, for which Numba would compile the agents again.
            rows, seats = np.divmod(np.flatnonzero(active & (seating == a)), self._game.num_players)
            if len(rows) > 0:
                joint_actions[rows, seats] = self._choose_actions(a, env_indices[rows], seats)
        digests = results.game_digests
        for p in range(self._game.num_players):
            digests[numbers] = update_digests(digests[numbers], joint_actions[:, p])
        # Simultaneous games play `FORFEIT`; in sequential ones of more players it is illegal.
        if not self._game.simultaneous and self._game.num_players <= 2:
            playing = self._end_forfeited(env_indices, joint_actions)
            env_indices, numbers, joint_actions = (
                env_indices[playing],
                numbers[playing],
                joint_actions[playing],
            )
        # Index of an illegal action in the flat `joint_actions`, or -1.
        illegal = self._stepper.apply_joint_actions(
            batch.states,
            self._episode_states,
            env_indices,
            joint_actions,
            batch.history,
            self._scratch,
        )
        if illegal >= 0:
            k, p = divmod(int(illegal), self._game.num_players)
            self._raise_illegal(int(env_indices[k]), p, int(joint_actions[k, p]))
        results.plies[numbers] += 1

    def _end_forfeited(
        self, env_indices: NDArray[np.int64], joint_actions: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """End the games that the player to move forfeits; return the rows of the other games."""
        rows, seats = np.nonzero(joint_actions == FORFEIT)
        self._forfeited_by[env_indices[rows]] = seats
        self._episode_states["over"][env_indices[rows]] = True
        return np.flatnonzero((joint_actions != FORFEIT).all(1))

    def _active_seats(self, env_indices: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each seat is to act in each of the games. Shape `[K, P]`."""
        seats = self._game.num_players
        if not self._game.simultaneous:
            movers: NDArray[np.int8] = self._episode_states["mover"][env_indices]
            is_mover: NDArray[np.bool_] = movers[:, None] == np.arange(seats)
            return is_mover
        active = np.zeros((seats, len(env_indices)), np.bool_)
        for p in range(seats):
            self._stepper.is_active(self._batch.states, env_indices, p, active[p])
        return active.T

    def _choose_actions(
        self, a: int, env_indices: NDArray[np.int64], seats: NDArray[np.int64]
    ) -> NDArray[Any]:
        """Return the actions of agent `a`, with `FORFEIT` where it forfeits, `[K]`."""
        if self._clock is not None:
            actions_by_seat = [
                self._act_by_clock(a, self._clock, env_indices[i : i + 1], seats[i : i + 1])
                for i in range(len(seats))
            ]
            return np.concatenate(actions_by_seat)
        actions = self._act(a, env_indices, seats)
        for i in np.flatnonzero(actions == FORFEIT):
            env_index, seat = int(env_indices[i]), int(seats[i])
            reason = self._agents[a].forfeit_reason(env_index, seat)
            self._save_forfeit(a, env_index, seat, reason)
        return actions

    def _act(
        self, a: int, env_indices: NDArray[np.int64], seats: NDArray[np.int64]
    ) -> NDArray[Any]:
        """Return the actions of agent `a` in seat `seats[i]` of game `env_indices[i]`, `[K]`."""
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
        return actions

    def _act_by_clock(
        self, a: int, game_clock: GameClock, env_index: NDArray[np.int64], seat: NDArray[np.int64]
    ) -> NDArray[Any]:
        """Return the action of agent `a` in one seat, `[1]`, and subtract its time from the clock.

        An agent that is out of time forfeits, or plays a random move.
        """
        player = int(seat[0])
        start = clock()
        actions = self._act(a, env_index, seat)
        seconds = clock() - start
        reason = "", ""  # kind and message
        if actions[0] == FORFEIT:
            reason = self._agents[a].forfeit_reason(int(env_index[0]), player)
        message = game_clock.spend(player, seconds, reason[0] != TIMEOUT)
        if message and game_clock.replaces_moves:
            streams = self._rngs[env_index, seat].reshape(-1, 1)
            actions = self._random.act(self._batch.states[env_index], seat, streams, env_index)
            self._rngs[env_index, seat] = streams[:, 0]
        elif message:
            actions = np.full(1, FORFEIT)
            reason = reason if reason[0] == TIMEOUT else (TIMEOUT, message)
        if actions[0] == FORFEIT:
            self._save_forfeit(a, int(env_index[0]), player, reason)
        return actions

    def _save_forfeit(self, a: int, env_index: int, seat: int, reason: tuple[str, str]) -> None:
        """Save the forfeit of agent `a` in a seat; `reason` is its kind and message."""
        results, k = self._results, int(self._game_numbers[env_index])
        game = self._schedule.first_game + k
        results.forfeits.append(Forfeit(game, a, seat, int(results.plies[k]), *reason))

    def _raise_illegal(self, env_index: int, seat: int, action: int) -> NoReturn:
        """Raise a `ValueError` about the illegal action of an agent."""
        game, schedule, k = self._game, self._schedule, int(self._game_numbers[env_index])
        s = self._batch.states.view(np.recarray)[env_index]
        legal = np.zeros(game.num_actions, game.action_dtype)
        n = (
            game.legal_actions(s, seat, legal)
            if game.simultaneous
            else game.legal_actions(s, legal)
        )
        raise ValueError(
            f"agent {schedule.names[schedule.seating[k, seat]]!r} in seat {seat} of game "
            f"{schedule.first_game + k} chose the illegal action {action} at ply "
            f"{self._results.plies[k]}: the legal actions are {legal[:n].tolist()}"
        )


def play_all(
    runners: Sequence[MatchRunner], on_finished: Callable[[int], None], every_ply: bool = False
) -> None:
    """Play all games, one thread per runner; an exception in one thread stops all.

    Args:
        runners: the runners.
        on_finished: see `MatchRunner.play_all`.
        every_ply: see `MatchRunner.play_all`.
    """
    stop = Event()
    if len(runners) == 1:
        runners[0].play_all(on_finished, stop, every_ply)
        return
    with ThreadPoolExecutor(len(runners)) as pool:
        futures = [pool.submit(runner.play_all, on_finished, stop, every_ply) for runner in runners]
        try:
            wait(futures)
        finally:
            stop.set()
        for future in futures:
            future.result()
