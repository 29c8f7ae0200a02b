"""Workloads of searches: an agent's first move, and network-guided searches."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ludoteca.agents.registry import make_agent
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.bench.workloads import CPUWorkload, Sample

OPENINGS = 16  # number of initial positions; they differ in games with a random one
RANDOM_PLIES = range(8, 40, 4)  # random plies before each position of network-guided searches


class SearchWorkload:
    """Agent that repeatedly selects the first move of a game, each time with another random seed.

    The entire time of a move is measured.
    """

    def __init__(
        self, game: Game | str, agent: str, steps: int, timer: Callable[[], float] = clock
    ):
        """Make the agent, and warm it up with one move.

        Args:
            game: the game, or its spec string.
            agent: spec string of the agent.
            steps: number of steps that a move counts as, such as its simulations.
            timer: function that returns the time in seconds, such as `process_time`.
        """
        self._timer = timer
        loaded_game = make_game(game) if isinstance(game, str) else game
        self._agent, self._steps = make_agent(agent, loaded_game), steps
        self._openings = loaded_game.empty(OPENINGS)
        for seed in range(OPENINGS):
            self._openings[seed] = loaded_game.new(seed)
        self._moves = 0
        self._move()

    def __call__(self, seconds: float) -> Sample:
        """Search for about `seconds`."""
        moves = 0
        start = self._timer()
        while (passed := self._timer() - start) < seconds:
            self._move()
            moves += 1
        return Sample(moves * self._steps, passed)

    def close(self) -> None:
        """Do nothing: there are no processes or threads."""

    def _move(self) -> None:
        """Select a move in the next opening, with the number of moves as the seed."""
        k = self._moves % OPENINGS
        self._moves += 1
        seat, env_index = np.zeros(1, np.int64), np.zeros(1, np.int64)
        rng = np.full((1, 1), self._moves, np.uint64)
        self._agent.act(self._openings[k : k + 1], seat, rng, env_index)


class NetworkSearchWorkload(CPUWorkload):
    """Network-guided search of single positions, each with an empty cache; counts simulations."""

    def __init__(self, game: str, agent: str, steps: int):
        """Make the agent and random positions of several stages of a game.

        Args:
            game: spec string of the game.
            agent: spec string of an agent with a policy-value network.
            steps: number of simulations per search.
        """
        rules = make_game(game)
        self._agent: Any = make_agent(agent, rules)  # `PolicyValueAgent`, which needs PyTorch
        self._steps = steps
        rng = np.random.default_rng(0)
        self._states = rules.empty(len(RANDOM_PLIES))
        for k, plies in enumerate(RANDOM_PLIES):
            s = rules.new(k)
            for _ in range(plies):
                rules.step(s, int(rng.choice(rules.legal(s))))
            self._states[k] = s
        self._searches = 0
        self._agent.prepare()
        self.run_once()

    def run_once(self) -> int:
        """Search the next position with an empty cache; return the number of simulations."""
        k = self._searches % len(self._states)
        self._searches += 1
        self._agent.clear_cache()
        self._agent.search_positions(self._states[k : k + 1])
        return self._steps
