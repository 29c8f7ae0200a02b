"""Base class of tree search agents with playouts."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.search.clock import FIRST_CHUNK, search_for
from ludoteca.agents.search.monitor import MakeReport, Monitor, with_monitor
from ludoteca.agents.search.options import SearchOptions
from ludoteca.agents.search.select import ACTION_SELECTIONS, MAX_ROBUST
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice, check_integer, check_real
from ludoteca.envs.records import batch_of_one

# Maximum number of trees of an agent with `reuse`; the least recently used tree is dropped.
MAX_REUSED_TREES = 64
CLOCK_UNITS = 1 << 40  # of a search with a time limit, for the schedule of exploration


class TreeSearchAgent(Agent):
    """Monte Carlo tree search with playouts.

    The agent is stateless unless `reuse` is set: then each search continues with the subtree that
    the moves played have reached.

    Attributes:
        config: options that are compiled into the search.
        simulations: simulations per search without a time limit.
        seconds: time per search, or None.
        action_selection: index of the final move selection in `select.ACTION_SELECTIONS`.
        monitor: function that watches single searches and can stop them, or None.
    """

    lazy_attributes = ("monitor",)

    def __init__(
        self,
        game: Game,
        simulations: int,
        seconds: float | None,
        action_selection: str,
        reuse: bool,
        options: SearchOptions,
        shared_tree: bool = False,
    ):
        """Make the agent.

        Args:
            game: the game to play.
            simulations: simulations per move.
            seconds: time per move, instead of a number of simulations.
            action_selection: a name in `select.ACTION_SELECTIONS`.
            reuse: whether the subtree of the moves played is reused by the next search.
            options: options of the search.
            shared_tree: whether the agent's threads search one tree.
        """
        super().__init__(game)
        self.config, self._params = options.config(game, shared_tree), options.params(game)
        self.simulations = check_integer("simulations", simulations, 1, 10**9)
        self.seconds = None if seconds is None else check_real("seconds", seconds, 1e-4, 1e6)
        self.action_selection = ACTION_SELECTIONS.index(
            check_choice("action_selection", action_selection, ACTION_SELECTIONS)
        )
        self.reuse = check_choice("reuse", reuse, (False, True))
        self.monitor: Monitor | None = None
        self._playout_weights = options.playout_weights(game)
        self._workspace = self._make_workspace()
        self._reused_trees: dict[tuple[int, int], Any] = {}  # by env_index and seat

    @abstractmethod
    def _make_workspace(self) -> Any:
        """Return a new workspace, with one tree per thread unless the threads share one."""

    @abstractmethod
    def _choose(self, s: Any, rng: NDArray[np.uint64], seat: int, workspace: Any) -> int:
        """Search one position; return the chosen action.

        Args:
            s: the position.
            rng: random stream, uint64 `[1]`, advanced in place.
            seat: the player to act.
            workspace: workspace with the tree to reuse, see `tree_of`; None: the agent's own.
        """

    def max_simulations(self) -> int:
        """Return the maximum number of simulations of a search without time limit."""
        return self.simulations * (2 if self.action_selection == MAX_ROBUST else 1)

    def set_time_control(self, time_control: TimeControl) -> None:
        """Search for the time of the clock, in workspaces of `max_nodes` nodes."""
        if self.seconds is None:
            self.seconds = time_control.thinking_seconds
            self._workspace = self._make_workspace()
            self._reused_trees = {}
        self.seconds = time_control.thinking_seconds

    def prepare(self) -> None:
        """Compile or load the search, so that the first move is as fast as the others."""
        states, no_env = batch_of_one(self.game), np.full(1, -1)  # -1: no game of a batch
        simulations, self.simulations = self.simulations, 1
        seconds, self.seconds = self.seconds, None
        try:
            for _ in range(1 + self.reuse):  # the second search reuses the tree of the first
                self.act(states, np.zeros(1, np.int64), np.zeros((1, 1), np.uint64), no_env)
        finally:
            self.simulations, self.seconds = simulations, seconds
            self.reset(no_env)

    def reset(self, env_indices: NDArray[np.int64]) -> None:
        """Drop the trees of the games at `env_indices`, where new games begin."""
        ended = set(env_indices.tolist())
        self._reused_trees = {
            key: tree for key, tree in self._reused_trees.items() if key[0] not in ended
        }

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
            seat = int(seats[k])
            workspace = self.tree_of(int(env_indices[k]), seat) if self.reuse else None
            actions[k] = self._choose(states[k], rngs[k], seat, workspace)
        return actions

    def tree_of(self, env_index: int, seat: int) -> Any:
        """Return the workspace with the reusable tree of a game.

        It is kept until `reset`, or until `MAX_REUSED_TREES` others have been used since.

        Args:
            env_index: index of the game in its batch.
            seat: the player that the agent plays.
        """
        key = (env_index, seat)
        workspace = self._reused_trees.pop(key, None) or self._make_workspace()
        self._reused_trees[key] = workspace  # last: the first key is the least recently used
        if len(self._reused_trees) > MAX_REUSED_TREES:
            del self._reused_trees[next(iter(self._reused_trees))]
        return workspace

    def _simulate(
        self,
        start: float,
        run: Callable[[int], None],
        is_max_robust: Callable[[], bool],
        is_proven: Callable[[], bool],
        threads: int,
        report: MakeReport,
    ) -> None:
        """Run the simulations of one search, until its budget is spent or the root is proven.

        Args:
            start: start of the search, by `ludoteca.envs.clock.clock`.
            run: function that runs a number of simulations, all threads together.
            is_max_robust: function that returns whether one move has both the highest sum of scores
                and most visits. With the final move selection `max_robust`, the search continues
                until then, at most twice as long.
            is_proven: function that returns whether the root is proven.
            threads: number of threads.
            report: function that returns the report so far, for the monitor, which can stop the
                search earlier.
        """
        if self.config.exploration_schedule:
            run = self._with_schedule(run, start, threads)
        run, is_stopped = with_monitor(run, report, self.monitor)
        if self.seconds is None:
            run(self.simulations)
            remaining = self.simulations
            while (
                self.action_selection == MAX_ROBUST
                and remaining > 0
                and not is_stopped()
                and not is_max_robust()
            ):
                additional = max(self.simulations // 10, 1)
                run(additional)
                remaining -= additional
            return

        def run_more(count: int) -> bool:
            """Run `count` simulations per thread; return whether the search is done."""
            run(count * threads)
            return is_proven() or is_stopped()

        first_chunk = max(1, FIRST_CHUNK // int(self._params["playout_count"][0]))
        search_for(self.seconds, start, run_more, first_chunk)

    def _with_schedule(
        self, run: Callable[[int], None], start: float, threads: int
    ) -> Callable[[int], None]:
        """Return `run` with the completed and the planned simulations written to the parameters.

        With a time limit they are the elapsed and the whole time in clock units.
        """
        completed = 0

        def run_by_schedule(count: int) -> None:
            nonlocal completed
            done, planned = completed, self.simulations
            if self.seconds is not None:
                done, planned = int((clock() - start) / self.seconds * CLOCK_UNITS), CLOCK_UNITS
            self._params["completed_simulations"] = done // threads
            self._params["planned_simulations"] = -(-planned // threads)
            run(count)
            completed += count

        return run_by_schedule
