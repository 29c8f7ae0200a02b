"""B games played side by side: what Gymnasium's and PettingZoo's environments are skins of."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ludoteca.envs.engine.buffers import Buffers
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
from ludoteca.envs.engine.opponents import Opponent, OpponentSpec, make_opponents
from ludoteca.envs.engine.python_opponents import PythonOpponents, Tables
from ludoteca.envs.engine.step_result import StepResult
from ludoteca.envs.engine.stepper import make_stepper
from ludoteca.envs.engine.thread_pool import ThreadPool
from ludoteca.envs.game import Game
from ludoteca.envs.params import choice, integer
from ludoteca.envs.validation import check_dtype, check_flag

# A step's work is cut into that many parts per thread: a thread that wakes late takes fewer.
SLICES_PER_THREAD = 8
# What a game paid in the last step.
PAYMENT = ("rewards", "reward", "terminated", "illegal")


class GameBatch:
    """B games, their random streams and opponents, and what is seen of them.

    Game i has a random stream of its own, from which its games are seeded, its seat is drawn, and
    its opponents choose: what happens in a game does not depend on the others.

    Attributes:
        states: the positions. Shape `[B]`, dtype `game.state`.
        episode_states: the records beside them, see `episode_state_dtype`. Shape `[B]`.
        masks: legal actions of the W seats seen, int8, none once a game is over. Shape
            `[B, W, num_actions]`.
        observations: what the W seats see. Shape `[B, W, *observation_shape]`.
        final_observations: likewise, of the games that ended in the last step (same-step
            autoreset only), else zero. Another array after each step that ends a game.
        history: the actions of each game, if `record=True`: their number of plies, then the actions
            one after the other. int16, shape `[B, 1 + plies]`, or `[B, 0]` if not kept.
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
        integer("num_envs", count, 1, 2**31 - 1)
        integer("num_threads", num_threads, 1, 1024)
        self.game, self.count, self.autoreset = game, count, autoreset
        self.num_threads = num_threads
        self.illegal_rule = ILLEGAL_RULES[
            choice("illegal_action", illegal_action, tuple(ILLEGAL_RULES))
        ]
        opponents: tuple[Opponent, ...] = ()
        if opponent is None:
            if type(agent_seat) is not int or agent_seat != 0:
                raise ValueError(f"agent_seat={agent_seat!r} needs opponents for the other seats")
            self.seat_rule = EVERY_SEAT
        else:
            seats = ("random", *range(game.num_players))
            seat = choice("agent_seat", agent_seat, seats)
            self.seat_rule = RANDOM_SEAT if seat == "random" else seat
            opponents = make_opponents(opponent, game)
        self._play_against(opponents)
        self.width = game.num_players if game.simultaneous and opponent is None else 1

        self.dtype = check_dtype(dtype)
        channels_last = self.channels_last = check_flag("channels_last", channels_last)
        planes, rows, columns = game.observation_shape
        self.observation_shape = (
            (rows, columns, planes) if channels_last else game.observation_shape
        )
        self.states = game.empty(count)
        self.episode_states = np.zeros(count, episode_state_dtype(game))
        self.episode_states["over"] = True
        self.masks = np.zeros((count, self.width, game.num_actions), np.int8)
        shape = (count, self.width, *self.observation_shape)
        self._buffers = Buffers(shape, self.dtype)
        self._mask_buffers = Buffers(self.masks.shape, self.masks.dtype)
        self.observations = self._new_observations()
        self._final_buffers = Buffers(shape, self.dtype, cleared=True)
        self.final_observations = self._final_buffers.take()
        self._finals_written = False
        plies = game.max_plies * (game.num_players if game.simultaneous else 1)
        self.history = np.zeros((count, 1 + plies if record else 0), np.int16)
        self._scratch = np.zeros(num_threads, scratch_dtype(game))
        self._thread_pool = self._new_thread_pool()

    def reset(
        self,
        seeds: Sequence[int | None],
        which: NDArray[np.bool_] | None = None,
    ) -> None:
        """Begin new games, all or those of `which`.

        Args:
            seeds: per game, a seed for its random stream, or None to go on with the one it has.
            which: the games to reset. Shape `[B]`.
        """
        which = np.ones(self.count, np.bool_) if which is None else which
        for i in np.flatnonzero(which).tolist():
            if seeds[i] is not None:
                self.episode_states["rng"][i] = seeds[i]
        for name in PAYMENT:
            self.episode_states[name][which] = 0
        self._stepper.reset(self.states, self.episode_states, which, self.history, self.seat_rule)
        self._begin_opponents(which)
        self.refresh()

    def set_opponent(self, opponent: OpponentSpec | Sequence[OpponentSpec]) -> None:
        """Let other opponents play from now on; games continue from where they are.

        Between steps it is the agent's turn in every game, so no move of the old ones is pending.

        Raises:
            ValueError: if there are no opponents (self-play), or not one for each other seat.
            TypeError: if something is neither a spec string nor an opponent, None included. Nothing
                has then changed.
        """
        if self.seat_rule == EVERY_SEAT:
            raise ValueError(
                "set_opponent needs an environment that was made with opponent=...: "
                "in self-play the caller moves for every seat"
            )
        opponents = make_opponents(opponent, self.game)
        for one in {id(one): one for one in opponents}.values():
            one.reset(np.arange(self.count))
        self.close()
        self._play_against(opponents)
        self._thread_pool = self._new_thread_pool()

    def step(self, actions: NDArray[np.int64], step_result: StepResult | None = None) -> None:
        """Play one action per game and seen seat, and the opponents' answers.

        Args:
            actions: shape `[B, W]`; not looked at where a game is over or a player is out.
            step_result: arrays to write what came of it to, by the same threads; see `step_result`.

        Raises:
            ValueError: if a game is over and resets are the caller's business, if an action is
                illegal and `illegal_action="raise"`, or if an opponent plays no legal action.
                Nothing has then changed.
        """
        if self.autoreset == DISABLED and self.episode_states["over"].any():
            over = np.flatnonzero(self.episode_states["over"]).tolist()
            raise ValueError(f"cannot step games that are over: {over} must be reset first")
        if self.illegal_rule == RAISE:
            self._raise_if_illegal(actions)
        # Callers keep what they are given, so each step writes into fresh arrays.
        if self.fused:
            self.observations = self._new_observations()
            self._step_fused(actions, step_result)
            return
        kept = (self.states, self.episode_states, self.history)
        before = [array.copy() for array in kept]
        try:
            self._step_with_opponents(actions)
        except BaseException:  # from an opponent: its code is not ours
            for array, old in zip(kept, before, strict=True):
                array[:] = old
            self.refresh()
            raise
        self.refresh()
        if step_result is not None:
            self._stepper.write_step_result(self.episode_states, self.masks, step_result)

    def step_result(self) -> StepResult:
        """Return what came of the last step, in arrays of the caller's own."""
        made = self.new_step_result()
        self._stepper.write_step_result(self.episode_states, self.masks, made)
        return made

    def final_step_result(self) -> StepResult:
        """Return what came of the last step for the games that it ended, and zeros for others.

        After same-step autoreset; no action is legal any more.
        """
        made = self._step_result_with(np.zeros_like(self.masks))
        self._stepper.write_final_result(self.episode_states, made)
        return made

    def new_step_result(self) -> StepResult:
        """Return arrays for what comes of a step."""
        return self._step_result_with(self._mask_buffers.take())

    def _step_result_with(self, masks: NDArray[np.int8]) -> StepResult:
        count = len(masks)
        return StepResult(
            masks=masks,
            rewards=np.empty((count, self.game.num_players), np.float32),
            reward=np.empty(count, np.float32),
            terminated=np.empty(count, np.bool_),
            illegal=np.empty(count, np.bool_),
            player=np.empty(count, np.int8),
        )

    def refresh(self) -> None:
        """Write what is seen of the present positions."""
        self.observations = self._new_observations()
        self._view(self.observations)

    def reset_opponents(self, which: NDArray[np.bool_] | None = None) -> None:
        """Tell the opponents that new games begin, all or those of `which`."""
        begun = np.arange(self.count) if which is None else np.flatnonzero(which)
        for opponent in {id(opponent): opponent for opponent in self.opponents}.values():
            opponent.reset(begun)

    def is_agent_seat(self, seat: int) -> bool:
        """Tell whether a game may have this seat."""
        if self.seat_rule == RANDOM_SEAT:
            return 0 <= seat < self.game.num_players
        return seat == (NO_SEAT if self.seat_rule == EVERY_SEAT else self.seat_rule)

    def observe(self, player: int) -> NDArray[Any]:
        """Return what `player` sees. Shape `[B, *observation_shape]`."""
        seen = np.empty((self.count, *self.observation_shape), self.dtype)
        first = np.moveaxis(seen, -1, -3) if self.channels_last else seen
        self._stepper.observe_player(self.states, player, first)
        return seen

    def plies_of(self, env_index: int) -> int:
        """Return how many plies game `env_index` has had, if the batch was made with `record=True`.

        More than `game.max_plies` are not counted: a restored position may allow them.
        """
        return int(self.history[env_index, 0])

    def actions_of(self, env_index: int) -> list[int] | list[list[int]]:
        """Return the actions of game `env_index` so far; simultaneous: one list per step.

        Raises:
            ValueError: if the batch was made without `record=True`.
        """
        if self.history.shape[1] == 0:
            raise ValueError("actions are not kept: make the batch with record=True")
        count, players = int(self.history[env_index, 0]), self.game.num_players
        if not self.game.simultaneous:
            return [int(a) for a in self.history[env_index, 1 : 1 + count]]
        steps = self.history[env_index, 1 : 1 + count * players]
        return [[int(a) for a in joint] for joint in steps.reshape(count, players)]

    def __deepcopy__(self, memo: Any) -> "GameBatch":
        """Return a batch with the same present and future; opponents are shared."""
        twin = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(twin, name, value.copy())
        twin._buffers = copy.deepcopy(self._buffers)
        twin._final_buffers = copy.deepcopy(self._final_buffers)
        twin._mask_buffers = copy.deepcopy(self._mask_buffers)
        twin._thread_pool = twin._new_thread_pool()
        return twin

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

    def _play_against(self, opponents: tuple[Opponent, ...]) -> None:
        """Prepare the stepping with these opponents; none: the caller moves for every seat."""
        self.opponents = opponents
        # Opponents that are all the same kernel play inside the compiled loop.
        kernels = {getattr(opponent, "choose", None) for opponent in opponents}
        self.fused = len(kernels) <= 1 and None not in kernels
        choose = kernels.pop() if kernels and self.fused else None
        self._stepper = make_stepper(self.game, choose)
        self._python_opponents = PythonOpponents(self.game, opponents, self._stepper)

    def _step_fused(self, actions: NDArray[np.int64], step_result: StepResult | None) -> None:
        if self.autoreset == SAME_STEP:
            self._clear_finals()
        batch, rules = self._batch(actions), (self.seat_rule, self.illegal_rule, self.autoreset)
        if self._thread_pool is not None:
            self._thread_pool.run(
                (batch, step_result or self._step_result_with(self.masks[:0]), rules)
            )
        else:
            self._stepper.step(batch, rules)
            if step_result is not None:
                self._stepper.write_step_result(self.episode_states, self.masks, step_result)
        if self.autoreset == SAME_STEP:
            self._mark_finals(self.episode_states["terminated"])

    def _step_with_opponents(self, actions: NDArray[np.int64]) -> None:
        restarting = self.episode_states["over"].copy()
        actions = actions.copy()
        arrays = (
            self.states,
            self.episode_states,
            actions,
            self.masks,
            self.history,
            self._scratch,
        )
        self._stepper.apply_action(*arrays, self.illegal_rule)
        if self.game.simultaneous:
            playing = np.flatnonzero(actions[:, 0] != NO_SEAT)
            self._python_opponents.play_simultaneous(self._tables(), playing, actions[:, 0])
        else:
            self._python_opponents.play_sequential(self._tables(), np.ones(self.count, np.bool_))
        if self.autoreset == SAME_STEP:
            restarting = self.episode_states["over"].copy()
            if restarting.any():
                seen = self._new_observations()
                self._view(seen)
                self._clear_finals()
                self.final_observations[restarting] = seen[restarting]
                self._mark_finals(restarting)
                self.episode_states["final_player"][restarting] = self.episode_states["seat"][
                    restarting
                ]
        if restarting.any():
            # The opponents' first moves in new games leave the payment of the ended ones alone.
            paid = {name: self.episode_states[name].copy() for name in PAYMENT}
            rule = self.seat_rule
            self._stepper.reset(self.states, self.episode_states, restarting, self.history, rule)
            self._begin_opponents(restarting)
            for name, values in paid.items():
                self.episode_states[name] = values

    def _begin_opponents(self, which: NDArray[np.bool_]) -> None:
        """Tell the opponents of new games, and let them move first where they do."""
        if self.opponents:
            self.reset_opponents(which)
            if not self.game.simultaneous:
                self._python_opponents.play_sequential(self._tables(), which)
                # If that ended a game, the agent learns so in its first step.
                self.episode_states["over"][which] = False

    def _raise_if_illegal(self, actions: NDArray[np.int64]) -> None:
        found = self._stepper.find_illegal(self.states, self.episode_states, actions, self.masks)
        if found >= 0:
            i, w = divmod(int(found), self.width)
            legal = np.flatnonzero(self.masks[i, w]).tolist()
            seat = f" of player {w}" if self.width > 1 else ""
            raise ValueError(
                f"action {actions[i, w]}{seat} is illegal in game {i}: legal are {legal}"
            )

    def _tables(self) -> Tables:
        """Return the arrays that opponents' answers read and change."""
        return self.states, self.episode_states, self.history, self._scratch

    def _batch(self, actions: NDArray[np.int64]) -> tuple[NDArray[Any], ...]:
        """Return the arrays that a compiled step reads and writes."""
        seen = self._channels_first(self.observations)
        final = self._channels_first(self.final_observations)
        kept = (self.states, self.episode_states, actions, self.masks)
        return (*kept, seen, final, self.history, self._scratch)

    def _new_thread_pool(self) -> ThreadPool | None:
        if self.num_threads == 1 or not self.fused:
            return None
        # Threads know the types of arguments from arrays that look like those of a step.
        batch = self._batch(np.zeros((2, self.width), np.int64))
        like = tuple(np.empty_like(array, shape=(2, *array.shape[1:])) for array in batch)
        slices = min(self.count, SLICES_PER_THREAD * self.num_threads)
        rules = (self.seat_rule, self.illegal_rule, self.autoreset)
        example = (like, self._step_result_with(self.masks[:0]), rules)
        return ThreadPool(self._stepper.step_slices, self.num_threads, slices, example)

    def _view(self, observations: NDArray[Any]) -> None:
        planes = self._channels_first(observations)
        self._stepper.observe(self.states, self.episode_states, self.masks, planes, self._scratch)

    def _new_observations(self) -> NDArray[Any]:
        return self._buffers.take()

    def _clear_finals(self) -> None:
        if self._finals_written:
            del self.final_observations  # if nobody else has it, it can be used again
            self.final_observations = self._final_buffers.take()
            self._finals_written = False

    def _mark_finals(self, ended: NDArray[np.bool_]) -> None:
        rows = np.flatnonzero(ended)
        self._finals_written = len(rows) > 0
        self._final_buffers.mark(self.final_observations, rows)

    def _channels_first(self, observations: NDArray[Any]) -> NDArray[Any]:
        return np.moveaxis(observations, -1, -3) if self.channels_last else observations
