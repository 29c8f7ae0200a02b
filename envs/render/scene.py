"""Pictures of positions, as shapes that the SVG and raster back ends draw."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.layout import Layout
from ludoteca.envs.render.geometry import BAND, LABEL, Geometry, geometry
from ludoteca.envs.render.lettering import CHARACTER
from ludoteca.envs.render.pieces import body, piece_shapes
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
from ludoteca.envs.render.status import Part, as_record, board_codes, player_piece, status

PAPER, INK, FAINT = "#eeeae2", "#2b2b2b", "#6b665f"
GOOD, BAD = "#1f77d0", "#d6452b"  # high and low values
LAST = "#e8402a"  # marks the disc placed last
MOVE = "#ffd54a"  # tints the cells of the last move
CAPTION = 30  # height of a line under the board
CAPTION_SIZE = 17


def scene(
    game: Game,
    s: Any,
    last_action: Any = None,
    *,
    values: ArrayLike | None = None,
    captions: Sequence[str] | None = None,
) -> Scene:
    """Return the picture of a position.

    Args:
        game: whose layout is drawn.
        s: one record.
        last_action: the action of the last ply, marked if actions are cells, columns or moves.
        values: a number to show in each empty cell, NaN for none, as a heat map: shape
            `[rows, columns]`, or `[num_actions]` if actions are cells or columns.
        captions: lines under the board; by default, one with the status of the game.

    Raises:
        ValueError: if `s` is not a position of this game or `values` have the wrong shape.
    """
    s = as_record(game, s)
    layout, place = game.layout, geometry(game.layout)
    codes = board_codes(game, s)
    shapes: list[Shape] = []
    if values is not None:
        shapes += _heat_map(layout, place, codes, _cell_values(game, codes, values))
    last = _last_cell(layout, codes, last_action)
    if layout.moves and last_action is not None and 0 <= last_action < len(layout.moves):
        for cell in layout.moves[int(last_action)]:
            shapes.append(_tinted(layout, place, *divmod(cell, layout.columns)))
    shapes += _pieces(layout, place, codes, layout.paths(s) if layout.paths else [], last)
    lines: Sequence[Sequence[Part]] = (
        [status(game, s)] if captions is None else [[(None, line)] for line in captions]
    )
    for i, parts in enumerate(lines):
        shapes += _caption(game, parts, place.width, place.height + (i + 0.5) * CAPTION - 4)
    height = place.height + CAPTION * len(lines)
    return Scene(place.width, height, PAPER, _base(layout), tuple(shapes))


def cell_at(game: Game, x: float, y: float) -> tuple[int, int] | None:
    """Return the (row, column) of the cell under a pixel of the picture, None if there is none."""
    return geometry(game.layout).cell_at(x, y)


@cache
def _base(layout: Layout) -> tuple[Shape, ...]:
    """Draw the empty board and its coordinates."""
    place = geometry(layout)
    if layout.grid == "hexagons":
        board = _hexagon_board(layout, place)
    elif layout.column_actions:
        board = _board_with_holes(layout, place)
    else:
        board = _square_board(layout, place)
    return (*board, *_labels(layout, place))


def _square_board(layout: Layout, place: Geometry) -> list[Shape]:
    left, top, cell = place.left, place.top, place.cell
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
    thick = 2 if cell >= 24 else 1
    for row in range(1, layout.rows):
        y = top + row * cell
        shapes.append(Line((left, y), (left + width, y), layout.line, thick))
    for column in range(1, layout.columns):
        x = left + column * cell
        shapes.append(Line((x, top), (x, top + height), layout.line, thick))
    return shapes


def _board_with_holes(layout: Layout, place: Geometry) -> list[Shape]:
    """Draw the upright board that discs drop into."""
    edge = 8
    shapes: list[Shape] = [
        Rectangle(
            place.left - edge,
            place.top - edge,
            layout.columns * place.cell + 2 * edge,
            layout.rows * place.cell + 2 * edge,
            layout.background,
            14,
        )
    ]
    for row in range(layout.rows):
        for column in range(layout.columns):
            x, y = place.center(row, column)
            shapes.append(Circle(x, y, 0.42 * place.cell, PAPER, layout.line, 0.03 * place.cell))
    return shapes


def _hexagon_board(layout: Layout, place: Geometry) -> list[Shape]:
    shapes: list[Shape] = []
    if layout.edges is not None:
        outer = place.corners()
        for i, (color, inner) in enumerate(zip(layout.edges, _sides(place), strict=True)):
            outline = (outer[i], *inner, outer[(i + 1) % 4])
            shapes.append(Polygon(outline, color, layout.line, 1.5))
    thick = max(1.0, 0.03 * place.cell)
    for row in range(layout.rows):
        for column in range(layout.columns):
            shapes.append(
                Polygon(place.outline(row, column), layout.background, layout.line, thick)
            )
    return shapes


def _sides(place: Geometry) -> tuple[tuple[Point, ...], ...]:
    """Return the zigzag sides of a rhombus, north, east, south and west, clockwise.

    The cells at the two obtuse corners have one side that two edges share: it is cut in half.
    """
    last_row, last_column = place.rows - 1, place.columns - 1
    top = [place.outline(0, c) for c in range(place.columns)]
    right = [place.outline(r, last_column) for r in range(place.rows)]
    bottom = [place.outline(last_row, c) for c in range(place.columns)]
    left = [place.outline(r, 0) for r in range(place.rows)]
    northeast = _middle(top[-1][1], top[-1][2])
    southwest = _middle(bottom[0][4], bottom[0][5])
    north = [corner for cell in top for corner in cell[:2]]
    east = [corner for cell in right for corner in cell[2:4]]
    south = [corner for cell in reversed(bottom) for corner in cell[3:5]]
    west = [corner for cell in reversed(left) for corner in (cell[5], cell[0])]
    return (
        (*north, northeast),
        (northeast, *east, right[-1][4])[: 2 * place.rows + 1],
        (*south, southwest),
        (southwest, *west),
    )


def _middle(p: Point, q: Point) -> Point:
    return (p[0] + q[0]) / 2, (p[1] + q[1]) / 2


def _labels(layout: Layout, place: Geometry) -> list[Shape]:
    if layout.coordinates == "none":
        return []
    size = min(15.0, 0.7 * place.cell)
    shapes: list[Shape] = []
    for column in range(layout.columns):
        x, y = place.center(0, column)
        name = chr(ord("a") + column)
        if layout.grid == "hexagons":
            # Where the slanted column would continue, past the edge.
            up = place.side + BAND * place.cell + LABEL / 2
            x, y = x - place.cell / 2, y - up
        elif layout.column_actions:
            y = place.top + layout.rows * place.cell + LABEL / 2 + 5
            name = str(column + 1)
        else:
            y = place.top - LABEL / 2 - 2
        shapes.append(Text(x, y, name, size, FAINT))
    for row in range(0 if layout.column_actions else layout.rows):
        _, y = place.center(row, 0)
        side = place.west(y) if layout.grid == "hexagons" else place.left - 2
        shapes.append(Text(side - LABEL / 2, y, layout.row_name(row), size, FAINT))
    return shapes


def _cell_values(game: Game, codes: NDArray[np.int8], values: ArrayLike) -> NDArray[np.float64]:
    """Return values by cell, NaN where there is none."""
    layout = game.layout
    array = np.asarray(values, np.float64)
    if array.shape == (game.num_actions,) and layout.cell_actions:
        return array[: codes.size].reshape(codes.shape)
    if array.shape == (game.num_actions,) and layout.column_actions:
        by_cell = np.full(codes.shape, np.nan)
        for column, value in enumerate(array):
            empty = np.flatnonzero(codes[:, column] == 0)
            if len(empty):
                by_cell[empty[-1], column] = value
        return by_cell
    if array.shape != codes.shape:
        raise ValueError(f"values must have shape {codes.shape}, got {array.shape}")
    return array


def _heat_map(
    layout: Layout, place: Geometry, codes: NDArray[np.int8], values: NDArray[np.float64]
) -> list[Shape]:
    shown = np.isfinite(values) & (codes == 0)
    largest = float(np.abs(values[shown]).max(initial=0)) or 1.0
    shapes: list[Shape] = []
    for row, column in np.argwhere(shown).tolist():
        value = float(values[row, column])
        x, y = place.center(row, column)
        share = 0.15 + 0.75 * abs(value) / largest
        fill = mix("#ffffff", GOOD if value >= 0 else BAD, share)
        if layout.column_actions:
            shapes.append(Circle(x, y, 0.4 * place.cell, fill))
        else:
            shapes.append(_cell(layout, place, row, column, fill))
        size = min(20.0, 0.27 * place.cell)
        shapes.append(Text(x, y, f"{value:.2f}", size, "#ffffff" if is_dark(fill) else INK))
    return shapes


def _cell(layout: Layout, place: Geometry, row: int, column: int, fill: str) -> Shape:
    """Fill a cell up to the lines around it."""
    if layout.grid == "hexagons":
        return Polygon(place.outline(row, column), fill, layout.line, max(1.0, 0.03 * place.cell))
    x, y = place.outline(row, column)[0]
    return Rectangle(x + 1, y + 1, place.cell - 2, place.cell - 2, fill)


def _tinted(layout: Layout, place: Geometry, row: int, column: int) -> Shape:
    return _cell(layout, place, row, column, mix(layout.background, MOVE, 0.55))


def _last_cell(layout: Layout, codes: NDArray[np.int8], last_action: Any) -> tuple[int, int] | None:
    """Return the cell that the last action changed, if it changed one cell."""
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
    place: Geometry,
    codes: NDArray[np.int8],
    paths: list[list[int]],
    last: tuple[int, int] | None,
) -> list[Shape]:
    shapes: list[Shape] = []
    heading: dict[tuple[int, int], Point] = {}
    for player, path in enumerate(paths):
        if path:
            piece = next(p for p in layout.pieces if p.player == player and p.shape == "body")
            joined, heading[divmod(path[0], layout.columns)] = body(place, piece, path)
            shapes += joined
    for row, column in np.argwhere(codes).tolist():
        piece = layout.pieces[codes[row, column] - 1]
        if piece.shape == "body" and paths:
            continue
        x, y = place.center(row, column)
        if (row, column) == last and piece.shape != "disc":
            shapes.append(_tinted(layout, place, row, column))
        shapes += piece_shapes(piece, x, y, place.cell, heading.get((row, column)))
        if (row, column) == last and piece.shape == "disc":
            mark = LAST if difference(piece.color, LAST) > 100 else "#ffffff"
            shapes.append(Circle(x, y, 0.09 * place.cell, mark))
    return shapes


def _caption(game: Game, parts: Sequence[Part], width: int, y: float) -> list[Shape]:
    """Write a centered line; a part about a player begins with his piece."""
    icon, gap = 1.5, 1.3  # in font sizes
    room = sum(CHARACTER * len(text) + (icon if p is not None else 0) for p, text in parts)
    room += gap * (len(parts) - 1)
    size = min(CAPTION_SIZE, (width - 20) / max(room, 1))
    x = (width - room * size) / 2
    if len(parts) == 1 and parts[0][0] is None:
        return [Text(width / 2, y, parts[0][1], size, INK)]
    shapes: list[Shape] = []
    for player, text in parts:
        if player is not None:
            piece = player_piece(game, player)
            shapes += piece_shapes(piece, x + 0.6 * size, y, 1.45 * size)
            x += icon * size
        shapes.append(Text(x, y, text, size, INK, "left"))
        x += (CHARACTER * len(text) + gap) * size
    return shapes
