"""Steps of some games of a batch only, for libraries that leave out games that are over."""

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.engine.buffers import Buffers
from ludoteca.envs.engine.game_batch import Lanes
from ludoteca.envs.engine.opponents import Opponent
from ludoteca.envs.engine.python_opponents import Answers


def step_subset(lanes: Lanes, indices: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
    """Step some games of a batch; the others stay as they are, finished or not.

    Args:
        lanes: the games, without autoreset.
        indices: which of them, different numbers. Shape `[K]`.
        actions: their actions. Shape `[K, W]`.

    Raises:
        ValueError: as `Lanes.step`; nothing has then changed.
    """
    some = copy.copy(lanes)
    some.count = len(indices)
    rows = {"states": lanes.states, "lanes": lanes.lanes, "masks": lanes.masks}
    rows["history"] = lanes.history
    for name, array in rows.items():
        setattr(some, name, array[indices])
    shape = lanes.observations.shape[1:]
    some._buffers = Buffers((len(indices), *shape), lanes.dtype)
    some._team = None  # threads know the arrays of all games
    some.opponents = tuple(Renumbered(one, indices) for one in lanes.opponents)
    some._answers = Answers(lanes.game, some.opponents, lanes._stepper)
    some.step(actions)
    for name, array in rows.items():
        array[indices] = getattr(some, name)
    lanes.refresh()


class Renumbered:
    """An opponent that knows the games of a subset by their numbers in the whole batch."""

    def __init__(self, opponent: Opponent, indices: NDArray[np.int64]):
        """Wrap an opponent.

        Args:
            opponent: plays in the whole batch.
            indices: the games of the subset. Shape `[K]`.
        """
        self._opponent, self._indices = opponent, indices

    def start(self, lanes: NDArray[np.int64]) -> None:
        """Forget the games of `lanes`."""
        self._opponent.start(self._indices[lanes])

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        lanes: NDArray[np.int64],
    ) -> Any:
        """Return the opponent's actions."""
        return self._opponent.act(states, seats, rngs, self._indices[lanes])
