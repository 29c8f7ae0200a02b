"""Monte Carlo tree search agent for sequential games."""

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent, compile_act
from ludoteca.agents.games.endgame import make_endgame_solver, solve_endgame
from ludoteca.agents.playouts import choose_playout
from ludoteca.agents.search.clock import search_for
from ludoteca.agents.search.config import SEARCH_PARAMS, SearchConfig
from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.search.report import SearchReport, make_exact_report, make_report
from ludoteca.agents.search.sequential.act import (
    ACTION_SELECTIONS,
    MAX,
    MAX_ROBUST,
    ROBUST,
    make_act,
    make_best_child,
)
from ludoteca.agents.search.sequential.parallel import PARALLEL, SearchThreads
from ludoteca.agents.search.sequential.reuse import keep_subtree
from ludoteca.agents.search.sequential.search import make_search
from ludoteca.agents.search.sequential.simulation import make_simulation
from ludoteca.agents.search.sequential.tree import ROOT, UNKNOWN
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.envs.params import choice, integer, real
from ludoteca.envs.records import batch_of_one

KEPT_TREES = 64  # trees that an agent with reuse keeps; the least recently used is dropped


class MCTSAgent(Agent):
    """Monte Carlo tree search for sequential games, with any selection policy and enhancements.

    The agent is stateless unless `reuse` is set: then each search continues with the subtree that
    the moves played have reached.
    """

    def __init__(
        self,
        game: Game,
        policy: str = "ucb1",
        simulations: int = 1000,
        seconds: float | None = None,
        action_selection: str = "robust",
        draw: str = "half",
        fpu: float = math.inf,
        solver: bool = False,
        transpositions: bool = False,
        amaf: str = "",
        amaf_weight: float | None = None,
        grave_reference: int = 50,
        mast: str = "",
        mast_parameter: float | None = None,
        decisive: str = "",
        playout_depth: int | None = None,
        playout: str = "",
        evaluation: str = "",
        reuse: bool = False,
        solver_empties: int = 0,
        threads: int = 1,
        parallel: str = "tree",
        max_nodes: int = 1_000_000,
        max_depth: int = 0,
        alpha: float | None = None,
        zeta: float | None = None,
        c: float | None = None,
        d: float | None = None,
        m: float | None = None,
        gamma: float | None = None,
    ):
        """Make the agent.

        Args:
            game: the game to play.
            policy: selection policy, a name in `ludoteca.agents.search.policies.POLICIES`.
            simulations: simulations per move.
            seconds: time per move, instead of a number of simulations.
            action_selection: selection of the final move: `"max"` (most wins), `"robust"`
                (most visits), `"max_robust"` (both), `"mean"` or `"policy"`.
            draw: score of a draw: `"half"` a win, or a `"loss"` for all players.
            fpu: first-play urgency: score of actions without visits; by default infinite.
            solver: whether proven wins, draws and losses are backed up (MCTS-Solver).
            transpositions: whether equal positions share their children and statistics.
            amaf: `"amaf"`, `"rave"`, `"grave"` or `""`.
            amaf_weight: weight of AMAF statistics (`"amaf"`, 0.5 by default), or the bias that
                determines its decay (`"rave"` and `"grave"`, 0.1 by default).
            grave_reference: number of visits above which an ancestor's AMAF statistics are used.
            mast: move-average sampling in playouts: `"gibbs"`, `"greedy"` or `""`.
            mast_parameter: temperature (0.3 by default) or epsilon (0.4 by default).
            decisive: decisive moves, `"win"`, decisive and anti-decisive moves, `"both"`, or `""`.
            playout_depth: maximum number of plies of a playout; the position is then evaluated.
            playout: playout policy: `"uniform"`, the default, or another policy of the game, see
                `ludoteca.agents.playouts`.
            evaluation: evaluation of truncated playouts: `"returns"`, or one of the game's own,
                which is the default, see `ludoteca.agents.evaluations`.
            reuse: whether the subtree of the moves played is reused by the next search.
            solver_empties: number of empty squares up to which positions are solved exactly,
                however long that takes, instead of searched; 0: never. See
                `ludoteca.agents.games.endgame`.
            threads: number of threads; with more than one, results are not reproducible.
            parallel: tree parallelization, `"tree"`, or root parallelization, `"root"`.
            max_nodes: maximum number of nodes of a tree.
            max_depth: maximum depth of a tree below its root; 0: unlimited.
            alpha: parameter of the policy `ucb1`.
            zeta: parameter of the policy `ucb_v`.
            c: parameter of the policies `uct`, `ucb_v`, `ucb_minimal`, `epsilon_greedy`, `puct`.
            d: parameter of the policy `epsilon_greedy`.
            m: parameter of the policy `etc`.
            gamma: parameter of the policy `exp3`.

        Raises:
            ValueError: if a parameter is out of range or not one of the policy's, or the game has
                no endgame solver.
        """
        super().__init__(game)
        if game.simultaneous:
            raise ValueError(f"MCTSAgent needs a turn-based game, unlike {game.name}")
        if solver and game.num_players != 2:
            raise ValueError(f"solver needs two players, and {game.name} has {game.num_players}")
        if transpositions and "rng" in (game.state.names or ()):
            raise ValueError(f"transpositions need a game without chance, unlike {game.name}")
        integer("threads", threads, 1, 1024)
        parallel = choice("parallel", parallel, PARALLEL)
        playout, plies = choose_playout(game, playout, playout_depth, least=0)
        self.config = SearchConfig(
            policy=policy,
            draw_is_loss=choice("draw", draw, ("half", "loss")) == "loss",
            solver=choice("solver", solver, (False, True)),
            amaf=amaf,
            mast=mast,
            decisive=decisive,
            transpositions=choice("transpositions", transpositions, (False, True)),
            shared_tree=threads > 1 and parallel == "tree",
            playout=playout,
            evaluation=evaluation,
        )
        make_simulation(game, self.config)  # refuses a playout or an evaluation of other games
        self.simulations = integer("simulations", simulations, 1, 10**9)
        self.seconds = None if seconds is None else real("seconds", seconds, 1e-4, 1e6)
        self.action_selection = ACTION_SELECTIONS.index(
            choice("action_selection", action_selection, ACTION_SELECTIONS)
        )
        self._params = np.zeros(1, SEARCH_PARAMS)
        given = {"alpha": alpha, "zeta": zeta, "c": c, "d": d, "m": m, "gamma": gamma}
        self._params["c"][0] = policy_parameters(policy, given)
        self._params["fpu"] = fpu
        weight = 0.5 if amaf == "amaf" else 0.1
        self._params["amaf_weight"] = weight if amaf_weight is None else amaf_weight
        parameter = 0.3 if mast == "gibbs" else 0.4
        self._params["mast_parameter"] = parameter if mast_parameter is None else mast_parameter
        self._params["grave_reference"] = integer("grave_reference", grave_reference, 0, 10**9)
        self._params["playout_depth"] = plies
        self._params["max_depth"] = integer("max_depth", max_depth, 0, 10**6)
        nodes = integer("max_nodes", max_nodes, 2, 10**9)
        if self.seconds is None and not reuse:
            most = self.simulations * (2 if self.action_selection == MAX_ROBUST else 1)
            nodes = min(nodes, most * game.num_actions + 1)
        self._make_threads = partial(SearchThreads, game, self.config, nodes, threads, parallel)
        self._threads = self._make_threads()
        self._kept: dict[
            tuple[int, int], SearchThreads
        ] = {}  # by index of the game and seat, if trees are reused
        self.reuse = choice("reuse", reuse, (False, True))
        if reuse and threads > 1 and parallel == "root":
            raise ValueError("trees that are searched apart (parallel='root') cannot be reused")
        self.solver_empties = integer("solver_empties", solver_empties, 0, 60)
        self._endgame_solver = make_endgame_solver(game) if solver_empties else None
        self._one_by_one = (
            reuse or threads > 1 or self.seconds is not None or self._endgame_solver is not None
        )

    def prepare(self) -> None:
        """Compile or load the search, so that the first move is as fast as the others."""
        if not self._one_by_one:
            compile_act(self)
            return
        if self._endgame_solver is not None:
            self._endgame_solver.prepare()
        states, nowhere = batch_of_one(self.game), np.full(1, -1)
        endgame_solver, self._endgame_solver = self._endgame_solver, None
        simulations, self.simulations = self.simulations, 1
        seconds, self.seconds = self.seconds, None
        try:
            for _ in range(
                2
            ):  # the second search reuses the tree of the first, if trees are reused
                self.act(states, np.zeros(1, np.int64), np.zeros((1, 1), np.uint64), nowhere)
        finally:
            self.simulations, self.seconds, self._endgame_solver = (
                simulations,
                seconds,
                endgame_solver,
            )
            self.reset(nowhere)

    def reset(self, env_indices: NDArray[np.int64]) -> None:
        """Forget the trees of the games at `env_indices`: new ones begin there."""
        gone = set(env_indices.tolist())
        self._kept = {key: tree for key, tree in self._kept.items() if key[0] not in gone}

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Search each position and choose its move."""
        actions = np.zeros(len(states), np.int64)
        if self._one_by_one:
            for k in range(len(states)):
                tree = self.tree_of(int(env_indices[k]), int(seats[k])) if self.reuse else None
                actions[k] = self.search(states[k], rngs[k], tree).action
        else:
            act = make_act(self.game, self.config)
            trees = self._threads.trees[0]
            act(
                tuple(trees),
                states,
                rngs,
                self._params,
                self.simulations,
                self.action_selection,
                actions,
            )
        return actions

    def search(
        self, s: Any, rng: NDArray[np.uint64] | None = None, threads: SearchThreads | None = None
    ) -> SearchReport:
        """Search one position and return the statistics.

        Args:
            s: a record, as `Game.new` returns.
            rng: random stream, uint64 `[1]`, advanced in place; a new one if None.
            threads: workspace of a game whose tree is reused; the agent's own if None.
        """
        start = clock()
        if (
            self._endgame_solver is not None
            and self._endgame_solver.empty(s) <= self.solver_empties
        ):
            return make_exact_report(self.game, solve_endgame(self.game, s))
        rng = np.zeros(1, np.uint64) if rng is None else rng
        workspace = self._threads if threads is None else threads
        if threads is None or not keep_subtree(self.game, workspace.trees[0], s):
            workspace.begin(s, int(rng[0]))
        for other in workspace.trees[1:]:
            other.states[0] = s
        search, best_child = make_search(self.game, self.config), make_best_child(self.config)
        work = workspace.trees[0].work
        if self.seconds is None:
            workspace.run(search, self._params, self.simulations)
            left = self.simulations
            while self.action_selection == MAX_ROBUST and left > 0:
                nodes = workspace.nodes()
                if best_child(nodes, MAX, self._params, work) == best_child(
                    nodes, ROBUST, self._params, work
                ):
                    break
                more = max(self.simulations // 10, 1)
                workspace.run(search, self._params, more)
                left -= more
        else:

            def run_more(count: int) -> bool:
                workspace.run(search, self._params, count * len(workspace.trees))
                return bool(workspace.trees[0].nodes[ROOT]["proven"] != UNKNOWN)

            search_for(self.seconds, start, run_more)
        nodes = workspace.nodes()
        chosen = best_child(nodes, self.action_selection, self._params, work)
        rng[0] = work["rng"][0, 0]
        title = f"MCTS ({self.config.policy}) of {self.game.name}"
        return make_report(self.game, nodes, int(chosen), clock() - start, title)

    def tree_of(self, env_index: int, seat: int) -> SearchThreads:
        """Return the workspace with the reusable tree of a game.

        It is kept until the next game at its index begins (`reset`), or until many others were used
        since.

        Args:
            env_index: index of the game in its batch.
            seat: the agent's player there.
        """
        key = (env_index, seat)
        tree = self._kept.pop(key, None) or self._make_threads()
        self._kept[key] = tree  # last: the first key is the least recently used
        if len(self._kept) > KEPT_TREES:
            del self._kept[next(iter(self._kept))]
        return tree


def policy_parameters(policy: str, given: dict[str, float | None]) -> NDArray[np.float64]:
    """Return the parameters of a selection policy in the order of its table line, zero-padded.

    Raises:
        ValueError: if one is given that the policy does not have.
    """
    known = POLICIES[policy].params
    for name, value in given.items():
        if value is not None and name not in known:
            has = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
            raise ValueError(f"policy {policy!r} has no parameter {name!r}; {has}")
    values = [known[name] if given[name] is None else float(given[name] or 0) for name in known]
    return np.array(values + [0.0] * (4 - len(values)), np.float64)
