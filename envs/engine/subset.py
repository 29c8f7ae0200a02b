"""Steps of some games of a batch only, for libraries that leave out games that are over."""

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.engine.buffers import Buffers
from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.engine.opponents import Opponent
from ludoteca.envs.engine.python_opponents import PythonOpponents


def step_subset(
    game_batch: GameBatch, indices: NDArray[np.int64], actions: NDArray[np.int64]
) -> None:
    """Step some games of a batch; the others stay as they are, finished or not.

    Args:
        game_batch: the games, without autoreset.
        indices: which of them, different numbers. Shape `[K]`.
        actions: their actions. Shape `[K, W]`.

    Raises:
        ValueError: as `GameBatch.step`; nothing has then changed.
    """
    some = copy.copy(game_batch)
    some.count = len(indices)
    rows = {
        "states": game_batch.states,
        "episode_states": game_batch.episode_states,
        "masks": game_batch.masks,
    }
    rows["history"] = game_batch.history
    for name, array in rows.items():
        setattr(some, name, array[indices])
    shape = game_batch.observations.shape[1:]
    some._buffers = Buffers((len(indices), *shape), game_batch.dtype)
    some._thread_pool = None  # threads know the arrays of all games
    some.opponents = tuple(Renumbered(one, indices) for one in game_batch.opponents)
    some._python_opponents = PythonOpponents(game_batch.game, some.opponents, game_batch._stepper)
    some.step(actions)
    for name, array in rows.items():
        array[indices] = getattr(some, name)
    game_batch.refresh()


class Renumbered:
    """An opponent that knows the games of a subset by their numbers in the whole batch."""

    def __init__(self, opponent: Opponent, indices: NDArray[np.int64]):
        """Wrap an opponent.

        Args:
            opponent: plays in the whole batch.
            indices: the games of the subset. Shape `[K]`.
        """
        self._opponent, self._indices = opponent, indices

    def reset(self, env_indices: NDArray[np.int64]) -> None:
        """Forget the games at `env_indices`."""
        self._opponent.reset(self._indices[env_indices])

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> Any:
        """Return the opponent's actions."""
        return self._opponent.act(states, seats, rngs, self._indices[env_indices])
