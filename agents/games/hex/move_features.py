"""Features of moves in Hex: the pattern of the six neighbors of the cell."""

from typing import Any

from ludoteca.agents.games.knowledge import MoveFeatures
from ludoteca.envs.game import Game
from ludoteca.envs.games.hex import BLACK, NEIGHBORS, WHITE
from ludoteca.envs.jit import kernel

PATTERNS = 3**6  # each neighbor is empty, 0, the mover's, 1, or the opponent's, 2


def neighbor_patterns(game: Game) -> MoveFeatures:
    """Return one feature for each pattern of neighbors; edges count as stones of their player.

    White's patterns are mirrored at the diagonal, so that both players connect top and bottom.
    Swapping has no features.
    """
    size = game.layout.columns

    @kernel
    def write(s: Any, action: int, out: Any) -> int:
        if action >= size * size:
            return 0
        white = s.to_move != s.white_first
        color = WHITE if white else BLACK
        row, column = action // size + 1, action % size + 1
        pattern = 0
        for k in range(6):
            dr, dc = NEIGHBORS[5 - k if white else k]  # 5 - k: direction k with rows as columns
            cell = s.cells[row + dr, column + dc]
            state = 0
            if cell & color:
                state = 1
            elif cell != 0:
                state = 2
            pattern = 3 * pattern + state
        out[0] = pattern
        return 1

    return MoveFeatures(PATTERNS, 1, write)
