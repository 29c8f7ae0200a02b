"""Monte Carlo tree search agent for simultaneous games."""

from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.options import CommonOptions, SearchOptions, signature_with_options
from ludoteca.agents.search.report import SearchReport
from ludoteca.agents.search.select import MAX_ROBUST
from ludoteca.agents.search.simultaneous.act import make_best_action, make_is_max_robust
from ludoteca.agents.search.simultaneous.report import make_decoupled_report
from ludoteca.agents.search.simultaneous.reuse import keep_subtree
from ludoteca.agents.search.simultaneous.search import make_search
from ludoteca.agents.search.simultaneous.tree import check_joint_actions
from ludoteca.agents.search.simultaneous.workspace import DecoupledSearchWorkspace
from ludoteca.agents.search.tree_agent import TreeSearchAgent
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer


class DecoupledMCTSAgent(TreeSearchAgent):
    """Decoupled UCT for simultaneous games, with any selection policy.

    Some enhancements of `MCTSAgent` are missing, for reasons that
    `ludoteca.agents.search.simultaneous.search` gives.
    """

    def __init__(
        self,
        game: Game,
        policy: str = "ucb1",
        simulations: int = 1000,
        seconds: float | None = None,
        action_selection: str = "robust",
        reuse: bool = False,
        threads: int = 1,
        max_nodes: int = 200_000,
        **options: Unpack[CommonOptions],
    ):
        """Make the agent; most parameters and options are those of `MCTSAgent`.

        Args:
            game: the game to play.
            policy: selection policy, a name in `ludoteca.agents.search.policies.POLICIES`; its
                parameters may follow after a colon, as in `"ucb_v:zeta=2"`.
            simulations: simulations per move.
            seconds: time per move, instead of a number of simulations.
            action_selection: selection of the move to play, see `MCTSAgent`.
            reuse: whether the subtree of the moves played is reused by the next search; only in
                games without chance.
            threads: number of threads, each with a tree of its own (root parallelization).
            max_nodes: maximum number of nodes of a tree.
            options: the following options.
            draw: score of a draw: `"half"` a win, or a `"loss"` for all players.
            fpu: first-play urgency: score of actions without visits; by default infinite.
            amaf: see `MCTSAgent`.
            mast: see `MCTSAgent`.
            playout: playout policy: `"uniform"`, `"valid"` or `"safe"` random moves, see
                `ludoteca.agents.playouts`. The default is `"safe"` in Hungry Geese, otherwise
                `"uniform"`. Parameters: `depth`, the maximum number of plies, 6 by default in
                Hungry Geese, otherwise unlimited; `evaluation` and `count`, see `MCTSAgent`.
            exploration: see `MCTSAgent`.
            max_depth: maximum depth of a tree below its root; 0: unlimited.

        Raises:
            ValueError: if a parameter is out of range or unknown to the policy.
        """
        if not game.simultaneous:
            raise ValueError(
                f"DecoupledMCTSAgent needs a simultaneous game, and {game.name} is turn-based"
            )
        check_joint_actions(game)
        if reuse and game.has_chance:
            raise ValueError(f"reuse needs a game without chance, and {game.name} has chance")
        self._num_threads = check_integer("threads", threads, 1, 1024)
        self._max_nodes = check_integer("max_nodes", max_nodes, 2, 10**9)
        if reuse and threads > 1:
            raise ValueError(f"reuse=True needs threads=1, got threads={threads}")
        super().__init__(
            game, simulations, seconds, action_selection, reuse, SearchOptions(policy, **options)
        )
        self._search = make_search(game, self.config)
        self._best_action = make_best_action(game, self.config)
        self._is_max_robust = make_is_max_robust(game)

    def _make_workspace(self) -> DecoupledSearchWorkspace:
        """Return a new workspace; trees without reuse are no larger than needed."""
        nodes = self._max_nodes
        if self.seconds is None and not self.reuse:
            max_simulations = -(-self.simulations // self._num_threads) * (
                2 if self.action_selection == MAX_ROBUST else 1
            )
            # The last extension of `max_robust` may exceed the maximum; 2: the root, and rounding.
            nodes = min(nodes, max_simulations + self.simulations // 10 + 2)
        return DecoupledSearchWorkspace(self.game, self.config, nodes, self._num_threads)

    def prepare(self) -> None:
        """Compile or load the search, so that the first move is as fast as the others."""
        super().prepare()
        self._is_max_robust(self._workspace.trees[0].arms, 0)

    def search(
        self,
        s: Any,
        rng: NDArray[np.uint64] | None = None,
        workspace: DecoupledSearchWorkspace | None = None,
        seat: int = 0,
    ) -> SearchReport:
        """Search one position and return the statistics.

        Args:
            s: the position, a record as `Game.new` returns.
            rng: random stream, uint64 `[1]`, advanced in place; a stream seeded 0 if None.
            workspace: workspace with the tree to reuse, see `tree_of`; the agent's own if None.
            seat: the player to act.
        """
        start = clock()
        rng = np.zeros(1, np.uint64) if rng is None else rng
        workspace = self._workspace if workspace is None else workspace
        action = self._choose(s, rng, seat, workspace)
        return self._report(workspace, seat, action, clock() - start)

    def _report(
        self, workspace: DecoupledSearchWorkspace, seat: int, action: int, seconds: float
    ) -> SearchReport:
        """Return the report of the search so far, which took `seconds`."""
        nodes, arms = workspace.statistics()
        title = f"decoupled MCTS ({self.config.policy}) of {self.game.name}, player {seat}"
        return make_decoupled_report(self.game, nodes, arms, seat, action, seconds, title)

    def _choose(self, s: Any, rng: NDArray[np.uint64], seat: int, workspace: Any) -> int:
        """See `TreeSearchAgent`."""
        start = clock()
        workspace = self._workspace if workspace is None else workspace
        work = workspace.trees[0].work
        if not (self.reuse and keep_subtree(self.game, self.config, workspace, s)):
            workspace.reset(s, rng)

        def best() -> int:
            """Return the action to play by the statistics so far."""
            arms = workspace.statistics()[1]
            return int(self._best_action(arms, seat, self.action_selection, self._params, work))

        self._simulate(
            start,
            lambda count: workspace.run(self._search, self._params, count),
            lambda: self._is_max_robust(workspace.statistics()[1], seat),
            lambda: False,
            len(workspace.trees),
            lambda: self._report(workspace, seat, best(), clock() - start),
        )
        action = best()
        rng[:] = work["rng"][0]
        return action


DecoupledMCTSAgent.__signature__ = signature_with_options(  # type: ignore[attr-defined]
    DecoupledMCTSAgent.__init__, CommonOptions
)
