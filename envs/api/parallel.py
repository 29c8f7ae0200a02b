"""PettingZoo parallel environments: `GameParallelEnv`, or `AECToParallel` for sequential games."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray
from pettingzoo import ParallelEnv

from ludoteca.envs.api.aec import NO_OP, RENDER_MODES, aec_env, idle_mask
from ludoteca.envs.api.conversions import AECToParallel, ParallelToAEC, no_agents_error
from ludoteca.envs.api.rendering import BoardRenderer
from ludoteca.envs.engine.episode_state import RAISE
from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.game import Game
from ludoteca.envs.observation import OBSERVATION_KEYS, ObservationFormat
from ludoteca.envs.params import check_integer
from ludoteca.envs.replay import Replay
from ludoteca.envs.serialization import Storable
from ludoteca.envs.validation import (
    RANDOM_SEED_BOUND,
    agent_value,
    as_action,
    check_action_dict,
    check_flag,
    check_options,
    check_ready,
    check_seed,
)


def parallel_env(game: Game | str, **options: Any) -> ParallelEnv[str, Any, Any]:
    """Return a parallel environment of any game.

    For sequential games it is `AECToParallel`: a step applies only the action of the mover.

    Args:
        game: a game or its name.
        options: keyword arguments of `GameParallelEnv`, and parameters of the game (if it is a
            name).
    """
    env = aec_env(game, **options)
    if isinstance(env, ParallelToAEC):
        parallel: GameParallelEnv = env.env
        return parallel
    env.metadata["is_parallelizable"] = True
    return AECToParallel(env)


class GameParallelEnv(ParallelEnv[str, Any, Any], Storable):
    """Parallel environment of a simultaneous game with agents `player_0`, `player_1`, ...

    Eliminated agents leave `agents`, unless `keep_eliminated=True`.

    Observations are dictionaries `{"observation": planes, "action_mask": int8 [A]}` or another
    format, see `ludoteca.envs.observation.ObservationFormat`. The mask is also in
    `infos[agent]["action_mask"]`.
    """

    def __init__(
        self,
        game: Game,
        *,
        illegal_action: str = "lose",
        max_cycles: int | None = None,
        keep_eliminated: bool = False,
        observation: str = "dict",
        dtype: DTypeLike = "int8",
        channels_last: bool = False,
        keys: Sequence[str] = OBSERVATION_KEYS,
        mask_dtype: DTypeLike = "int8",
        end_mask: str | None = None,
        render_mode: str | None = None,
    ):
        """Make the environment.

        Args:
            game: the game.
            illegal_action: see `ludoteca.envs.api.vector.GameVectorEnv`.
            max_cycles: number of steps after which games are truncated.
            keep_eliminated: eliminated agents stay until the game ends. They observe zeros, their
                mask allows only `NO_OP` (0), their actions are ignored, and their reward is 0. All
                agents terminate together.
            observation: format, `"planes"`, `"flat"`, `"dict"` or `"flat_dict"`.
            dtype: dtype of the planes.
            channels_last: `(rows, columns, planes)` instead of `(planes, rows, columns)`.
            keys: keys of the planes and of the mask in dictionary observations.
            mask_dtype: `"int8"`, `"bool"` or `"float32"`.
            end_mask: values of the mask of an agent whose game is over: `"zeros"` (also None) or
                `"ones"`.
            render_mode: `"human"`, `"rgb_array"`, `"ansi"` or `"svg"`.

        Raises:
            ValueError: if a parameter is unknown or out of range.
        """
        self.game = game
        self.format = ObservationFormat(
            observation, dtype, channels_last, keys, mask_dtype, end_mask
        )
        self.game_batch = GameBatch(
            game,
            1,
            illegal_action=illegal_action,
            dtype=self.format.dtype,
            channels_last=self.format.channels_last,
            record=True,
        )
        self.metadata = {
            "name": f"{game.name}_v0",
            "render_modes": RENDER_MODES,
            "render_fps": 4,
            "is_parallelizable": True,
        }
        self.render_mode = render_mode
        self._renderer = BoardRenderer(game, render_mode, self.metadata)
        self.possible_agents = [f"player_{i}" for i in range(game.num_players)]
        self.agents = []
        self.state_space = self.format.box(game)
        self._observation_spaces = {
            agent: self.format.space(game) for agent in self.possible_agents
        }
        self._action_spaces = {
            agent: spaces.Discrete(game.num_actions) for agent in self.possible_agents
        }
        self._max_cycles = (
            None if max_cycles is None else check_integer("max_cycles", max_cycles, 1, 2**31)
        )
        self._keep_eliminated = check_flag("keep_eliminated", keep_eliminated)
        self._idle_mask = idle_mask(game, self._keep_eliminated)
        self._final_mask = self.format.final_mask(self._idle_mask)
        self._actions = np.zeros((1, game.num_players), np.int64)
        self._ready = False

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations."""
        return agent_value(self._observation_spaces, agent)

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions."""
        return agent_value(self._action_spaces, agent)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Reset the game; a seed also determines all later games that are reset without one."""
        check_options(options)
        if seed is None and not self._ready:
            seed = int(np.random.default_rng().integers(RANDOM_SEED_BOUND))
        if seed is not None:
            seed = check_seed(seed)
            self.np_random = np.random.default_rng(seed)  # for wrappers; games have their own
        self.game_batch.reset([seed])
        self._ready = True
        self.agents = self.possible_agents[:]
        if self.render_mode == "human":
            self.render()
        return self.observations_and_infos(self.agents)

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]]:
        """Apply one action for each agent in the game.

        Raises:
            ValueError: if no game is in progress, if an agent's action is missing or not an
                integer, or if an action is illegal and `illegal_action="raise"`. Nothing has then
                changed.
        """
        if not self.agents:
            raise no_agents_error(self._ready)
        check_action_dict(self.agents, actions)
        acting = self._active_agents() if self._keep_eliminated else self.agents
        for agent in acting:
            if agent not in actions:
                raise ValueError(f"expected actions of {acting}, got those of {list(actions)}")
        integers = [as_action(actions[agent]) for agent in acting]
        self._actions[:] = 0
        for agent, action in zip(acting, integers, strict=True):
            self._actions[0, self.possible_agents.index(agent)] = action
        game_batch = self.game_batch
        game_batch.step(self._actions)
        all_rewards = game_batch.episode_states["rewards"][0]
        observations, infos = self.observations_and_infos(self.agents)
        active, truncated = self._active_agents(), self._is_truncated()
        over = truncated or not active
        remaining = self.agents if self._keep_eliminated and not over else active
        rewards = {
            agent: float(all_rewards[self.possible_agents.index(agent)]) for agent in self.agents
        }
        terminations = {agent: agent not in remaining for agent in self.agents}
        truncations = {agent: truncated and agent in active for agent in self.agents}
        self.agents = [] if over else remaining
        if self.render_mode == "human":
            self.render()
        return observations, rewards, terminations, truncations, infos

    def check_action(self, agent: str, action: Any) -> int:
        """Return an agent's action as an integer, after the checks that `step` makes.

        Raises:
            ValueError: if it is not an integer, or if it is illegal and `illegal_action="raise"`.
        """
        if self._keep_eliminated and agent not in self._active_agents():
            return NO_OP
        action_index = as_action(action)
        if self.game_batch.illegal_rule == RAISE:
            legal = np.flatnonzero(
                self.game_batch.masks[0, self.possible_agents.index(agent)]
            ).tolist()
            if action_index not in legal:
                raise ValueError(
                    f"action {action_index} of {agent} is illegal: the legal actions are {legal}"
                )
        return action_index

    def state(self) -> NDArray[Any]:
        """Return the observation of player 0, which shows the whole position."""
        check_ready(self._ready, "state")
        return self.format.planes(self.game_batch.observe(0)[0])

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
        return self._renderer.show(self.game_batch.states.view(np.recarray)[0])

    def close(self) -> None:
        """Close the window."""
        self._renderer.close()

    def observations_and_infos(
        self, agents: list[str]
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return the observations and infos of agents, by agent."""
        planes, masks = self.game_batch.observations[0], self.game_batch.masks[0].copy()
        if self._keep_eliminated:
            over = self.game_batch.episode_states["over"][0]
            idle = ~masks.any(-1)  # players without a legal action
            masks[idle] = self._final_mask if over else self._idle_mask
            if not over:
                planes = np.where(idle[:, None, None, None], 0, planes)
        masks = self.format.masks(masks)
        observations, infos = {}, {}
        for agent in agents:
            player = self.possible_agents.index(agent)
            infos[agent] = {"action_mask": masks[player]}
            observations[agent] = self.format.apply(planes[player], masks[player])
        return observations, infos

    def _active_agents(self) -> list[str]:
        """Return the agents that can act."""
        can_act = self.game_batch.masks[0].any(axis=1)
        return [self.possible_agents[player] for player in np.flatnonzero(can_act).tolist()]

    def agents_in(self, s: Any, episode: Any, history: Any) -> list[str]:
        """Return the value of `agents` in position `s`.

        Args:
            s: the position, one record.
            episode: its episode state, see `ludoteca.envs.engine.episode_state`.
            history: the number of plies, then the actions.
        """
        is_active = self.game.is_active
        assert is_active is not None
        if episode["over"] or (self._max_cycles is not None and history[0] >= self._max_cycles):
            return []
        if self._keep_eliminated:
            return self.possible_agents
        return [agent for p, agent in enumerate(self.possible_agents) if is_active(s, p)]

    def _is_truncated(self) -> bool:
        """Return whether the game has reached `max_cycles`."""
        return self._max_cycles is not None and self.game_batch.plies_of(0) >= self._max_cycles

    def _restore_extra(self, extra: Any) -> None:
        """Recompute `agents` once the game batch is restored; nothing else was stored."""
        active = [] if self._is_truncated() else self._active_agents()
        self.agents = self.possible_agents[:] if active and self._keep_eliminated else active
