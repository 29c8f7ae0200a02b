"""PettingZoo's conversions between AEC and parallel environments, extended.

They validate an action when it is passed to `step`, and offer replays, `save` and `restore`.
"""

from typing import Any

from pettingzoo.utils import AgentSelector
from pettingzoo.utils.conversions import parallel_to_aec_wrapper, turn_based_aec_to_parallel_wrapper

from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.game import Game
from ludoteca.envs.replay import Replay
from ludoteca.envs.serialization import Storable
from ludoteca.envs.validation import agent_value, check_action_dict, check_ready


class AECToParallel(turn_based_aec_to_parallel_wrapper[str, Any, Any], Storable):
    """Parallel environment of a sequential game: a step applies only the action of the mover."""

    aec_env: Any

    @property
    def game(self) -> Game:  # type: ignore[override]
        """The game."""
        game: Game = self.aec_env.game
        return game

    @property
    def game_batch(self) -> GameBatch:  # type: ignore[override]
        """The `GameBatch` of size 1 that holds the game."""
        game_batch: GameBatch = self.aec_env.game_batch
        return game_batch

    @property
    def agents(self) -> list[str]:
        """The agents in the game."""
        agents: list[str] = self.aec_env.agents
        return agents

    @agents.setter
    def agents(self, agents: list[str]) -> None:
        """Do nothing: PettingZoo's class sets the same agents."""

    def step(self, actions: dict[str, Any]) -> Any:
        """Apply the action of the agent to move.

        Raises:
            ValueError: if no game is in progress, if that action is missing or not an integer, or
                if it is illegal and `illegal_action="raise"`. Nothing has then changed.
        """
        if not self.agents:
            raise no_agents_error(self._ready)
        check_action_dict(self.agents, actions)
        mover = self.aec_env.agent_selection
        if mover not in actions:
            raise ValueError(
                f"{mover} is to move: expected its action, got actions of {list(actions)}"
            )
        return super().step(actions)  # type: ignore[no-untyped-call]

    def replay(self) -> Replay:
        """Return the replay of the game so far."""
        replay: Replay = self.aec_env.replay()
        return replay

    def save(self) -> bytes:
        """Return the environment's state as bytes; see `Storable.save`."""
        data: bytes = self.aec_env.save()
        return data

    def restore(self, data: bytes) -> None:
        """Restore what `save` returned; see `Storable.restore`."""
        env = self.aec_env
        env.restore(data)
        # In parallel environments all agents of a finished game leave in its last step.
        while env.agents and (
            env.terminations[env.agent_selection] or env.truncations[env.agent_selection]
        ):
            env.step(None)

    @property
    def _ready(self) -> bool:  # type: ignore[override]
        return bool(self.aec_env._ready)


