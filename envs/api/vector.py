"""Gymnasium vector environment of any game, whose B games are stepped by compiled code."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import DTypeLike, NDArray

from ludoteca.envs.engine.episode_state import DISABLED, EVERY_SEAT, NEXT_STEP, SAME_STEP
from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.engine.opponents import OpponentSpec
from ludoteca.envs.engine.step_result import StepResult
from ludoteca.envs.game import Game
from ludoteca.envs.observation import OBSERVATION_KEYS, ObservationFormat
from ludoteca.envs.params import check_integer
from ludoteca.envs.serialization import Storable
from ludoteca.envs.validation import (
    RANDOM_SEED_BOUND,
    as_game,
    check_ready,
    check_render_mode,
    check_reset_mask,
    check_seed,
)

AUTORESET = {
    AutoresetMode.NEXT_STEP: NEXT_STEP,
    AutoresetMode.SAME_STEP: SAME_STEP,
    AutoresetMode.DISABLED: DISABLED,
}


class GameVectorEnv(VectorEnv[Any, NDArray[np.int64], NDArray[Any]], Storable):
    """Gymnasium vector environment of B games, stepped by compiled code.

    P is the number of players, A the number of actions of the game.

    Self-play (`opponent=None`): the caller acts for every player. In sequential games observations
    and rewards are those of the player to move. In simultaneous games observations
    are `[B, P, ...]`, actions `[B, P]`, and the reward is player 0's.

    Against opponents: the caller acts for one player, the opponents act for the others inside
    `step`, and observations and rewards are the caller's.

    Observations are planes, or dictionaries of planes and masks, all with a leading axis of B;
    see `ludoteca.envs.observation.ObservationFormat`.

    `info` holds `action_mask` (int8 `[B, A]`, or `[B, P, A]` in simultaneous self-play),
    `rewards` (float32 `[B, P]`, of all players), `player` (int8 `[B]`: the player that
    observes, -1 for all) and `illegal_action` (bool `[B]`: whether the last step had an illegal
    action). Under same-step autoreset, when games have ended, `info` also holds `final_obs` (one
    batched observation, zero for games that did not end), `final_info`, and their masks
    `_final_obs` and `_final_info` (bool `[B]`). `rewards` and `illegal_action` are then
    those of the last step in both `info` and `final_info`, while `action_mask` and `player` in
    `info` belong to the new games.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        *,
        opponent: OpponentSpec | Sequence[OpponentSpec] | None = None,
        agent_seat: int | str = 0,
        illegal_action: str = "lose",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        num_threads: int = 1,
        observation: str = "planes",
        dtype: DTypeLike = "int8",
        channels_last: bool = False,
        keys: Sequence[str] = OBSERVATION_KEYS,
        mask_dtype: DTypeLike = "int8",
        end_mask: str | None = None,
        render_mode: str | None = None,
        **params: Any,
    ):
        """Make the environment.

        Args:
            game: a game or its name.
            num_envs: B, the number of games.
            opponent: None for self-play; or a spec string or agent for all other seats, or a list
                with one for each.
            agent_seat: the caller's seat against opponents, or `"random"`: sampled for each game.
            illegal_action: consequence of an illegal action. `"lose"`: the mover gets reward -1,
                the others 0, and the game is over; `"raise"`: a `ValueError`, and nothing changes;
                `"penalize"`: the mover gets reward -1 and must act again in the same position;
                `"random"`: a random legal action is applied instead.
            autoreset_mode: when finished games are reset, see Gymnasium's documentation.
            num_threads: number of threads that step the games; more than 1 pays off from about
                1000 games on. Opponents that are not compiled are called in one thread.
            observation: format, `"planes"`, `"flat"`, `"dict"` or `"flat_dict"`.
            dtype: dtype of the planes.
            channels_last: `(rows, columns, planes)` instead of `(planes, rows, columns)`.
            keys: keys of the planes and of the mask in dictionary observations.
            mask_dtype: `"int8"`, `"bool"` or `"float32"`.
            end_mask: values of masks without a legal action (of finished games, and in simultaneous
                self-play of eliminated players): `"zeros"` or `"ones"`; None: ones if observations
                are dictionaries, else zeros.
            render_mode: `"rgb_array"`, `"ansi"` or `"svg"`: type of what `render` returns per game.
            params: parameters of the game (if `game` is a name).

        Raises:
            ValueError: if a parameter is unknown or out of range.
        """
        super().__init__()
        self.game = as_game(game, params, GameVectorEnv)
        self.format = ObservationFormat.of_batch(
            observation,
            end_mask,
            dtype=dtype,
            channels_last=channels_last,
            keys=keys,
            mask_dtype=mask_dtype,
        )
        num_envs = self.num_envs = check_integer("num_envs", num_envs, 1, 2**31 - 1)
        self.autoreset_mode = _autoreset_mode(autoreset_mode)
        self.metadata = {
            "render_modes": ["ansi", "rgb_array", "svg"],
            "render_fps": 2,
            "autoreset_mode": self.autoreset_mode,
        }
        self.render_mode: Any = check_render_mode(render_mode, self.metadata["render_modes"])
        self.game_batch = GameBatch(
            self.game,
            num_envs,
            opponent=opponent,
            agent_seat=agent_seat,
            illegal_action=illegal_action,
            autoreset=AUTORESET[self.autoreset_mode],
            num_threads=num_threads,
            dtype=self.format.dtype,
            channels_last=self.format.channels_last,
        )
        # Whether all players observe and act at once; arrays then have an axis of players.
        self._has_player_axis = self.game.simultaneous and self.game_batch.seat_rule == EVERY_SEAT
        player_axis = (self.game.num_players,) if self._has_player_axis else ()
        self.single_observation_space = self.format.space(self.game, *player_axis)
        self.single_action_space = (
            spaces.MultiDiscrete([self.game.num_actions] * self.game.num_players)
            if self._has_player_axis
            else spaces.Discrete(self.game.num_actions)
        )
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._actions_shape = (num_envs, *player_axis)
        self._ready = False  # whether all games have been reset

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the games.

        Args:
            seed: environment i is seeded with `seed + i`, as a single environment would be; or one
                seed per environment; or None: each continues its random stream, which is random
                at the first reset.
            options: `{"reset_mask": mask}` resets only the environments where `mask`, bool
                `[B]`, is true.

        Raises:
            ValueError: if there are not as many seeds as environments, if the mask has another
                shape or dtype, or if it leaves out games that were never reset.
        """
        reset_mask = check_reset_mask(options, self.num_envs)
        if not (self._ready or reset_mask is None or reset_mask.all()):
            raise ValueError("the first reset must reset all games: call it without a reset_mask")
        seeds: list[int | None]
        if seed is None:
            seeds = [None] * self.num_envs
        elif isinstance(seed, int | np.integer):
            first = check_seed(seed)
            super().reset(seed=first)
            seeds = [first + i for i in range(self.num_envs)]
        elif not isinstance(seed, Sequence | np.ndarray) or isinstance(seed, str | bytes):
            raise ValueError(
                "seed must be an integer, a sequence of one integer or None per game, or None, "
                f"got {seed!r}"
            )
        else:
            seeds = [None if each is None else check_seed(each) for each in seed]
            if len(seeds) != self.num_envs:
                raise ValueError(f"expected {self.num_envs} seeds, one per game, got {len(seeds)}")
        if not self._ready:
            random_seeds = self.np_random.integers(RANDOM_SEED_BOUND, size=self.num_envs).tolist()
            seeds = [
                random_seed if seed is None else seed
                for seed, random_seed in zip(seeds, random_seeds, strict=True)
            ]
        self.game_batch.reset(seeds, reset_mask)
        self._ready = True
        step_result = self.game_batch.step_result()
        masks = self.format.masks(self._squeeze(step_result.masks))
        return self._observation(self.game_batch.observations, masks), self._info(
            step_result, masks
        )

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Apply one action per game (and per player, in simultaneous self-play).

        Args:
            actions: integers of shape `[B]`, or `[B, P]` in simultaneous self-play.

        Raises:
            ValueError: if actions have the wrong shape or are not integers; if an action is illegal
                and `illegal_action="raise"`; if a game is over under disabled autoreset. Nothing
                has then changed.
        """
        array = np.asarray(actions)
        if array.shape != self._actions_shape or array.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be integers of shape {self._actions_shape}, "
                f"got {array.dtype} of shape {array.shape}"
            )
        check_ready(self._ready, "step")
        game_batch, step_result = self.game_batch, self.game_batch.new_step_result()
        # Other dtypes and memory orders would compile the step anew.
        if array.dtype != np.int64 or not array.flags.carray:
            array = array.astype(np.int64, order="C")
        game_batch.step(array.reshape(self.num_envs, -1), step_result)
        masks = self.format.masks(self._squeeze(step_result.masks))
        info = self._info(step_result, masks)
        if self.autoreset_mode == AutoresetMode.SAME_STEP and step_result.terminated.any():
            ended = step_result.terminated.copy()
            final_info = self._final_info(ended)
            final_masks = final_info["action_mask"]
            info["final_obs"] = self._observation(game_batch.final_observations, final_masks)
            info["_final_obs"], info["_final_info"] = ended, ended.copy()
            info["final_info"] = final_info
        truncated = np.zeros(self.num_envs, np.bool_)
        observations = self._observation(game_batch.observations, masks)
        return observations, step_result.reward, step_result.terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the present `info["action_mask"]` as booleans (for sb3-contrib's algorithms)."""
        return self.format.fill(self._squeeze(self.game_batch.masks).astype(np.bool_))

    def set_opponent(self, opponent: OpponentSpec | Sequence[OpponentSpec]) -> None:
        """Replace the opponents; games continue from their positions.

        Args:
            opponent: as in the constructor, but not None.

        Raises:
            ValueError: if the environment was made for self-play, or if there are not as many
                opponents as other seats.
            TypeError: if an opponent is neither a spec string nor an agent. After either error
                nothing has changed.
        """
        self.game_batch.set_opponent(opponent)

    def render(self) -> tuple[Any, ...] | None:
        """Return one image or text per game, according to `render_mode`.

        Raises:
            ValueError: before the first `reset`.
        """
        if self.render_mode is None:
            return None
        check_ready(self._ready, "render")
        from ludoteca.envs.render import render

        records = self.game_batch.states.view(np.recarray)
        return tuple(render(self.game, s, self.render_mode) for s in records)

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        self.game_batch.close()

    def _observation(self, planes: NDArray[Any], masks: NDArray[Any]) -> Any:
        return self.format.apply(self._squeeze(planes), masks)

    def _info(self, step_result: StepResult, masks: NDArray[Any]) -> dict[str, Any]:
        return {
            "action_mask": masks,
            "rewards": step_result.rewards,
            "player": step_result.player,
            "illegal_action": step_result.illegal,
        }

    def _final_info(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the infos of the games that ended, and a mask of these games for each key.

        The masks, such as `_player` for `player`, are Gymnasium's convention for vector infos.
        """
        step_result = self.game_batch.final_step_result()
        masks = self.format.final_masks(self._squeeze(step_result.masks), ended)
        info = self._info(step_result, masks)
        return info | {f"_{name}": ended.copy() for name in info}

    def _squeeze(self, array: NDArray[Any]) -> NDArray[Any]:
        """Remove axis 1 (of length 1), unless it is the axis of players."""
        return array if self._has_player_axis else array[:, 0]


def _autoreset_mode(mode: Any) -> AutoresetMode:
    """Return the `AutoresetMode` that is given as a member or by its value, such as `"NextStep"`.

    Raises:
        ValueError: if it is neither.
    """
    try:
        return AutoresetMode(mode)
    except ValueError:
        names = ", ".join(repr(mode.value) for mode in AutoresetMode)
        raise ValueError(
            f"autoreset_mode must be an AutoresetMode or one of {names}, got {mode!r}"
        ) from None
