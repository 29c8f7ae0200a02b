"""Searches that stop when their nodes or their time are used up."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ludoteca.agents.games.endgame.solution import EndgameLimitError
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game

UNKNOWN, STOPPED = 1000, 1001  # in place of a score; the latter: there are no more nodes
SLICE = 1 << 20  # nodes between two looks at the clock


@dataclass(frozen=True)
class SearchLimits:
    """How much a search may cost.

    Attributes:
        nodes: it ends after so many.
        seconds: and after this time.
        start: when it began.
    """

    nodes: int | None
    seconds: float | None
    start: float = field(default_factory=clock)

    def run(self, search: Callable[[int], int], done: Any, position: Callable[[], str]) -> int:
        """Return the score that a search finds.

        Args:
            search: goes on until so many nodes were looked at in all; returns the score or
                `STOPPED`.
            done: how many were, an array of one number that the search counts up.
            position: tells what is searched.

        Raises:
            EndgameLimitError: if the nodes or the time are used up.
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
