"""Cells of a torus of shape `(rows, columns)`: a board whose opposite edges are joined."""

import numpy as np

from ludoteca.envs.jit import kernel
from ludoteca.envs.symmetry import DIRECTIONS, Symmetry, directions_are_actions, grid_symmetries


@kernel
def neighbor(cell: int, action: int, shape: tuple[int, int]) -> tuple[int, int]:
    """Return the row and column of the neighbor of a cell (`row * columns + column`).

    `action` is the index of the direction in `DIRECTIONS`.
    """
    return beside(cell // shape[1], cell % shape[1], action, shape)


@kernel
def beside(row: int, column: int, action: int, shape: tuple[int, int]) -> tuple[int, int]:
    """Return the row and column of the neighbor of (row, column); see `neighbor`."""
    return (
        around(row + DIRECTIONS[action][0], shape[0]),
        around(column + DIRECTIONS[action][1], shape[1]),
    )


@kernel
def around(index: int, side: int) -> int:
    """Return `index` modulo `side`, for -1 <= index <= side, without a division."""
    return index + side if index < 0 else index - side if index >= side else index


def torus_symmetries(rows: int, columns: int) -> tuple[Symmetry, ...]:
    """Return the reflections and rotations of the board, each combined with every translation.

    Actions are the four directions.
    """
    symmetries = []
    base = grid_symmetries(rows, columns, directions_are_actions)
    for down in range(rows):
        for right in range(columns):
            shift = np.roll(
                np.arange(rows * columns).reshape(rows, columns), (-down, -right), (0, 1)
            )
            for symmetry in base:
                name = f"{symmetry.name}, shift {down} {right}" if down or right else symmetry.name
                symmetries.append(Symmetry(name, shift.ravel()[symmetry.cells], symmetry.actions))
    return tuple(symmetries)
