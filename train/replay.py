"""Experience replay: transitions of the past, to learn from again and again."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.params import integer
from ludoteca.envs.symmetry import Symmetry


@dataclass(frozen=True)
class TransitionBatch:
    """Transitions as a learner wants them.

    Attributes:
        planes: what was seen, int8. Shape `[N, planes, rows, columns]`.
        actions: what was done, int64. Shape `[N]`.
        rewards: what was gained until `next_planes`, discounted, float32. Shape `[N]`.
        discounts: what the value of `next_planes` is multiplied with: 0 at the end of a game, and
            negative if the opponent decides there. float32, shape `[N]`.
        next_planes: what was seen later, zero at the end of a game. As `planes`.
        next_masks: the legal actions there, int8. Shape `[N, num_actions]`.
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
        """Return what a symmetry of the game makes of it."""
        return TransitionBatch(
            symmetry.observation(self.planes),
            symmetry.actions[self.actions],
            self.rewards,
            self.discounts,
            symmetry.observation(self.next_planes),
            symmetry.policy(self.next_masks),
        )


class Packing:
    """Planes of zeros and ones in an eighth of the memory; others as they are."""

    def __init__(self, shape: tuple[int, ...], binary: bool):
        """Make a packing for arrays of `shape`, whose numbers are 0 and 1 if `binary`."""
        self.shape, self.binary = shape, binary
        self.numbers = int(np.prod(shape))
        self.size = -(-self.numbers // 8) if binary else self.numbers  # bytes

    def pack(self, arrays: NDArray[np.int8]) -> NDArray[np.uint8]:
        """Return bytes, shape `[N, size]`, for arrays `[N, *shape]`."""
        flat = arrays.reshape(len(arrays), -1)
        return np.packbits(flat, axis=1) if self.binary else flat.view(np.uint8)

    def unpack(self, packed: NDArray[np.uint8]) -> NDArray[np.int8]:
        """Return what was packed."""
        flat = np.unpackbits(packed, axis=1, count=self.numbers) if self.binary else packed
        return flat.view(np.int8).reshape(len(packed), *self.shape)


class RingBuffer:
    """The last records, in one array that is filled round and round.

    Attributes:
        capacity: how many it holds.
        records: the records. Shape `[capacity]`.
        added: how many were ever added; the next one goes to `added % capacity`.
    """

    def __init__(self, capacity: int, dtype: np.dtype[Any]):
        """Make room for `capacity` records of `dtype`."""
        self.capacity = integer("capacity", capacity, 1, 10**9)
        self.records = np.zeros(capacity, dtype)
        self.added = 0

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(self, records: NDArray[np.void]) -> NDArray[np.int64]:
        """Add records, over the oldest ones; return where they went.

        Of more than `capacity`, only the last stay.
        """
        kept = records[-self.capacity :]
        start = self.added + len(records) - len(kept)
        places = (start + np.arange(len(kept))) % self.capacity
        self.records[places] = kept
        self.added += len(records)
        return places

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw `count` places uniformly, without repetition if there are enough records."""
        if len(self) >= count:
            return rng.choice(len(self), count, replace=False, shuffle=False)
        return rng.integers(len(self), size=count)

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to go on from here, as arrays."""
        return {"records": self.records[: len(self)], "added": np.array(self.added)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from where `state` was taken.

        Raises:
            ValueError: if it is of another kind of record.
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
    """The last transitions, packed."""

    def __init__(self, capacity: int, shape: tuple[int, ...], num_actions: int, binary: bool):
        """Make an empty buffer.

        Args:
            capacity: how many transitions it holds.
            shape: of the planes of one position.
            num_actions: of the game.
            binary: whether planes hold only zeros and ones.
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

    def batch(self, places: NDArray[np.int64]) -> TransitionBatch:
        """Return the transitions at some places."""
        chosen = self.records[places]
        return TransitionBatch(
            planes=self.planes.unpack(chosen["planes"]),
            actions=chosen["action"].astype(np.int64),
            rewards=chosen["reward"].copy(),
            discounts=chosen["discount"].copy(),
            next_planes=self.planes.unpack(chosen["next_planes"]),
            next_masks=self.masks.unpack(chosen["next_mask"]),
        )
