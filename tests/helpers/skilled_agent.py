"""Epsilon-greedy agent for tests of tuning: a lower epsilon plays better."""

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.baselines import OnePlyAgent
from ludoteca.envs.game import Game
from ludoteca.envs.record_views import view_records
from ludoteca.envs.rng import below


class SkilledAgent(Agent):
    """Epsilon-greedy agent; in tic-tac-toe, less random play wins more games.

    Args:
        game: the game.
        epsilon: probability of a random action.
        style: a parameter without effect, for tests of tuning.
    """

    def __init__(self, game: Game, epsilon: float = 0.5, style: str = ""):
        super().__init__(game)
        self._epsilon, self._greedy = epsilon, OnePlyAgent(game)

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        actions = self._greedy.act(states, seats, rngs, env_indices)
        for k, s in enumerate(view_records(states)):
            if below(rngs[k], 1000) < 1000 * self._epsilon:
                legal = self.game.legal(s)
                actions[k] = legal[below(rngs[k], len(legal))]
        return actions
