"""Steps of some games of a batch, for libraries that step only the games that are not over."""

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.engine.opponents import Opponent
from ludoteca.envs.engine.python_opponents import PythonOpponents


def step_subset(
    game_batch: GameBatch, indices: NDArray[np.int64], actions: NDArray[np.int64]
) -> None:
    """Step a subset of a batch; the other games do not change.

    Args:
        game_batch: the games, without autoreset.
        indices: distinct indices of the K games to step. Shape `[K]`.
        actions: actions of the W observing players of each game. Shape `[K, W]`.

    Raises:
        ValueError: as `GameBatch.step`; the batch is then unchanged.
    """
    subset = copy.copy(game_batch)
    subset.count = len(indices)
    per_game_arrays = {
        "states": game_batch.states,
        "episode_states": game_batch.episode_states,
        "masks": game_batch.masks,
        "history": game_batch.history,
    }
    for name, array in per_game_arrays.items():
        setattr(subset, name, array[indices])
    subset._thread_pool = None  # a subset is stepped in one thread
    subset.opponents = tuple(SubsetOpponent(opponent, indices) for opponent in game_batch.opponents)
    subset._python_opponents = PythonOpponents(
        game_batch.game, subset.opponents, game_batch._stepper
    )
    subset.step(actions)
    for name, array in per_game_arrays.items():
        array[indices] = getattr(subset, name)
    game_batch.refresh()


class SubsetOpponent:
    """Opponent wrapper that maps indices in a subset of a batch to indices in the whole batch."""

    def __init__(self, opponent: Opponent, indices: NDArray[np.int64]):
        """Wrap an opponent.

        Args:
            opponent: the opponent in the whole batch.
            indices: indices of the subset's games in the batch. Shape `[K]`.
        """
        self._opponent, self._indices = opponent, indices

    def reset(self, env_indices: NDArray[np.int64]) -> None:
        """Reset the opponent's state of the games at `env_indices`."""
        self._opponent.reset(self._indices[env_indices])

    def act(
        self,
        states: NDArray[np.void],
        seats: NDArray[np.int64],
        rngs: NDArray[np.uint64],
        env_indices: NDArray[np.int64],
    ) -> Any:
        """Return the opponent's actions; see `Opponent.act`."""
        return self._opponent.act(states, seats, rngs, self._indices[env_indices])
