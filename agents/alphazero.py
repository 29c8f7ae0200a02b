"""Agents that search with a policy-value network."""

from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.games.endgame import make_endgame_solver, solve_endgame
from ludoteca.agents.guided.agent import NetworkGuidedAgent
from ludoteca.agents.guided.search import SearchResult
from ludoteca.agents.guided.selection import SelectionParams
from ludoteca.agents.mcts.report import SearchReport, make_exact_report
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.sampling import sample_by_weight
from ludoteca.envs.game import Game
from ludoteca.envs.params import choice, integer, real
from ludoteca.envs.rng import uniform

try:
    from ludoteca.agents.networks.evaluation_cache import EvaluationCache
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


class AlphaZeroAgent(NetworkGuidedAgent):
    """Searches with a policy-value network, many positions at once, and plays the best move.

    With `simulations=0` it plays the network's policy without search.
    """

    def __init__(
        self,
        game: Game,
        path: str | Path,
        simulations: int = 64,
        policy: str = "puct",
        c_puct: float = 1.25,
        fpu_reduction: float = 0.25,
        max_num_considered_actions: int = 16,
        temperature: float = 0.0,
        leaf_batch: int = 1,
        solver_empties: int = 0,
        device: str = "cpu",
        precision: Precision = "float32",
    ):
        """Load a network.

        Args:
            game: the game it plays.
            path: a file or folder that training wrote, or the name of a network that comes with the
                package.
            simulations: of each search.
            policy: `puct` or `gumbel`.
            c_puct: PUCT's constant.
            fpu_reduction: PUCT: how much less than its parent an action without visits is worth.
            max_num_considered_actions: Gumbel: how many moves are tried at most.
            temperature: moves are drawn by `policy ** (1 / temperature)`; 0: the best one.
            leaf_batch: PUCT: of each search that the network sees at once. With more than one,
                simulations under way count as lost to others; worth it where few positions are
                searched, as in a single game.
            solver_empties: number of empty squares up to which positions are solved exactly,
                however long that takes, instead of searched; 0: never. See
                `ludoteca.agents.games.endgame`.
            device: where the network runs, such as `cpu` or `cuda`.
            precision: `float32`, `bfloat16`, or `auto`: the faster of the two.

        Raises:
            FileNotFoundError: if there is no such network.
            ValueError: if it does not fit the game, or a parameter is out of range.
        """
        network, self.about = load_pv_network(game, find_weights(path, "az"))
        choice("policy", policy, ("puct", "gumbel"))
        settings = SelectionParams(
            gumbel=policy == "gumbel",
            c_init=real("c_puct", c_puct, 0, 100),
            fpu_reduction=fpu_reduction,
        )
        self._adopt(
            game,
            simulations,
            settings,
            max_num_considered_actions,
            temperature,
            leaf_batch,
            solver_empties,
        )
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
        params: SelectionParams,
        max_num_considered_actions: int = 16,
        temperature: float = 0.0,
        solver_empties: int = 0,
    ) -> Self:
        """Return an agent that plays by a network in memory, which must not change."""
        agent = cls.__new__(cls)
        agent.about = {}
        agent._adopt(
            game,
            simulations,
            params,
            max_num_considered_actions,
            temperature,
            solver_empties=solver_empties,
        )
        agent._runner = runner
        return agent

    def _adopt(
        self,
        game: Game,
        simulations: int,
        params: SelectionParams,
        max_num_considered_actions: int,
        temperature: float,
        leaf_batch: int = 1,
        solver_empties: int = 0,
    ) -> None:
        max_num_considered_actions = integer(
            "max_num_considered_actions", max_num_considered_actions, 1, 10**4
        )
        self.encoder = Encoder(game)
        super().__init__(self.encoder, params, leaf_batch, max_num_considered_actions)
        self.simulations = integer("simulations", simulations, 0, 10**6)
        self._temperature = real("temperature", temperature, 0, 100)
        if params.gumbel and leaf_batch > 1:
            raise ValueError(f"the policy gumbel needs leaf_batch=1, got {leaf_batch}")
        self.solver_empties = integer("solver_empties", solver_empties, 0, 60)
        self._endgame_solver = make_endgame_solver(game) if solver_empties else None
        # The next search comes back to positions of the last.
        self._cache: EvaluationCache | None = None

    def prepare(self) -> None:
        """Compile the search, and let the network run once."""
        if self._endgame_solver is not None:
            self._endgame_solver.prepare()
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
        if self._endgame_solver is not None:
            for k, s in enumerate(states):
                solved[k] = self._endgame_solver.empty(s) <= self.solver_empties
                if solved[k]:
                    actions[k] = solve_endgame(self.game, s).action
        searched = np.flatnonzero(~solved)
        for k in range(0, len(searched), TOGETHER):
            part = searched[k : k + TOGETHER]
            streams = rngs[part]
            actions[part] = self.select_actions(self.search_positions(states[part]), streams)
            rngs[part] = streams
        return actions

    def search(self, s: Any, rng: NDArray[np.uint64] | None = None) -> SearchReport:
        """Search one position, or solve it near the end; see `NetworkGuidedAgent.search`."""
        if (
            self._endgame_solver is not None
            and self._endgame_solver.empty(s) <= self.solver_empties
        ):
            return make_exact_report(self.game, solve_endgame(self.game, s))
        return super().search(s, rng)

    def select_actions(self, result: SearchResult, rngs: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the best moves, or moves drawn by the policy at a temperature above 0."""
        if self._temperature == 0:
            return result.action
        return sample_by_weight(result.action_weights, uniform(rngs.T), self._temperature)

    def title(self) -> str:
        """Return the kind of search and the game, for reports."""
        policy = "gumbel" if self._params.gumbel else "puct"
        return f"AlphaZero ({policy}) of {self.game.name}"

    def search_positions(
        self, states: NDArray[np.void], rngs: NDArray[np.uint64] | None = None
    ) -> SearchResult:
        """Search positions in which the game goes on; it draws nothing."""
        if self._cache is None:
            self._cache = EvaluationCache(
                self._runner, self.encoder.shape, self.game.num_actions + 1
            )
        search = self.allocate_search(len(states))
        return search.run(states, evaluator(self._cache), self.simulations)


def load_pv_network(game: Game, file: Path) -> tuple[PVNetwork, dict[str, Any]]:
    """Return the network in a file, for a game that it can play, and what is told about it.

    Raises:
        ValueError: if the file holds no policy-value network, or one that does not fit the game.
    """
    return load_network(
        game, file, lambda told: make_pv_network(PVConfig(**told), game), "policy-value network"
    )
