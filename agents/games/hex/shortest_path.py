"""Evaluation of Hex by the shortest paths of both players.

A player's distance is the smallest number of empty cells on which stones connect its edges, where
bridges count as connections: two cells with two common neighbors, both empty. The opponent can
occupy only one of these, and the other then connects the cells. See van Rijswijck, "Computer Hex:
are bees better than fruitflies?" (2000), on shortest paths as an evaluation, and Anshelevich, "A
hierarchical approach to computer Hex" (2002), on bridges. Bridges that share a cell count, too,
although the opponent can break one of them, so the distance is an estimate from below.

Distances are kept in bits of `cells` that the game does not use, and cleared at the end, since
kernels allocate no memory.
"""

from typing import Any

import numpy as np

from ludoteca.envs.games.hex import BLACK, NEIGHBORS, WHITE
from ludoteca.envs.jit import kernel

DISTANCE_SHIFT = 9  # the first bit of distances: the game uses the bits 0 to 8 of a cell
FAR = 127  # the largest distance: there are 7 bits
GAME_BITS = (1 << DISTANCE_SHIFT) - 1


@kernel
def path_difference(s: Any, out: Any) -> None:
    """Write the relative difference of the players' distances to `out`.

    With the distances a of a player and b of its opponent, the score is `(b - a) / (a + b + 1)`.
    """
    black, white = distance(s, BLACK), distance(s, WHITE)
    score = (white - black) / (black + white + 1)
    out[0] = -score if s.white_first else score
    out[1] = -out[0]


@kernel
def distance(s: Any, color: int) -> int:
    """Return the distance between the edges of `color`, at most `FAR`, and at least 0."""
    size = s.cells.shape[0] - 2
    for row in range(size + 2):
        for column in range(size + 2):
            is_source = row == 0 if color == BLACK else column == 0
            s.cells[row, column] |= (0 if is_source else FAR) << DISTANCE_SHIFT
    # Black's last row, and white's last column, is the edge to reach.
    last_row, last_column = size + int(color == BLACK), size + int(color == WHITE)
    changed, forward = True, True
    while changed:
        changed = False
        for i in range(last_row):
            row = 1 + i if forward else last_row - i
            for j in range(last_column):
                column = 1 + j if forward else last_column - j
                changed |= relax(s, row, column, color)
        forward = not forward
    shortest = FAR
    for k in range(1, size + 1):
        end = s.cells[size + 1, k] if color == BLACK else s.cells[k, size + 1]
        shortest = min(shortest, distance_of(end))
    for row in range(size + 2):
        for column in range(size + 2):
            s.cells[row, column] &= GAME_BITS
    return shortest


@kernel
def relax(s: Any, row: int, column: int, color: int) -> bool:
    """Lower the distance of a cell to that by its neighbors and bridges; return if it changed."""
    cell = s.cells[row, column]
    if cell & (BLACK + WHITE - color):  # of the opponent, or a corner
        return False
    best = FAR
    last = s.cells.shape[0] - 1
    for k in range(6):
        r, c = row + NEIGHBORS[k][0], column + NEIGHBORS[k][1]
        if not (0 <= r <= last and 0 <= c <= last):
            continue
        near = s.cells[r, c]
        best = min(best, distance_of(near))
        if near & (BLACK | WHITE):
            continue
        # The cells on both sides of two neighboring empty cells have a bridge.
        dr, dc = NEIGHBORS[(k + 1) % 6]
        if not (0 <= row + dr <= last and 0 <= column + dc <= last):
            continue
        if s.cells[row + dr, column + dc] & (BLACK | WHITE) == 0:
            r, c = r + dr, c + dc
            if 0 <= r <= last and 0 <= c <= last:
                best = min(best, distance_of(s.cells[r, c]))
    best += int(cell & color == 0)
    if best >= distance_of(cell):
        return False
    s.cells[row, column] = (cell & GAME_BITS) | (best << DISTANCE_SHIFT)
    return True


@kernel
def distance_of(cell: Any) -> int:
    """Return the distance in the bits of a cell, signed: compiled uint16 would become uint64."""
    return int(np.int64(cell) >> DISTANCE_SHIFT)
