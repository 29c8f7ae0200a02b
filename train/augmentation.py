"""Data augmentation: a random symmetry for each position."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.jit import compiled_without_allocation, factory
from ludoteca.envs.symmetry import Symmetry


class Augmentation:
    """All N symmetries of a game as index arrays.

    Attributes:
        actions: image of each action under each symmetry. int64, shape `[N, num_actions]`.
    """

    def __init__(self, symmetries: Sequence[Symmetry], planes: int):
        """Make the index arrays of symmetries.

        Args:
            symmetries: at least one.
            planes: number of planes of an observation.
        """
        identity = np.arange(planes)
        cells = np.stack([symmetry.cells for symmetry in symmetries])
        plane_maps = np.stack([identity if s.planes is None else s.planes for s in symmetries])
        self.actions = np.stack([symmetry.actions for symmetry in symmetries])
        # Source of each cell `[N, rows * columns]`, and of each plane `[N, planes]`.
        self._cells = np.argsort(cells, axis=1).astype(np.int32)
        self._planes = np.argsort(plane_maps, axis=1).astype(np.int32)

    def __len__(self) -> int:
        return len(self.actions)

    def sample(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Sample a symmetry for each of `count` positions."""
        return rng.integers(len(self), size=count)

    def observations(
        self, observations: NDArray[np.int8], indices: NDArray[np.int64]
    ) -> NDArray[np.int8]:
        """Map observations `[K, planes, rows, columns]`, each by the symmetry `indices` `[K]`."""
        flat = np.ascontiguousarray(observations).reshape(*observations.shape[:2], -1)
        moved = np.empty_like(flat)
        make_mapping()(flat, self._planes, self._cells, indices, moved)
        return moved.reshape(observations.shape)


@factory()
def make_mapping() -> Any:
    """Return `mapping(observations, planes, cells, indices, out)`, which fills `out`."""

    @compiled_without_allocation
    def mapping(observations: Any, planes: Any, cells: Any, indices: Any, out: Any) -> None:
        """Map observations `[K, planes, cells]` into `out`, of the same shape.

        Observation i is mapped by symmetry `indices[i]`; `planes` `[N, planes]` and `cells`
        `[N, cells]` have the sources of each plane and cell under each symmetry.
        """
        for i in range(observations.shape[0]):
            k = indices[i]
            for p in range(observations.shape[1]):
                q = planes[k, p]
                for j in range(observations.shape[2]):
                    out[i, p, j] = observations[i, q, cells[k, j]]

    return mapping
