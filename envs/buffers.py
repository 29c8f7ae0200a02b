"""Large output arrays that are used again once nobody holds them any more."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Below this size the allocator hands the same memory out again by itself; above it, the system
# would have to clear fresh pages for every array, which takes longer than to fill it.
LARGE = 1 << 20
KEPT = 4


class Buffers:
    """Hands out arrays of one shape; callers may keep them, and views of them, as long as they like.

    An array is handed out again only when nothing but this object refers to it, so its contents
    never change under a caller's hands. (A view holds a reference to the array it looks at.)
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]):
        self._make: Callable[[], NDArray[Any]] = lambda: np.empty(shape, dtype)
        self._large = dtype.itemsize * int(np.prod(shape)) >= LARGE
        self._kept: list[NDArray[Any]] = [self._make()] if self._large else []
        # What the count is for an array that only the list refers to.
        self._unused = self._references(0) if self._large else 0

    def take(self) -> NDArray[Any]:
        """Return an array with whatever contents."""
        for i in range(len(self._kept)):
            if self._references(i) <= self._unused:
                return self._kept[i]
        array = self._make()
        if self._large and len(self._kept) < KEPT:
            self._kept.append(array)
        return array

    def __deepcopy__(self, memo: Any) -> "Buffers":
        twin = object.__new__(Buffers)
        twin._make, twin._large, twin._unused = self._make, self._large, self._unused
        twin._kept = [self._make()] if self._large else []
        return twin

    def _references(self, i: int) -> int:
        return sys.getrefcount(self._kept[i])
