"""Workload of a search: first moves of an agent."""

import numpy as np

from ludoteca.agents.registry import make_agent
from ludoteca.envs.clock import clock
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.bench.workloads import Sample

OPENINGS = 16  # number of initial positions, for games with random ones


class SearchWorkload:
    """Agent that computes its first move repeatedly, with new random numbers each time.

    The time of a whole move is measured.
    """

    def __init__(self, game: str, agent: str, steps: int):
        """Make the agent, and warm it up with one move.

        Args:
            game: spec string of the game.
            agent: spec string of the agent.
            steps: number of steps per move, such as its simulations.
        """
        loaded_game = make_game(game)
        self._agent, self._steps = make_agent(agent, loaded_game), steps
        self._openings = loaded_game.empty(OPENINGS)
        for seed in range(OPENINGS):
            self._openings[seed] = loaded_game.new(seed)
        self._moves = 0
        self._move()

    def __call__(self, seconds: float) -> Sample:
        """Search for about `seconds`."""
        moves = 0
        start = clock()
        while (passed := clock() - start) < seconds:
            self._move()
            moves += 1
        return Sample(moves * self._steps, passed)

    def close(self) -> None:
        """Do nothing: there are no processes or threads."""

    def _move(self) -> None:
        k = self._moves % OPENINGS
        self._moves += 1
        seat, env_index = np.zeros(1, np.int64), np.zeros(1, np.int64)
        rng = np.full((1, 1), self._moves, np.uint64)
        self._agent.act(self._openings[k : k + 1], seat, rng, env_index)
