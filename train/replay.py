"""Replay buffers of packed records: a ring buffer and a reservoir buffer."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.params import check_integer


class Packing:
    """Bit packing of binary planes, to an eighth of the memory; other planes are not packed.

    Attributes:
        shape: shape of one array.
        binary: whether all values are 0 or 1, and so are packed.
        size: bytes of one packed array.
    """

    def __init__(self, shape: tuple[int, ...], binary: bool = True):
        """Make a packing.

        Args:
            shape: shape of one array.
            binary: whether all values are 0 or 1.
        """
        self.shape, self.binary = shape, binary
        self._num_values = int(np.prod(shape))
        self.size = -(-self._num_values // 8) if binary else self._num_values

    def pack(self, arrays: NDArray[np.int8]) -> NDArray[np.uint8]:
        """Return bytes, shape `[N, size]`, for arrays `[N, *shape]`."""
        flat = arrays.reshape(len(arrays), -1)
        return np.packbits(flat, axis=1) if self.binary else flat.view(np.uint8)

    def unpack(self, packed: NDArray[np.uint8]) -> NDArray[np.int8]:
        """Return arrays `[N, *shape]` from packed bytes `[N, size]`."""
        flat = np.unpackbits(packed, axis=1, count=self._num_values) if self.binary else packed
        return flat.view(np.int8).reshape(len(packed), *self.shape)


class RecordBuffer:
    """Buffer of records; subclasses decide which record a new one replaces.

    Attributes:
        capacity: maximum number of records.
        records: the records. Shape `[capacity]`.
        added: number of records added so far.
    """

    def __init__(self, capacity: int, dtype: np.dtype[Any]):
        """Allocate `capacity` records of `dtype`."""
        self.capacity = check_integer("capacity", capacity, 1, 10**9)
        self.records = np.zeros(capacity, dtype)
        self.added = 0

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def sample(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Sample `count` indices uniformly, without replacement if there are enough records."""
        if len(self) >= count:
            return rng.choice(len(self), count, replace=False, shuffle=False)
        return rng.integers(len(self), size=count)

    def state(self) -> dict[str, Any]:
        """Return the state as arrays, for `restore`."""
        return {"records": self.records[: len(self)], "added": np.array(self.added)}

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from `state`.

        Raises:
            ValueError: if its records have another dtype, or exceed the capacity.
        """
        records = state["records"]
        if records.dtype != self.records.dtype or len(records) > self.capacity:
            raise ValueError(
                f"expected at most {self.capacity} records of {self.records.dtype}, "
                f"got {len(records)} of {records.dtype}"
            )
        self.records[: len(records)] = records
        self.added = int(state["added"])


class RingBuffer(RecordBuffer):
    """Ring buffer of records: new ones overwrite the oldest."""

    def add(self, records: NDArray[np.void]) -> NDArray[np.int64]:
        """Add records and return their indices; only the last `capacity` of them are added."""
        added = records[-self.capacity :]
        start = self.added + len(records) - len(added)
        indices = (start + np.arange(len(added))) % self.capacity
        self.records[indices] = added
        self.added += len(records)
        return indices


class ReservoirBuffer(RecordBuffer):
    """Reservoir buffer: a uniform random sample of all records added so far.

    Vitter, "Random sampling with a reservoir" (1985), algorithm R.
    """

    def add(self, records: NDArray[np.void], rng: np.random.Generator) -> None:
        """Add records: of n so far, each is in the buffer with probability `capacity / n`."""
        num_earlier = self.added + np.arange(len(records))  # records before each record
        sampled = rng.integers(num_earlier + 1)
        indices = np.where(num_earlier < self.capacity, num_earlier, sampled)
        # Of several records for one index, the last one stays; `unique` finds the first.
        reversed_indices = indices[::-1]
        replaced, positions = np.unique(reversed_indices, return_index=True)
        rows = len(records) - 1 - positions
        kept = replaced < self.capacity
        self.records[replaced[kept]] = records[rows[kept]]
        self.added += len(records)
