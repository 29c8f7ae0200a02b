"""What agents have in common that search with a network, where moves are in turn."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.guided.report import make_guided_report
from ludoteca.agents.guided.search import Found, GuidedSearch, Sight
from ludoteca.agents.guided.selection import Rule
from ludoteca.agents.mcts.report import SearchReport
from ludoteca.envs.clock import clock
from ludoteca.envs.params import integer
from ludoteca.envs.records import batch_of_one


class GuidedAgent(Agent):
    """Searches positions side by side; a subclass sets `simulations` and looks.

    Attributes:
        simulations: of each search.
    """

    made_when_needed = ("_search",)
    simulations: int

    def __init__(self, sight: Sight, rule: Rule, leaves: int, considered: int = 16):
        """Make the agent.

        Args:
            sight: what the network sees of its game.
            rule: settings of the selection.
            leaves: of each search that the network sees at once.
            considered: Gumbel: how many actions of a root are tried at most.
        """
        super().__init__(sight.game)
        self._sight, self._rule, self._considered = sight, rule, considered
        self._leaves = integer("leaves", leaves, 1, 1024)
        self._search: GuidedSearch | None = None
        self._room = 0
        self._prepared = False

    @abstractmethod
    def look(self, states: NDArray[np.void], rngs: NDArray[np.uint64] | None = None) -> Found:
        """Search positions in which the game goes on, and return what was found.

        Args:
            states: the positions. Shape `[K]`.
            rngs: one random stream for each, to be advanced in place, if it draws. Shape `[K, 1]`.
        """

    def search_for(self, count: int) -> GuidedSearch:
        """Return the memory for `count` searches: that of before, if it is large enough."""
        if self._search is None or count > self._room:
            self._room = count
            self._search = GuidedSearch(
                self._sight, count, self.simulations, self._rule, self._considered, self._leaves
            )
        return self._search

    def prepare(self) -> None:
        """Compile the search with a single simulation, in which the network runs."""
        simulations, self.simulations = self.simulations, min(self.simulations, 1)
        self._search, self._room = None, 0
        try:
            self.look(batch_of_one(self.game), np.zeros((1, 1), np.uint64))
        finally:
            self.simulations, self._search, self._room = simulations, None, 0
        self._prepared = True

    def search(self, s: Any, rng: NDArray[np.uint64] | None = None) -> SearchReport:
        """Search one position and return the result, which can be printed.

        Args:
            s: a record, as `Game.new` returns.
            rng: the random stream, uint64 `[1]`, to be advanced; zero if None.
        """
        if not self._prepared:  # compiling is not counted in the speed
            self.prepare()
        start = clock()
        streams = (np.zeros(1, np.uint64) if rng is None else rng).reshape(1, 1)
        found = self.look(batch_of_one(self.game, s), streams)
        action = int(self.decide(found, streams)[0])
        seconds = clock() - start
        assert self._search is not None
        return make_guided_report(
            self.game, found, self._search.trees, action, seconds, self.title(), not self._rule.uct
        )

    def decide(self, found: Found, rngs: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the moves after searches. Shape `[K]`.

        Args:
            found: the results of K searches.
            rngs: one random stream for each, to be advanced in place, if it draws. Shape `[K, 1]`.
        """
        return found.best

    def title(self) -> str:
        """Return the kind of search and the game, for reports."""
        return f"{type(self).__name__} of {self.game.name}"

    def values(self, s: Any) -> NDArray[np.float32]:
        """Return the mean value of every action that was searched, NaN of others.

        Args:
            s: a record, as `Game.new` returns.

        Returns:
            Values in [-1, 1] for the player to move. Shape `[num_actions]`.
        """
        values: NDArray[np.float32] = self.look(batch_of_one(self.game, s)).values[0]
        return values
