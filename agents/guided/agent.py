"""What agents have in common that search with a network, where moves are in turn."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import Agent
from ludoteca.agents.guided.search import Found, GuidedSearch, Sight
from ludoteca.agents.guided.selection import Rule
from ludoteca.envs.batch import root
from ludoteca.envs.params import integer


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
        """Compile the search, and let the network run once."""
        self.look(root(self.game), np.zeros((1, 1), np.uint64))

    def values(self, s: Any) -> NDArray[np.float32]:
        """Return the mean value of every action that was searched, NaN of others.

        Args:
            s: a record, as `Game.new` returns.

        Returns:
            Values in [-1, 1] for the player to move. Shape `[num_actions]`.
        """
        values: NDArray[np.float32] = self.look(root(self.game, s)).values[0]
        return values
