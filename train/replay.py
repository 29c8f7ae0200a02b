"""Replay buffers: ring buffers of records and of transitions."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.params import integer
from ludoteca.envs.symmetry import Symmetry


@dataclass(frozen=True)
class TransitionBatch:
    """Minibatch of n-step transitions.

    Attributes:
        planes: observations, int8. Shape `[N, planes, rows, columns]`.
        actions: actions, int64. Shape `[N]`.
        rewards: discounted n-step rewards, float32. Shape `[N]`.
        discounts: factors of the bootstrap values at `next_planes`: 0 at the end of a game, and
            negative if the opponent moves there. float32, shape `[N]`.
        next_planes: observations after n steps, zero at the end of a game. As `planes`.
        next_masks: legal actions there, int8. Shape `[N, num_actions]`.
    """

    planes: NDArray[np.int8]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    discounts: NDArray[np.float32]
    next_planes: NDArray[np.int8]
    next_masks: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.actions)

    def __getitem__(self, rows: slice) -> "TransitionBatch":
        return TransitionBatch(*(getattr(self, field.name)[rows] for field in fields(self)))

    def mapped(self, symmetry: Symmetry) -> "TransitionBatch":
        """Return the batch under a symmetry of the game."""
        return TransitionBatch(
            symmetry.observation(self.planes),
            symmetry.actions[self.actions],
            self.rewards,
            self.discounts,
            symmetry.observation(self.next_planes),
            symmetry.policy(self.next_masks),
        )


class Packing:
    """Bit packing of binary planes, to an eighth of the memory; identity for others."""

    def __init__(self, shape: tuple[int, ...], binary: bool):
        """Make a packing for arrays of `shape`; `binary`: with values 0 and 1 only."""
        self.shape, self.binary = shape, binary
        self.numbers = int(np.prod(shape))
        self.size = -(-self.numbers // 8) if binary else self.numbers  # bytes

    def pack(self, arrays: NDArray[np.int8]) -> NDArray[np.uint8]:
        """Return bytes, shape `[N, size]`, for arrays `[N, *shape]`."""
        flat = arrays.reshape(len(arrays), -1)
        return np.packbits(flat, axis=1) if self.binary else flat.view(np.uint8)

    def unpack(self, packed: NDArray[np.uint8]) -> NDArray[np.int8]:
        """Return the arrays that were packed."""
        flat = np.unpackbits(packed, axis=1, count=self.numbers) if self.binary else packed
        return flat.view(np.int8).reshape(len(packed), *self.shape)


class RingBuffer:
    """Ring buffer of records: new ones overwrite the oldest.

    Attributes:
        capacity: maximum number of records.
        records: the records. Shape `[capacity]`.
        added: number of records added so far; the next one goes to `added % capacity`.
    """

    def __init__(self, capacity: int, dtype: np.dtype[Any]):
        """Allocate `capacity` records of `dtype`."""
        self.capacity = integer("capacity", capacity, 1, 10**9)
        self.records = np.zeros(capacity, dtype)
        self.added = 0

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(self, records: NDArray[np.void]) -> NDArray[np.int64]:
        """Add records and return their indices; of more than `capacity`, only the last stay."""
        kept = records[-self.capacity :]
        start = self.added + len(records) - len(kept)
        indices = (start + np.arange(len(kept))) % self.capacity
        self.records[indices] = kept
        self.added += len(records)
        return indices

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


class ReplayBuffer(RingBuffer):
    """Replay buffer of packed transitions."""

    def __init__(self, capacity: int, shape: tuple[int, ...], num_actions: int, binary: bool):
        """Make an empty buffer.

        Args:
            capacity: maximum number of transitions.
            shape: shape of an observation.
            num_actions: number of actions of the game.
            binary: whether planes contain only 0 and 1.
        """
        self.planes, self.masks = Packing(shape, binary), Packing((num_actions,), True)
        transition = [
            ("planes", np.uint8, (self.planes.size,)),
            ("action", np.int16),
            ("reward", np.float32),
            ("discount", np.float32),
            ("next_planes", np.uint8, (self.planes.size,)),
            ("next_mask", np.uint8, (self.masks.size,)),
        ]
        super().__init__(capacity, np.dtype(transition))

    def batch(self, indices: NDArray[np.int64]) -> TransitionBatch:
        """Return the transitions at some indices."""
        chosen = self.records[indices]
        return TransitionBatch(
            planes=self.planes.unpack(chosen["planes"]),
            actions=chosen["action"].astype(np.int64),
            rewards=chosen["reward"].copy(),
            discounts=chosen["discount"].copy(),
            next_planes=self.planes.unpack(chosen["next_planes"]),
            next_masks=self.masks.unpack(chosen["next_mask"]),
        )
