"""Monte Carlo tree search agent for sequential games."""

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import compile_act
from ludoteca.agents.games.endgame import make_endgame_solver, solve_endgame
from ludoteca.agents.search.options import (
    SearchOptions,
    SequentialOptions,
    signature_with_options,
)
from ludoteca.agents.search.report import SearchReport, make_exact_report, make_report
from ludoteca.agents.search.select import MAX, ROBUST, UNKNOWN
from ludoteca.agents.search.sequential.act import make_act, make_best_child
from ludoteca.agents.search.sequential.parallel import PARALLEL, SearchWorkspace
from ludoteca.agents.search.sequential.reuse import keep_subtree
from ludoteca.agents.search.sequential.search import make_search
from ludoteca.agents.search.sequential.simulation import make_simulation
from ludoteca.agents.search.sequential.tree import ROOT
from ludoteca.agents.search.tree_agent import TreeSearchAgent
from ludoteca.agents.search.tuning import TunedCombination, tuning_result
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice, check_integer

MAX_BUDGET = 10**12  # simulations


class MCTSAgent(TreeSearchAgent):
    """Monte Carlo tree search for sequential games, with any selection policy and enhancements."""

    def __init__(
        self,
        game: Game,
        policy: str = "ucb1",
        simulations: int = 1000,
        seconds: float | None = None,
        action_selection: str = "robust",
        reuse: bool = False,
        solver_empties: int = 0,
        threads: int = 1,
        parallel: str = "tree",
        max_nodes: int = 1_000_000,
        **options: Unpack[SequentialOptions],
    ):
        """Make the agent.

        Args:
            game: the game to play.
            policy: selection policy, a name in `ludoteca.agents.search.policies.POLICIES`; its
                parameters may follow after a colon, as in `"ucb_v:zeta=2"`.
            simulations: simulations per move.
            seconds: time per move, instead of a number of simulations.
            action_selection: selection of the move to play, by: `"max"`: the highest sum of scores;
                `"robust"`: the most visits; `"max_robust"`: both, until which the search is
                continued, at most twice as long; `"mean"`: the highest mean score; `"policy"`: the
                highest score by the selection policy.
            reuse: whether the subtree of the moves played is reused by the next search.
            solver_empties: number of empty squares up to which positions are solved exactly,
                however long that takes, instead of searched; 0: never. See
                `ludoteca.agents.games.endgame`.
            threads: number of threads; with more than one, results are not reproducible.
            parallel: tree parallelization, `"tree"`, or root parallelization, `"root"`.
            max_nodes: maximum number of nodes of a tree.
            options: the following options.
            draw: score of a draw: `"half"` a win, or a `"loss"` for all players.
            fpu: first-play urgency: score of actions without visits; by default infinite.
            solver: whether proven wins, draws and losses are backed up (MCTS-Solver).
            transpositions: whether equal positions share their children and statistics.
            amaf: all-moves-as-first (AMAF) statistics: `"amaf"`, `"rave"`, `"grave"` or `""`, see
                `ludoteca.agents.search.select.make_mixed_mean`. Parameters: `weight` of AMAF
                statistics (`"amaf"`, 0.5 by default), or the bias that determines its decay
                (`"rave"` and `"grave"`, 0.1 by default); `reference`, the number of visits above
                which an ancestor's AMAF statistics are used (`"grave"`, 50 by default); `fpu`:
                whether the AMAF mean of an action without visits is its first-play urgency, so that
                not every action is visited (False by default).
            mast: move-average sampling in playouts: `"gibbs"`, `"greedy"` or `""`. Its `parameter`
                is the temperature (0.3 by default) or epsilon (0.4 by default).
            decisive: `"win"`: always play an immediate win (decisive moves); `"both"`: also avoid
                moves that allow one (anti-decisive moves); `""`: neither.
            playout: playout policy: `"uniform"`, the default, another policy of the game, see
                `ludoteca.agents.playouts`, or `"softmax"` with trained weights, see
                `ludoteca.agents.softmax_playouts`. Parameters: `weights`, the file of weights
                (`"softmax"`); `depth`, the maximum number of plies, after
                which the position is evaluated; `evaluation`, `"returns"` or one of the game's own,
                which is the default, see `ludoteca.agents.evaluations`; `count`, the number of
                playouts whose mean is the score of a simulation (1 by default), see
                `ludoteca.agents.search.leaf_parallel`.
            exploration: schedule of a factor of the policy's exploration term, over the budget of a
                search: `"linear"` or `"power"`; `""`: none. Parameters: `final`, the factor at the
                end (0 by default), and `exponent` (2 by default) of `"power"`; `depth_decay`, a
                factor for each ply below the root (1 by default); `stdev`: `"node"` or `"root"`,
                whose standard deviation of scores, times 2, is a factor, too. See
                `ludoteca.agents.search.exploration`.
            max_depth: maximum depth of a tree below its root; 0: unlimited.
            groups: move groups: the policy selects a group of actions, then an action in it: by the
                cell where the move starts, `"origin"`, by `"row"` or `"column"`, or by a partition
                of the game; `""`: none. See `ludoteca.agents.move_groups`.
            tune: on-line tuning: strategy by which the values of parameters are selected for each
                simulation, separately for each player, `"mab"`, `"he"`, `"nmc"` or `"lsi"`; `""`:
                fixed values. Its parameters are the values to select from: of the policy's
                parameters, of `fpu`, and of `weight` (AMAF), as in
                `"nmc:alpha=0.25/0.5/1/2,fpu=0.5/1/inf"`. See `ludoteca.agents.search.tuning`.

        Raises:
            ValueError: if a parameter is out of range or unknown to the policy, options exclude
                each other, or the game has no endgame solver.
        """
        if game.simultaneous:
            raise ValueError(f"MCTSAgent needs a turn-based game, and {game.name} is simultaneous")
        if reuse and game.has_chance:
            raise ValueError(f"reuse needs a game without chance, and {game.name} has chance")
        self._num_threads = check_integer("threads", threads, 1, 1024)
        self._parallel = check_choice("parallel", parallel, PARALLEL)
        self._max_nodes = check_integer("max_nodes", max_nodes, 2, 10**9)
        super().__init__(
            game,
            simulations,
            seconds,
            action_selection,
            reuse,
            SearchOptions(policy, **options),
            threads > 1 and parallel == "tree",
        )
        if self.config.groups and self.config.policy == "puct" and action_selection == "policy":
            raise ValueError("action_selection='policy' of puct has no priors of moves with groups")
        if self.config.tune:
            if reuse or threads > 1:
                raise ValueError(
                    f"tune={self.config.tune} needs reuse=False and threads=1, got {reuse} and "
                    f"{threads}"
                )
            self._params["budget"] = self.simulations
        self._tuned = tuple(SearchOptions(policy, **options).tuning()[1])  # names of parameters
        make_simulation(game, self.config)  # raises if the game lacks the playout or the evaluation
        if reuse and threads > 1 and parallel == "root":
            raise ValueError("reuse=True needs parallel='tree' or threads=1, got parallel='root'")
        # 60: the empty squares of the starting position in Othello.
        self.solver_empties = check_integer("solver_empties", solver_empties, 0, 60)
        self._endgame_solver = make_endgame_solver(game) if solver_empties else None
        self._one_at_a_time = (
            reuse or threads > 1 or self.seconds is not None or self._endgame_solver is not None
        )

    def _make_workspace(self) -> SearchWorkspace:
        """Return a new workspace; trees without reuse are no larger than needed."""
        nodes = self._max_nodes
        if self.seconds is None and not self.reuse:
            nodes = min(nodes, self.max_simulations() * self.game.num_actions + 1)
        workspace = SearchWorkspace(
            self.game, self.config, nodes, self._num_threads, self._parallel
        )
        for tree in workspace.trees:
            if self._playout_weights is not None:
                tree.work["playout_weights"] = self._playout_weights
        return workspace

    def tuning_results(self, player: int) -> list[TunedCombination]:
        """Return the statistics of all combinations of tuned values in the last search.

        Args:
            player: the player whose values these are.

        Raises:
            ValueError: if the agent has no on-line tuning.
        """
        if not self.config.tune:
            raise ValueError("the agent has no on-line tuning: expected the option tune")
        return tuning_result(self._params[player], self._tuned)

    def set_time_control(self, time_control: TimeControl) -> None:
        """Search positions one after the other, for the time of the clock."""
        super().set_time_control(time_control)
        self._one_at_a_time = True

    def prepare(self) -> None:
        """Compile or load the search, so that the first move is as fast as the others."""
        if not self._one_at_a_time:
            compile_act(self)
            return
        if self._endgame_solver is not None:
            self._endgame_solver.prepare()
        # Without the solver, which would solve a small board instead of compiling the search.
        endgame_solver, self._endgame_solver = self._endgame_solver, None
        try:
            super().prepare()
        finally:
            self._endgame_solver = endgame_solver

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Search each position and choose its move."""
        if self._one_at_a_time:
            return super().act(states, seats, rngs, env_indices)
        actions = np.zeros(len(states), np.int64)
        act = make_act(self.game, self.config)
        workspace = tuple(self._workspace.trees[0])
        act(workspace, states, rngs, self._params, self.simulations, self.action_selection, actions)
        return actions

    def _choose(self, s: Any, rng: NDArray[np.uint64], seat: int, workspace: Any) -> int:
        """See `TreeSearchAgent`; `seat` is always the player to move."""
        return self.search(s, rng, workspace).action

    def search(
        self,
        s: Any,
        rng: NDArray[np.uint64] | None = None,
        workspace: SearchWorkspace | None = None,
    ) -> SearchReport:
        """Search one position and return the statistics.

        Args:
            s: the position, a record as `Game.new` returns.
            rng: random stream, uint64 `[1]`, advanced in place; a stream seeded 0 if None.
            workspace: workspace with the tree to reuse, see `tree_of`; the agent's own if None.
        """
        start = clock()
        if (
            self._endgame_solver is not None
            and self._endgame_solver.empty(s) <= self.solver_empties
        ):
            return make_exact_report(self.game, solve_endgame(self.game, s))
        rng = np.zeros(1, np.uint64) if rng is None else rng
        is_new = workspace is None
        workspace = self._workspace if workspace is None else workspace
        if is_new or not keep_subtree(self.game, workspace.trees[0], s):
            workspace.reset(s, int(rng[0]))
        for other in workspace.trees[1:]:
            other.states[0] = s
        search, best_child = make_search(self.game, self.config), make_best_child(self.config)
        work = workspace.trees[0].work

        def best(action_selection: int) -> int:
            """Return the node of the best action at the root."""
            return int(best_child(workspace.nodes(), action_selection, self._params, work))

        def report() -> SearchReport:
            """Return the report so far."""
            nodes, title = workspace.nodes(), f"MCTS ({self.config.policy}) of {self.game.name}"
            chosen = best(self.action_selection)
            return make_report(self.game, nodes, chosen, clock() - start, title)

        self._simulate(
            start,
            self._with_budget(lambda count: workspace.run(search, self._params, count), start),
            lambda: best(MAX) == best(ROBUST),
            lambda: bool(workspace.trees[0].nodes[ROOT]["proven"] != UNKNOWN),
            len(workspace.trees),
            report,
        )
        rng[0] = work["rng"][0, 0]
        return report()

    def _with_budget(self, run: Callable[[int], None], start: float) -> Callable[[int], None]:
        """Return `run` with the expected simulations of a timed search as the budget of `lsi`.

        They are those of the whole time at the speed so far.
        """
        if self.config.tune != "lsi" or self.seconds is None:
            return run
        completed, seconds = 0, self.seconds

        def run_in_budget(count: int) -> None:
            nonlocal completed
            expected = float(self._max_nodes)
            if completed > 0:
                expected = completed * seconds / max(clock() - start, 1e-9)
            self._params["budget"] = int(min(max(expected, completed), MAX_BUDGET))
            run(count)
            completed += count

        return run_in_budget


MCTSAgent.__signature__ = signature_with_options(  # type: ignore[attr-defined]
    MCTSAgent.__init__, SequentialOptions
)
