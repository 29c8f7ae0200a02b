"""Agents for Hex: the electric-resistance heuristic, and its epsilon-greedy variant.

These are the opponents of Tanaka, "Inteligencia artificial para o jogo de Hex" (University of Sao
Paulo, 2018), sections 3.5 and 3.6; `ludoteca.agents.games.hex.circuit` has the circuits.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.games.hex.cell_values import CellValueAgent
from ludoteca.agents.games.hex.circuit import solve, work_dtype
from ludoteca.envs.game import Game
from ludoteca.envs.games.winner import is_decided
from ludoteca.envs.jit import kernel


class HeuristicAgent(CellValueAgent):
    """Electric-resistance heuristic for Hex: the stone that changes both circuits most.

    Let `q` be the ratio of the opponent's resistance to the player's own before a move, and `q'`
    after it. The value of the move is `(q' - q) / (q' + q)`, which is `tanh(log(q' / q) / 2)`: 1 if
    the move wins, otherwise in [0, 1). The source only says that values are scaled into [-1, 1];
    its example has other values, those of the program NeuroHex (docs/results/hex/figure_3_2.md).
    The value of swapping is in [-1, 1], by the same formula with `q' = 1 / q`, since swapping
    mirrors the position. The first action of the highest value is played.

    The agent looks one ply ahead: it always plays a winning move, and very likely prevents one.
    """

    def __init__(self, game: Game):
        """Make the agent.

        Raises:
            ValueError: if the game is not Hex.
        """
        super().__init__(game, write_values, work_dtype, 0.0)

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
        CellValueAgent.__init__(self, game, write_values, work_dtype, epsilon)


@kernel
def write_values(s: Any, player: int, work: Any) -> float:
    """Write the values of the empty cells to `work.values`; return the value of swapping."""
    size = s.cells.shape[0] - 2
    solve(s, 0, work)
    solve(s, 1, work)
    if is_decided(s):
        return 0.0
    own, other = work.resistance[player], work.resistance[1 - player]
    for cell in range(size * size):
        if s.cells[cell // size + 1, cell % size + 1] == 0:
            joined, blocked = work.joined[player, cell], work.blocked[1 - player, cell]
            # After a winning move the resistance is 0; the formula would divide by it.
            value = 1.0 if joined == 0 else scaled_change(own, other, joined, blocked)
            work.values[cell] = value
    return scaled_change(own, other, other, own)


@kernel
def scaled_change(own: float, other: float, own_after: float, other_after: float) -> float:
    """Return `(q' - q) / (q' + q)`, of the ratios `q = other / own` and, after a move, `q'`."""
    # Both ratios are multiplied by `own * own_after`.
    ratio_before, ratio_after = other * own_after, other_after * own
    return float((ratio_after - ratio_before) / (ratio_after + ratio_before))
