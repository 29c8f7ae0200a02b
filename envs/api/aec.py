"""PettingZoo AEC environments: `GameAECEnv` for sequential games, `ParallelToAEC` for others."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray
from pettingzoo import AECEnv

from ludoteca.envs.api.conversions import ParallelToAEC, no_agents_error
from ludoteca.envs.api.rendering import BoardRenderer
from ludoteca.envs.engine.episode_state import EVERY_SEAT
from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.game import Game
from ludoteca.envs.observation import OBSERVATION_KEYS, ObservationFormat
from ludoteca.envs.params import check_integer, keyword_names
from ludoteca.envs.replay import Replay
from ludoteca.envs.serialization import Storable
from ludoteca.envs.validation import (
    RANDOM_SEED_BOUND,
    agent_value,
    as_action,
    as_game,
    check_flag,
    check_options,
    check_ready,
    check_seed,
)

RENDER_MODES = ["human", "rgb_array", "ansi", "svg"]
NO_OP = 0  # with `keep_eliminated`, the only action in the masks of agents that cannot act


def aec_env(game: Game | str, **options: Any) -> AECEnv[str, Any, Any]:
    """Return an AEC environment of any game.

    For simultaneous games it is their parallel environment wrapped in `ParallelToAEC`.

    Args:
        game: a game, its name, or a spec string.
        options: keyword arguments of `GameAECEnv`, and parameters of the game (if it is a name).
    """
    from ludoteca.envs.api.parallel import GameParallelEnv

    names = keyword_names(GameAECEnv)
    game_params = {key: value for key, value in options.items() if key not in names}
    game = as_game(game, game_params, GameAECEnv)
    env_options = {key: value for key, value in options.items() if key in names}
    if game.simultaneous:
        return ParallelToAEC(GameParallelEnv(game, **env_options))
    return GameAECEnv(game, **env_options)


def idle_mask(game: Game, keep_eliminated: bool) -> NDArray[np.int8]:
    """Return the mask of an agent that cannot act: zeros, or `NO_OP` if `keep_eliminated`."""
    mask = np.zeros(game.num_actions, np.int8)
    mask[NO_OP] = keep_eliminated
    return mask


class GameAECEnv(AECEnv[str, Any, Any], Storable):
    """AEC environment of a sequential game with agents `player_0`, `player_1`, ...

    Observations are dictionaries `{"observation": planes, "action_mask": int8 [A]}` or another
    format, see `ludoteca.envs.observation.ObservationFormat`. The mask is also in
    `infos[agent]["action_mask"]`. It is all zero for agents that are not to move, unless
    `keep_eliminated=True`.
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
            illegal_action: `"lose"`, `"raise"`, `"penalize"` or `"random"`, see
                `ludoteca.envs.api.vector.GameVectorEnv`.
            max_cycles: number of moves per player after which games are truncated; None: no limit.
            keep_eliminated: as in `GameParallelEnv`, agents that cannot act have a mask that allows
                only `NO_OP` (0), so that no mask is all zero: agents that are not to move, and all
                agents of a finished game. `NO_OP` is not played for them. In sequential games all
                agents leave at the end of the game, so only masks depend on `keep_eliminated`.
            observation: format, `"planes"`, `"flat"`, `"dict"` or `"flat_dict"`.
            dtype: dtype of the planes, one of `ludoteca.envs.validation.DTYPES`, such as
                `"int8"` or `"float32"`.
            channels_last: `(rows, columns, planes)` instead of `(planes, rows, columns)`.
            keys: keys of the planes and of the mask in dictionary observations.
            mask_dtype: `"int8"`, `"bool"` or `"float32"`.
            end_mask: values of the masks of a finished game: `"zeros"` or `"ones"`; None: zeros.
            render_mode: `"human"`, `"rgb_array"`, `"ansi"` or `"svg"`.

        Raises:
            ValueError: if a parameter is unknown or out of range.
        """
        super().__init__()  # type: ignore[no-untyped-call]
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
        assert self.game_batch.seat_rule == EVERY_SEAT
        self.metadata = {
            "name": f"{game.name}_v0",
            "render_modes": RENDER_MODES,
            "render_fps": 2,
            "is_parallelizable": False,
        }
        self.render_mode = render_mode
        self._renderer = BoardRenderer(game, render_mode, self.metadata)
        self.possible_agents = [f"player_{i}" for i in range(game.num_players)]
        self.agents = []
        self._observation_spaces = {
            agent: self.format.space(game) for agent in self.possible_agents
        }
        self._action_spaces = {
            agent: spaces.Discrete(game.num_actions) for agent in self.possible_agents
        }
        self.state_space = self.format.box(game)
        self._players = {agent: i for i, agent in enumerate(self.possible_agents)}
        self._max_plies = (
            None
            if max_cycles is None
            else game.num_players * check_integer("max_cycles", max_cycles, 1, 2**31)
        )
        self._action = np.zeros((1, 1), np.int64)
        idle = idle_mask(game, check_flag("keep_eliminated", keep_eliminated))
        self._idle_mask = self.format.cast(idle)
        self._final_mask = self.format.cast(self.format.final_mask(idle))
        self._mover: str | None = None  # the agent to move
        self.agent_selection = ""  # before the first reset
        self._ready = False

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations."""
        return agent_value(self._observation_spaces, agent)

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions."""
        return agent_value(self._action_spaces, agent)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Reset the game; a seed also determines all later games that are reset without one.

        `options` has no effect; it is accepted for PettingZoo's interface.
        """
        check_options(options)
        if seed is None and not self._ready:
            seed = int(np.random.default_rng().integers(RANDOM_SEED_BOUND))
        if seed is not None:
            seed = check_seed(seed)
            self.np_random = np.random.default_rng(seed)  # for wrappers; games have their own
        self.game_batch.reset([seed])
        self._ready = True
        self.agents = self.possible_agents[:]
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._skip_agent_selection = None  # type: ignore[assignment]  # as PettingZoo does
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._publish()
        if self.render_mode == "human":
            self.render()

    def step(self, action: Any) -> None:
        """Apply an action of the agent `agent_selection`.

        Args:
            action: the action, an integer; None if that agent is terminated or truncated.

        Raises:
            ValueError: if no game is in progress, if `action` is not an integer, or if it is
                illegal and `illegal_action="raise"`. The environment is then unchanged.
        """
        if not self.agents:
            raise no_agents_error(self._ready)
        mover = self.agent_selection
        if self.terminations[mover] or self.truncations[mover]:
            self._was_dead_step(action)
            return
        self._action[0, 0] = as_action(action)
        game_batch = self.game_batch
        game_batch.step(self._action)
        self._cumulative_rewards[mover] = 0.0
        self._publish()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Any:
        """Return an agent's observation; `keep_eliminated` determines its mask off its turn."""
        if isinstance(agent, str) and agent == self._mover:
            return self.format.apply(self.game_batch.observations[0, 0], self._mask)
        check_ready(self._ready, "observe")
        player = agent_value(self._players, agent)
        return self.format.apply(self.game_batch.observe(player)[0], self._other_mask.copy())

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
        last_action = self.game_batch.actions_of(0)[-1:]
        return self._renderer.show(self.game_batch.states.view(np.recarray)[0], last_action)

    def close(self) -> None:
        """Close the window."""
        self._renderer.close()

    def _publish(self) -> None:
        """Set rewards, terminations, masks and infos of all agents; select the agent to move."""
        episode = self.game_batch.episode_states[0]
        self.rewards = dict(zip(self.possible_agents, episode["rewards"].tolist(), strict=True))
        if episode["over"]:
            self.terminations = dict.fromkeys(self.agents, True)
        elif self._max_plies is not None and self.game_batch.plies_of(0) >= self._max_plies:
            self.truncations = dict.fromkeys(self.agents, True)
        mover = self._mover = self.agent_selection = self.possible_agents[episode["mover"]]
        if episode["over"]:
            mask = other_mask = self._final_mask.copy()
        else:
            mask = self.format.cast(self.game_batch.masks[0, 0].copy())
            other_mask = self._idle_mask
        self._mask, self._other_mask = mask, other_mask  # of the mover, of the other agents
        self.infos = {
            agent: {"action_mask": mask if agent == mover else other_mask.copy()}
            for agent in self.agents
        }

    def _extra(self) -> dict[str, Any]:
        """Return the agents and their cumulative rewards, which `Storable.save` stores."""
        return {"agents": self.agents, "cumulative": list(self._cumulative_rewards.values())}

    def _validate_extra(self, extra: Any, states: Any, episode_states: Any, history: Any) -> None:
        """Validate the agents: they may leave only when the game is over.

        `states`, `episode_states` and `history` are the arrays of the game batch to restore.

        Raises:
            ValueError: if the agents or their cumulative rewards are not valid.
        """
        # `history[0, 0]` is the number of plies.
        truncated = self._max_plies is not None and history[0, 0] >= self._max_plies
        try:
            agents, cumulative = extra["agents"], extra["cumulative"]
            in_order = [agent for agent in self.possible_agents if agent in agents]
            ended = bool(episode_states["over"][0]) or truncated
            valid = agents == (in_order if ended else self.possible_agents)
            valid &= len(cumulative) == len(agents) and bool(np.isfinite(cumulative).all())
        except (KeyError, TypeError):
            valid = False
        if not valid:
            raise ValueError(
                f"expected agents of the game and their cumulative rewards, got {extra!r}"
            )

    def _restore_extra(self, extra: Any) -> None:
        """Restore what `_extra` returned, once the game batch is restored."""
        self.agents = self.possible_agents[:]
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._publish()
        self.agents = extra["agents"][:]
        self._cumulative_rewards = dict(zip(self.agents, extra["cumulative"], strict=True))
        self._skip_agent_selection = None  # type: ignore[assignment]  # as PettingZoo does
        # Some agents have left a finished game; the next of the remaining agents steps with None.
        if len(self.agents) < len(self.possible_agents):
            for by_agent in (self.rewards, self.terminations, self.truncations, self.infos):
                for agent in set(self.possible_agents) - set(self.agents):
                    del by_agent[agent]
            self._clear_rewards()
            if self.agents:
                # As PettingZoo's `_was_dead_step` has set it when the first agent left.
                self._skip_agent_selection = self.agent_selection
                self.agent_selection = self.agents[0]
