"""The Monte Carlo tree search agent."""

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.mcts.act import FINALS, MAX_ROBUST, make_act, make_best_child
from ludoteca.agents.mcts.features import SETTINGS, Features, work_dtype
from ludoteca.agents.mcts.policies import POLICIES
from ludoteca.agents.mcts.report import SearchReport, make_report
from ludoteca.agents.mcts.search import STATES, make_search
from ludoteca.agents.mcts.tree import NODE
from ludoteca.envs.game import Game
from ludoteca.envs.params import choice, integer, real

CHUNK = 64  # simulations between two looks at the clock


class MCTSAgent(Agent):
    """Monte Carlo tree search with any selection policy; turn-based games.

    The trees of different moves and games have nothing in common: the agent has no memory.
    """

    def __init__(
        self,
        game: Game,
        policy: str = "ucb1",
        simulations: int = 1000,
        seconds: float | None = None,
        final: str = "robust",
        draw: str = "half",
        fpu: float = math.inf,
        solver: bool = False,
        amaf: str = "",
        amaf_weight: float | None = None,
        grave_reference: int = 50,
        mast: str = "",
        mast_parameter: float | None = None,
        decisive: str = "",
        depth: int | None = None,
        max_nodes: int = 1_000_000,
        alpha: float | None = None,
        zeta: float | None = None,
        c: float | None = None,
        d: float | None = None,
        m: float | None = None,
        gamma: float | None = None,
    ):
        """Make the agent.

        Args:
            game: the game it plays.
            policy: selection policy: a name in `ludoteca.agents.mcts.policies.POLICIES`.
            simulations: per move.
            seconds: per move, instead of a number of simulations.
            final: how the move is chosen in the end: `"max"` (most wins), `"robust"` (most visits),
                `"max_robust"` (both), `"mean"` or `"policy"`.
            draw: what a draw is worth: `"half"` a win, or as a `"loss"` for everyone.
            fpu: score of moves without visits (first-play urgency); by default all come first.
            solver: whether proven results are backed up.
            amaf: `"amaf"`, `"rave"`, `"grave"` or `""`.
            amaf_weight: weight of AMAF statistics (`"amaf"`, 0.5 by default), or the bias that
                decides how fast it fades (`"rave"` and `"grave"`, 0.1 by default).
            grave_reference: visits from which an ancestor's AMAF statistics are used.
            mast: `"gibbs"`, `"greedy"` or `""`.
            mast_parameter: temperature (0.3 by default) or epsilon (0.4 by default).
            decisive: `"win"`, `"both"` or `""`.
            depth: plies after which a playout stops and counts by the game's `returns`.
            max_nodes: the tree grows no larger.
            alpha: parameter of the policy `ucb1`.
            zeta: parameter of the policy `ucb_v`.
            c: parameter of the policies `uct`, `ucb_v`, `ucb_minimal`, `epsilon_greedy`, `puct`.
            d: parameter of the policy `epsilon_greedy`.
            m: parameter of the policy `etc`.
            gamma: parameter of the policy `exp3`.

        Raises:
            ValueError: if a parameter is out of range, or not one of the policy's.
        """
        super().__init__(game)
        if game.simultaneous:
            raise ValueError(f"the agent mcts plays turn-based games, and {game.name} is not one")
        if solver and game.num_players != 2:
            raise ValueError(f"solver needs two players, and {game.name} has {game.num_players}")
        self.features = Features(
            policy=policy,
            draw_is_loss=choice("draw", draw, ("half", "loss")) == "loss",
            solver=choice("solver", solver, (False, True)),
            amaf=amaf,
            mast=mast,
            decisive=decisive,
        )
        self.simulations = integer("simulations", simulations, 1, 10**9)
        self.seconds = None if seconds is None else real("seconds", seconds, 1e-4, 1e6)
        self.final = FINALS.index(choice("final", final, FINALS))
        given = {"alpha": alpha, "zeta": zeta, "c": c, "d": d, "m": m, "gamma": gamma}
        self._settings = np.zeros(1, SETTINGS)
        self._settings["c"][0] = _policy_parameters(policy, given)
        self._settings["fpu"] = fpu
        weight = 0.5 if amaf == "amaf" else 0.1
        self._settings["amaf_weight"] = weight if amaf_weight is None else amaf_weight
        parameter = 0.3 if mast == "gibbs" else 0.4
        self._settings["mast_parameter"] = parameter if mast_parameter is None else mast_parameter
        self._settings["grave_reference"] = integer("grave_reference", grave_reference, 0, 10**9)
        plies = game.max_plies if depth is None else integer("depth", depth, 0, 10**6)
        self._settings["max_plies"] = plies
        self._search = make_search(game, self.features)
        self._act = make_act(game, self.features)
        self._best_child = make_best_child(self.features)
        budget = self.simulations * (2 if self.final == MAX_ROBUST else 1)
        nodes = max_nodes if self.seconds else budget * game.num_actions + 1
        self._nodes = np.zeros(min(integer("max_nodes", max_nodes, 2, 10**9), nodes), NODE)
        self._states = game.empty(STATES)
        self._work = np.zeros(1, work_dtype(game))

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        lanes: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Search each position and choose its move."""
        actions = np.zeros(len(states), np.int64)
        memory = (self._states, self._work, self._settings)
        if self.seconds is None:
            self._act(
                self._nodes, states, rngs, *memory, self.simulations, self.final, actions
            )
            return actions
        for k in range(len(states)):
            actions[k] = self.search(states[k], rngs[k]).action
        return actions

    def search(self, s: Any, rng: NDArray[np.uint64] | None = None) -> SearchReport:
        """Search one position and return what was found.

        Args:
            s: a record, as `Game.new` returns.
            rng: the random stream, uint64 `[1]`, to be advanced; one of its own if None.
        """
        start = time.perf_counter()
        self._states[0] = s
        rng = np.zeros(1, np.uint64) if rng is None else rng
        self._work["rng"][0] = rng
        memory = (self._states, self._work, self._settings)
        if self.seconds is None:
            size = self._search(self._nodes, 0, *memory, self.simulations)
        else:
            size = self._search(self._nodes, 0, *memory, CHUNK)
            while time.perf_counter() - start < self.seconds:
                size = self._search(self._nodes, size, *memory, CHUNK)
        chosen = self._best_child(self._nodes, self.final, self._settings, self._work)
        rng[:] = self._work["rng"][0]
        seconds = time.perf_counter() - start
        return make_report(self.game, self._nodes[:size], int(chosen), seconds)


def _policy_parameters(policy: str, given: dict[str, float | None]) -> NDArray[np.float64]:
    """Return the parameters of a policy in the order of its table line, padded with zeros."""
    known = POLICIES[policy].params
    for name, value in given.items():
        if value is not None and name not in known:
            has = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
            raise ValueError(f"policy {policy!r} has no parameter {name!r}; {has}")
    values = [known[name] if given[name] is None else given[name] for name in known]
    return np.array(values + [0.0] * (4 - len(values)), np.float64)
