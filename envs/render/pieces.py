"""Drawings of pieces, as shapes; lengths are fractions of the width of a cell."""

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

BEAK = "#f2a33a"  # color of the beak of a head, which shows its direction
LEAF = "#3f8f3a"  # color of the leaf of food


def piece_shapes(
    piece: Piece, x: float, y: float, cell: float, heading: Point | None = None
) -> list[Shape]:
    """Return the shapes of a piece centered at (x, y), in a cell that is `cell` pixels wide.

    `heading` is the direction of a head, as a step (x, y) of length 1; None draws no beak.
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
    """Return a disc with the piece's letter and a beak in the direction of `heading`."""
    shapes: list[Shape] = []
    dark = mix(piece.color, "#000000", 0.35)
    if heading is not None:
        # A triangle from two points of the head to a tip near the border of the cell.
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


def body_shapes(geometry: Geometry, piece: Piece, path: list[int]) -> tuple[list[Shape], Point]:
    """Return the shapes of a body through the cells of `path`, and the direction of its head.

    Consecutive cells that are not adjacent are connected across the border of the board (a torus).

    Args:
        geometry: positions of the cells.
        piece: the piece "body" of the player, for its color.
        path: cells `row * columns + column`, head first.

    Returns:
        The shapes, and the direction as a step (x, y) of length 1.
    """
    thickness, rim = 0.5 * geometry.cell, max(1.0, 0.035 * geometry.cell)
    fill = mix(piece.color, "#ffffff", 0.25)
    dark = mix(piece.color, "#000000", 0.35)
    cells = [divmod(cell, geometry.columns) for cell in path]
    steps = [
        (
            wrapped_step(front[0] - behind[0], geometry.rows),
            wrapped_step(front[1] - behind[1], geometry.columns),
        )
        for front, behind in pairwise(cells)
    ]
    lines = [[geometry.center(*cells[0])]]
    for front, behind, (down, right) in zip(cells, cells[1:], steps, strict=False):
        if (behind[0] + down, behind[1] + right) != front:  # the line crosses the border
            lines[-1].append(geometry.center(front[0] - 0.5 * down, front[1] - 0.5 * right))
            lines.append([geometry.center(behind[0] + 0.5 * down, behind[1] + 0.5 * right)])
        lines[-1].append(geometry.center(*behind))
    shapes: list[Shape] = []
    # First all outlines, then all fills, so that no outline crosses the body.
    for color, width in ((dark, thickness + 2 * rim), (fill, thickness)):
        shapes += [Path(_bends(line), color, width) for line in lines if len(line) > 1]
        shapes.append(Circle(*geometry.center(*cells[-1]), width / 2, color))
    down, right = steps[0] if steps else (0, 1)
    return shapes, (right, down)


def _bends(line: list[Point]) -> tuple[Point, ...]:
    """Return the end points of a polyline, and its points where it turns by 90 degrees."""
    turns = [
        point
        for before, point, after in zip(line, line[1:], line[2:], strict=False)
        if not (before[0] == point[0] == after[0] or before[1] == point[1] == after[1])
    ]
    return (line[0], *turns, line[-1])


def wrapped_step(step: int, size: int) -> int:
    """Return the step of -1, 0 or 1 that is equal to `step` modulo `size`, on a torus."""
    return (step + 1) % size - 1
