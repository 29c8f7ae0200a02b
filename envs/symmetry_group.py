"""Symmetries as elements of a group: identity, composition and keys for comparison."""

from typing import Any

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.symmetry import Symmetry


def identity(game: Game) -> Symmetry:
    """Return the identity symmetry of a game."""
    _, rows, columns = game.observation_shape
    return Symmetry("identity", np.arange(rows * columns), np.arange(game.num_actions))


def compose(a: Symmetry, b: Symmetry, planes: int) -> Symmetry:
    """Return the symmetry that applies `a`, then `b`; `planes` is the number of planes."""
    return Symmetry(
        f"{a.name}, {b.name}",
        b.cells[a.cells],
        b.actions[a.actions],
        plane_map(b, planes)[plane_map(a, planes)],
    )


def key(symmetry: Symmetry, planes: int) -> tuple[bytes, ...]:
    """Return the three maps as bytes: equal keys mean equal symmetries, whatever their names."""
    arrays = (symmetry.cells, symmetry.actions, plane_map(symmetry, planes))
    return tuple(np.asarray(array, np.int64).tobytes() for array in arrays)


def plane_map(symmetry: Symmetry, planes: int) -> Any:
    """Return the image of each plane. Shape `[planes]`."""
    return np.arange(planes) if symmetry.planes is None else symmetry.planes