class ParallelToAEC(parallel_to_aec_wrapper[str, Any, Any], Storable):
    """AEC environment of a simultaneous game: steps it once all agents have chosen an action."""

    env: Any

    def __init__(self, parallel_env: Any):
        """Wrap a parallel environment."""
        super().__init__(parallel_env)
        self.agents, self.agent_selection = [], ""  # before the first reset

    def observe(self, agent: str) -> Any:
        """Return the observation of an agent."""
        check_ready(self._ready, "observe")
        return agent_value(self._observations, agent)

    def step(self, action: Any) -> None:
        """Store the action of `agent_selection`, which must be None once that agent is done.

        Raises:
            ValueError: if no game is in progress, if `action` is not an integer, or if it is
                illegal and `illegal_action="raise"`. Nothing has then changed.
        """
        if not (self._ready and self.agents):
            raise no_agents_error(self._ready)
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                # PettingZoo's message.
                raise ValueError("when an agent is dead, the only valid action is None")
        else:
            action = self.env.check_action(agent, action)
        super().step(action)

    def replay(self) -> Replay:
        """Return the replay of the game so far."""
        replay: Replay = self.env.replay()
        return replay

    @property
    def game(self) -> Game:  # type: ignore[override]
        """The game."""
        game: Game = self.env.game
        return game

    @property
    def game_batch(self) -> GameBatch:  # type: ignore[override]
        """The `GameBatch` of size 1 that holds the game."""
        game_batch: GameBatch = self.env.game_batch
        return game_batch

    @property
    def _ready(self) -> bool:
        return bool(self.env._ready)

    @_ready.setter
    def _ready(self, ready: bool) -> None:
        self.env._ready = ready

    def _extra(self) -> dict[str, Any]:
        """Return the state of the AEC interface, which `Storable.save` stores beside the game."""
        return {
            "agents": self.agents,
            "selected": self.agent_selection,
            "chosen": [self._actions.get(agent) for agent in self.agents],
            "terminations": [self.terminations[agent] for agent in self.agents],
            "truncations": [self.truncations[agent] for agent in self.agents],
            "rewards": [self.rewards[agent] for agent in self.agents],
            "cumulative": [self._cumulative_rewards[agent] for agent in self.agents],
        }

    def _validate_extra(self, extra: Any, states: Any, episode_states: Any, history: Any) -> None:
        """Validate that the agents in the game are those of the batch to restore."""
        try:
            agents = extra["agents"]
            valid = set(agents) <= set(self.possible_agents) and len(set(agents)) == len(agents)
            valid &= extra["selected"] in (agents or self.possible_agents)
            for name, types in (
                ("chosen", (int, type(None))),
                ("terminations", (bool,)),
                ("truncations", (bool,)),
                ("rewards", (int, float)),
                ("cumulative", (int, float)),
            ):
                valid &= len(extra[name]) == len(agents)
                valid &= all(type(value) in types for value in extra[name])
            if valid:
                done_flags = zip(agents, extra["terminations"], extra["truncations"], strict=True)
                in_game = {
                    agent
                    for agent, terminated, truncated in done_flags
                    if not (terminated or truncated)
                }
                valid = in_game == set(self.env.agents_in(states[0], episode_states[0], history[0]))
        except (KeyError, TypeError):
            valid = False
        if not valid:
            raise ValueError(
                "expected agents of the game with their actions, rewards, terminations and "
                f"truncations, got {extra!r}"
            )

    def _restore_extra(self, extra: Any) -> None:
        """Restore what `_extra` returned, once the game batch is restored."""
        # The parallel environment stores no extra state (None); it recomputes its `agents`.
        self.env._restore_extra(None)
        agents: list[str] = extra["agents"]
        self.agents = agents[:]
        self._actions = dict(zip(agents, extra["chosen"], strict=True))
        self.terminations = dict(zip(agents, extra["terminations"], strict=True))
        self.truncations = dict(zip(agents, extra["truncations"], strict=True))
        self.rewards = dict(zip(agents, extra["rewards"], strict=True))
        self._cumulative_rewards = dict(zip(agents, extra["cumulative"], strict=True))
        self._observations, self.infos = self.env.observations_and_infos(agents)
        playing: list[str] = self.env.agents
        self._agent_selector = AgentSelector(playing or self.possible_agents)
        self.agent_selection = self._agent_selector.reset()
        # Eliminated agents step first (with None), then the first agent that still plays.
        self._skip_agent_selection = None  # type: ignore[assignment]  # as PettingZoo does
        if extra["selected"] not in playing:
            self._skip_agent_selection = self.agent_selection
            self.agent_selection = extra["selected"]
        while self.agent_selection in playing and self.agent_selection != extra["selected"]:
            self.agent_selection = self._agent_selector.next()


def no_agents_error(ready: bool) -> ValueError:
    """Return the error for `step` when no agents are left; `ready`: whether `reset` was called."""
    if ready:
        return ValueError("the game is over and all agents are done: call reset")
    return ValueError("call reset before step")
