"""Agents as OpenSpiel policies, for OpenSpiel's algorithms, such as exploitability."""

from typing import Any

import numpy as np
from open_spiel.python import policy as spiel_policy

from ludoteca.agents.agent import Agent
from ludoteca.agents.probabilities import action_probabilities
from ludoteca.envs.adapters.openspiel import load_game
from ludoteca.envs.adapters.openspiel_positions import CHANCE, Position, rules_of
from ludoteca.envs.adapters.openspiel_state import LudotecaState
from ludoteca.envs.game import Game


def as_policy(agent: Agent, game: Any = None, *, samples: int = 1, seed: int = 0) -> "AgentPolicy":
    """Return an agent as a policy of OpenSpiel, for any of its algorithms.

    For example, `exploitability(policy.game, policy)` of
    `open_spiel.python.algorithms.exploitability`.

    Args:
        agent: the agent.
        game: the `pyspiel.Game`: `load_game(agent.game)`, the default, or its turn-based version
            (`pyspiel.convert_to_turn_based`).
        samples: see `ludoteca.agents.probabilities`.
        seed: see `ludoteca.agents.probabilities`.
    """
    return AgentPolicy(agent, game, samples, seed)


class AgentPolicy(spiel_policy.Policy):  # type: ignore[misc]
    """OpenSpiel policy of an agent.

    Attributes:
        agent: the agent.
        game: the `pyspiel.Game`, see `as_policy`.
    """

    def __init__(self, agent: Agent, game: Any = None, samples: int = 1, seed: int = 0):
        """Make the policy; the parameters are those of `as_policy`."""
        game = load_game(agent.game) if game is None else game
        super().__init__(game, list(range(game.num_players())))
        self.agent = agent
        self._samples, self._seed = samples, seed

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """Return the probability of each legal action, by default for the player to move.

        Raises:
            ValueError: if the agent chooses an illegal action.
        """
        player = state.current_player() if player_id is None else player_id
        legal = state.legal_actions(player)
        if len(legal) <= 1:  # the agent is not called: no choice, or eliminated
            return dict.fromkeys(legal, 1.0)
        position = position_of(self.agent.game, state)
        states, seats = position.data.view(self.agent.game.state), np.array([player])
        (probabilities,) = action_probabilities(
            self.agent, states, seats, self._samples, self._seed
        )
        legal_probabilities = {action: float(probabilities[action]) for action in legal}
        if not np.isclose(sum(legal_probabilities.values()), 1):
            illegal = np.setdiff1d(np.flatnonzero(probabilities), legal)
            raise ValueError(
                f"the agent chose {illegal} for player {player}, but only {legal} are legal in\n"
                f"{state}"
            )
        return legal_probabilities


def position_of(game: Game, state: Any) -> Position:
    """Return the position of an OpenSpiel state of our game, or of its turn-based version.

    In a state of the turn-based version, an incomplete joint action is ignored.
    """
    if isinstance(state, LudotecaState):
        return state.position
    rules = rules_of(game)
    position, joint = rules.start, []
    for move in state.full_history():
        if move.player == CHANCE:
            position = rules.apply_outcome(position, move.action)
            continue
        joint.append(move.action)
        if len(joint) == game.num_players:
            position, joint = rules.step(position, np.array(joint, np.int64)), []
    return position
