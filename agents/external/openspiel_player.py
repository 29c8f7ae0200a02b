"""OpenSpiel policies and trained OpenSpiel agents as agents of this package."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from open_spiel.python.policy import Policy
from open_spiel.python.rl_environment import StepType, TimeStep

from ludoteca.agents.action_validation import validate_actions
from ludoteca.agents.agent import Agent
from ludoteca.agents.external.openspiel import OpenSpielAgent, load_ours
from ludoteca.agents.external.openspiel_counterparts import Translation, same_action
from ludoteca.agents.predictor import Observer
from ludoteca.agents.sampling import sample_by_weight
from ludoteca.envs.game import Game
from ludoteca.envs.rng import uniform


class OpenSpielLearner(Protocol):
    """Trained OpenSpiel agent, such as DQN or PPO.

    For agents that are trained in batches of games (PPO), `step` takes and returns lists.
    """

    def step(self, time_step: Any, is_evaluation: bool = False) -> Any:
        """Return an object with the `action` for the observations of a time step.

        With `is_evaluation` the agent does not learn or explore.
        """


def as_agent(game: Game, player: Policy | OpenSpielLearner | Sequence[OpenSpielLearner]) -> Agent:
    """Return an OpenSpiel policy or agent as an agent, for matches, tournaments and environments.

    Args:
        game: the game; policies need a sequential game without chance.
        player: a policy (`open_spiel.python.policy.Policy`), such as the average policy of CFR; or
            an OpenSpiel agent trained in `rl_environment` or `VectorEnvironment`, which plays for
            all players; or a list of OpenSpiel agents, one per player. They are not copied, so
            their later training changes the returned agent.

    Raises:
        TypeError: if `player` is of another type.
        ValueError: if there is not one agent per player, or a policy cannot play the game.
    """
    if isinstance(player, Policy):
        return PolicyPlayer(game, player)
    agents = list(player) if isinstance(player, Sequence) else [player] * game.num_players
    if len(agents) != game.num_players:
        raise ValueError(f"{game.spec} needs {game.num_players} agents, got {len(agents)}")
    for agent in agents:
        if not callable(getattr(agent, "step", None)):
            raise TypeError(
                f"expected a policy or an agent with the method step, got {agent!r:.200}"
            )
    return OpenSpielLearnerPlayer(game, agents)


class PolicyPlayer(OpenSpielAgent):
    """Agent with an OpenSpiel policy; it tracks each game, since policies need histories.

    It is a subclass of `OpenSpielAgent` for the tracking alone: nothing is searched, and the
    settings of the search have no effect.

    Attributes:
        policy: the policy, for the game that `ludoteca.envs.adapters.openspiel` loads.
    """

    def __init__(self, game: Game, policy: Policy):
        """Make the agent.

        Args:
            game: the game it plays.
            policy: the policy.

        Raises:
            ValueError: if the game is simultaneous or has chance.
        """
        if game.simultaneous or game.has_chance:
            raise ValueError(f"policies need a sequential game without chance, got {game.spec}")
        super().__init__(game)
        self.policy = policy

    def _find_spiel_game(self) -> tuple[Any, Translation, Translation]:
        """Return our game in OpenSpiel, which the policy plays; actions need no translation."""
        return load_ours(self.game), same_action, same_action

    def _search(self, state: Any, rng: NDArray[np.uint64]) -> int:
        """Return an action sampled from the policy.

        Args:
            state: OpenSpiel's state of the position.
            rng: random stream, uint64 `[1]`.

        Raises:
            ValueError: if the policy does not return probabilities of the legal actions.
        """
        weights = np.zeros((1, self.game.num_actions))
        for action, probability in self.policy.action_probabilities(state).items():
            weights[0, action] = probability
        legal = state.legal_actions()
        if not np.isclose(weights[0, legal].sum(), 1) or not np.isclose(weights.sum(), 1):
            raise ValueError(
                f"expected probabilities of the actions {legal} that sum to 1, got {weights[0]}"
            )
        with np.errstate(over="ignore"):  # the arithmetic of random streams wraps around
            return int(sample_by_weight(weights, uniform(rng.reshape(1, 1)))[0])


class OpenSpielLearnerPlayer(Agent):
    """Agent with trained OpenSpiel agents, which choose by observations."""

    def __init__(self, game: Game, players: Sequence[OpenSpielLearner]):
        """Make the agent.

        Args:
            game: the game it plays.
            players: OpenSpiel's agents, one per player.
        """
        super().__init__(game)
        self.players = players
        self._observer = Observer(game, "float32", False)

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Return the actions of the OpenSpiel agents that play for `seats`.

        Raises:
            ValueError: if an action is illegal.
        """
        planes, masks = self._observer.observe(states, seats)
        actions = np.zeros(len(states), np.int64)
        for seat, learner in enumerate(self.players):
            rows = np.flatnonzero(seats == seat)
            # The player whose part of a time step the OpenSpiel agent reads: the one for which it
            # was made, which differs from `seat` if it plays for several players.
            player_id = getattr(learner, "player_id", getattr(learner, "_player_id", seat))
            is_batched = hasattr(learner, "num_envs")
            # Lists as in `rl_environment`; agents for batches accept arrays.
            inputs = [planes[k].ravel() if is_batched else planes[k].ravel().tolist() for k in rows]
            steps = [
                _time_step(info_state, masks[k], player_id)
                for info_state, k in zip(inputs, rows, strict=True)
            ]
            if steps and is_batched:
                outputs = learner.step(steps, is_evaluation=True)
            else:
                outputs = [learner.step(step, is_evaluation=True) for step in steps]
            actions[rows] = [output.action for output in outputs]
        return validate_actions(self.game, actions, masks, states, seats, "OpenSpiel's agent")


def _time_step(planes: Any, mask: NDArray[np.int8], player: int) -> TimeStep:
    """Return a `TimeStep` of `rl_environment` in which `player` is to move.

    Args:
        planes: the player's observation, flat: an array or a list.
        mask: the player's action mask. Shape `[num_actions]`.
        player: number of the player. Players before it have the same entries, which are not read.
    """
    observations = {
        "info_state": [planes] * (player + 1),
        "legal_actions": [np.flatnonzero(mask).tolist()] * (player + 1),
        "current_player": player,
        "serialized_state": [],
    }
    return TimeStep(observations, [0.0] * (player + 1), [1.0] * (player + 1), StepType.MID)
