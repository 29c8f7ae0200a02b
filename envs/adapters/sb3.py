"""Every game as Stable-Baselines3's own vectorized environment, over the native lanes.

SB3 trains one policy for one player, so the other seats belong to opponents. Self-play in the sense
of `GameVectorEnv`, where the caller moves for every seat, is left out on purpose. In sequential
games SB3 would bootstrap from a position that the rival sees, and the loser's -1 would never reach
its buffer, as it is paid in a step of the winner's. In simultaneous games the lane of a player who
is out would feed the learner empty transitions until the game ends. To play against itself, a model
becomes its own opponent::

    env = SB3VecEnv("hex:board_size=5", 64, opponent="random", agent_seat="random")
    model = MaskablePPO("MlpPolicy", env)
    env.set_opponent(SB3Agent.from_model(env.game, model))
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

from ludoteca.envs.arguments import check_options, check_render_mode, check_seed
from ludoteca.envs.game import Game
from ludoteca.envs.lane import SAME_STEP
from ludoteca.envs.lanes import Lanes
from ludoteca.envs.observation import KEYS, ObservationFormat
from ludoteca.envs.opponents import OpponentSpec
from ludoteca.envs.params import integer
from ludoteca.envs.vector import as_game

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise ImportError(
        'ludoteca.envs.adapters.sb3 needs Stable-Baselines3: pip install "ludoteca[train]"'
    ) from error

Indices = int | Iterable[int] | None


class SB3VecEnv(VecEnv):
    """B games against opponents, for `PPO`, `DQN`, `MaskablePPO` and the like.

    The reward is the agent's, a loser's -1 included. Finished games restart in the same step;
    `infos[i]` then holds `terminal_observation`, `TimeLimit.truncated` (always false: games end by
    their rules), `is_success` (whether the agent won), `rewards` (of all players), `player` (the
    agent's seat in that game) and `illegal_action`, and is empty otherwise. Statistics of episodes
    are the business of `VecMonitor`.

    Observations are small integers in int8: SB3 stores them as they are, in a quarter of the memory
    of float32, and turns them into floats on their way into a network. They are no images in the
    sense of SB3, which neither scales nor transposes them; a `CnnPolicy` needs a
    `features_extractor_class` of its own, as SB3's network for images takes none below 36 x 36.
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
        keys: Sequence[str] = KEYS,
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
            opponent: a spec string or agent for all other seats, or one for each of them.
            agent_seat: the agent's seat, or `"random"`: drawn for each game.
            illegal_action: see `ludoteca.envs.vector.GameVectorEnv`. Algorithms without masks,
                such as `PPO`, learn from `"lose"` and `"penalize"` what is legal.
            num_threads: threads that share the work; worth it from some 1000 games on.
            observation: `"planes"`, `"flat"`, `"dict"` or `"flat_dict"`. Dictionaries are for
                `MultiInputPolicy`, which takes the mask as an input; masked algorithms ask
                `action_masks`, whatever the observations are.
            dtype: type of the planes.
            channels_last: `(rows, columns, planes)` instead of `(planes, rows, columns)`.
            keys: keys of the planes and the mask in a dictionary.
            mask_dtype: of the masks in dictionaries, `"int8"`, `"bool"` or `"float32"`.
            end_mask: the mask in `terminal_observation`, `"zeros"` or `"ones"`; None: ones.
            render_mode: None or `"rgb_array"`; the latter also serves `render("human")`.
            seed: lane i is seeded with `seed + i`, as by calling the method `seed`.
            params: parameters of the game.

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
        num_envs = integer("num_envs", num_envs, 1, 2**31 - 1)
        self.lanes = Lanes(
            self.game,
            num_envs,
            opponent=_needed(opponent),
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
        """Begin new games in all lanes; lane i is seeded with `seed + i` if `seed` was called."""
        if not self._ready and self._seeds[0] is None:
            self.seed(int(np.random.default_rng().integers(2**62)))
        self.lanes.reset([None if seed is None else check_seed(seed) for seed in self._seeds])
        self._ready = True
        self._reset_seeds()
        self._reset_options()
        return self._observations()

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed lane i with `seed + i` at the next reset; None: with numbers drawn at random.

        Raises:
            ValueError: if it is not an integer from 0 on.
        """
        return list(super().seed(None if seed is None else check_seed(seed)))

    def set_options(self, options: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        """Set options for the next reset, which takes none: they are only checked.

        Raises:
            ValueError: if they are neither a dictionary nor one for each lane.
        """
        if not isinstance(options, list):
            check_options(options)
        elif len(options) != self.num_envs:
            raise ValueError(
                f"options must be one dictionary or {self.num_envs}, got {len(options)}"
            )
        else:
            for one in options:
                check_options(one)
        super().set_options(options)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the actions of the coming step.

        Args:
            actions: integers of shape `[B]`.

        Raises:
            ValueError: if they have another shape or are no integers, or before `reset`.
        """
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be integers of shape {(self.num_envs,)}, "
                f"got {given.dtype} of shape {given.shape}"
            )
        if not self._ready:
            raise ValueError("call reset before step")
        self._actions[:, 0] = given

    def step_wait(
        self,
    ) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play the actions and the opponents' answers.

        Raises:
            ValueError: if an action is illegal and `illegal_action="raise"`. Nothing has then
                changed.
        """
        lanes = self.lanes
        lanes.step(self._actions)
        records = lanes.lanes
        rewards, dones = records["reward"].copy(), records["terminated"].copy()
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(dones).tolist():
            infos[i] = {
                "terminal_observation": self.format.apply(
                    lanes.final_observations[i, 0], self._final_mask
                ),
                "TimeLimit.truncated": False,
                "is_success": bool(rewards[i] > 0),
                "rewards": records["rewards"][i].copy(),
                "player": int(records["final_player"][i]),
                "illegal_action": bool(records["illegal"][i]),
            }
        return self._observations(), rewards, dones, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions of all games, at least one each. Shape `[B, num_actions]`."""
        return self.lanes.masks[:, 0].astype(np.bool_)

    def set_opponent(self, opponent: OpponentSpec | Sequence[OpponentSpec]) -> None:
        """Let others play from now on; the games go on from where they are.

        Args:
            opponent: as when the environment is made. An agent that plays by the model in training
                gets better along with it.
        """
        self.lanes.set_opponent(_needed(opponent))

    def get_images(self) -> list[NDArray[np.uint8]]:
        """Return a picture of every game; `render` makes one of them all."""
        from ludoteca.envs.render import render

        return [render(self.game, s, "rgb_array") for s in self.lanes.states.view(np.recarray)]

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute once per chosen lane; all lanes share this object's attributes."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute, which all lanes share.

        Raises:
            ValueError: if it is to be set in some lanes only.
        """
        if set(self._get_indices(indices)) != set(range(self.num_envs)):
            raise ValueError(f"all lanes share {attr_name!r}: it cannot be set in {indices} only")
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call `action_masks` or `get_images`, and return what concerns the chosen lanes.

        Raises:
            AttributeError: for any other name: lanes are no objects with methods.
        """
        if method_name not in ("action_masks", "get_images"):
            raise AttributeError(
                f"lanes have no method {method_name!r}; there are action_masks, get_images"
            )
        results = list(getattr(self, method_name)(*method_args, **method_kwargs))
        return [results[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Return false once per chosen lane: lanes are never wrapped."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """End the threads."""
        self.lanes.close()

    def _observations(self) -> Any:
        masks = self.lanes.masks[:, 0]
        if self.format.is_dict:  # else nobody sees them
            masks = self.format.masks(masks.copy())
        return self.format.apply(self.lanes.observations[:, 0], masks)


def _needed(
    opponent: OpponentSpec | Sequence[OpponentSpec] | None,
) -> OpponentSpec | Sequence[OpponentSpec]:
    if opponent is None:
        raise ValueError(
            "SB3 trains one player: it needs opponent=..., such as 'random'; for self-play, call "
            "set_opponent(SB3Agent.from_model(env.game, model)) once the model is made"
        )
    return opponent
