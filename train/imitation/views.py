"""What a network sees of samples, kept as planes or as positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.train.data.positions import Samples
from ludoteca.train.replay import Packing

TOGETHER = 8192  # samples that are encoded at once
Look = tuple[NDArray[np.int8], NDArray[np.int8]]


@dataclass(frozen=True)
class PackedViews:
    """Planes of zeros and ones, as bits: they take less memory than positions.

    Attributes:
        encoder: made them.
        planes: of S samples, packed. uint8, shape `[S, bytes]`.
        masks: likewise.
    """

    encoder: SeatEncoder
    planes: NDArray[np.uint8]
    masks: NDArray[np.uint8]

    @classmethod
    def of(cls, encoder: SeatEncoder, samples: Samples) -> Self:
        """Return what is seen of samples."""
        packings = _packings(encoder)
        packed = [np.empty((len(samples), one.size), np.uint8) for one in packings]
        for k in range(0, len(samples), TOGETHER):
            part = slice(k, k + TOGETHER)
            states, seats = samples.states[samples.rows[part]], samples.players[part]
            seen = encoder.encode(states, seats.astype(np.int64))
            for out, packing, one in zip(packed, packings, seen, strict=True):
                out[part] = packing.pack(one)
        return cls(encoder, *packed)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Return the samples of some parts, in their order."""
        planes = np.concatenate([part.planes for part in parts])
        return cls(parts[0].encoder, planes, np.concatenate([part.masks for part in parts]))

    def look(self, chosen: NDArray[np.int64]) -> Look:
        """Return planes and masks of some samples, see `SeatEncoder.encode`."""
        planes, masks = _packings(self.encoder)
        return planes.unpack(self.planes[chosen]), masks.unpack(self.masks[chosen])


@dataclass(frozen=True)
class PositionViews:
    """Positions, each kept once, where planes would take more memory.

    Attributes:
        encoder: makes the planes.
        states: the positions. Shape `[N]`.
        rows: in which of them each sample is. int32, shape `[S]`.
        seats: who looks. int8, shape `[S]`.
    """

    encoder: SeatEncoder
    states: NDArray[np.void]
    rows: NDArray[np.int32]
    seats: NDArray[np.int8]

    @classmethod
    def of(cls, encoder: SeatEncoder, samples: Samples) -> Self:
        """Return what is seen of samples; positions without any are left out."""
        kept, rows = np.unique(samples.rows, return_inverse=True)
        return cls(encoder, samples.states[kept], rows.astype(np.int32), samples.players)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Return the samples of some parts, in their order."""
        ends = np.cumsum([len(part.states) for part in parts])
        states = parts[0].encoder.game.empty(int(ends[-1]))
        rows = []
        for part, end in zip(parts, ends.tolist(), strict=True):
            begin = end - len(part.states)
            states[begin:end] = part.states
            rows.append(part.rows + np.int32(begin))
        seats = np.concatenate([part.seats for part in parts])
        return cls(parts[0].encoder, states, np.concatenate(rows), seats)

    def look(self, chosen: NDArray[np.int64]) -> Look:
        """Return planes and masks of some samples, see `SeatEncoder.encode`."""
        seats = self.seats[chosen].astype(np.int64)
        return self.encoder.encode(self.states[self.rows[chosen]], seats)


Views = PackedViews | PositionViews


def views_of(encoder: SeatEncoder) -> Any:
    """Return the kind of views that takes less memory."""
    return PackedViews if encoder.scale == 1 else PositionViews


def _packings(encoder: SeatEncoder) -> tuple[Packing, Packing]:
    return Packing(encoder.shape, True), Packing((encoder.game.num_actions,), True)
