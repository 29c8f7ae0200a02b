"""AlphaZero agent: tree search guided by a policy-value network."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.games.endgame import make_endgame_solver, solve_endgame
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.sampling import sample_by_weight
from ludoteca.agents.search.network.agent import NetworkGuidedAgent
from ludoteca.agents.search.network.search import SearchResult, require_no_chance
from ludoteca.agents.search.network.selection import NetworkSearchConfig, SelectionParams
from ludoteca.agents.search.rate import SimulationRate
from ludoteca.agents.search.report import SearchReport, make_exact_report
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice, check_integer, check_real
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.rng import uniform

try:
    from ludoteca.agents.networks.evaluation_cache import EvaluationCache
    from ludoteca.agents.networks.pv_network import (
        PVConfig,
        PVNetwork,
        make_evaluator,
        make_pv_network,
    )
    from ludoteca.agents.networks.runner import Backend, InferencePrecision, Runner
    from ludoteca.agents.networks.weights import find_weights, load_network
except ImportError as error:
    raise ImportError(
        'agents with networks need PyTorch and safetensors: pip install "ludoteca[train]"'
    ) from error

BATCH_SIZE = 256  # searches in one batch; larger ones need more memory and are not faster
LEAF_BATCH = 8  # default of `leaf_batch` with a time limit


class PolicyValueAgent(NetworkGuidedAgent):
    """Agent with a policy-value network and a search of many positions per batch.

    With `simulations=0` it plays the network's policy without search. Positions near the end of the
    game can be solved exactly instead.
    """

    def __init__(
        self,
        game: Game,
        runner: Runner,
        simulations: int,
        config: NetworkSearchConfig,
        max_num_considered_actions: int = 16,
        temperature: float = 0.0,
        leaf_batch: int | None = None,
        solver_empties: int = 0,
        seconds: float | None = None,
        max_nodes: int = 50_000,
    ):
        """Make an agent; the weights of its network must not change, as evaluations are cached.

        Args:
            game: the game to play.
            runner: inference of the network.
            simulations: simulations per search; 0: no search. Has no effect with `seconds`.
            config: policy and parameters of the search.
            max_num_considered_actions: Gumbel: maximum number of actions that are considered at the
                root.
            temperature: actions are sampled from `policy ** (1 / temperature)`; 0: the best action.
            leaf_batch: PUCT: leaves of one search that the network evaluates together, with virtual
                loss; by default 1, and 8 with `seconds`.
            solver_empties: number of empty squares up to which positions are solved exactly; 0:
                never.
            seconds: time per move, instead of a number of simulations; positions are then searched
                one after the other. Gumbel plans its simulations by the rate of the last search.
            max_nodes: maximum number of nodes of a tree with `seconds`.

        Raises:
            ValueError: if a parameter is out of range, or the game has no endgame solver.
        """
        self.encoder, gumbel = Encoder(game), config.policy == "gumbel"
        self._default_leaf_batch = leaf_batch is None and not gumbel
        self._rate = SimulationRate() if gumbel else None
        if leaf_batch is None:
            leaf_batch = 1 if seconds is None or gumbel else LEAF_BATCH
        super().__init__(
            self.encoder,
            config,
            leaf_batch,
            check_integer("max_num_considered_actions", max_num_considered_actions, 1, 10**4),
        )
        self.simulations = check_integer("simulations", simulations, 0, 10**6)
        self.seconds = None if seconds is None else check_real("seconds", seconds, 1e-4, 1e6)
        self._max_nodes = check_integer("max_nodes", max_nodes, 2, 10**9)
        if seconds is not None:
            self.simulations = self._max_nodes - 1  # each adds at most one node below the root
        if self.simulations > 0:
            require_no_chance(game)
        self._batch_size = BATCH_SIZE if seconds is None else 1
        self._temperature = check_real("temperature", temperature, 0, 100)
        if gumbel and leaf_batch > 1:
            raise ValueError(f"the policy gumbel needs leaf_batch=1, got {leaf_batch}")
        # 60: the empty squares of the starting position in Othello.
        self.solver_empties = check_integer("solver_empties", solver_empties, 0, 60)
        self._endgame_solver = make_endgame_solver(game) if solver_empties else None
        self._runner = runner
        # Consecutive searches of a game share positions. Outputs are one logit per action and the
        # value.
        self._cache = EvaluationCache(runner, self.encoder.shape, game.num_actions + 1)

    @classmethod
    def check_game(cls, game: Game) -> None:
        """Check that a game is sequential and for two players."""
        Encoder(game)

    def set_time_control(self, time_control: TimeControl) -> None:
        """See `NetworkGuidedAgent`; a `leaf_batch` that was not given becomes `LEAF_BATCH`."""
        super().set_time_control(time_control)
        if self.seconds is not None and self._default_leaf_batch:
            self._leaf_batch = LEAF_BATCH

    def prepare(self) -> None:
        """Compile the search and the endgame solver, and run the network once.

        Gumbel with a time limit also searches once, to measure its rate of simulations.
        """
        if self._endgame_solver is not None:
            self._endgame_solver.prepare()
        super().prepare()
        if self._rate is not None and self.seconds is not None and self.simulations > 0:
            self._rate = SimulationRate()
            self.search_positions(batch_of_one(self.game))

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Search all positions in batches; solve endgame positions."""
        actions = np.zeros(len(states), np.int64)
        is_solved = np.array([self._is_endgame(s) for s in states], np.bool_)
        for row in np.flatnonzero(is_solved):
            actions[row] = solve_endgame(self.game, states[row]).action
        searched = np.flatnonzero(~is_solved)
        for k in range(0, len(searched), self._batch_size):
            rows = searched[k : k + self._batch_size]
            streams = rngs[rows]
            # Without sampling the visit counts do not matter, only the best action.
            result = self._search_positions(states[rows], stop_early=self._temperature == 0)
            actions[rows] = self.select_actions(result, streams)
            rngs[rows] = streams
        return actions

    def search(self, s: Any, rng: NDArray[np.uint64] | None = None) -> SearchReport:
        """Search one position, or solve it in the endgame; see `NetworkGuidedAgent.search`."""
        if self._is_endgame(s):
            return make_exact_report(self.game, solve_endgame(self.game, s))
        return super().search(s, rng)

    def _is_endgame(self, s: Any) -> bool:
        """Return whether a position is solved instead of searched."""
        solver = self._endgame_solver
        return solver is not None and solver.empty(s) <= self.solver_empties

    def select_actions(self, result: SearchResult, rngs: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the best actions; with a temperature above 0, sample by the action weights."""
        if self._temperature == 0:
            return result.action
        return sample_by_weight(result.action_weights, uniform(rngs.T), self._temperature)

    def clear_cache(self) -> None:
        """Clear the evaluation cache, for measurements of single searches."""
        self._cache.clear()

    def title(self) -> str:
        """Return the kind of search and the game, for reports."""
        return f"AlphaZero ({self._config.policy}) of {self.game.name}"

    def search_positions(
        self, states: NDArray[np.void], rngs: NDArray[np.uint64] | None = None
    ) -> SearchResult:
        """Search a batch of unfinished positions; deterministic without a time limit.

        Args:
            states: positions. Shape `[K]`.
            rngs: unused, as the search is not random.
        """
        return self._search_positions(states, stop_early=False)

    def _search_positions(self, states: NDArray[np.void], stop_early: bool) -> SearchResult:
        """Search a batch; `stop_early`: see `NetworkGuidedSearch.run`."""
        search, simulations, start = self.allocate_search(len(states)), self.simulations, clock()
        if self._rate is not None and self.seconds is not None:
            simulations = self._rate.plan(self.seconds, simulations)
        result = search.run(
            states,
            make_evaluator(self._cache),
            simulations,
            seconds=self.seconds,
            stop_early=stop_early,
            is_stopped=self._is_stopped,
        )
        if self._rate is not None:
            self._rate.measure(int(result.visit_counts.sum()), clock() - start)
        return result


class AlphaZeroAgent(PolicyValueAgent):
    """AlphaZero agent: a search with a trained policy-value network.

    With `simulations=0` it plays the network's policy without search.

    Attributes:
        metadata: metadata of the network's file.
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
        leaf_batch: int | None = None,
        solver_empties: int = 0,
        device: str = "cpu",
        precision: InferencePrecision | None = None,
        backend: Backend = "auto",
        seconds: float | None = None,
        max_nodes: int = 50_000,
    ):
        """Load a network.

        Args:
            game: the game to play.
            path: a network file, the folder of a training run, or the name of a shipped network.
            simulations: simulations per search.
            policy: `puct` or `gumbel`.
            c_puct: PUCT's exploration constant.
            fpu_reduction: PUCT, first-play urgency: the value of an action without visits is its
                parent's value minus `fpu_reduction * sqrt(p)`, p being the total prior probability
                of the visited actions.
            max_num_considered_actions: Gumbel: maximum number of actions that are considered at the
                root.
            temperature: actions are sampled from `policy ** (1 / temperature)`; 0: the best action.
            leaf_batch: PUCT: leaves of one search that the network evaluates together, with virtual
                loss; more than one is faster if few positions are searched, as in a single game.
                By default 1, and 8 with `seconds`.
            solver_empties: number of empty squares up to which positions are solved exactly,
                however long that takes, instead of searched; 0: never. See
                `ludoteca.agents.games.endgame`.
            device: device of the network, such as `cpu` or `cuda`.
            precision: `float32`, `bfloat16`, `int16`, or `auto`: the fastest; see `Runner`. By
                default `float32`, and `auto` on CPUs with `seconds`.
            backend: `torch`, `compiled`, or `auto`: compiled where possible; see `Runner`.
            seconds: time per move, instead of a number of simulations; positions are then searched
                one after the other. Gumbel plans its simulations by the rate of the last search.
            max_nodes: maximum number of nodes of a tree with `seconds`.

        Raises:
            FileNotFoundError: if there is no such network.
            ValueError: if it does not fit the game, or a parameter is out of range.
        """
        network, self.metadata = load_pv_network(game, find_weights(path, "az"))
        if precision is None:
            precision = "auto" if seconds is not None and device == "cpu" else "float32"
        params = SelectionParams(check_real("c_puct", c_puct, 0, 100), fpu_reduction=fpu_reduction)
        check_choice("policy", policy, ("puct", "gumbel"))
        super().__init__(
            game,
            Runner(network, 1 / game.observation_high, device, precision, backend),
            simulations,
            NetworkSearchConfig(policy, params=params),
            max_num_considered_actions,
            temperature,
            leaf_batch,
            solver_empties,
            seconds,
            max_nodes,
        )


def load_pv_network(game: Game, file: Path) -> tuple[PVNetwork, dict[str, Any]]:
    """Return the network in a file and the file's metadata.

    Raises:
        ValueError: if the file contains no policy-value network, or one that does not fit the game.
    """
    return load_network(
        game,
        file,
        lambda config: make_pv_network(PVConfig(**config), game),
        "policy-value network",
    )
