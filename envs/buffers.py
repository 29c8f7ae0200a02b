"""Output arrays that are used again once nobody holds them any more."""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Below this size the allocator hands the same memory out again by itself; above it, the system
# would have to clear fresh pages for every array, which takes longer than to fill it.
LARGE = 1 << 17
KEPT = 4


class Buffers:
    """Hands out arrays of one shape; callers may keep them, and views of them, for ever.

    An array is handed out again only when nothing but this object refers to it, so its contents
    never change under a caller's hands. (A view holds a reference to the array it looks at.)
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], *, cleared: bool = False):
        """Make a source of arrays.

        Args:
            shape: their shape.
            dtype: their type.
            cleared: whether they are handed out full of zeros; tell `mark` what was written then.
        """
        self._shape, self._dtype, self._cleared = shape, dtype, cleared
        # Clearing a few rows of an old array is faster than clearing a new one, whatever its size.
        large = dtype.itemsize * int(np.prod(shape)) >= LARGE
        self._keeps = KEPT if large or cleared else 0
        self._kept: list[NDArray[Any]] = []
        self._written: list[NDArray[np.bool_] | None] = []
        self._unused = 0  # references to an array that only the list holds

    def take(self) -> NDArray[Any]:
        """Return an array nobody else has."""
        for i in range(len(self._kept)):
            if sys.getrefcount(self._kept[i]) <= self._unused:
                rows = self._written[i]
                if rows is not None:
                    self._kept[i][rows] = 0
                    self._written[i] = None
                return self._kept[i]
        if len(self._kept) == self._keeps:
            return self._new()
        self._kept.append(self._new())
        self._written.append(None)
        self._unused = sys.getrefcount(self._kept[-1])
        return self._kept[-1]

    def mark(self, array: NDArray[Any], rows: NDArray[np.bool_]) -> None:
        """Remember which rows of an array that `take` returned are no longer zero."""
        for i in range(len(self._kept)):
            if self._kept[i] is array:
                self._written[i] = rows

    def __deepcopy__(self, memo: Any) -> "Buffers":
        return Buffers(self._shape, self._dtype, cleared=self._cleared)

    def _new(self) -> NDArray[Any]:
        make = np.zeros if self._cleared else np.empty
        return make(self._shape, self._dtype)
