"""Node and time limits of endgame searches."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ludoteca.agents.games.endgame.solution import EndgameLimitError
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game

UNKNOWN, STOPPED = 1000, 1001  # in place of a score; the latter: there are no more nodes
SLICE = 1 << 20  # nodes between two readings of the clock


@dataclass(frozen=True)
class SearchLimits:
    """Limits of a search.

    Attributes:
        nodes: maximum number of nodes; None for no limit.
        seconds: time limit; None for no limit.
        start: start of the search.
    """

    nodes: int | None
    seconds: float | None
    start: float = field(default_factory=clock)

    def run(self, search: Callable[[int], int], done: Any, position: Callable[[], str]) -> int:
        """Return the score that a search finds.

        Args:
            search: function that continues the search up to a total number of nodes, and returns
                the score or `STOPPED`.
            done: number of nodes so far, an array of one number that the search increments.
            position: function that describes the position.

        Raises:
            EndgameLimitError: if a limit is reached.
        """
        while True:
            limit = int(done[0]) + SLICE
            score = search(limit if self.nodes is None else min(limit, self.nodes))
            if score != STOPPED:
                return score
            if self.nodes is not None and done[0] >= self.nodes:
                raise EndgameLimitError(f"not solved within {self.nodes} nodes: {position()}")
            if self.seconds is not None and clock() - self.start >= self.seconds:
                raise EndgameLimitError(f"not solved within {self.seconds:g} seconds: {position()}")


def after(game: Game, s: Any, action: int) -> Any:
    """Return the position after an action."""
    later = s.copy()
    with np.errstate(over="ignore"):  # kernels count on integers that wrap around
        game.step(later, action)
    return later
