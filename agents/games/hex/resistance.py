"""Agents for Hex: the electric-resistance heuristic, and its epsilon-greedy variant.

These are the opponents of Tanaka, "Inteligencia artificial para o jogo de Hex" (University of Sao
Paulo, 2018), sections 3.5 and 3.6; `ludoteca.agents.games.hex.circuit` has the circuits.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.agent import CompiledAgent
from ludoteca.agents.games.hex.circuit import solve, work_dtype
from ludoteca.envs.game import Game
from ludoteca.envs.games.hex import legal_actions
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.params import check_real
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.rng import below, uniform

OCCUPIED = -1.0  # value of an occupied cell
TOLERANCE = 1e-9  # values that differ by less differ only by rounding


class HeuristicAgent(CompiledAgent):
    """Electric-resistance heuristic for Hex: the stone that changes both circuits most.

    Let `q` be the ratio of the opponent's resistance to the player's own before a move, and `q'`
    after it. The value of the move is `(q' - q) / (q' + q)`, which is `tanh(log(q' / q) / 2)`: 1 if
    the move wins, otherwise in [0, 1). The source only says that values are scaled into [-1, 1];
    its example has other values, those of the program NeuroHex (docs/results/hex/figure_3_2.md).
    The value of swapping is in [-1, 1], by the same formula with `q' = 1 / q`, since swapping
    mirrors the position. The first action of the highest value is played.

    The agent looks one ply ahead: it always plays a winning move, and very likely prevents one.
    """

    epsilon = 0.0  # probability of a random move

    def __init__(self, game: Game):
        """Make the agent.

        Raises:
            ValueError: if the game is not Hex.
        """
        if game.name != "hex":
            raise ValueError(
                f"the electric-resistance heuristic needs the game hex, got {game.name}"
            )
        self._size = game.params["board_size"]
        self._work = np.zeros(1, work_dtype(self._size))
        super().__init__(game, make_act(), self._work, self.epsilon)

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

    def resistance(self, s: Any, player: int) -> float:
        """Return the resistance between the edges of a player.

        It is 0 if they are connected, infinite if the opponent's edges are connected.
        """
        self._solve(s)
        return float(self._work["resistance"][0, player])

    def changes(self, s: Any, player: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a player's resistance after a stone on each cell.

        Returns:
            Resistances after an own stone and after a stone of the opponent, shape `[n, n]` each;
            NaN on occupied cells.
        """
        self._solve(s)
        stones = np.asarray(s["cells"])[1:-1, 1:-1] != 0
        shape = (self._size, self._size)
        joined, blocked = (self._work[key][0, player].copy() for key in ("joined", "blocked"))
        return (
            np.where(stones, np.nan, joined.reshape(shape)),
            np.where(stones, np.nan, blocked.reshape(shape)),
        )

    def _solve(self, s: Any) -> None:
        """Write the resistances and values of a position to the workspace."""
        position = batch_of_one(self.game, s)
        # Without random moves, the random streams are not used.
        rngs, actions = np.zeros((1, 1), np.uint64), np.zeros(1, np.int64)
        self._act(position, position["to_move"].astype(np.int64), rngs, self._work, 0.0, actions)


class MixedAgent(HeuristicAgent):
    """Heuristic agent that plays a random legal move with probability `epsilon` (Hex)."""

    def __init__(self, game: Game, epsilon: float = 0.2):
        """Make the agent.

        Args:
            game: the game it plays.
            epsilon: probability of a uniformly random legal move.

        Raises:
            ValueError: if the game is not Hex, or `epsilon` is not a probability.
        """
        self.epsilon = check_real("epsilon", epsilon, 0, 1)
        super().__init__(game)


@factory()
def make_act() -> Any:
    """Return `act(positions, seats, rngs, work, epsilon, actions)`.

    It writes the chosen `actions`, int64 `[K]`. Position k uses the random stream `rngs[k]`, uint64
    `[K, 1]`. `work`, `[1]`, is scratch space of `circuit.work_dtype`, `epsilon` the probability of
    a random move.
    """

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


@kernel
def choose(s: Any, player: int, work: Any) -> int:
    """Return the action of the highest value; write the values of the cells to `work.values`."""
    size = s.cells.shape[0] - 2
    n = legal_actions(s, work.legal)
    solve(s, 0, work)
    solve(s, 1, work)
    own, other = work.resistance[player], work.resistance[1 - player]
    best, best_action = -np.inf, 0
    for cell in range(size * size):
        value = OCCUPIED
        if s.cells[cell // size + 1, cell % size + 1] == 0:
            value = 0.0
            if n > 0:
                joined, blocked = work.joined[player, cell], work.blocked[1 - player, cell]
                # After a winning move the resistance is 0; the formula would divide by it.
                value = 1.0 if joined == 0 else scaled_change(own, other, joined, blocked)
            if value > best + TOLERANCE:
                best, best_action = value, cell
        work.values[cell] = value
    swap = size * size
    can_swap = n > 0 and work.legal[n - 1] == swap
    if can_swap and scaled_change(own, other, other, own) > best + TOLERANCE:
        return int(swap)
    return best_action


@kernel
def scaled_change(own: float, other: float, own_after: float, other_after: float) -> float:
    """Return `(q' - q) / (q' + q)`, of the ratios `q = other / own` and, after a move, `q'`."""
    # Both ratios are multiplied by `own * own_after`.
    ratio_before, ratio_after = other * own_after, other_after * own
    return float((ratio_after - ratio_before) / (ratio_after + ratio_before))
