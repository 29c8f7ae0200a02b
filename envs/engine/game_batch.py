"""Batch of B games of one kind, stepped by compiled code; every environment API wraps it."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ludoteca.envs.engine.episode_state import (
    DISABLED,
    EVERY_SEAT,
    ILLEGAL_RULES,
    NO_SEAT,
    RAISE,
    RANDOM_SEAT,
    SAME_STEP,
    episode_state_dtype,
    scratch_dtype,
)
from ludoteca.envs.engine.history import recorded_actions
from ludoteca.envs.engine.opponents import Opponent, OpponentSpec, make_opponents
from ludoteca.envs.engine.python_opponents import BatchArrays, PythonOpponents
from ludoteca.envs.engine.step_result import StepResult
from ludoteca.envs.engine.stepper import make_stepper
from ludoteca.envs.engine.thread_pool import ThreadPool
from ludoteca.envs.game import Game
from ludoteca.envs.jit import InterpretedFunction
from ludoteca.envs.params import check_choice, check_integer
from ludoteca.envs.validation import check_dtype, check_flag

# A batch is stepped in slices, several per thread, so that a thread that starts late steps fewer.
SLICES_PER_THREAD = 8
# Fields of an episode's state that describe the last step.
REWARD_FIELDS = ("rewards", "reward", "terminated", "illegal")


class GameBatch:
    """B games, their random streams and opponents, and their observations.

    Each game has its own random stream, which seeds its episodes and from which the agent's seat
    and the opponents' actions are sampled; so a game does not depend on the others. In each game, W
    players observe and act in a step: W = 1 in sequential games (the player to move) and against
    opponents (the agent), W = P, all players, in simultaneous self-play.

    Attributes:
        states: the positions. Shape `[B]`, dtype `game.state`.
        episode_states: random streams, rewards, seats, see `episode_state_dtype`. Shape `[B]`.
        masks: legal actions of the W players, int8, zeros once a game is over. Shape
            `[B, W, num_actions]`.
        observations: observations of the W players. Shape `[B, W, *observation_shape]`.
        final_observations: observations of the terminal positions of games that ended in the last
            step (same-step autoreset only), zeros elsewhere. A new array after each step that ends
            a game. Shape as `observations`.
        history: if `record=True`, the number of plies of each game, then its actions, of
            `game.action_dtype`. Shape `[B, 1 + max_plies]` (simultaneous:
            `[B, 1 + max_plies * P]`), or `[B, 0]` without `record`.
        seat_rule: `EVERY_SEAT` (self-play), `RANDOM_SEAT`, or the agent's seat.
        illegal_rule: effect of an illegal action, a value of `ILLEGAL_RULES`.
        num_acting: W, the number of players that observe and act at once.
        has_compiled_opponents: whether the compiled step includes the opponents; true in self-play.
    """

    def __init__(
        self,
        game: Game,
        count: int,
        *,
        opponent: OpponentSpec | Sequence[OpponentSpec] | None = None,
        agent_seat: int | str = 0,
        illegal_action: str = "lose",
        autoreset: int = DISABLED,
        num_threads: int = 1,
        dtype: DTypeLike = "int8",
        channels_last: bool = False,
        record: bool = False,
    ):
        """Make a batch of `count` games, which are over until the first `reset`.

        `autoreset` is `NEXT_STEP`, `SAME_STEP` or `DISABLED`; `record` turns `history` on. For the
        others see `ludoteca.envs.api.vector.GameVectorEnv`.
        """
        check_integer("num_envs", count, 1, 2**31 - 1)  # named as the argument of the environments
        check_integer("num_threads", num_threads, 1, 1024)
        self.game, self.count, self.autoreset = game, count, autoreset
        self.num_threads = num_threads
        rule_name = check_choice("illegal_action", illegal_action, tuple(ILLEGAL_RULES))
        self.illegal_rule = ILLEGAL_RULES[rule_name]
        opponents: tuple[Opponent, ...] = ()
        if opponent is None:
            if type(agent_seat) is not int or agent_seat != 0:
                raise ValueError(f"agent_seat={agent_seat!r} needs opponents for the other seats")
            self.seat_rule = EVERY_SEAT
        else:
            seats = ("random", *range(game.num_players))
            seat = check_choice("agent_seat", agent_seat, seats)
            self.seat_rule = RANDOM_SEAT if seat == "random" else seat
            opponents = make_opponents(opponent, game)
        self._use_opponents(opponents)
        self.num_acting = game.num_players if game.simultaneous and opponent is None else 1

        self.dtype = check_dtype(dtype)
        channels_last = self.channels_last = check_flag("channels_last", channels_last)
        planes, rows, columns = game.observation_shape
        channels_last_shape = (rows, columns, planes)
        self.observation_shape = channels_last_shape if channels_last else game.observation_shape
        self.states = game.empty(count)
        self.episode_states = np.zeros(count, episode_state_dtype(game))
        self.episode_states["over"] = True
        self.masks = np.zeros((count, self.num_acting, game.num_actions), np.int8)
        self.observations = self._new_observations()
        self.final_observations = np.zeros_like(self.observations)
        self._has_final_observations = False
        max_actions = game.max_plies * (game.num_players if game.simultaneous else 1)
        self.history = np.zeros((count, 1 + max_actions if record else 0), game.action_dtype)
        self._scratch_records = np.zeros(num_threads, scratch_dtype(game))
        self._thread_pool = self._new_thread_pool()

    def reset(
        self, seeds: Sequence[int | None], reset_mask: NDArray[np.bool_] | None = None
    ) -> None:
        """Reset all games, or those where `reset_mask` is true.

        Args:
            seeds: a seed of each game's random stream, or None to continue the present one.
            reset_mask: whether to reset each game. Shape `[B]`.
        """
        reset_mask = np.ones(self.count, np.bool_) if reset_mask is None else reset_mask
        for i in np.flatnonzero(reset_mask).tolist():
            if seeds[i] is not None:
                self.episode_states["rng"][i] = seeds[i]
        for name in REWARD_FIELDS:
            self.episode_states[name][reset_mask] = 0
        self._stepper.reset(
            self.states, self.episode_states, reset_mask, self.history, self.seat_rule
        )
        self._reset_opponents_and_play(reset_mask)
        self.refresh()

    def set_opponent(self, opponent: OpponentSpec | Sequence[OpponentSpec]) -> None:
        """Replace the opponents; games continue from their positions.

        Between steps the agent is to move in every game, so no move of an old opponent is pending.

        Raises:
            ValueError: if there are no opponents (self-play), or not one for each other seat.
            TypeError: if an opponent, such as None, is neither a spec string nor an `Opponent`.
                The batch is then unchanged.
        """
        if self.seat_rule == EVERY_SEAT:
            raise ValueError(
                "set_opponent needs an environment that was made with opponent=...: "
                "in self-play the caller acts for every player"
            )
        opponents = make_opponents(opponent, self.game)
        for each in {id(each): each for each in opponents}.values():
            each.reset(np.arange(self.count))
        self.close()
        self._use_opponents(opponents)
        self._thread_pool = self._new_thread_pool()

    def step(self, actions: NDArray[np.int64], step_result: StepResult | None = None) -> None:
        """Apply one action per game and observing player, and the opponents' actions.

        Args:
            actions: shape `[B, W]`; ignored where a game is over or a player is eliminated.
            step_result: arrays to write the result of the step to, as `new_step_result` returns.

        Raises:
            ValueError: if a game is over under disabled autoreset, if an action is illegal and
                `illegal_action="raise"`, or if an opponent returns an illegal action. The batch is
                then unchanged.
        """
        if self.autoreset == DISABLED and self.episode_states["over"].any():
            over = np.flatnonzero(self.episode_states["over"]).tolist()
            raise ValueError(f"cannot step games that are over: {over} must be reset first")
        if self.illegal_rule == RAISE:
            self._raise_if_illegal(actions)
        if self.has_compiled_opponents:
            self.observations = self._new_observations()
            self._step_compiled(actions, step_result)
            return
        arrays = (self.states, self.episode_states, self.history)
        backup = [array.copy() for array in arrays]
        try:
            self._step_with_python_opponents(actions)
        except BaseException:  # raised by an opponent
            for array, saved in zip(arrays, backup, strict=True):
                array[:] = saved
            self.refresh()
            raise
        self.refresh()
        if step_result is not None:
            self._write_step_result(step_result)

    def step_result(self) -> StepResult:
        """Return the result of the last step, in new arrays."""
        result = self.new_step_result()
        self._write_step_result(result)
        return result

    def final_step_result(self) -> StepResult:
        """Return the result of the last step for the games that it ended, zeros for the others.

        For same-step autoreset. All action masks are zero.
        """
        result = StepResult.empty(np.zeros_like(self.masks), self.game.num_players)
        self._stepper.write_final_result(self.episode_states, result)
        return result

    def new_step_result(self) -> StepResult:
        """Return uninitialized arrays for the result of a step."""
        return StepResult.empty(np.empty_like(self.masks), self.game.num_players)

    def refresh(self) -> None:
        """Compute `masks` and `observations` anew from the present positions."""
        self.observations = self._new_observations()
        self._observe(self.observations)

    def reset_opponents(self, reset_mask: NDArray[np.bool_] | None = None) -> None:
        """Reset the opponents in all games, or where `reset_mask` is true."""
        indices = np.arange(self.count) if reset_mask is None else np.flatnonzero(reset_mask)
        for opponent in {id(opponent): opponent for opponent in self.opponents}.values():
            opponent.reset(indices)

    def observe(self, player: int) -> NDArray[Any]:
        """Return the observations of `player`. Shape `[B, *observation_shape]`."""
        observations = np.empty((self.count, *self.observation_shape), self.dtype)
        self._stepper.observe_player(self.states, player, self._channels_first(observations))
        return observations

    def plies_of(self, env_index: int) -> int:
        """Return the number of recorded plies of game `env_index`; requires `record=True`.

        At most `game.max_plies`, even if a game from a restored position has more.
        """
        return int(self.history[env_index, 0])

    def actions_of(self, env_index: int) -> list[int] | list[list[int]]:
        """Return the actions of game `env_index` so far; in simultaneous games one list per ply.

        Raises:
            ValueError: if the batch was made without `record=True`.
        """
        if self.history.shape[1] == 0:
            raise ValueError(
                "the actions of a game are recorded only with GameBatch(..., record=True)"
            )
        return recorded_actions(self.game, self.history[env_index])

    def __deepcopy__(self, memo: Any) -> "GameBatch":
        """Return a copy with the same games and random streams; opponents are shared."""
        duplicate = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(duplicate, name, value.copy())
        duplicate._thread_pool = duplicate._new_thread_pool()
        return duplicate

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_thread_pool": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._thread_pool = self._new_thread_pool()

    def close(self) -> None:
        """End the threads."""
        if self._thread_pool is not None:
            self._thread_pool.close()
            self._thread_pool = None

    def _use_opponents(self, opponents: tuple[Opponent, ...]) -> None:
        """Build the stepper for these opponents; without opponents, for self-play."""
        self.opponents = opponents
        # If all opponents share one policy kernel, the compiled step calls it.
        kernels = {getattr(opponent, "choose", None) for opponent in opponents}
        self.has_compiled_opponents = len(kernels) <= 1 and None not in kernels
        choose = kernels.pop() if kernels and self.has_compiled_opponents else None
        self._stepper = make_stepper(self.game, choose)
        self._python_opponents = PythonOpponents(self.game, opponents, self._stepper)

    def _step_compiled(self, actions: NDArray[np.int64], step_result: StepResult | None) -> None:
        if self.autoreset == SAME_STEP:
            self._clear_final_observations()
        arrays = self._step_arrays(actions)
        options = (self.seat_rule, self.illegal_rule, self.autoreset)
        if self._thread_pool is not None:
            # A step result with empty arrays is not written to.
            result = step_result or StepResult.empty(self.masks[:0], self.game.num_players)
            self._thread_pool.run((arrays, result, options))
        else:
            self._stepper.step(arrays, options, 0, 0, self.count)
            if step_result is not None:
                self._write_step_result(step_result)
        if self.autoreset == SAME_STEP:
            self._has_final_observations = bool(self.episode_states["terminated"].any())

    def _step_with_python_opponents(self, actions: NDArray[np.int64]) -> None:
        """Step games against opponents that are not compiled; the caller then calls `refresh`."""
        states, episodes, actions = self.states, self.episode_states, actions.copy()
        finished = episodes["over"].copy()
        scratch_records, rule = self._scratch_records, self.illegal_rule
        self._stepper.apply_action(
            states, episodes, actions, self.masks, self.history, scratch_records, rule
        )
        if self.game.simultaneous:
            env_indices = np.flatnonzero(actions[:, 0] != NO_SEAT)
            self._python_opponents.play_simultaneous(
                self._batch_arrays(), env_indices, actions[:, 0]
            )
        else:
            self._python_opponents.play_sequential(
                self._batch_arrays(), np.ones(self.count, np.bool_)
            )
        if self.autoreset == SAME_STEP:
            finished = episodes["over"].copy()
            if finished.any():
                self._clear_final_observations()
                self._observe(self.final_observations, finished_only=True)
                self._has_final_observations = True
                episodes["final_player"][finished] = episodes["seat"][finished]
        if finished.any():
            # Keep the rewards of the ended games through the opponents' first moves in new games.
            rewards = {name: episodes[name].copy() for name in REWARD_FIELDS}
            self._stepper.reset(states, episodes, finished, self.history, self.seat_rule)
            self._reset_opponents_and_play(finished)
            for name, values in rewards.items():
                episodes[name] = values

    def _reset_opponents_and_play(self, reset_mask: NDArray[np.bool_]) -> None:
        """Reset the opponents of the games just reset, and apply moves before the agent's first."""
        if self.opponents:
            self.reset_opponents(reset_mask)
            if not self.game.simultaneous:
                self._python_opponents.play_sequential(self._batch_arrays(), reset_mask)
                # If these moves ended a game, it terminates in the agent's first step.
                self.episode_states["over"][reset_mask] = False

    def _raise_if_illegal(self, actions: NDArray[np.int64]) -> None:
        """Raise a `ValueError` that names the first illegal action, if there is one."""
        index = self._stepper.find_illegal(self.states, self.episode_states, actions, self.masks)
        if index >= 0:
            i, w = divmod(int(index), self.num_acting)
            legal = np.flatnonzero(self.masks[i, w]).tolist()
            player = f" of player {w}" if self.num_acting > 1 else ""
            raise ValueError(
                f"action {actions[i, w]}{player} is illegal in game {i}: "
                f"the legal actions are {legal}"
            )

    def _batch_arrays(self) -> BatchArrays:
        """Return the arrays that Python opponents read and change."""
        return self.states, self.episode_states, self.history, self._scratch_records

    def _step_arrays(self, actions: NDArray[np.int64]) -> tuple[NDArray[Any], ...]:
        """Return the arrays that a compiled step reads and writes."""
        observations = self._channels_first(self.observations)
        final_observations = self._channels_first(self.final_observations)
        inputs = (self.states, self.episode_states, actions, self.masks)
        return (*inputs, observations, final_observations, self.history, self._scratch_records)

    def _new_thread_pool(self) -> ThreadPool | None:
        interpreted = isinstance(self._stepper.step, InterpretedFunction)
        if self.num_threads == 1 or not self.has_compiled_opponents or interpreted:
            return None
        # The pool compiles for the types of these example arrays, which are those of a step.
        arrays = self._step_arrays(np.zeros((2, self.num_acting), np.int64))
        examples = tuple(np.empty_like(array, shape=(2, *array.shape[1:])) for array in arrays)
        slices = min(self.count, SLICES_PER_THREAD * self.num_threads)
        options = (self.seat_rule, self.illegal_rule, self.autoreset)
        result = StepResult.empty(self.masks[:0], self.game.num_players)
        example = (examples, result, options)
        return ThreadPool(self._stepper.step_slices, self.num_threads, slices, example)

    def _write_step_result(self, step_result: StepResult) -> None:
        self._stepper.write_step_result(self.episode_states, self.masks, step_result, 0, self.count)

    def _observe(self, observations: NDArray[Any], *, finished_only: bool = False) -> None:
        """Write masks and observations of all games, or only of those that are over."""
        planes, episodes = self._channels_first(observations), self.episode_states
        self._stepper.observe(
            self.states, episodes, finished_only, self.masks, planes, self._scratch_records
        )

    def _clear_final_observations(self) -> None:
        if self._has_final_observations:
            self.final_observations = np.zeros_like(self.final_observations)
            self._has_final_observations = False

    def _new_observations(self) -> NDArray[Any]:
        """Return a new array: callers may keep the observations of earlier steps."""
        return np.empty((self.count, self.num_acting, *self.observation_shape), self.dtype)

    def _channels_first(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Return a view with axes `(..., planes, rows, columns)`, in which games write planes."""
        return np.moveaxis(observations, -1, -3) if self.channels_last else observations
