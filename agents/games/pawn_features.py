"""Features of moves in Breakthrough and its variants: capture, attack, protection, progress."""

from typing import Any

import numpy as np

from ludoteca.agents.games.knowledge import MoveFeatures
from ludoteca.envs.game import Game
from ludoteca.envs.games.bitboards import U0, U1, make_ends
from ludoteca.envs.games.breakthrough import PAWN_STEPS
from ludoteca.envs.jit import kernel

# First indices of the groups of features; of each group, one feature is active.
SAFETY = 0  # capture + 2 (end cell attacked) + 4 (end cell protected)
START_ATTACKED = 8
DISTANCE = 10  # rows between the end cell and the far row, 0 to 7
DIAGONAL = 18
FROM_HOME = 20  # whether the pawn leaves its player's first row
ATTACKS = 22  # number of enemy pawns that the end cell attacks, 0 to 2
PROTECTS = 25  # number of own pawns that the end cell protects, 0 to 2
BLOCKED = 28  # whether an enemy pawn stands straight ahead of the end cell
COUNT, NUM_GROUPS = 30, 8


def pawn_features(game: Game) -> MoveFeatures:
    """Return the features of moves in Breakthrough or a variant with the same moves."""
    rows, columns = game.layout.rows, game.layout.columns
    starts, ends = make_ends(PAWN_STEPS, rows, columns)

    @kernel
    def at(pieces: Any, row: int, column: int) -> int:
        """Return whether a piece is on a cell; 0 outside the board."""
        if 0 <= row < rows and 0 <= column < columns:
            return int((pieces >> np.uint64(8 * row + column)) & U1 != U0)
        return 0

    @kernel
    def write(s: Any, action: int, out: Any) -> int:
        mover = int(s.to_move)
        start, end = int(starts[action]), int(ends[action])
        own, other = s.pieces[mover] ^ (U1 << np.uint64(start)), s.pieces[1 - mover]
        row, column, down = end >> 3, end & 7, 1 if mover == 1 else -1
        capture = at(other, row, column)
        ahead = at(other, row + down, column - 1) + at(other, row + down, column + 1)
        behind = at(own, row - down, column - 1) + at(own, row - down, column + 1)
        protected = at(own, row + down, column - 1) + at(own, row + down, column + 1)
        start_row, start_column = start >> 3, start & 7
        start_attacked = at(other, start_row + down, start_column - 1) + at(
            other, start_row + down, start_column + 1
        )
        out[0] = SAFETY + capture + 2 * (ahead > 0) + 4 * (behind > 0)
        out[1] = START_ATTACKED + (start_attacked > 0)
        out[2] = DISTANCE + (row if mover == 0 else rows - 1 - row)
        out[3] = DIAGONAL + (start_column != column)
        out[4] = FROM_HOME + (start_row == (rows - 1 if mover == 0 else 0))
        out[5] = ATTACKS + ahead
        out[6] = PROTECTS + protected
        out[7] = BLOCKED + at(other, row + down, column)
        return NUM_GROUPS

    return MoveFeatures(COUNT, NUM_GROUPS, write)
