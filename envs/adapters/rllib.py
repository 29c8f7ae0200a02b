"""RLlib environments (new API stack): multi-agent, or vectorized for one agent against opponents.

`register()` gives RLlib the environment `"ludoteca"`, and every game by its Gymnasium id::

    register()
    config = PPOConfig().environment("ludoteca", env_config={"game": "connect4"})

Without an opponent it is a `MultiAgentEnv`, in which RLlib maps agents to policies. With
`"opponent"` in `env_config` it has one agent; with `gym_env_vectorize_mode="vector_entry_point"`
it also steps B games at once in compiled code. Observations are
`{"observations": [N], "action_mask": [A]}` in float32 (N values of the flattened planes, A
actions), the format of RLlib's `ActionMaskingTorchRLModule` and of `masked_module`.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

from ludoteca.envs.api.rendering import BoardRenderer
from ludoteca.envs.api.single import GameEnv
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.engine.opponents import OpponentSpec
from ludoteca.envs.game import Game
from ludoteca.envs.observation import ObservationFormat
from ludoteca.envs.registry import GAMES
from ludoteca.envs.validation import (
    RANDOM_SEED_BOUND,
    as_action,
    as_game,
    check_action_dict,
    check_options,
    check_ready,
    check_seed,
)

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
    from ray.tune.registry import register_env

    from ludoteca.envs.adapters.rllib_module import (
        FORMAT,
        OBSERVATION_KEYS,
        MaskedModule,
        masked_module,
        with_format_defaults,
    )
except ImportError as error:
    raise ImportError(
        'ludoteca.envs.adapters.rllib needs RLlib: pip install "ludoteca[rllib]"'
    ) from error

__all__ = [
    "FORMAT",
    "OBSERVATION_KEYS",
    "MaskedModule",
    "RLlibGameEnv",
    "RLlibMultiAgentEnv",
    "RLlibVectorEnv",
    "make_env",
    "masked_module",
    "register",
]


def register(name: str = "ludoteca") -> None:
    """Register the games in RLlib, as `name` and by their ids, such as `"ludoteca/Hex-v0"`.

    See `make_env` for `env_config`. An environment named by an id needs no `"game"` there, and has
    one agent against random opponents by default, as in `gymnasium.make`.
    """
    register_env(name, make_env)
    for id_ in GAMES:
        register_env(f"ludoteca/{id_}", partial(make_env, game=id_, opponent="random"))


def make_env(
    config: Mapping[str, Any],
    game: Game | str | None = None,
    opponent: OpponentSpec | Sequence[OpponentSpec] | None = None,
) -> Any:
    """Return the environment that an `env_config` describes; RLlib calls this.

    Args:
        config: `"game"`, a game or its name, and keyword arguments of the environment. Without
            `"opponent"` the environment is an `RLlibMultiAgentEnv`; with it an `RLlibVectorEnv` if
            RLlib adds `"num_envs"`, else an `RLlibGameEnv`. The defaults are those of `FORMAT`.
        game: the game, if `config` does not name one.
        opponent: the opponent, if `config` has no key `"opponent"`; the value None there makes a
            multi-agent environment.

    Raises:
        ValueError: if no game is named, a parameter is unknown or out of range, or a vector
            environment has no opponent.
    """
    options: dict[str, Any] = {"opponent": opponent} | dict(config)
    game = options.pop("game", game)
    if game is None:
        raise ValueError("env_config must name a game, such as {'game': 'connect4'}")
    num_envs = options.pop("num_envs", None)
    if options["opponent"] is None:
        del options["opponent"]
        if num_envs is not None:
            raise ValueError(
                "a vector environment trains one agent and needs an opponent in env_config, such "
                "as {'game': 'connect4', 'opponent': 'random', 'agent_seat': 'random'}; for "
                "several agents, leave gym_env_vectorize_mode out and configure multi_agent(...)"
            )
        return RLlibMultiAgentEnv(game, **options)
    if num_envs is not None:
        return RLlibVectorEnv(game, num_envs, **options)
    return RLlibGameEnv(game, **with_format_defaults(options))


class RLlibGameEnv(GameEnv):
    """`GameEnv` that raises an error if RLlib is configured for several agents."""

    @property
    def observation_spaces(self) -> Any:
        """Raise a `TypeError`: RLlib reads this if it is configured for several agents."""
        raise TypeError(
            "an environment with an opponent has one agent: leave multi_agent(...) out of the "
            "configuration, or 'opponent' out of env_config"
        )


class RLlibVectorEnv(GameVectorEnv):
    """B games of one agent against opponents: a `GameVectorEnv` in RLlib's format.

    When games have ended, `info` has `player`, the agents' seats; otherwise it is empty: the masks
    are in the observations, and RLlib copies every entry of `info` to a list for each game and
    step, which takes longer than the games.
    """

    def __init__(self, game: Game | str, num_envs: int = 1, **options: Any):
        """Make the environment.

        Args:
            game: a game or its name.
            num_envs: B, the number of games.
            options: keyword arguments of `GameVectorEnv`, with the defaults of `FORMAT`.

        Raises:
            ValueError: if a parameter is unknown or out of range.
        """
        super().__init__(game, num_envs, **with_format_defaults(options))

    def reset(self, **arguments: Any) -> tuple[Any, dict[str, Any]]:
        """Reset the games; see `GameVectorEnv.reset`."""
        observations, _ = super().reset(**arguments)
        return observations, {}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Step the games; see `GameVectorEnv.step`."""
        observations, rewards, terminated, truncated, info = super().step(actions)
        ended = terminated.any()
        end_info = {"player": info["player"], "_player": terminated.copy()} if ended else {}
        return observations, rewards, terminated, truncated, end_info


