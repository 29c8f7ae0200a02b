"""SB3 `VecEnv` over a compiled batch of games, for every game.

SB3 trains one policy for one player, so opponents play the other seats. Self-play in the sense of
`GameVectorEnv`, where the caller acts for every player, is not supported. In sequential games
SB3 would bootstrap from the opponent's observation, and the loser's -1 would never reach its
buffer, because the last step is the winner's. In simultaneous games an eliminated player would give
the learner meaningless transitions until the game ends. For self-play, a model becomes its own
opponent::

    env = SB3VecEnv("hex:board_size=5", 64, opponent="random", agent_seat="random")
    model = MaskablePPO("MlpPolicy", env)
    env.set_opponent(SB3Agent.from_model(env.game, model))
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

from ludoteca.envs.engine.episode_state import SAME_STEP
from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.engine.opponents import OpponentSpec
from ludoteca.envs.game import Game
from ludoteca.envs.observation import OBSERVATION_KEYS, ObservationFormat
from ludoteca.envs.params import check_integer
from ludoteca.envs.validation import (
    RANDOM_SEED_BOUND,
    as_game,
    check_options,
    check_render_mode,
    check_seed,
)

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise ImportError(
        'ludoteca.envs.adapters.sb3 needs Stable-Baselines3: pip install "ludoteca[train]"'
    ) from error

Indices = int | Iterable[int] | None  # indices of games; None: all


class SB3VecEnv(VecEnv):
    """B games against opponents as SB3's `VecEnv`, for `PPO`, `DQN`, `MaskablePPO` and others.

    The reward is the agent's, also if it loses by the opponent's move (-1). Finished games are
    reset in the same step; `infos[i]` then holds `terminal_observation`, `TimeLimit.truncated`
    (always false: games end by their rules), `is_success` (whether the agent won), `rewards`
    (float32 `[P]`, of all players), `player` (the agent's seat in that game) and `illegal_action`
    (whether the last action was illegal). Otherwise `infos[i]` is empty. Use `VecMonitor` for
    episode statistics.

    Observations are small integers in int8: SB3 stores them in that dtype, in a quarter of the
    memory of float32, and converts them to floats for the network. SB3 does not treat them as
    images: it neither scales nor transposes them, and a `CnnPolicy` needs a
    `features_extractor_class`, because SB3's `NatureCNN` needs images of at least 36 x 36.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        *,
        opponent: OpponentSpec | Sequence[OpponentSpec] | None = "random",
        agent_seat: int | str = 0,
        illegal_action: str = "lose",
        num_threads: int = 1,
        observation: str = "planes",
        dtype: DTypeLike = "int8",
        channels_last: bool = False,
        keys: Sequence[str] = OBSERVATION_KEYS,
        mask_dtype: DTypeLike = "int8",
        end_mask: str | None = None,
        render_mode: str | None = None,
        seed: int | None = None,
        **params: Any,
    ):
        """Make the environment.

        Args:
            game: a game or its name.
            num_envs: B, the number of games.
            opponent: a spec string or agent for all other seats, or a list with one for each.
            agent_seat: the agent's seat, or `"random"`: sampled for each game.
            illegal_action: see `ludoteca.envs.api.vector.GameVectorEnv`. Algorithms without masks,
                such as `PPO`, learn to play legal actions from `"lose"` or `"penalize"`.
            num_threads: number of threads that step the games; more than 1 pays off from about
                1000 games on.
            observation: format, `"planes"`, `"flat"`, `"dict"` or `"flat_dict"`. Dictionaries are
                for `MultiInputPolicy`, whose network then has the mask as an input; masked
                algorithms call `action_masks` with any format.
            dtype: dtype of the planes.
            channels_last: `(rows, columns, planes)` instead of `(planes, rows, columns)`.
            keys: keys of the planes and of the mask in dictionary observations.
            mask_dtype: dtype of the masks in dictionaries, `"int8"`, `"bool"` or `"float32"`.
            end_mask: values of the mask in `terminal_observation`, `"zeros"` or `"ones"`; None:
                ones.
            render_mode: None or `"rgb_array"`, with which `render("human")` works, too.
            seed: argument of a call of the method `seed`: game i is seeded with `seed + i`.
            params: parameters of the game (if `game` is a name).

        Raises:
            ValueError: if a parameter is unknown or out of range, or `opponent` is None.
        """
        self.game = as_game(game, params, SB3VecEnv)
        self.format = ObservationFormat.of_batch(
            observation,
            end_mask,
            dtype=dtype,
            channels_last=channels_last,
            keys=keys,
            mask_dtype=mask_dtype,
        )
        num_envs = check_integer("num_envs", num_envs, 1, 2**31 - 1)
        self.game_batch = GameBatch(
            self.game,
            num_envs,
            opponent=_require_opponent(opponent),
            agent_seat=agent_seat,
            illegal_action=illegal_action,
            autoreset=SAME_STEP,
            num_threads=num_threads,
            dtype=self.format.dtype,
            channels_last=self.format.channels_last,
        )
        self.render_mode = check_render_mode(render_mode, ["rgb_array"])
        final_mask = self.format.final_mask(np.zeros(self.game.num_actions, np.int8))
        self._final_mask = self.format.cast(final_mask)
        self._actions = np.zeros((num_envs, 1), np.int64)
        self._ready = False
        super().__init__(
            num_envs, self.format.space(self.game), spaces.Discrete(self.game.num_actions)
        )
        if seed is not None:
            self.seed(seed)

    def reset(self) -> Any:
        """Reset all games; game i is seeded with `seed + i` if `seed` was called."""
        if not self._ready and self._seeds[0] is None:
            self.seed(int(np.random.default_rng().integers(RANDOM_SEED_BOUND)))
        self.game_batch.reset([None if seed is None else check_seed(seed) for seed in self._seeds])
        self._ready = True
        self._reset_seeds()
        self._reset_options()
        return self._observations()

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed game i with `seed + i` at the next reset; None: random seeds.

        Raises:
            ValueError: if it is not a non-negative integer.
        """
        return list(super().seed(None if seed is None else check_seed(seed)))

    def set_options(self, options: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        """Validate the options of the next reset; they have no effect.

        Raises:
            ValueError: if they are neither a dictionary nor a list with one for each game.
        """
        if not isinstance(options, list):
            check_options(options)
        elif len(options) != self.num_envs:
            raise ValueError(
                f"options must be one dictionary or {self.num_envs}, got {len(options)}"
            )
        else:
            for value in options:
                check_options(value)
        super().set_options(options)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Store the actions of the next step.

        Args:
            actions: integers of shape `[B]`.

        Raises:
            ValueError: if they have another shape or dtype, or before the first `reset`.
        """
        array = np.asarray(actions)
        if array.shape != (self.num_envs,) or array.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be integers of shape {(self.num_envs,)}, "
                f"got {array.dtype} of shape {array.shape}"
            )
        if not self._ready:
            raise ValueError("call reset before step")
        self._actions[:, 0] = array

    def step_wait(
        self,
    ) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Apply the actions and those of the opponents.

        Raises:
            ValueError: if an action is illegal and `illegal_action="raise"`. The games are then
                unchanged.
        """
        game_batch = self.game_batch
        game_batch.step(self._actions)
        episode_states = game_batch.episode_states
        rewards, dones = episode_states["reward"].copy(), episode_states["terminated"].copy()
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(dones).tolist():
            infos[i] = {
                "terminal_observation": self.format.apply(
                    game_batch.final_observations[i, 0], self._final_mask
                ),
                "TimeLimit.truncated": False,
                "is_success": bool(rewards[i] > 0),
                "rewards": episode_states["rewards"][i].copy(),
                "player": int(episode_states["final_player"][i]),
                "illegal_action": bool(episode_states["illegal"][i]),
            }
        return self._observations(), rewards, dones, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions, at least one per game. Shape `[B, num_actions]`."""
        return self.game_batch.masks[:, 0].astype(np.bool_)

    def set_opponent(self, opponent: OpponentSpec | Sequence[OpponentSpec]) -> None:
        """Replace the opponents; games in progress continue.

        Args:
            opponent: as in the constructor. An agent that refers to the model in training always
                plays with the model's current weights.
        """
        self.game_batch.set_opponent(_require_opponent(opponent))

    def get_images(self) -> list[NDArray[np.uint8]]:
        """Return an image of every game; `render` tiles them into one."""
        from ludoteca.envs.render import render

        return [render(self.game, s, "rgb_array") for s in self.game_batch.states.view(np.recarray)]

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute once per game of `indices`; all games share the attributes."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute, which all games share.

        Raises:
            ValueError: if `indices` leaves out games.
        """
        if set(self._get_indices(indices)) != set(range(self.num_envs)):
            raise ValueError(f"all games share {attr_name!r}: it cannot be set in {indices} only")
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call `action_masks` or `get_images`, and return the results of the games in `indices`.

        Raises:
            AttributeError: for any other method, because single games are not objects.
        """
        if method_name not in ("action_masks", "get_images"):
            raise AttributeError(
                f"expected the method action_masks or get_images, got {method_name!r}"
            )
        results = list(getattr(self, method_name)(*method_args, **method_kwargs))
        return [results[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Return False once per game of `indices`: single games are never wrapped."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """End the threads."""
        self.game_batch.close()

    def _observations(self) -> Any:
        masks = self.game_batch.masks[:, 0]
        if self.format.is_dict:  # otherwise observations have no mask
            masks = self.format.masks(masks.copy())
        return self.format.apply(self.game_batch.observations[:, 0], masks)


def _require_opponent(
    opponent: OpponentSpec | Sequence[OpponentSpec] | None,
) -> OpponentSpec | Sequence[OpponentSpec]:
    """Return `opponent`, or raise a `ValueError` if it is None."""
    if opponent is None:
        raise ValueError(
            "SB3 trains one player: it needs opponent=..., such as 'random'; for self-play, call "
            "set_opponent(SB3Agent.from_model(env.game, model)) once the model is made"
        )
    return opponent
