"""Setting games apart, to validate with what nothing was learned from."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Played(Protocol):
    """Games as their moves: those of game k are `actions[starts[k] : starts[k + 1]]`."""

    @property
    def actions(self) -> NDArray[Any]:
        """Moves of all games, one game after the other."""

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each game begins, and where the last one ends."""

    def __len__(self) -> int: ...


def split(games: Played, share: float, seed: int) -> NDArray[np.bool_]:
    """Return which games are set apart, about `share` of them. Shape `[G]`.

    Games that are alike in every move are one game here: none is on both sides.

    Raises:
        ValueError: if there are not two different games.
    """
    starts = games.starts
    numbers: dict[bytes, int] = {}
    alike = np.zeros(len(games), np.int64)
    for k in range(len(games)):
        moves = games.actions[starts[k] : starts[k + 1]].tobytes()
        alike[k] = numbers.setdefault(moves, len(numbers))
    if len(numbers) < 2:
        raise ValueError("needs at least two different games: one to learn from, one to validate")
    sizes = np.bincount(alike)
    order = np.random.default_rng([seed, 0]).permutation(len(numbers))
    before = np.cumsum(sizes[order]) - sizes[order]
    chosen = order[: max(1, min(int((before < share * len(games)).sum()), len(numbers) - 1))]
    apart: NDArray[np.bool_] = np.isin(alike, chosen)
    return apart
