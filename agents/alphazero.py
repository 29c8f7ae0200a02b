"""Agents that search with a policy-value network."""

from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.games.endgame import make_endgame, solve_endgame
from ludoteca.agents.guided.agent import GuidedAgent
from ludoteca.agents.guided.search import Found
from ludoteca.agents.guided.selection import Rule
from ludoteca.agents.mcts.report import SearchReport, make_exact_report
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.sampling import by_weight
from ludoteca.envs.game import Game
from ludoteca.envs.params import choice, integer, real
from ludoteca.envs.rng import uniform

try:
    from ludoteca.agents.networks.evaluation_cache import Memory
    from ludoteca.agents.networks.pv_network import (
        PVConfig,
        PVNetwork,
        evaluator,
        make_pv_network,
    )
    from ludoteca.agents.networks.runner import Precision, Runner
    from ludoteca.agents.networks.weights import find_weights, load_network
except ImportError as error:
    raise ImportError(
        'agents with networks need PyTorch and safetensors: pip install "ludoteca[train]"'
    ) from error

# Searches side by side: more need memory, and are not faster.
TOGETHER = 256


class AlphaZeroAgent(GuidedAgent):
    """Searches with a policy-value network, many positions at once, and plays the best move.

    With `simulations=0` it plays the network's policy without search.
    """

    def __init__(
        self,
        game: Game,
        path: str | Path,
        simulations: int = 64,
        rule: str = "puct",
        c: float = 1.25,
        fpu: float = 0.25,
        considered: int = 16,
        temperature: float = 0.0,
        leaves: int = 1,
        endgame: int = 0,
        device: str = "cpu",
        precision: Precision = "float32",
    ):
        """Load a network.

        Args:
            game: the game it plays.
            path: a file or folder that training wrote, or the name of a network that comes with the
                package.
            simulations: of each search.
            rule: `puct` or `gumbel`.
            c: PUCT's constant.
            fpu: PUCT: how much less than its parent an action without visits is worth.
            considered: Gumbel: how many moves are tried at most.
            temperature: moves are drawn by `policy ** (1 / temperature)`; 0: the best one.
            leaves: PUCT: of each search that the network sees at once. With more than one,
                simulations under way count as lost to others; worth it where few positions are
                searched, as in a single game.
            endgame: number of empty squares up to which positions are solved exactly, however long
                that takes, instead of searched; 0: never. See `ludoteca.agents.games.endgame`.
            device: where the network runs, such as `cpu` or `cuda`.
            precision: `float32`, `bfloat16`, or `auto`: the faster of the two.

        Raises:
            FileNotFoundError: if there is no such network.
            ValueError: if it does not fit the game, or a parameter is out of range.
        """
        network, self.about = load_pv_network(game, find_weights(path, "az"))
        choice("rule", rule, ("puct", "gumbel"))
        settings = Rule(gumbel=rule == "gumbel", c_init=real("c", c, 0, 100), fpu=fpu)
        self._adopt(game, simulations, settings, considered, temperature, leaves, endgame)
        self._runner = Runner(network, 1 / game.observation_high, device, precision)

    @classmethod
    def check_game(cls, game: Game) -> None:
        """Check that a game is for two players who move in turn."""
        Encoder(game)

    @classmethod
    def from_runner(
        cls,
        game: Game,
        runner: Runner,
        simulations: int,
        rule: Rule,
        considered: int = 16,
        temperature: float = 0.0,
        endgame: int = 0,
    ) -> Self:
        """Return an agent that plays by a network in memory, which must not change."""
        agent = cls.__new__(cls)
        agent.about = {}
        agent._adopt(game, simulations, rule, considered, temperature, endgame=endgame)
        agent._runner = runner
        return agent

    def _adopt(
        self,
        game: Game,
        simulations: int,
        rule: Rule,
        considered: int,
        temperature: float,
        leaves: int = 1,
        endgame: int = 0,
    ) -> None:
        considered = integer("considered", considered, 1, 10**4)
        self.encoder = Encoder(game)
        super().__init__(self.encoder, rule, leaves, considered)
        self.simulations = integer("simulations", simulations, 0, 10**6)
        self._temperature = real("temperature", temperature, 0, 100)
        if rule.gumbel and leaves > 1:
            raise ValueError(f"the rule gumbel needs leaves=1, got {leaves}")
        self.endgame = integer("endgame", endgame, 0, 60)
        self._endgame = make_endgame(game) if endgame else None
        self._memory: Memory | None = None  # the next search comes back to positions of the last

    def prepare(self) -> None:
        """Compile the search, and let the network run once."""
        if self._endgame is not None:
            self._endgame.prepare()
        super().prepare()

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Search all positions side by side, and solve those near the end."""
        actions = np.zeros(len(states), np.int64)
        solved = np.zeros(len(states), np.bool_)
        if self._endgame is not None:
            for k, s in enumerate(states):
                solved[k] = self._endgame.empty(s) <= self.endgame
                if solved[k]:
                    actions[k] = solve_endgame(self.game, s).action
        searched = np.flatnonzero(~solved)
        for k in range(0, len(searched), TOGETHER):
            part = searched[k : k + TOGETHER]
            streams = rngs[part]
            actions[part] = self.decide(self.look(states[part]), streams)
            rngs[part] = streams
        return actions

    def search(self, s: Any, rng: NDArray[np.uint64] | None = None) -> SearchReport:
        """Search one position, or solve it near the end; see `GuidedAgent.search`."""
        if self._endgame is not None and self._endgame.empty(s) <= self.endgame:
            return make_exact_report(self.game, solve_endgame(self.game, s))
        return super().search(s, rng)

    def decide(self, found: Found, rngs: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the best moves, or moves drawn by the policy at a temperature above 0."""
        if self._temperature == 0:
            return found.best
        return by_weight(found.policy, uniform(rngs.T), self._temperature)

    def title(self) -> str:
        """Return the kind of search and the game, for reports."""
        rule = "gumbel" if self._rule.gumbel else "puct"
        return f"AlphaZero ({rule}) of {self.game.name}"

    def look(self, states: NDArray[np.void], rngs: NDArray[np.uint64] | None = None) -> Found:
        """Search positions in which the game goes on; it draws nothing."""
        if self._memory is None:
            self._memory = Memory(self._runner, self.encoder.shape, self.game.num_actions + 1)
        search = self.search_for(len(states))
        return search.run(states, evaluator(self._memory), self.simulations)


def load_pv_network(game: Game, file: Path) -> tuple[PVNetwork, dict[str, Any]]:
    """Return the network in a file, for a game that it can play, and what is told about it.

    Raises:
        ValueError: if the file holds no policy-value network, or one that does not fit the game.
    """
    return load_network(
        game, file, lambda told: make_pv_network(PVConfig(**told), game), "policy-value network"
    )
