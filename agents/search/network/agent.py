"""Base class of agents with a network-guided search in sequential games."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.search.monitor import Monitor
from ludoteca.agents.search.network.report import make_network_guided_report
from ludoteca.agents.search.network.search import NetworkGuidedSearch, PositionEncoder, SearchResult
from ludoteca.agents.search.network.selection import NetworkSearchConfig
from ludoteca.agents.search.report import SearchReport
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs.clock import clock
from ludoteca.envs.params import check_integer
from ludoteca.envs.records import batch_of_one


class NetworkGuidedAgent(Agent):
    """Agent that searches positions in batches; subclasses implement `search_positions`.

    They set `simulations`, `seconds`, `_batch_size` (positions searched together) and `_max_nodes`
    (nodes of a tree with a time limit).

    A workspace is the memory of the trees of a batch. It is allocated for a maximum number of
    positions, the capacity, and used again.

    Attributes:
        simulations: simulations per search, with `seconds` the maximum.
        seconds: time limit per search, or None for no limit.
        monitor: function that watches single searches (`search`) and can stop them, or None.
    """

    lazy_attributes = ("_search", "monitor", "_is_stopped")
    simulations: int
    seconds: float | None
    _batch_size: int
    _max_nodes: int

    def __init__(
        self,
        encoder: PositionEncoder,
        config: NetworkSearchConfig,
        leaf_batch: int,
        max_num_considered_actions: int = 16,
    ):
        """Make the agent.

        Args:
            encoder: encoder of the network's observations.
            config: policy and parameters of the search.
            leaf_batch: number of leaves of one search that the network evaluates together, with
                virtual loss.
            max_num_considered_actions: maximum number of actions considered at the root (Gumbel).
        """
        super().__init__(encoder.game)
        self._encoder, self._config = encoder, config
        self._max_num_considered_actions = max_num_considered_actions
        self._leaf_batch = check_integer("leaf_batch", leaf_batch, 1, 1024)
        self._search: NetworkGuidedSearch | None = None
        self._capacity = 0
        self.monitor: Monitor | None = None
        self._is_stopped: Callable[[], bool] | None = None

    @abstractmethod
    def search_positions(
        self, states: NDArray[np.void], rngs: NDArray[np.uint64] | None = None
    ) -> SearchResult:
        """Search a batch of unfinished positions.

        Args:
            states: the positions. Shape `[K]`.
            rngs: one random stream per position, advanced in place by a stochastic search. Shape
                `[K, 1]`.
        """

    def allocate_search(self, count: int) -> NetworkGuidedSearch:
        """Return a workspace for `count` searches: the previous one if it is large enough."""
        if self._search is None or count > self._capacity:
            self._capacity = count
            self._search = self.make_search(count)
        return self._search

    def make_search(self, count: int) -> NetworkGuidedSearch:
        """Return a new workspace for `count` searches."""
        return NetworkGuidedSearch(
            self._encoder,
            count,
            self.simulations,
            self._config,
            self._max_num_considered_actions,
            self._leaf_batch,
        )

    def set_time_control(self, time_control: TimeControl) -> None:
        """Search positions one after the other, for the time of the clock; not without a search."""
        if self.simulations == 0:
            return
        self.seconds, self._batch_size = time_control.thinking_seconds, 1
        self.simulations = self._max_nodes - 1  # each adds at most one node below the root
        self._search, self._capacity = None, 0

    def prepare(self) -> None:
        """Compile the search: run simulations with one batch of leaves for the network."""
        simulations, self.simulations = self.simulations, min(self.simulations, self._leaf_batch)
        self._search, self._capacity = None, 0
        try:
            self.search_positions(batch_of_one(self.game), np.zeros((1, 1), np.uint64))
        finally:
            self.simulations, self._search, self._capacity = simulations, None, 0

    def search(self, s: Any, rng: NDArray[np.uint64] | None = None) -> SearchReport:
        """Search one position and return a report, which can be printed.

        Args:
            s: the position, a record as `Game.new` returns.
            rng: random stream, uint64 `[1]`, advanced in place; a stream seeded 0 if None.
        """
        start = clock()
        streams = (np.zeros(1, np.uint64) if rng is None else rng).reshape(1, 1)
        monitor = self.monitor

        def report_so_far() -> SearchReport:
            """Return the report of the search that is running."""
            assert self._search is not None
            result = self._search.result()
            return self._report(result, int(result.action[0]), clock() - start)

        self._is_stopped = None if monitor is None else lambda: monitor(report_so_far)
        try:
            result = self.search_positions(batch_of_one(self.game, s), streams)
        finally:
            self._is_stopped = None
        action = int(self.select_actions(result, streams)[0])
        return self._report(result, action, clock() - start)

    def _report(self, result: SearchResult, action: int, seconds: float) -> SearchReport:
        """Return the report of the search of one position.

        Args:
            result: result of the search.
            action: the action to play.
            seconds: duration of the search.
        """
        assert self._search is not None
        return make_network_guided_report(
            self.game,
            result,
            self._search.trees,
            action,
            seconds,
            self.title(),
            has_priors=self._config.policy != "uct",
        )

    def select_actions(self, result: SearchResult, rngs: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the actions to play after searches. Shape `[K]`.

        Args:
            result: results of K searches.
            rngs: one random stream per position, advanced in place by a stochastic search. Shape
                `[K, 1]`.
        """
        return result.action

    def title(self) -> str:
        """Return the kind of search and the game, for reports."""
        return f"{type(self).__name__} of {self.game.name}"

    def values(self, s: Any) -> NDArray[np.float32]:
        """Search one position; return the mean value of every action, NaN without visits.

        Args:
            s: the position, a record as `Game.new` returns.

        Returns:
            Values in [-1, 1] for the player to move. Shape `[num_actions]`.
        """
        values: NDArray[np.float32] = self.search_positions(
            batch_of_one(self.game, s)
        ).action_values[0]
        return values
