"""Scenes of positions: boards as shapes, which `svg` and `raster` draw.

In the private functions, `codes` are the codes of the cells, int8 `[rows, columns]`; see `Layout`.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.layout import Layout
from ludoteca.envs.render.geometry import EDGE_WIDTH, LABEL_SIZE, Geometry, board_geometry
from ludoteca.envs.render.lettering import CHARACTER_WIDTH
from ludoteca.envs.render.pieces import body_shapes, piece_shapes
from ludoteca.envs.render.shapes import (
    Circle,
    Line,
    Point,
    Polygon,
    Rectangle,
    Scene,
    Shape,
    Text,
    difference,
    is_dark,
    mix,
)
from ludoteca.envs.render.status import StatusItem, as_record, board_codes, player_piece, status

PAPER, INK, FAINT = "#eeeae2", "#2b2b2b", "#6b665f"  # colors of background, text, labels
POSITIVE, NEGATIVE = "#1f77d0", "#d6452b"  # colors of values
LAST_DISC = "#e8402a"  # color of the mark on the last disc
LAST_MOVE = "#ffd54a"  # tint of the cells of the last move
CAPTION_HEIGHT = 30  # height of a line under the board, in pixels
CAPTION_FONT_SIZE = 17  # in pixels


def scene(
    game: Game,
    s: Any,
    last_action: Any = None,
    *,
    values: ArrayLike | None = None,
    captions: Sequence[str] | None = None,
) -> Scene:
    """Return the scene of a position.

    Args:
        game: the game.
        s: the position, one record of the game.
        last_action: the action of the last ply, which is marked if the layout has `cell_actions`,
            `column_actions` or `moves`.
        values: numbers to show in the empty cells as a heat map, NaN for none. Shape
            `[rows, columns]`, or `[num_actions]` if the layout has `cell_actions` or
            `column_actions`.
        captions: lines under the board; by default, one with the status of the game.

    Raises:
        ValueError: if `s` is not a position of this game or `values` have the wrong shape.
    """
    s = as_record(game, s)
    layout, geometry = game.layout, board_geometry(game.layout)
    codes = board_codes(game, s)
    shapes: list[Shape] = []
    if values is not None:
        shapes += _heat_map(layout, geometry, codes, _cell_values(game, codes, values))
    last_cell = _last_cell(layout, codes, last_action)
    if layout.moves and last_action is not None and 0 <= last_action < len(layout.moves):
        for cell in layout.moves[int(last_action)]:
            shapes.append(_tinted(layout, geometry, *divmod(cell, layout.columns)))
    shapes += _pieces(layout, geometry, codes, layout.paths(s) if layout.paths else [], last_cell)
    lines: Sequence[Sequence[StatusItem]] = (
        [status(game, s)] if captions is None else [[(None, line)] for line in captions]
    )
    for i, items in enumerate(lines):
        shapes += _caption(
            game, items, geometry.width, geometry.height + (i + 0.5) * CAPTION_HEIGHT - 4
        )
    height = geometry.height + CAPTION_HEIGHT * len(lines)
    return Scene(geometry.width, height, PAPER, _base(layout), tuple(shapes))


def cell_at(game: Game, x: float, y: float) -> tuple[int, int] | None:
    """Return the (row, column) of the cell at a pixel of a scene, or None if there is none."""
    return board_geometry(game.layout).cell_at(x, y)


@cache
def _base(layout: Layout) -> tuple[Shape, ...]:
    """Return the shapes of the empty board and its coordinates."""
    geometry = board_geometry(layout)
    if layout.grid == "hexagons":
        board = _hexagon_board(layout, geometry)
    elif layout.column_actions:
        board = _board_with_holes(layout, geometry)
    else:
        board = _square_board(layout, geometry)
    return (*board, *_labels(layout, geometry))


def _square_board(layout: Layout, geometry: Geometry) -> list[Shape]:
    left, top, cell = geometry.left, geometry.top, geometry.cell
    width, height = layout.columns * cell, layout.rows * cell
    shapes: list[Shape] = [
        Rectangle(left - 3, top - 3, width + 6, height + 6, mix(layout.line, "#000000", 0.25), 3),
        Rectangle(left, top, width, height, layout.background),
    ]
    if layout.dark is not None:
        shapes += [
            Rectangle(left + column * cell, top + row * cell, cell, cell, layout.dark)
            for row in range(layout.rows)
            for column in range(1 - (layout.rows - row) % 2, layout.columns, 2)
        ]
    line_width = 2 if cell >= 24 else 1
    for row in range(1, layout.rows):
        y = top + row * cell
        shapes.append(Line((left, y), (left + width, y), layout.line, line_width))
    for column in range(1, layout.columns):
        x = left + column * cell
        shapes.append(Line((x, top), (x, top + height), layout.line, line_width))
    return shapes


def _board_with_holes(layout: Layout, geometry: Geometry) -> list[Shape]:
    """Return the shapes of an upright board, into which discs are dropped."""
    frame = 8  # width of the frame in pixels
    shapes: list[Shape] = [
        Rectangle(
            geometry.left - frame,
            geometry.top - frame,
            layout.columns * geometry.cell + 2 * frame,
            layout.rows * geometry.cell + 2 * frame,
            layout.background,
            14,
        )
    ]
    for row in range(layout.rows):
        for column in range(layout.columns):
            x, y = geometry.center(row, column)
            shapes.append(
                Circle(x, y, 0.42 * geometry.cell, PAPER, layout.line, 0.03 * geometry.cell)
            )
    return shapes


def _hexagon_board(layout: Layout, geometry: Geometry) -> list[Shape]:
    shapes: list[Shape] = []
    if layout.edges is not None:
        outer = geometry.corners()
        for i, (color, inner) in enumerate(zip(layout.edges, _sides(geometry), strict=True)):
            outline = (outer[i], *inner, outer[(i + 1) % 4])
            shapes.append(Polygon(outline, color, layout.line, 1.5))
    line_width = max(1.0, 0.03 * geometry.cell)
    for row in range(layout.rows):
        for column in range(layout.columns):
            shapes.append(
                Polygon(geometry.outline(row, column), layout.background, layout.line, line_width)
            )
    return shapes


def _sides(geometry: Geometry) -> tuple[tuple[Point, ...], ...]:
    """Return the inner sides, zigzag lines, of a rhombus's edges: north, east, south, west.

    Points are in clockwise order. At each of the two obtuse corners, two edges share one side of a
    cell, half each.
    """
    last_row, last_column = geometry.rows - 1, geometry.columns - 1
    top = [geometry.outline(0, c) for c in range(geometry.columns)]
    right = [geometry.outline(r, last_column) for r in range(geometry.rows)]
    bottom = [geometry.outline(last_row, c) for c in range(geometry.columns)]
    left = [geometry.outline(r, 0) for r in range(geometry.rows)]
    northeast = _midpoint(top[-1][1], top[-1][2])
    southwest = _midpoint(bottom[0][4], bottom[0][5])
    north = [corner for cell in top for corner in cell[:2]]
    east = [corner for cell in right for corner in cell[2:4]]
    south = [corner for cell in reversed(bottom) for corner in cell[3:5]]
    west = [corner for cell in reversed(left) for corner in (cell[5], cell[0])]
    return (
        (*north, northeast),
        (northeast, *east, right[-1][4])[: 2 * geometry.rows + 1],
        (*south, southwest),
        (southwest, *west),
    )


def _midpoint(p: Point, q: Point) -> Point:
    return (p[0] + q[0]) / 2, (p[1] + q[1]) / 2


def _labels(layout: Layout, geometry: Geometry) -> list[Shape]:
    """Return the names of columns and rows."""
    if layout.coordinates == "none":
        return []
    size = min(15.0, 0.7 * geometry.cell)
    shapes: list[Shape] = []
    for column in range(layout.columns):
        x, y = geometry.center(0, column)
        name = chr(ord("a") + column)
        if layout.grid == "hexagons":
            # At the end of the slanted column, beyond the edge.
            offset = geometry.side + EDGE_WIDTH * geometry.cell + LABEL_SIZE / 2
            x, y = x - geometry.cell / 2, y - offset
        elif layout.column_actions:
            y = geometry.top + layout.rows * geometry.cell + LABEL_SIZE / 2 + 5
            name = str(column + 1)
        else:
            y = geometry.top - LABEL_SIZE / 2 - 2
        shapes.append(Text(x, y, name, size, FAINT))
    for row in range(0 if layout.column_actions else layout.rows):
        _, y = geometry.center(row, 0)
        side = geometry.west(y) if layout.grid == "hexagons" else geometry.left - 2
        shapes.append(Text(side - LABEL_SIZE / 2, y, layout.row_name(row), size, FAINT))
    return shapes


def _cell_values(game: Game, codes: NDArray[np.int8], values: ArrayLike) -> NDArray[np.float64]:
    """Return the values by cell, NaN in cells without a value. Shape `[rows, columns]`."""
    layout = game.layout
    array = np.asarray(values, np.float64)
    if array.shape == (game.num_actions,) and layout.cell_actions:
        return array[: codes.size].reshape(codes.shape)
    if array.shape == (game.num_actions,) and layout.column_actions:
        by_cell = np.full(codes.shape, np.nan)
        for column, value in enumerate(array):
            empty = np.flatnonzero(codes[:, column] == 0)
            if len(empty):
                by_cell[empty[-1], column] = value  # where a disc would land
        return by_cell
    if array.shape != codes.shape:
        raise ValueError(f"values must have shape {codes.shape}, got {array.shape}")
    return array


def _heat_map(
    layout: Layout, geometry: Geometry, codes: NDArray[np.int8], values: NDArray[np.float64]
) -> list[Shape]:
    """Return the empty cells in colors of their values, with the values as text."""
    shown = np.isfinite(values) & (codes == 0)
    largest = float(np.abs(values[shown]).max(initial=0)) or 1.0
    shapes: list[Shape] = []
    for row, column in np.argwhere(shown).tolist():
        value = float(values[row, column])
        x, y = geometry.center(row, column)
        opacity = 0.15 + 0.75 * abs(value) / largest
        fill = mix("#ffffff", POSITIVE if value >= 0 else NEGATIVE, opacity)
        if layout.column_actions:
            shapes.append(Circle(x, y, 0.4 * geometry.cell, fill))
        else:
            shapes.append(_cell(layout, geometry, row, column, fill))
        size = min(20.0, 0.27 * geometry.cell)
        shapes.append(Text(x, y, f"{value:.2f}", size, "#ffffff" if is_dark(fill) else INK))
    return shapes


def _cell(layout: Layout, geometry: Geometry, row: int, column: int, fill: str) -> Shape:
    """Return a shape that fills a cell up to the lines around it."""
    if layout.grid == "hexagons":
        return Polygon(
            geometry.outline(row, column), fill, layout.line, max(1.0, 0.03 * geometry.cell)
        )
    x, y = geometry.outline(row, column)[0]
    return Rectangle(x + 1, y + 1, geometry.cell - 2, geometry.cell - 2, fill)


def _tinted(layout: Layout, geometry: Geometry, row: int, column: int) -> Shape:
    """Return a cell in the color that marks the last move."""
    return _cell(layout, geometry, row, column, mix(layout.background, LAST_MOVE, 0.55))


def _last_cell(layout: Layout, codes: NDArray[np.int8], last_action: Any) -> tuple[int, int] | None:
    """Return the (row, column) of the cell that the last action occupied, or None."""
    if last_action is None:
        return None
    if layout.cell_actions and 0 <= last_action < codes.size:
        row, column = divmod(int(last_action), layout.columns)
    elif layout.column_actions and 0 <= last_action < layout.columns:
        row, column = int((codes[:, last_action] == 0).sum()), int(last_action)
    else:
        return None
    return (row, column) if row < layout.rows and codes[row, column] else None


def _pieces(
    layout: Layout,
    geometry: Geometry,
    codes: NDArray[np.int8],
    paths: list[list[int]],
    last_cell: tuple[int, int] | None,
) -> list[Shape]:
    """Return the shapes of all pieces; `paths` is the result of `Layout.paths`."""
    shapes: list[Shape] = []
    headings: dict[tuple[int, int], Point] = {}  # directions of heads, by (row, column)
    for player, path in enumerate(paths):
        if path:
            piece = next(p for p in layout.pieces if p.player == player and p.shape == "body")
            segments, headings[divmod(path[0], layout.columns)] = body_shapes(geometry, piece, path)
            shapes += segments
    for row, column in np.argwhere(codes).tolist():
        piece = layout.pieces[codes[row, column] - 1]
        if piece.shape == "body" and paths:
            continue
        x, y = geometry.center(row, column)
        if (row, column) == last_cell and piece.shape != "disc":
            shapes.append(_tinted(layout, geometry, row, column))
        shapes += piece_shapes(piece, x, y, geometry.cell, headings.get((row, column)))
        if (row, column) == last_cell and piece.shape == "disc":
            # White where the mark is hard to see on the disc.
            color = LAST_DISC if difference(piece.color, LAST_DISC) > 100 else "#ffffff"
            shapes.append(Circle(x, y, 0.09 * geometry.cell, color))
    return shapes


def _caption(game: Game, items: Sequence[StatusItem], width: int, y: float) -> list[Shape]:
    """Return a line of text, centered at height `y` of a drawing that is `width` pixels wide.

    An item about a player begins with the player's piece.
    """
    icon, gap = 1.5, 1.3  # widths of a piece and of the space between items, in font sizes
    line_width = gap * (len(items) - 1)  # in font sizes, too
    line_width += sum(
        CHARACTER_WIDTH * len(text) + (icon if p is not None else 0) for p, text in items
    )
    size = min(CAPTION_FONT_SIZE, (width - 20) / max(line_width, 1))
    x = (width - line_width * size) / 2
    if len(items) == 1 and items[0][0] is None:
        return [Text(width / 2, y, items[0][1], size, INK)]
    shapes: list[Shape] = []
    for player, text in items:
        if player is not None:
            piece = player_piece(game, player)
            shapes += piece_shapes(piece, x + 0.6 * size, y, 1.45 * size)
            x += icon * size
        shapes.append(Text(x, y, text, size, INK, "left"))
        x += (CHARACTER_WIDTH * len(text) + gap) * size
    return shapes
