"""Shapes, scenes made of them, and arithmetic on colors.

Coordinates and lengths are in pixels, from the top left corner; colors are strings `"#rrggbb"`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

Point = tuple[float, float]


@dataclass(frozen=True)
class Rectangle:
    """Filled rectangle with its top left corner at (x, y); `radius` rounds the corners."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    radius: float = 0


@dataclass(frozen=True)
class Polygon:
    """Filled polygon; the outline, if it has one, is centered on its sides."""

    points: tuple[Point, ...]
    fill: str
    outline: str | None = None
    outline_width: float = 1


@dataclass(frozen=True)
class Circle:
    """Circle around (x, y); the outline lies inside the radius. Without a fill it is a ring."""

    x: float
    y: float
    radius: float
    fill: str | None
    outline: str | None = None
    outline_width: float = 1


@dataclass(frozen=True)
class Line:
    """Straight line with flat ends."""

    start: Point
    end: Point
    color: str
    width: float = 1


@dataclass(frozen=True)
class Path:
    """Polyline through points, with flat ends and rounded bends."""

    points: tuple[Point, ...]
    color: str
    width: float = 1


@dataclass(frozen=True)
class Text:
    """Line of text with a font size of `size` pixels, vertically centered at y.

    `anchor` is the part of the text at x: `"middle"`, `"left"` (its beginning) or `"right"`.
    """

    x: float
    y: float
    text: str
    size: float
    color: str
    anchor: str = "middle"


Shape = Rectangle | Polygon | Circle | Line | Path | Text


@dataclass(frozen=True)
class Scene:
    """Drawing of a position, from which SVG and images are made.

    Attributes:
        width: width in pixels.
        height: height in pixels.
        paper: background color.
        base: shapes that are the same in every position of a game, drawn first.
        shapes: shapes that depend on the position, in drawing order.
    """

    width: int
    height: int
    paper: str
    base: tuple[Shape, ...]
    shapes: tuple[Shape, ...]

    def _repr_svg_(self) -> str:
        """Return the scene as SVG, for notebooks."""
        from ludoteca.envs.render.svg import svg  # here, because it imports this module

        return svg(self)


def channels(color: str) -> tuple[int, int, int]:
    """Return red, green and blue of `"#rrggbb"`, each from 0 to 255."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def mix(color: str, other: str, fraction: float) -> str:
    """Return the mixture of two colors, with `fraction` (0 to 1) of `other`."""
    pairs = zip(channels(color), channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * fraction):02x}" for a, b in pairs)


def is_dark(color: str) -> bool:
    """Return whether white is easier to read on `color` than black."""
    red, green, blue = channels(color)
    # Luma of ITU-R BT.601; the threshold is a little above half of 255.
    return 0.299 * red + 0.587 * green + 0.114 * blue < 150


def difference(color: str, other: str) -> int:
    """Return the L1 distance of two colors: 0 for equal ones, 765 for black and white."""
    pairs = zip(channels(color), channels(other), strict=True)
    return sum(abs(a - b) for a, b in pairs)


def colors(shape: Shape) -> set[str]:
    """Return the colors of a shape."""
    match shape:
        case Rectangle():
            used: tuple[str | None, ...] = (shape.fill,)
        case Polygon() | Circle():
            used = (shape.fill, shape.outline)
        case _:
            used = (shape.color,)
    return {color for color in used if color is not None}


def shifted(shape: Shape, x: float, y: float) -> Shape:
    """Return a shape shifted by (x, y)."""
    match shape:
        case Polygon() | Path():
            return replace(shape, points=tuple((a + x, b + y) for a, b in shape.points))
        case Line():
            (a, b), (c, d) = shape.start, shape.end
            return replace(shape, start=(a + x, b + y), end=(c + x, d + y))
        case _:
            return replace(shape, x=shape.x + x, y=shape.y + y)


def scaled(shape: Shape, factor: float) -> Shape:
    """Return a shape enlarged by a factor around the point (0, 0)."""

    def times(point: Point) -> Point:
        return point[0] * factor, point[1] * factor

    match shape:
        case Rectangle():
            x, y = times((shape.x, shape.y))
            width, height = times((shape.width, shape.height))
            return Rectangle(x, y, width, height, shape.fill, shape.radius * factor)
        case Polygon():
            points = tuple(map(times, shape.points))
            return replace(shape, points=points, outline_width=shape.outline_width * factor)
        case Circle():
            x, y = times((shape.x, shape.y))
            radius, width = times((shape.radius, shape.outline_width))
            return replace(shape, x=x, y=y, radius=radius, outline_width=width)
        case Line():
            start, end = times(shape.start), times(shape.end)
            return Line(start, end, shape.color, shape.width * factor)
        case Path():
            return Path(tuple(map(times, shape.points)), shape.color, shape.width * factor)
        case Text():
            x, y = times((shape.x, shape.y))
            return replace(shape, x=x, y=y, size=shape.size * factor)


def contact_sheet(scenes: Sequence[Scene], columns: int = 4) -> Scene:
    """Return one scene that shows several scenes of the same size in a grid, row by row."""
    width, height = scenes[0].width, scenes[0].height
    columns = min(columns, len(scenes))
    shapes = tuple(
        shifted(shape, k % columns * width, k // columns * height)
        for k, scene in enumerate(scenes)
        for shape in (*scene.base, *scene.shapes)
    )
    rows = -(-len(scenes) // columns)
    return Scene(columns * width, rows * height, scenes[0].paper, (), shapes)
