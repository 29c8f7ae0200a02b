"""Node and time limits of endgame searches."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ludoteca.agents.games.endgame.solution import EndgameLimitError
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game

# Returned instead of a score: the position must be searched; the search stopped at its node limit.
UNKNOWN, STOPPED = 1000, 1001
SLICE = 1 << 20  # nodes between two checks of the time limit


@dataclass(frozen=True)
class SearchLimits:
    """Limits of a search.

    Attributes:
        nodes: maximum number of nodes; None for no limit.
        seconds: time limit; None for no limit.
        start: start of the search, by `ludoteca.envs.clock.clock`.
    """

    nodes: int | None
    seconds: float | None
    start: float = field(default_factory=clock)

    def run(
        self, search: Callable[[int], int], node_count: Any, position: Callable[[], str]
    ) -> int:
        """Run a search to its end; return the score.

        Args:
            search: function that continues the search up to a total number of nodes, and returns
                the score or `STOPPED`.
            node_count: number of nodes so far, shape `[1]`; the search increments it.
            position: function that returns a description of the position, for errors.

        Raises:
            EndgameLimitError: if a limit is reached.
        """
        while True:
            limit = int(node_count[0]) + SLICE
            score = search(limit if self.nodes is None else min(limit, self.nodes))
            if score != STOPPED:
                return score
            if self.nodes is not None and node_count[0] >= self.nodes:
                raise EndgameLimitError(f"not solved within {self.nodes} nodes: {position()}")
            if self.seconds is not None and clock() - self.start >= self.seconds:
                raise EndgameLimitError(f"not solved within {self.seconds:g} seconds: {position()}")


def next_position(game: Game, s: Any, action: int) -> Any:
    """Return the position after an action."""
    child = s.copy()
    with np.errstate(over="ignore"):  # kernels rely on integer overflow
        game.step(child, action)
    return child
