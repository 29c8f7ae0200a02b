"""What is learned from: positions, who moved there, what they played, and how it ended for them."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game


@dataclass(frozen=True)
class Samples:
    """Moves of single seats: S samples, from N positions, each of which is kept once.

    Sample i is that in `states[rows[i]]` seat `seats[i]` played `actions[i]`.

    Attributes:
        game: the game.
        states: the positions in which somebody moved. Shape `[N]`.
        rows: which of the positions. int32, shape `[S]`.
        seats: whose move. int8, shape `[S]`.
        actions: the move. int8, shape `[S]`.
        games: number of the game, counted as in the episodes they are of: what is validated with
            must be of other games than what is learned from. int32, shape `[S]`.
        outcomes: how the game ended for the seat, in [-1, 1]. float32, shape `[S]`.
        wanted: whether the seat is one to learn from, see `GameDataset.wanted`. bool, shape `[S]`.
    """

    game: Game
    states: NDArray[np.void]
    rows: NDArray[np.int32]
    seats: NDArray[np.int8]
    actions: NDArray[np.int8]
    games: NDArray[np.int32]
    outcomes: NDArray[np.float32]
    wanted: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.rows)

    def select(self, chosen: Any) -> Self:
        """Return some of the samples, by a mask or indices; the positions stay as they are."""
        arrays: Any = {
            name: getattr(self, name)[chosen]
            for name in ("rows", "seats", "actions", "games", "outcomes", "wanted")
        }
        return replace(self, **arrays)
