"""Observations of training samples, stored as packed planes or as positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.train.data.positions import Samples
from ludoteca.train.replay import Packing

BATCH_SIZE = 8192  # samples encoded in one call
# Planes `[K, planes, rows, columns]` and action masks `[K, A]`.
Planes = tuple[NDArray[np.int8], NDArray[np.int8]]


@dataclass(frozen=True)
class PackedObservations:
    """Observations of S samples as binary planes, packed into bits.

    Attributes:
        encoder: the encoder of the planes.
        planes: packed planes. uint8, shape `[S, bytes]`.
        masks: packed action masks. uint8, shape `[S, bytes]`.
    """

    encoder: SeatEncoder
    planes: NDArray[np.uint8]
    masks: NDArray[np.uint8]

    @classmethod
    def of(cls, encoder: SeatEncoder, samples: Samples) -> Self:
        """Return the observations of samples."""
        packings = _packings(encoder)
        packed = [np.empty((len(samples), packing.size), np.uint8) for packing in packings]
        for k in range(0, len(samples), BATCH_SIZE):
            batch = slice(k, k + BATCH_SIZE)
            states, players = samples.states[samples.rows[batch]], samples.players[batch]
            encoded = encoder.encode(states, players.astype(np.int64))
            for out, packing, arrays in zip(packed, packings, encoded, strict=True):
                out[batch] = packing.pack(arrays)
        return cls(encoder, *packed)

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return the observations of all parts, in their order."""
        planes = np.concatenate([part.planes for part in parts])
        return cls(parts[0].encoder, planes, np.concatenate([part.masks for part in parts]))

    def encode(self, indices: NDArray[np.int64]) -> Planes:
        """Return planes and action masks of samples, see `SeatEncoder.encode`."""
        planes, masks = _packings(self.encoder)
        return planes.unpack(self.planes[indices]), masks.unpack(self.masks[indices])


@dataclass(frozen=True)
class PositionObservations:
    """Observations of S samples as N positions, encoded on demand; for planes that are not binary.

    Attributes:
        encoder: the encoder of the planes.
        states: the positions. Shape `[N]`.
        rows: index of each sample's position. int32, shape `[S]`.
        players: player that observes in each sample. int8, shape `[S]`.
    """

    encoder: SeatEncoder
    states: NDArray[np.void]
    rows: NDArray[np.int32]
    players: NDArray[np.int8]

    @classmethod
    def of(cls, encoder: SeatEncoder, samples: Samples) -> Self:
        """Return the observations of samples; positions without samples are dropped."""
        used, rows = np.unique(samples.rows, return_inverse=True)
        return cls(encoder, samples.states[used], rows.astype(np.int32), samples.players)

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return the observations of all parts, in their order."""
        ends = np.cumsum([len(part.states) for part in parts])
        states = parts[0].encoder.game.empty(int(ends[-1]))
        rows = []
        for part, end in zip(parts, ends.tolist(), strict=True):
            start = end - len(part.states)
            states[start:end] = part.states
            rows.append(part.rows + np.int32(start))
        players = np.concatenate([part.players for part in parts])
        return cls(parts[0].encoder, states, np.concatenate(rows), players)

    def encode(self, indices: NDArray[np.int64]) -> Planes:
        """Return planes and action masks of samples, see `SeatEncoder.encode`."""
        players = self.players[indices].astype(np.int64)
        return self.encoder.encode(self.states[self.rows[indices]], players)


Observations = PackedObservations | PositionObservations


def observations_class(encoder: SeatEncoder) -> Any:
    """Return the class of observations that takes less memory."""
    # The scale is 1 if planes are binary.
    return PackedObservations if encoder.scale == 1 else PositionObservations


def _packings(encoder: SeatEncoder) -> tuple[Packing, Packing]:
    """Return the packings of planes and action masks."""
    return Packing(encoder.shape, True), Packing((encoder.game.num_actions,), True)
