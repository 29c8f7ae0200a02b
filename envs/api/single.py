"""Gymnasium environment of any game for one agent; the opponents act inside its steps."""

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

from ludoteca.envs.api.rendering import BoardRenderer
from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.engine.opponents import OpponentSpec
from ludoteca.envs.game import Game
from ludoteca.envs.observation import OBSERVATION_KEYS, ObservationFormat
from ludoteca.envs.replay import Replay
from ludoteca.envs.serialization import Storable
from ludoteca.envs.validation import (
    RANDOM_SEED_BOUND,
    as_action,
    as_game,
    check_options,
    check_ready,
    check_seed,
)


class GameEnv(gymnasium.Env[Any, Any], Storable):
    """One game against opponents: a step applies the agent's action and those of the opponents.

    Observations are planes (`observation="planes"`), or dictionaries with `"observation"` and
    `"action_mask"` (`observation="dict"`), or either of them with flattened planes (`"flat"`,
    `"flat_dict"`); see `ludoteca.envs.observation.ObservationFormat`.

    `info` holds `action_mask` (int8 `[A]`; dictionary observations hold the same array), `rewards`
    (float32 `[P]`, of all players), `player` (the agent's seat) and `illegal_action` (whether the
    last step had an illegal action). A is the number of actions, P the number of players.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["human", "rgb_array", "ansi", "svg"],
        "render_fps": 2,
    }

    def __init__(
        self,
        game: Game | str,
        *,
        opponent: OpponentSpec | Sequence[OpponentSpec] = "random",
        agent_seat: int | str = 0,
        illegal_action: str = "lose",
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
            opponent: a spec string or agent for all other seats, or a list with one for each.
            agent_seat: the agent's seat, or `"random"`: sampled for each game.
            illegal_action: consequence of an illegal action of the agent. `"lose"`: it gets reward
                -1 and the game is over; `"raise"`: a `ValueError`, and nothing changes;
                `"penalize"`: it gets reward -1 and must act again in the same position; `"random"`:
                a random legal action is applied instead.
            observation: format, `"planes"`, `"flat"`, `"dict"` or `"flat_dict"`.
            dtype: dtype of the planes.
            channels_last: `(rows, columns, planes)` instead of `(planes, rows, columns)`.
            keys: keys of the planes and of the mask in dictionary observations.
            mask_dtype: `"int8"`, `"bool"` or `"float32"`.
            end_mask: values of the mask of a finished game, `"zeros"` (also None) or `"ones"`.
            render_mode: one of `metadata["render_modes"]`.
            params: parameters of the game.

        Raises:
            ValueError: if a parameter is unknown or out of range.
        """
        self.game = as_game(game, params, GameEnv)
        self.format = ObservationFormat(
            observation, dtype, channels_last, keys, mask_dtype, end_mask
        )
        if opponent is None:
            raise ValueError(
                "opponent must be a spec string or an agent, got None; "
                "for self-play use make_vec or PettingZoo's environments"
            )
        self.game_batch = GameBatch(
            self.game,
            1,
            opponent=opponent,
            agent_seat=agent_seat,
            illegal_action=illegal_action,
            dtype=self.format.dtype,
            channels_last=self.format.channels_last,
            record=True,
        )
        self._renderer = BoardRenderer(self.game, render_mode, self.metadata)
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(self.game.num_actions)
        self.observation_space: spaces.Space[Any] = self.format.space(self.game)
        self._action = np.zeros((1, 1), np.int64)
        self._ready = False  # whether `reset` was called

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the game; a seed also determines all later games that are reset without one."""
        check_options(options)
        seed = None if seed is None else check_seed(seed)
        super().reset(seed=seed)
        if seed is None and not self._ready:
            seed = int(self.np_random.integers(RANDOM_SEED_BOUND))
        self.game_batch.reset([seed])
        self._ready = True
        if self.render_mode == "human":
            self.render()
        info = self._info()
        return self._observation(info), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Apply the agent's action and the opponents'.

        Raises:
            ValueError: if no game is in progress, if `action` is not an integer, or if it is
                illegal and `illegal_action="raise"`. Nothing has then changed.
        """
        check_ready(self._ready, "step")
        self._action[0, 0] = as_action(action)
        game_batch = self.game_batch
        game_batch.step(self._action)
        episode = game_batch.episode_states[0]
        if self.render_mode == "human":
            self.render()
        info = self._info()
        reward, terminated = float(episode["reward"]), bool(episode["terminated"])
        return self._observation(info), reward, terminated, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the agent's legal actions as booleans, shape `[A]`."""
        return self.format.fill(self.game_batch.masks[0, 0].astype(np.bool_))

    def set_opponent(self, opponent: OpponentSpec | Sequence[OpponentSpec]) -> None:
        """Replace the opponents; games continue from their positions.

        Args:
            opponent: as in the constructor.

        Raises:
            ValueError: if there are not as many opponents as other seats.
            TypeError: if an opponent is neither a spec string nor an agent. After either error
                nothing has changed.
        """
        self.game_batch.set_opponent(opponent)

    def replay(self) -> Replay:
        """Return the replay of the game so far.

        Raises:
            ValueError: before the first `reset`.
        """
        check_ready(self._ready, "replay")
        return Replay.from_batch(self.game_batch, 0)

    def render(self) -> Any:
        """Return an image or text of the position, or show it in a window (`"human"`).

        Raises:
            ValueError: before the first `reset`.
        """
        check_ready(self._ready, "render")
        last_action = self.game_batch.actions_of(0)[-1:]
        return self._renderer.show(self.game_batch.states.view(np.recarray)[0], last_action)

    def close(self) -> None:
        """Close the window."""
        self._renderer.close()

    def _observation(self, info: dict[str, Any]) -> Any:
        return self.format.apply(self.game_batch.observations[0, 0], info["action_mask"])

    def _info(self) -> dict[str, Any]:
        episode = self.game_batch.episode_states[0]
        return {
            "action_mask": self.format.masks(self.game_batch.masks[0, 0].copy()),
            "rewards": episode["rewards"].copy(),
            "player": int(episode["seat"]),
            "illegal_action": bool(episode["illegal"]),
        }
