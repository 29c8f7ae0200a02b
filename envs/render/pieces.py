"""Shapes of each kind of piece."""

from itertools import pairwise

from ludoteca.envs.layout import Piece
from ludoteca.envs.render.geometry import Geometry
from ludoteca.envs.render.shapes import (
    Circle,
    Line,
    Path,
    Point,
    Polygon,
    Rectangle,
    Shape,
    Text,
    is_dark,
    mix,
)

BEAK = "#f2a33a"
LEAF = "#3f8f3a"


def piece_shapes(
    piece: Piece, x: float, y: float, cell: float, heading: Point | None = None
) -> list[Shape]:
    """Draw a piece centered on (x, y) of a cell `cell` pixels wide.

    `heading` is the unit step that a head looks along; without one it has no beak.
    """
    color, dark = piece.color, mix(piece.color, "#000000", 0.35)
    if piece.shape == "disc":
        rim = mix(color, "#ffffff", 0.25) if is_dark(color) else mix(color, "#000000", 0.45)
        return [Circle(x, y, 0.41 * cell, color, rim, max(1.0, 0.025 * cell))]
    if piece.shape == "cross":
        arm = 0.3 * cell
        return [
            Line((x - arm, y - sign * arm), (x + arm, y + sign * arm), color, 0.14 * cell)
            for sign in (1, -1)
        ]
    if piece.shape == "ring":
        return [Circle(x, y, 0.36 * cell, None, color, 0.13 * cell)]
    if piece.shape == "food":
        return [
            Line((x, y - 0.15 * cell), (x + 0.08 * cell, y - 0.36 * cell), LEAF, 0.07 * cell),
            Circle(x, y + 0.04 * cell, 0.25 * cell, color, dark, max(1.0, 0.03 * cell)),
        ]
    if piece.shape == "head":
        return _head(piece, x, y, cell, heading)
    gap = 0.04 * cell if piece.shape == "square" else 0.12 * cell
    width = cell - 2 * gap
    return [Rectangle(x - width / 2, y - width / 2, width, width, color, 0.12 * cell)]


def _head(piece: Piece, x: float, y: float, cell: float, heading: Point | None) -> list[Shape]:
    shapes: list[Shape] = []
    dark = mix(piece.color, "#000000", 0.35)
    if heading is not None:
        # A triangle from both sides of the head to a point near the border of the cell.
        (dx, dy), tip, base, half = heading, 0.56 * cell, 0.22 * cell, 0.24 * cell
        beak = (
            (x + dx * tip, y + dy * tip),
            (x + dx * base - dy * half, y + dy * base + dx * half),
            (x + dx * base + dy * half, y + dy * base - dx * half),
        )
        shapes.append(Polygon(beak, BEAK, mix(BEAK, "#000000", 0.3), max(1.0, 0.02 * cell)))
    shapes.append(Circle(x, y, 0.37 * cell, piece.color, dark, max(1.0, 0.035 * cell)))
    ink = "#ffffff" if is_dark(piece.color) else "#1b1b1b"
    shapes.append(Text(x, y, piece.letter, 0.46 * cell, ink))
    return shapes


def body(place: Geometry, piece: Piece, path: list[int]) -> tuple[list[Shape], Point]:
    """Draw a body through the cells of `path`, head first, and return where the head looks.

    Consecutive cells that are no neighbors are joined around the border of the board.
    """
    thick, rim = 0.5 * place.cell, max(1.0, 0.035 * place.cell)
    fill = mix(piece.color, "#ffffff", 0.25)
    dark = mix(piece.color, "#000000", 0.35)
    cells = [divmod(cell, place.columns) for cell in path]
    steps = [
        (_around(a[0] - b[0], place.rows), _around(a[1] - b[1], place.columns))
        for a, b in pairwise(cells)
    ]
    lines = [[place.center(*cells[0])]]
    for to, start, (down, right) in zip(cells, cells[1:], steps, strict=False):
        if (start[0] + down, start[1] + right) != to:  # up to one border, and on from the other
            lines[-1].append(place.center(to[0] - 0.5 * down, to[1] - 0.5 * right))
            lines.append([place.center(start[0] + 0.5 * down, start[1] + 0.5 * right)])
        lines[-1].append(place.center(*start))
    shapes: list[Shape] = []
    # The outline of the whole body first, so that no segment's outline crosses another.
    for color, width in ((dark, thick + 2 * rim), (fill, thick)):
        shapes += [Path(_bends(line), color, width) for line in lines if len(line) > 1]
        shapes.append(Circle(*place.center(*cells[-1]), width / 2, color))
    down, right = steps[0] if steps else (0, 1)
    return shapes, (right, down)


def _bends(line: list[Point]) -> tuple[Point, ...]:
    """Return the ends of a line, and its points where it turns from down or up to right or left."""
    turns = [
        here
        for before, here, after in zip(line, line[1:], line[2:], strict=False)
        if not (before[0] == here[0] == after[0] or before[1] == here[1] == after[1])
    ]
    return (line[0], *turns, line[-1])


def _around(step: int, size: int) -> int:
    """Return the step of -1, 0 or 1 that is equal to `step` modulo `size`."""
    return (step + 1) % size - 1
