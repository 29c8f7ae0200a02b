"""Positions of one game as records, which notebooks show as boards."""

import copyreg
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ludoteca.envs.record_views import Record, RecordType, dtype_with_attributes

if TYPE_CHECKING:
    from ludoteca.envs.game import Game


class PositionType(RecordType):
    """Metaclass of the position classes; each class is pickled as its game."""

    game: "Game"


class Position(Record, metaclass=PositionType):  # type: ignore[misc]
    """A position of a game: a NumPy record with its fields as attributes.

    Attributes:
        game: the game, the same for all positions of a subclass.
    """

    __slots__ = ()
    game: ClassVar["Game"]

    def _repr_svg_(self) -> str:
        """Return the board as SVG, for notebooks."""
        from ludoteca.envs.render import render  # here, because it imports `Game`

        return render(self.game, self, "svg")


def position_dtype(game: "Game") -> np.dtype[Any]:
    """Return the dtype of a game's positions: `game.state` with `Position` as its record class."""
    dtype = dtype_with_attributes(game.state)
    record = dtype.type
    # Members hide those of the bases, so a field called `game` does not hide the attribute.
    members = {"__slots__": (), "game": game, "fields_of": record.fields_of}
    position = PositionType("Position", (Position, record), members)
    return np.dtype((position, dtype))


def _load_position(game: "Game") -> PositionType:
    position: PositionType = game.position_dtype.type  # type: ignore[assignment]
    return position


copyreg.pickle(PositionType, lambda class_: (_load_position, (class_.game,)))
