"""Data augmentation: a random symmetry for each position."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.jit import compiled_without_allocation, factory
from ludoteca.envs.symmetry import Symmetry


class Augmentation:
    """All symmetries of a game as index arrays.

    Attributes:
        actions: image of each action under each symmetry. int64, shape `[N, num_actions]`.
    """

    def __init__(self, symmetries: Sequence[Symmetry], planes: int):
        """Make the arrays.

        Args:
            symmetries: at least one.
            planes: number of planes of an observation.
        """
        stay = np.arange(planes)
        cells = np.stack([one.cells for one in symmetries])
        moved = np.stack([stay if one.planes is None else one.planes for one in symmetries])
        self.actions = np.stack([one.actions for one in symmetries])
        # Source of each cell, and of each plane.
        self._cells = np.argsort(cells, axis=1).astype(np.int32)
        self._planes = np.argsort(moved, axis=1).astype(np.int32)

    def __len__(self) -> int:
        return len(self.actions)

    def sample(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Sample a symmetry for each of `count` positions."""
        return rng.integers(len(self), size=count)

    def observations(
        self, observations: NDArray[np.int8], which: NDArray[np.int64]
    ) -> NDArray[np.int8]:
        """Map observations `[K, planes, rows, columns]`, each by the symmetry `which` `[K]`."""
        flat = np.ascontiguousarray(observations).reshape(*observations.shape[:2], -1)
        moved = np.empty_like(flat)
        make_mapping()(flat, self._planes, self._cells, which, moved)
        return moved.reshape(observations.shape)


@factory()
def make_mapping() -> Any:
    """Return `mapping(given, planes, cells, which, out)`, which fills the last one."""

    @compiled_without_allocation
    def mapping(given: Any, planes: Any, cells: Any, which: Any, out: Any) -> None:
        for i in range(given.shape[0]):
            k = which[i]
            for p in range(given.shape[1]):
                q = planes[k, p]
                for j in range(given.shape[2]):
                    out[i, p, j] = given[i, q, cells[k, j]]

    return mapping
