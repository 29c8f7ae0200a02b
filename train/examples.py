"""Layout of training examples: packed records in a buffer, arrays by name in a minibatch."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.symmetry import Symmetry
from ludoteca.train.replay import Packing

Batch = dict[str, NDArray[Any]]
Kind = Literal["planes", "mask", "policy", "action", "scalar"]


class PlaneEncoder(Protocol):
    """Encoder of positions, as `Encoder` and `SeatEncoder` are; see there for the attributes."""

    game: Game
    shape: tuple[int, int, int]
    scale: float


class ExampleLayout:
    """Columns of training examples.

    A column is one of: `planes`, an observation; `mask`, legal actions; `policy`, a number for each
    action; `action`; `scalar`. The kind determines how it is packed, and how a symmetry of the game
    maps it.

    Attributes:
        columns: kind of each column, by name.
        dtype: dtype of the packed records.
        planes: packing of observations.
        masks: packing of masks.
    """

    def __init__(self, encoder: PlaneEncoder, columns: Mapping[str, Kind]):
        """Make the layout of columns, given by name."""
        actions = encoder.game.num_actions
        self.columns = columns
        self.planes, self.masks = Packing(encoder.shape, encoder.scale == 1), Packing((actions,))
        formats: dict[Kind, tuple[Any, ...]] = {
            "planes": (np.uint8, (self.planes.size,)),
            "mask": (np.uint8, (self.masks.size,)),
            "policy": (np.float16, (actions,)),
            "action": (encoder.game.action_dtype,),
            "scalar": (np.float32,),
        }
        self.dtype = np.dtype([(name, *formats[kind]) for name, kind in columns.items()])

    def unpack(self, records: NDArray[np.void]) -> Batch:
        """Return records as arrays: int8 planes and masks, int64 actions, float32 others."""
        unpacked: dict[Kind, Callable[[Any], Any]] = {
            "planes": self.planes.unpack,
            "mask": self.masks.unpack,
            "policy": lambda column: column.astype(np.float32),
            "action": lambda column: column.astype(np.int64),
            "scalar": lambda column: column.copy(),
        }
        return {name: unpacked[kind](records[name]) for name, kind in self.columns.items()}

    def mapped(self, batch: Batch, symmetry: Symmetry) -> Batch:
        """Return a minibatch, mapped by a symmetry of the game."""
        images: dict[Kind, Callable[[Any], Any]] = {
            "planes": symmetry.observation,
            "mask": symmetry.policy,
            "policy": symmetry.policy,
            "action": lambda actions: symmetry.actions[actions],
            "scalar": lambda numbers: numbers,
        }
        return {name: images[kind](batch[name]) for name, kind in self.columns.items()}
