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

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], cleared: bool = False):
        """Make a source of arrays of a shape and type.

        Args:
            shape: of the arrays.
            dtype: of the arrays.
            cleared: they are zero, but for rows that a caller has written to without `mark`ing
                them; otherwise their contents may be anything.
        """
        self._shape, self._dtype, self._cleared = shape, dtype, cleared
        self._keeps = KEPT if dtype.itemsize * int(np.prod(shape)) >= LARGE else 0
        self._kept: list[NDArray[Any]] = []
        self._marked: list[NDArray[np.int64] | None] = []  # rows of the kept arrays
        self._unused = 0  # references to an array that only the list holds

    def take(self) -> NDArray[Any]:
        """Return an array nobody else has."""
        for i in range(len(self._kept)):
            if sys.getrefcount(self._kept[i]) <= self._unused:
                rows = self._marked[i]
                if rows is not None:
                    self._kept[i][rows] = 0
                    self._marked[i] = None
                return self._kept[i]
        make = np.zeros if self._cleared else np.empty
        if len(self._kept) == self._keeps:
            return make(self._shape, self._dtype)
        self._kept.append(make(self._shape, self._dtype))
        self._marked.append(None)
        self._unused = sys.getrefcount(self._kept[-1])
        return self._kept[-1]

    def mark(self, array: NDArray[Any], rows: NDArray[np.int64]) -> None:
        """Remember to clear these rows before the array is handed out again."""
        for i, kept in enumerate(self._kept):
            if kept is array:
                self._marked[i] = rows

    def __reduce__(self) -> tuple[type["Buffers"], tuple[Any, ...]]:
        return Buffers, (self._shape, self._dtype, self._cleared)
