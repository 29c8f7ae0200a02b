"""Monte Carlo tree search agent for simultaneous games."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.playouts import choose_playout
from ludoteca.agents.search.agent import policy_parameters
from ludoteca.agents.search.clock import search_for
from ludoteca.agents.search.report import SearchReport
from ludoteca.agents.search.sequential.act import ACTION_SELECTIONS, MAX_ROBUST
from ludoteca.agents.search.simultaneous.act import make_best_action, make_settled
from ludoteca.agents.search.simultaneous.config import SEARCH_PARAMS, DecoupledSearchConfig
from ludoteca.agents.search.simultaneous.report import make_decoupled_report
from ludoteca.agents.search.simultaneous.search import make_search
from ludoteca.agents.search.simultaneous.tree import check_joint_actions
from ludoteca.agents.search.simultaneous.workspace import DecoupledSearchThreads
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.envs.params import choice, integer, real


class DecoupledMCTSAgent(Agent):
    """Decoupled UCT for simultaneous games, with any selection policy.

    The agent is stateless: every search builds a new tree.
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
        playout_depth: int | None = None,
        playout: str = "",
        evaluation: str = "",
        threads: int = 1,
        max_nodes: int = 200_000,
        alpha: float | None = None,
        zeta: float | None = None,
        c: float | None = None,
        d: float | None = None,
        m: float | None = None,
        gamma: float | None = None,
    ):
        """Make the agent; all parameters but two are those of `MCTSAgent`.

        Args:
            game: the game to play.
            policy: selection policy, a name in `ludoteca.agents.search.policies.POLICIES`.
            simulations: simulations per move.
            seconds: time per move, instead of a number of simulations.
            action_selection: selection of the final move, see `MCTSAgent`.
            draw: score of a draw: `"half"` a win, or a `"loss"` for all players.
            fpu: first-play urgency: score of actions without visits; by default infinite.
            playout_depth: plies after which a playout stops and is evaluated: 6 by default in
                Hungry Geese, otherwise none, as games end by themselves.
            playout: playout policy: `"uniform"`, `"valid"` or `"safe"` random moves, see
                `ludoteca.agents.playouts`. The default is `"safe"` in Hungry Geese, otherwise
                `"uniform"`.
            evaluation: evaluation of truncated playouts: `"returns"`, or one of the game's own,
                which is the default, see `ludoteca.agents.evaluations`.
            threads: number of threads, each with a tree of its own (root parallelization).
            max_nodes: maximum number of nodes of a tree.
            alpha: parameter of a policy, as the following, see `MCTSAgent`.
            zeta: see `alpha`.
            c: see `alpha`.
            d: see `alpha`.
            m: see `alpha`.
            gamma: see `alpha`.

        Raises:
            ValueError: if a parameter is out of range or not one of the policy's.
        """
        super().__init__(game)
        if not game.simultaneous:
            raise ValueError(
                f"{game.name} is turn-based, and DecoupledMCTSAgent is not for such games"
            )
        check_joint_actions(game)
        playout, plies = choose_playout(game, playout, playout_depth, least=0)
        self.config = DecoupledSearchConfig(
            policy=policy,
            draw_is_loss=choice("draw", draw, ("half", "loss")) == "loss",
            playout=playout,
            evaluation=evaluation,
        )
        self.simulations = integer("simulations", simulations, 1, 10**9)
        self.seconds = None if seconds is None else real("seconds", seconds, 1e-4, 1e6)
        self.action_selection = ACTION_SELECTIONS.index(
            choice("action_selection", action_selection, ACTION_SELECTIONS)
        )
        given = {"alpha": alpha, "zeta": zeta, "c": c, "d": d, "m": m, "gamma": gamma}
        self._params = np.zeros(1, SEARCH_PARAMS)
        self._params["c"][0] = policy_parameters(policy, given)
        self._params["fpu"] = fpu
        self._params["playout_depth"] = plies
        nodes = integer("max_nodes", max_nodes, 2, 10**9)
        integer("threads", threads, 1, 1024)
        if self.seconds is None:
            most = -(-self.simulations // threads) * (
                2 if self.action_selection == MAX_ROBUST else 1
            )
            nodes = min(nodes, most + self.simulations // 10 + 2)
        self._threads = DecoupledSearchThreads(game, nodes, threads)
        self._search = make_search(game, self.config)
        self._best_action = make_best_action(game, self.config)
        self._settled = make_settled(game)

    def prepare(self) -> None:
        """Compile or load the search, by searching a position."""
        simulations, self.simulations = self.simulations, 1
        seconds, self.seconds = self.seconds, None
        try:
            self._choose(self.game.new(), np.zeros(1, np.uint64), 0)
        finally:
            self.simulations, self.seconds = simulations, seconds
        self._settled(self._threads.trees[0].arms, 0)

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Search each position and choose its move."""
        actions = np.zeros(len(states), np.int64)
        for k in range(len(states)):
            actions[k] = self._choose(states[k], rngs[k], int(seats[k]))
        return actions

    def search(self, s: Any, rng: NDArray[np.uint64] | None = None, seat: int = 0) -> SearchReport:
        """Search one position and return the statistics.

        Args:
            s: a record, as `Game.new` returns.
            rng: random stream, uint64 `[1]`, advanced in place; a new one if None.
            seat: the player to act.
        """
        start = clock()
        rng = np.zeros(1, np.uint64) if rng is None else rng
        action = self._choose(s, rng, seat)
        seconds = clock() - start
        nodes, arms = self._threads.statistics()
        title = f"decoupled MCTS ({self.config.policy}) of {self.game.name}, player {seat}"
        return make_decoupled_report(self.game, nodes, arms, seat, action, seconds, title)

    def _choose(self, s: Any, rng: NDArray[np.uint64], seat: int) -> int:
        """Search one position; return the chosen action."""
        start = clock()
        threads, work = self._threads, self._threads.trees[0].work
        threads.begin(s, rng)
        if self.seconds is None:
            threads.run(self._search, self._params, self.simulations)
            left = self.simulations
            while self.action_selection == MAX_ROBUST and left > 0:
                if self._settled(threads.statistics()[1], seat):
                    break
                more = max(self.simulations // 10, 1)
                threads.run(self._search, self._params, more)
                left -= more
        else:

            def run_more(count: int) -> bool:
                threads.run(self._search, self._params, count * len(threads.trees))
                return False

            search_for(self.seconds, start, run_more)
        arms = threads.statistics()[1]
        action = self._best_action(arms, seat, self.action_selection, self._params, work)
        rng[:] = work["rng"][0]
        return int(action)
