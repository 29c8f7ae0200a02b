"""Marks on top of a picture for choosing a move: choices, selection, advice."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ludoteca.envs.game import Game
from ludoteca.envs.layout import Layout
from ludoteca.envs.render.geometry import Geometry, geometry
from ludoteca.envs.render.scene import INK, PAPER
from ludoteca.envs.render.shapes import (
    Circle,
    Line,
    Rectangle,
    Scene,
    Shape,
    Text,
    is_dark,
    mix,
)
from ludoteca.envs.render.status import board_codes

SELECTED, ADVISED = "#ffb300", "#1f77d0"
BADGE = "#fff6d6"


@dataclass(frozen=True)
class Marks:
    """Cells and moves to mark. Cells are numbered `row * columns + column`.

    Attributes:
        choices: cells that may be clicked: dots, and rings around pieces.
        selected: the cell of the piece that was picked up, framed.
        advised: cells of a move that is recommended, framed in another color.
        labels: numbers to write on pieces, by cell; those of empty cells are `values` of `scene`.
    """

    choices: tuple[int, ...] = ()
    selected: int | None = None
    advised: tuple[int, ...] = ()
    labels: Mapping[int, str] = field(default_factory=dict)


def marked(picture: Scene, game: Game, s: Any, marks: Marks) -> Scene:
    """Return the picture of a position, as `scene` makes it, with marks."""
    layout, place = game.layout, geometry(game.layout)
    codes = board_codes(game, s)
    shapes: list[Shape] = []
    for cell in marks.choices:
        row, column = divmod(cell, layout.columns)
        x, y = place.center(row, column)
        if codes[row, column]:
            width = max(2.0, 0.05 * place.cell)
            shapes.append(Circle(x, y, 0.46 * place.cell, None, SELECTED, width))
        else:
            shapes.append(Circle(x, y, max(2.0, 0.11 * place.cell), _dot(layout)))
    for cell in marks.advised:
        shapes += _frame(place, *divmod(cell, layout.columns), ADVISED)
    if marks.selected is not None:
        shapes += _frame(place, *divmod(marks.selected, layout.columns), SELECTED)
    for cell, text in marks.labels.items():
        shapes += _label(place, *divmod(cell, layout.columns), text)
    return replace(picture, shapes=(*picture.shapes, *shapes))


def _dot(layout: Layout) -> str:
    ground = PAPER if layout.column_actions else layout.background
    return mix(ground, "#ffffff", 0.5) if is_dark(ground) else mix(ground, "#000000", 0.4)


def _frame(place: Geometry, row: int, column: int, color: str) -> list[Shape]:
    """Draw the outline of a cell, just inside of it."""
    x, y = place.center(row, column)
    corners = [(x + 0.94 * (a - x), y + 0.94 * (b - y)) for a, b in place.outline(row, column)]
    width = max(2.0, 0.06 * place.cell)
    shapes: list[Shape] = []
    for start, end in zip(corners, [*corners[1:], corners[0]], strict=True):
        shapes.append(Line(start, end, color, width))
        shapes.append(Circle(*start, width / 2, color))  # a round corner
    return shapes


def _label(place: Geometry, row: int, column: int, text: str) -> list[Shape]:
    """Draw a number on the lower part of a cell."""
    x, y = place.center(row, column)
    size = min(17.0, 0.24 * place.cell)
    width, height = 0.62 * size * len(text) + 0.5 * size, 1.3 * size
    y += 0.3 * place.cell
    return [
        Rectangle(x - width / 2, y - height / 2, width, height, BADGE, height / 3),
        Text(x, y, text, size, INK),
    ]
