"""Agents for Hex that play the cell of the highest value."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import CompiledAgent
from ludoteca.envs.game import Game
from ludoteca.envs.games.hex import legal_actions
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.params import check_real
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.rng import below, uniform

WriteValues = Callable[[Any, int, Any], float]
OCCUPIED = -1.0  # value of an occupied cell
TOLERANCE = 1e-9  # values that differ by less differ only by rounding


class CellValueAgent(CompiledAgent):
    """Agent for Hex that plays the cell of the highest value, or sometimes a random move."""

    def __init__(
        self,
        game: Game,
        write_values: WriteValues,
        work_dtype: Callable[[int], np.dtype[np.void]],
        epsilon: float,
    ):
        """Make the agent.

        Args:
            game: the game it plays.
            write_values: kernel `write_values(s, player, work)`, which writes the values of the
                empty cells for the player to `work.values`, unless the game is over, and returns
                the value of swapping.
            work_dtype: function that returns the record dtype of `work` for a number of rows; its
                fields `values`, `[n * n]`, and `legal`, `[n * n + 1]`, are used here.
            epsilon: probability of a uniformly random legal move.

        Raises:
            ValueError: if the game is not Hex, or `epsilon` is not a probability.
        """
        if game.name != "hex":
            raise ValueError(
                f"the electric-resistance heuristic needs the game hex, got {game.name}"
            )
        self.epsilon = check_real("epsilon", epsilon, 0, 1)
        self._size = game.params["board_size"]
        self._work = np.zeros(1, work_dtype(self._size))
        super().__init__(game, make_act(write_values), self._work, self.epsilon)

    def values(self, s: Any) -> NDArray[np.float64]:
        """Return the value of each cell for the player to move.

        It is -1 on occupied cells; if the game is over, it is 0 on the others.

        Args:
            s: the position, a record as `Game.new` returns.

        Returns:
            Values in [-1, 1]. Shape `[n, n]`.
        """
        self._solve(s)
        values: NDArray[np.float64] = self._work["values"][0].copy()
        return values.reshape(self._size, self._size)

    def _solve(self, s: Any) -> None:
        """Write the values of a position, and what they derive from, to the workspace."""
        position = batch_of_one(self.game, s)
        # Without random moves, the random streams are not used.
        rngs, actions = np.zeros((1, 1), np.uint64), np.zeros(1, np.int64)
        self._act(position, position["to_move"].astype(np.int64), rngs, self._work, 0.0, actions)


@factory()
def make_act(write_values: WriteValues) -> Any:
    """Return `act(positions, seats, rngs, work, epsilon, actions)`.

    It writes the chosen `actions`, int64 `[K]`. Position k uses the random stream `rngs[k]`, uint64
    `[K, 1]`. `work`, `[1]`, is the scratch space of the kernel `write_values`, `epsilon` the
    probability of a random move.
    """

    @kernel
    def choose(s: Any, player: int, work: Any) -> int:
        """Return the first action of the highest value; write all values to `work.values`."""
        size = s.cells.shape[0] - 2
        n = legal_actions(s, work.legal)
        swap_value = write_values(s, player, work)
        best, best_action = -np.inf, 0
        for cell in range(size * size):
            if s.cells[cell // size + 1, cell % size + 1] != 0:
                work.values[cell] = OCCUPIED
                continue
            if n == 0:
                work.values[cell] = 0.0
            if work.values[cell] > best + TOLERANCE:
                best, best_action = work.values[cell], cell
        swap = size * size
        if n > 0 and work.legal[n - 1] == swap and swap_value > best + TOLERANCE:
            return int(swap)
        return best_action

    @compiled_without_allocation
    def act(positions: Any, seats: Any, rngs: Any, work: Any, epsilon: float, actions: Any) -> None:
        for k in range(len(positions)):
            rng = rngs[k]
            if epsilon > 0 and uniform(rng) < epsilon:
                n = legal_actions(positions[k], work[0].legal)
                actions[k] = work[0].legal[below(rng, n)] if n > 0 else 0
            else:
                actions[k] = choose(positions[k], seats[k], work[0])

    return act
