"""Symmetries of games as index arrays, for data augmentation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Symmetry:
    """Symmetry of a game: a map of cells, planes and actions that preserves the rules.

    Attributes:
        name: e.g. `"rotate 90"`.
        cells: `cells[i]` is the image of cell `i = row * columns + column` of an observation.
            Shape `[rows * columns]`.
        actions: `actions[a]` is the image of action `a`. Shape `[num_actions]`.
        planes: `planes[p]` is the image of plane `p`; None: the identity. Shape `[planes]`.
    """

    name: str
    cells: NDArray[np.int64]
    actions: NDArray[np.int64]
    planes: NDArray[np.int64] | None = None

    def observation(self, observation: NDArray[Any]) -> NDArray[Any]:
        """Return the images of observations of shape `[..., planes, rows, columns]`."""
        shape = observation.shape
        flat = observation.reshape(*shape[:-2], -1)
        image = np.empty_like(flat)
        image[..., self.cells] = flat
        if self.planes is not None:
            permuted = np.empty_like(image)
            permuted[..., self.planes, :] = image
            image = permuted
        return image.reshape(shape)

    def policy(self, policy: NDArray[Any]) -> NDArray[Any]:
        """Return the images of masks, visit counts or probabilities, shape `[..., num_actions]`."""
        image = np.empty_like(policy)
        image[..., self.actions] = policy
        return image


CellMap = Callable[[int, int], tuple[int, int]]
"""Function that maps (row, column) of a cell to (row, column) of its image."""


def grid_symmetries(
    rows: int,
    columns: int,
    actions: Callable[[NDArray[np.int64], CellMap], NDArray[np.int64]],
    names: tuple[str, ...] | None = None,
) -> tuple[Symmetry, ...]:
    """Return the symmetries of a rectangle (4) or square (8), or those listed in `names`.

    Args:
        rows: rows of the board.
        columns: columns of the board.
        actions: `actions(cells, cell_map)` returns the map of actions of a symmetry
            (`Symmetry.actions`), given its map of cells as an array (`Symmetry.cells`) and as a
            function.
        names: the names of the symmetries to return; None: all.
    """
    r, c = rows - 1, columns - 1  # last row, last column
    maps: dict[str, CellMap] = {
        "identity": lambda i, j: (i, j),
        "rotate 180": lambda i, j: (r - i, c - j),
        "mirror columns": lambda i, j: (i, c - j),
        "mirror rows": lambda i, j: (r - i, j),
    }
    if rows == columns:
        maps |= {
            "transpose": lambda i, j: (j, i),
            "antitranspose": lambda i, j: (r - j, r - i),
            "rotate 90": lambda i, j: (j, r - i),
            "rotate 270": lambda i, j: (r - j, i),
        }
    symmetries = []
    for name in names or tuple(maps):
        cell_map = maps[name]
        images = [cell_map(i, j) for i in range(rows) for j in range(columns)]
        cells = np.array([i * columns + j for i, j in images], np.int64)
        symmetries.append(Symmetry(name, cells, actions(cells, cell_map)))
    return tuple(symmetries)


def cells_are_actions(cells: NDArray[np.int64], cell_map: CellMap) -> NDArray[np.int64]:
    """Return the map of actions of a game whose action `i` is the cell `i`."""
    return cells


DIRECTIONS = ((-1, 0), (0, 1), (1, 0), (0, -1))  # north, east, south, west


def directions_are_actions(cells: NDArray[np.int64], cell_map: CellMap) -> NDArray[np.int64]:
    """Return the map of actions of a game whose actions are north, east, south and west."""
    origin = np.array(cell_map(0, 0))
    steps = [tuple(int(x) for x in np.array(cell_map(i, j)) - origin) for i, j in DIRECTIONS]
    return np.array([DIRECTIONS.index((i, j)) for i, j in steps], np.int64)
