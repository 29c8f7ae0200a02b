"""Vector environment for OpenSpiel's agents that learn from a batch of games, such as PPO."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from open_spiel.python.rl_environment import StepType, TimeStep

from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.engine.opponents import OpponentSpec
from ludoteca.envs.game import Game

ONE_PLAYER = 1


class VectorEnvironment:
    """Batch of games against opponents, with the interface of OpenSpiel's `SyncVectorEnv`.

    The agent is player 0 of each time step, whatever seat it has in the game: `info_state[0]` is
    its observation, float32 `[N]` (N values, flattened), `legal_actions[0]` the list of its legal
    actions, and `rewards[0]` its reward.

    Attributes:
        num_players: 1, because the environment plays the opponents.
    """

    num_players = ONE_PLAYER

    def __init__(
        self,
        game: Game | str,
        num_envs: int,
        *,
        opponent: OpponentSpec | Sequence[OpponentSpec] = "random",
        agent_seat: int | str = "random",
        seed: int | None = None,
        **params: Any,
    ):
        """Make the environment.

        Args:
            game: a game or its name.
            num_envs: the number of games in the batch.
            opponent: a spec string or agent for all other seats, or a list with one for each.
            agent_seat: the agent's seat, or `"random"`: sampled for each game.
            seed: game i is seeded with `seed + i`; None: random seeds.
            params: parameters of the game, if it is given by its name.

        Raises:
            ValueError: if a parameter is unknown or out of range.
        """
        self._env = GameVectorEnv(
            game,
            num_envs,
            opponent=opponent,
            agent_seat=agent_seat,
            illegal_action="raise",
            autoreset_mode="Disabled",
            observation="flat",
            dtype="float32",
            **params,
        )
        self.game = self._env.game
        self._observations, info = self._env.reset(seed=seed)
        self._masks = info["action_mask"]
        self._done = np.zeros(num_envs, np.bool_)
        self._is_first = ~self._done  # whether the time step of each game is its first
        self._rewards = np.zeros(num_envs, np.float32)

    def __len__(self) -> int:
        return self._env.num_envs

    def set_opponent(self, opponent: OpponentSpec | Sequence[OpponentSpec]) -> None:
        """Replace the opponents, such as by a copy of the agent; games in progress continue."""
        self._env.set_opponent(opponent)

    def observation_spec(self) -> dict[str, Any]:
        """Return the shapes of observations, as `rl_environment.Environment` does."""
        return {
            "info_state": (int(np.prod(self.game.observation_shape)),),
            "legal_actions": (self.game.num_actions,),
            "current_player": (),
            "serialized_state": (),
        }

    def action_spec(self) -> dict[str, Any]:
        """Return the range of actions, as `rl_environment.Environment` does."""
        count = self.game.num_actions
        return {"num_actions": count, "min": 0, "max": count - 1, "dtype": int}

    def reset(self, envs_to_reset: Sequence[bool] | None = None) -> list[TimeStep]:
        """Reset all games, or those where `envs_to_reset` is true; return the time steps of all."""
        count = len(self)
        mask = np.ones(count, np.bool_) if envs_to_reset is None else np.array(envs_to_reset)
        if mask.shape != (count,) or mask.dtype != np.bool_:
            raise ValueError(f"envs_to_reset must be {count} booleans, got {envs_to_reset!r:.200}")
        if mask.any():
            self._reset_games(mask)
        return [self._time_step(i) for i in range(count)]

    def step(
        self, step_outputs: Sequence[Any], reset_if_done: bool = False
    ) -> tuple[list[TimeStep], list[list[float]], list[bool], list[TimeStep]]:
        """Apply the agent's actions and those of the opponents.

        Args:
            step_outputs: one object per game with an integer `action`, as agents return them.
            reset_if_done: whether games that end are reset.

        Returns:
            The time steps after resets, the rewards (one list of length 1 per game), the done
            flags, and the time steps before resets.

        Raises:
            ValueError: if an action is illegal, or a game is over.
        """
        actions = np.array([output.action for output in step_outputs], np.int64)
        self._observations, self._rewards, self._done, _, info = self._env.step(actions)
        self._masks = info["action_mask"]
        self._is_first = np.zeros(len(self), np.bool_)
        last_steps = [self._time_step(i) for i in range(len(self))]
        rewards, done = [step.rewards for step in last_steps], self._done.tolist()
        if not (reset_if_done and any(done)):
            return last_steps, rewards, done, last_steps
        self._reset_games(self._done)
        next_steps = [self._time_step(i) if over else last_steps[i] for i, over in enumerate(done)]
        return next_steps, rewards, done, last_steps

    def _reset_games(self, reset_mask: NDArray[np.bool_]) -> None:
        self._observations, info = self._env.reset(options={"reset_mask": reset_mask})
        self._masks, self._is_first = info["action_mask"], reset_mask
        self._done = self._done & ~reset_mask

    def _time_step(self, i: int) -> TimeStep:
        """Return the time step of game i."""
        observations = {
            "info_state": [self._observations[i]],
            "legal_actions": [self._masks[i].nonzero()[0].tolist()],
            "current_player": 0,
            "serialized_state": [],
        }
        if self._is_first[i]:
            return TimeStep(observations, None, None, StepType.FIRST)
        if self._done[i]:
            return TimeStep(observations, [float(self._rewards[i])], [0.0], StepType.LAST)
        return TimeStep(observations, [float(self._rewards[i])], [1.0], StepType.MID)