class RLlibMultiAgentEnv(MultiAgentEnv):  # type: ignore[misc]
    """Any game as RLlib's `MultiAgentEnv`; agents are `player_0`, `player_1`, ...

    In simultaneous games all remaining players act; eliminated players leave with their last reward
    and observation. In sequential games the player to move observes and acts, and a step returns
    the rewards of all players. So the loser, which acted before its opponent's winning move, gets
    its -1 in the last transition of its own episode, and no player's value is bootstrapped from
    another player's observation.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": ["human", "rgb_array", "ansi", "svg"],
        "render_fps": 2,
    }

    def __init__(
        self,
        game: Game | str,
        *,
        illegal_action: str = "lose",
        observation: str = FORMAT["observation"],
        dtype: DTypeLike = FORMAT["dtype"],
        channels_last: bool = False,
        keys: Sequence[str] | None = None,
        mask_dtype: DTypeLike = FORMAT["mask_dtype"],
        end_mask: str = FORMAT["end_mask"],
        render_mode: str | None = None,
        **params: Any,
    ):
        """Make the environment.

        Args:
            game: a game or its name.
            illegal_action: see `ludoteca.envs.api.vector.GameVectorEnv`. RLlib's check of
                environments samples actions without a mask: `"raise"` needs
                `environment(disable_env_checking=True)`.
            observation: format, `"planes"`, `"flat"`, `"dict"` or `"flat_dict"`.
            dtype: dtype of the planes.
            channels_last: `(rows, columns, planes)` instead of `(planes, rows, columns)`.
            keys: keys of the planes and of the mask in dictionary observations; by default
                `OBSERVATION_KEYS`.
            mask_dtype: `"int8"`, `"bool"` or `"float32"`.
            end_mask: values of the mask of a finished game, `"zeros"` or `"ones"`.
            render_mode: one of `metadata["render_modes"]`.
            params: parameters of the game.

        Raises:
            ValueError: if a parameter is unknown or out of range.
        """
        self.game = as_game(game, params, RLlibMultiAgentEnv)
        is_dict = observation in ("dict", "flat_dict")
        if keys is None:
            keys = OBSERVATION_KEYS if is_dict else ("observation", "action_mask")
        self.format = ObservationFormat(
            observation, dtype, channels_last, keys, mask_dtype, end_mask
        )
        self.game_batch = GameBatch(
            self.game,
            1,
            illegal_action=illegal_action,
            dtype=self.format.dtype,
            channels_last=self.format.channels_last,
            record=True,
        )
        self.render_mode = render_mode
        self._renderer = BoardRenderer(self.game, render_mode, self.metadata)
        self.possible_agents = [f"player_{i}" for i in range(self.game.num_players)]
        # Never changed: RLlib's environment check accepts only agents of this list.
        self.agents = self.possible_agents[:]
        self.observation_spaces = {
            agent: self.format.space(self.game) for agent in self.possible_agents
        }
        self.action_spaces: dict[str, spaces.Space[Any]] = {
            agent: spaces.Discrete(self.game.num_actions) for agent in self.possible_agents
        }
        self.observation_space = spaces.Dict(self.observation_spaces)
        self.action_space = spaces.Dict(self.action_spaces)
        self._actions = np.zeros((1, self.game_batch.num_acting), np.int64)
        self._acting: list[int] = []  # the players that act in the next step
        self._ready = False
        super().__init__()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Reset the game; a seed determines it and all later games without a seed.

        Returns:
            The observations of the players to act, by agent, and an empty dictionary of infos.
        """
        check_options(options)
        if seed is None and not self._ready:
            seed = int(np.random.default_rng().integers(RANDOM_SEED_BOUND))
        self.game_batch.reset([None if seed is None else check_seed(seed)])
        self._ready = True
        self._acting = self._players_to_act()
        if self.render_mode == "human":
            self.render()
        return self._observations(self._acting), {}

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Apply the actions of the players that have observed the position.

        Returns:
            By agent: observations of the players to act and of those that left the game in this
            step; rewards; terminations, with the key `"__all__"`; truncations, all False; and
            infos, which are empty.

        Raises:
            ValueError: if no game is in progress, if an action is missing or not an integer, or if
                an action is illegal and `illegal_action="raise"`. The game is then unchanged.
        """
        check_ready(self._ready, "step")
        if not self._acting:
            raise ValueError("the game is over: call reset")
        names = [self.possible_agents[player] for player in self._acting]
        check_action_dict(names, action_dict)
        missing = [name for name in names if name not in action_dict]
        if missing:
            raise ValueError(f"expected actions of {names}, got those of {list(action_dict)}")
        actions = [as_action(action_dict[name]) for name in names]
        self._actions[:] = 0
        for player, action in zip(self._acting, actions, strict=True):
            self._actions[0, player if self.game.simultaneous else 0] = action
        self.game_batch.step(self._actions)
        all_rewards = self.game_batch.episode_states["rewards"][0].tolist()
        over = bool(self.game_batch.episode_states["over"][0])
        if self.render_mode == "human":
            self.render()
        acted, self._acting = self._acting, [] if over else self._players_to_act()
        if self.game.simultaneous:
            rewarded, observing = acted, acted
            terminated = [player for player in acted if player not in self._acting]
        else:
            rewarded = list(range(self.game.num_players))
            terminated = rewarded if over else []
            observing = rewarded if over else self._acting
        rewards = {self.possible_agents[player]: all_rewards[player] for player in rewarded}
        terminations = {self.possible_agents[player]: player in terminated for player in rewarded}
        truncations = dict.fromkeys(terminations, False)
        all_done = {"__all__": not self._acting}
        return (
            self._observations(observing), rewards, terminations | all_done,
            truncations | {"__all__": False}, {},
        )  # fmt: skip

    def render(self) -> Any:
        """Render the position as pixels or text, or in a window (`"human"`).

        Raises:
            ValueError: before the first `reset`.
        """
        check_ready(self._ready, "render")
        last_action = [] if self.game.simultaneous else self.game_batch.actions_of(0)[-1:]
        return self._renderer.show(self.game_batch.states.view(np.recarray)[0], last_action)

    def close(self) -> None:
        """Close the window."""
        self._renderer.close()

    def _players_to_act(self) -> list[int]:
        """Return the players that act next."""
        if not self.game.simultaneous:
            return [int(self.game_batch.episode_states["mover"][0])]
        return [int(player) for player in np.flatnonzero(self.game_batch.masks[0].any(axis=1))]

    def _observations(self, players: list[int]) -> dict[str, Any]:
        """Return the observations of players, by agent."""
        masks = self.format.masks(self.game_batch.masks[0].copy())
        if self.game.simultaneous:
            planes = self.game_batch.observations[0]
            pairs = [(planes[player], masks[player]) for player in players]
        elif len(players) == 1:
            pairs = [(self.game_batch.observations[0, 0], masks[0])]
        else:  # the end of a game, where all players observe
            pairs = [(self.game_batch.observe(p)[0], masks[0].copy()) for p in players]
        return {
            self.possible_agents[player]: self.format.apply(planes, mask)
            for player, (planes, mask) in zip(players, pairs, strict=True)
        }
