"""Tianshou `BaseVectorEnv` over a compiled batch of games, for every game.

Observations are Tianshou's batches `{"obs": planes, "mask": legal actions}`, as its masked
algorithms (`DiscreteQLearningPolicy` and others) expect them::

    env = TianshouVecEnv("connect4", 64, opponent="random", agent_seat="random", seed=0)
    collector = Collector(algorithm, env, VectorReplayBuffer(64_000, 64), exploration_noise=True)

Tianshou learns for one player. For self-play, make an agent (an object with the methods of
`ludoteca.envs.engine.opponents.Opponent`) of a copy of the policy, and call
`env.set_opponent(agent)` from time to time. Tianshou's multi-agent algorithms need the PettingZoo
environments of the games.

Tianshou's DQN applies the masks. Its policy gradient algorithms (PPO, A2C) do not: use
`MaskedActor`, an actor that masks its logits, and `PlanesNet`, which passes only the planes to a
network.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

from ludoteca.envs.engine.episode_state import DISABLED
from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.engine.opponents import OpponentSpec
from ludoteca.envs.engine.subset import step_subset
from ludoteca.envs.game import Game
from ludoteca.envs.observation import ObservationFormat
from ludoteca.envs.params import check_choice, check_integer
from ludoteca.envs.validation import RANDOM_SEED_BOUND, as_game, check_render_mode, check_seed

try:
    from tianshou.data import Batch
    from tianshou.env import BaseVectorEnv

    from ludoteca.envs.adapters.tianshou_networks import OBSERVATION_KEYS, MaskedActor, PlanesNet
except ImportError as error:
    raise ImportError(
        'ludoteca.envs.adapters.tianshou needs Tianshou: pip install "ludoteca[tianshou]"'
    ) from error

__all__ = ["MaskedActor", "PlanesNet", "TianshouVecEnv"]


class TianshouVecEnv(BaseVectorEnv):  # type: ignore[misc]
    """B games against opponents as a vector environment for Tianshou's collectors.

    The reward is the agent's: -1 also if the opponent's answer to its action wins. Masks are bool
    `[A]`, all true once a game is over. Any subset of the games can be stepped or reset. Infos are
    empty, because Tianshou would spend more time on them than on all other parts of collecting.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        *,
        opponent: OpponentSpec | Sequence[OpponentSpec] = "random",
        agent_seat: int | str = 0,
        illegal_action: str = "lose",
        num_threads: int = 1,
        observation: str = "planes",
        dtype: DTypeLike = "float32",
        channels_last: bool = False,
        render_mode: str | None = None,
        seed: int | None = None,
        **params: Any,
    ):
        """Make the environment.

        Args:
            game: a game, its name, or a spec string.
            num_envs: B, the number of games.
            opponent: a spec string or agent for all other seats, or a list of one per other seat.
            agent_seat: the agent's seat, or `"random"`: sampled for each game.
            illegal_action: `"lose"`, `"raise"`, `"penalize"` or `"random"`, see
                `ludoteca.envs.api.vector.GameVectorEnv`.
            num_threads: number of threads that step the games; more than 1 pays off from about
                1000 games on.
            observation: `"planes"`, or `"flat"`: flattened planes.
            dtype: dtype of the planes, one of `ludoteca.envs.validation.DTYPES`, such as
                `"int8"` or `"float32"`.
            channels_last: `(rows, columns, planes)` instead of `(planes, rows, columns)`.
            render_mode: `"rgb_array"`, `"ansi"` or `"svg"`: type of what `render` returns per game.
            seed: see the method `seed`.
            params: parameters of the game.

        Raises:
            TypeError: if a keyword is unknown.
            ValueError: if a parameter is out of range, or `opponent` is None.
        """
        # Tianshou's constructor is not called: it would make one worker per environment.
        self.game = as_game(game, params, TianshouVecEnv.__init__)
        if opponent is None:
            raise ValueError(
                "Tianshou's collectors need opponent=..., such as 'random'; for self-play, call "
                "set_opponent(agent), or use Tianshou's PettingZooEnv"
            )
        self.env_num = self.wait_num = check_integer("num_envs", num_envs, 1, 2**31 - 1)
        kind = check_choice("observation", observation, ("planes", "flat"))
        self.format = ObservationFormat(
            f"{kind}_dict" if kind == "flat" else "dict",
            dtype,
            channels_last,
            OBSERVATION_KEYS,
            "bool",
            "ones",
        )
        self.game_batch = GameBatch(
            self.game,
            self.env_num,
            opponent=opponent,
            agent_seat=agent_seat,
            illegal_action=illegal_action,
            autoreset=DISABLED,
            num_threads=num_threads,
            dtype=self.format.dtype,
            channels_last=self.format.channels_last,
        )
        self._render_mode: Any = check_render_mode(render_mode, ["rgb_array", "ansi", "svg"])
        # Attributes that Tianshou's collectors and wrappers read.
        self.is_async, self.is_closed, self.timeout = False, False, None
        self.ready_id, self.waiting_id = list(range(self.env_num)), list[int]()
        self._attributes: dict[str, Any] = {
            "observation_space": self.format.space(self.game),
            "action_space": spaces.Discrete(self.game.num_actions),
            "metadata": {"render_modes": ["rgb_array", "ansi", "svg"], "render_fps": 2},
            "reward_range": (-1.0, 1.0),
            "spec": None,
        }
        self._seeds: list[int | None] = [None] * self.env_num
        self._ready = False
        if seed is not None:
            self.seed(seed)

    def reset(self, env_id: Any = None, **kwargs: Any) -> tuple[Any, NDArray[Any]]:
        """Reset games.

        Args:
            env_id: index of the game to reset, or several; None: all.
            kwargs: `seed`: see the method `seed`. Other arguments of Gymnasium's `reset` have no
                effect.

        Returns:
            A `Batch` of the observations of these games, and an empty dictionary for each.

        Raises:
            ValueError: if the first reset is not of all games, or if an index or a seed is out of
                range.
        """
        self._assert_is_not_closed()
        ids = self._indices(env_id)
        if kwargs.get("seed") is not None:
            self.seed(kwargs["seed"])
        if not self._ready:
            if len(ids) < self.env_num:
                raise ValueError("the first reset must reset all games")
            unpredictable = np.random.default_rng().integers(RANDOM_SEED_BOUND, size=self.env_num)
            for i, seed in enumerate(self._seeds):
                self._seeds[i] = int(unpredictable[i]) if seed is None else seed
        reset_mask = np.zeros(self.env_num, np.bool_)
        reset_mask[ids] = True
        self.game_batch.reset(self._seeds, reset_mask)
        for i in ids.tolist():
            self._seeds[i] = None
        self._ready = True
        return self._observations(self.game_batch.step_result().masks, ids), self._infos(ids)

    def step(
        self, action: Any, id: Any = None
    ) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], NDArray[Any]]:
        """Apply one action in each of K games, and the actions of the opponents.

        Args:
            action: integers of shape `[K]`.
            id: distinct indices of the K games; None: all.

        Returns:
            Of these games in this order: a `Batch` of the observations, rewards float32 `[K]`,
            whether each is terminated and truncated, bool `[K]`, and empty dictionaries. Games are
            never truncated.

        Raises:
            ValueError: if actions have another shape or dtype, if a game is over, or if an action
                is illegal and `illegal_action="raise"`. The games are then unchanged.
        """
        self._assert_is_not_closed()
        ids = self._indices(id)
        array = np.asarray(action)
        if array.shape != ids.shape or array.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be integers of shape {ids.shape}, "
                f"got {array.dtype} of shape {array.shape}"
            )
        if not self._ready:
            raise ValueError("call reset before step")
        actions, game_batch = array.astype(np.int64)[:, None], self.game_batch
        if np.array_equal(ids, np.arange(self.env_num)):
            step_result = game_batch.new_step_result()
            game_batch.step(actions, step_result)
        else:
            step_subset(game_batch, ids, actions)
            step_result = game_batch.step_result()
        truncated = np.zeros(len(ids), np.bool_)
        observations = self._observations(step_result.masks, ids)
        rewards, terminated = step_result.reward[ids], step_result.terminated[ids]
        return observations, rewards, terminated, truncated, self._infos(ids)

    def seed(self, seed: Any = None) -> list[Any]:
        """Seed game i with `seed + i` (an integer) or `seed[i]` (a list) at its next reset.

        None: at the first reset random seeds; later each game continues its random stream.

        Returns:
            The seed of each game, or None.

        Raises:
            ValueError: if a seed is not a non-negative integer, or if a list does not have one seed
                or None for each game.
        """
        if seed is None:
            self._seeds = [None] * self.env_num
        elif isinstance(seed, int | np.integer):
            first = check_seed(seed)
            self._seeds = [first + i for i in range(self.env_num)]
        else:
            self._seeds = [None if value is None else check_seed(value) for value in seed]
            if len(self._seeds) != self.env_num:
                count = len(self._seeds)
                self._seeds = [None] * self.env_num
                raise ValueError(f"expected {self.env_num} seeds, one per game, got {count}")
        return list(self._seeds)

    def set_opponent(self, opponent: OpponentSpec | Sequence[OpponentSpec]) -> None:
        """Replace the opponents; games in progress continue.

        Args:
            opponent: as in the constructor.

        Raises:
            ValueError: if there are not as many opponents as other seats.
            TypeError: if an opponent is neither a spec string nor an agent.
        """
        self.game_batch.set_opponent(opponent)

    def get_env_attr(self, key: str, id: Any = None) -> list[Any]:
        """Return an attribute once per game of `id`; all games share the attributes."""
        self._assert_is_not_closed()
        value = self._attributes[key] if key in self._attributes else getattr(self, key)
        return [value for _ in self._indices(id)]

    def set_env_attr(self, key: str, value: Any, id: Any = None) -> None:
        """Set an attribute, which all games share.

        Raises:
            ValueError: if `id` leaves out games.
        """
        self._assert_is_not_closed()
        if len(set(self._indices(id).tolist())) < self.env_num:
            raise ValueError(f"all games share {key!r}: it cannot be set in {id} only")
        if key in self._attributes:
            self._attributes[key] = value
        else:
            setattr(self, key, value)

    def render(self, **kwargs: Any) -> list[Any]:
        """Return one image or text per game, or None per game, according to `render_mode`."""
        self._assert_is_not_closed()
        if self._render_mode is None:
            return [None] * self.env_num
        if not self._ready:
            raise ValueError("call reset before render")
        from ludoteca.envs.render import render

        records = self.game_batch.states.view(np.recarray)
        return [render(self.game, s, self._render_mode) for s in records]

    def close(self) -> None:
        """End the threads."""
        self._assert_is_not_closed()
        self.game_batch.close()
        self.is_closed = True

    def _indices(self, id_: Any) -> NDArray[np.int64]:
        """Return the argument `id` or `env_id` as indices of games, int64 `[K]`.

        Raises:
            ValueError: if they are not distinct indices of games.
        """
        ids = np.arange(self.env_num) if id_ is None else np.atleast_1d(np.asarray(id_))
        in_range = ids.dtype.kind in "iu" and ((ids >= 0) & (ids < self.env_num)).all()
        if not in_range or ids.ndim != 1 or len(np.unique(ids)) < len(ids):
            raise ValueError(
                f"expected distinct indices of games, 0 to {self.env_num - 1}, got {id_!r}"
            )
        return ids.astype(np.int64)

    def _observations(self, masks: NDArray[np.int8], ids: NDArray[np.int64]) -> Any:
        """Return the observations of the games `ids`; `masks` is int8 `[B, 1, A]`."""
        planes = self.format.planes(self.game_batch.observations[:, 0])
        # Indexing with `ids` copies: Tianshou writes into observations.
        return Batch(obs=planes[ids], mask=self.format.masks(masks[:, 0])[ids])

    def _infos(self, ids: NDArray[np.int64]) -> NDArray[Any]:
        """Return an empty dictionary for each of the games `ids`, object `[K]`."""
        return np.array([{} for _ in ids], dtype=object)
