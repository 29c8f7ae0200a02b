"""Marks on a board for a user who chooses a move: possible cells, selected piece, advice."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ludoteca.envs.game import Game
from ludoteca.envs.layout import Layout
from ludoteca.envs.render.geometry import Geometry, board_geometry
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

SELECTED, ADVISED = "#ffb300", "#1f77d0"  # colors of frames; rings of choices are `SELECTED`
BADGE = "#fff6d6"  # background color of labels


@dataclass(frozen=True)
class Marks:
    """Cells to mark; cells are numbered `row * columns + column`.

    Attributes:
        choices: cells that can be clicked; empty ones are marked by dots, others by rings.
        selected: the cell of the selected piece, marked by a frame.
        advised: cells of a recommended move, marked by frames in another color.
        labels: texts to write on cells with pieces, by cell; for empty cells see the argument
            `values` of `ludoteca.envs.render.scene.scene`.
    """

    choices: tuple[int, ...] = ()
    selected: int | None = None
    advised: tuple[int, ...] = ()
    labels: Mapping[int, str] = field(default_factory=dict)


def marked(board: Scene, game: Game, s: Any, marks: Marks) -> Scene:
    """Return a scene with marks.

    Args:
        board: the scene of the position, from `ludoteca.envs.render.scene.scene`.
        game: the game.
        s: the position, one record of the game.
        marks: the cells to mark.
    """
    layout, geometry = game.layout, board_geometry(game.layout)
    codes = board_codes(game, s)
    shapes: list[Shape] = []
    for cell in marks.choices:
        row, column = divmod(cell, layout.columns)
        x, y = geometry.center(row, column)
        if codes[row, column]:
            width = max(2.0, 0.05 * geometry.cell)
            shapes.append(Circle(x, y, 0.46 * geometry.cell, None, SELECTED, width))
        else:
            shapes.append(Circle(x, y, max(2.0, 0.11 * geometry.cell), _dot_color(layout)))
    for cell in marks.advised:
        shapes += _frame(geometry, *divmod(cell, layout.columns), ADVISED)
    if marks.selected is not None:
        shapes += _frame(geometry, *divmod(marks.selected, layout.columns), SELECTED)
    for cell, text in marks.labels.items():
        shapes += _label(geometry, *divmod(cell, layout.columns), text)
    return replace(board, shapes=(*board.shapes, *shapes))


def _dot_color(layout: Layout) -> str:
    """Return a color that is visible in empty cells."""
    # Boards into which discs are dropped have holes, through which the page is visible.
    background = PAPER if layout.column_actions else layout.background
    if is_dark(background):
        return mix(background, "#ffffff", 0.5)
    return mix(background, "#000000", 0.4)


def _frame(geometry: Geometry, row: int, column: int, color: str) -> list[Shape]:
    """Return a frame just inside the outline of a cell."""
    x, y = geometry.center(row, column)
    corners = [
        (x + 0.94 * (corner_x - x), y + 0.94 * (corner_y - y))
        for corner_x, corner_y in geometry.outline(row, column)
    ]
    width = max(2.0, 0.06 * geometry.cell)
    shapes: list[Shape] = []
    for start, end in zip(corners, [*corners[1:], corners[0]], strict=True):
        shapes.append(Line(start, end, color, width))
        shapes.append(Circle(*start, width / 2, color))  # a rounded corner
    return shapes


def _label(geometry: Geometry, row: int, column: int, text: str) -> list[Shape]:
    """Return the shapes of a text on the lower part of a cell."""
    x, y = geometry.center(row, column)
    size = min(17.0, 0.24 * geometry.cell)
    width, height = 0.62 * size * len(text) + 0.5 * size, 1.3 * size
    y += 0.3 * geometry.cell
    return [
        Rectangle(x - width / 2, y - height / 2, width, height, BADGE, height / 3),
        Text(x, y, text, size, INK),
    ]
