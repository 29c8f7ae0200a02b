"""Scenes as SVG documents: one position, or an animation of a game."""

from collections.abc import Sequence
from html import escape

from ludoteca.envs.render.shapes import (
    Circle,
    Line,
    Path,
    Point,
    Polygon,
    Rectangle,
    Scene,
    Shape,
    Text,
)

FONT = "Helvetica, Arial, sans-serif"


def svg(scene: Scene) -> str:
    """Return a scene as an SVG document without external references."""
    return _document(scene, [*map(_element, scene.base), *map(_element, scene.shapes)])


def svg_animation(scenes: Sequence[Scene], seconds: float = 0.6, last_seconds: float = 3.0) -> str:
    """Return an endless animation, one SVG document, with the scenes as its frames.

    Programs that cannot show animations show the last frame.

    Args:
        scenes: at least one, all with the same size and base.
        seconds: time for which each frame is shown.
        last_seconds: time for which the last frame is shown.

    Raises:
        ValueError: if there is no scene, if sizes or bases differ, or if a time is not positive.
    """
    check_frames(scenes)
    if seconds <= 0 or last_seconds <= 0:
        raise ValueError(f"times must be positive, got {seconds} and {last_seconds}")
    total = seconds * (len(scenes) - 1) + last_seconds
    body = [_element(shape) for shape in scenes[0].base]
    for i, scene in enumerate(scenes):
        final = i == len(scenes) - 1
        start, end = i * seconds / total, 1.0 if final else (i + 1) * seconds / total
        # Values of the attribute `display` from each time on, a fraction of the whole duration.
        times = {0.0: "none", start: "inline"} | ({} if final else {end: "none"})
        body.append(f'<g display="{"inline" if final else "none"}">')
        body.append(
            f'<animate attributeName="display" values="{";".join(times.values())}" '
            f'keyTimes="{";".join(f"{time:.5g}" for time in times)}" dur="{total:g}s" '
            'calcMode="discrete" repeatCount="indefinite"/>'
        )
        body += [_element(shape) for shape in scene.shapes]
        body.append("</g>")
    return _document(scenes[0], body)


def svg_elements(shapes: Sequence[Shape]) -> list[str]:
    """Return the SVG elements of shapes, without a document around them."""
    return [_element(shape) for shape in shapes]


def check_frames(scenes: Sequence[Scene]) -> None:
    """Check that scenes can be the frames of one animation.

    Raises:
        ValueError: if there is no scene, or if they differ in size or base.
    """
    if not scenes:
        raise ValueError("an animation needs at least one scene, got none")
    for i, scene in enumerate(scenes):
        size, expected = (scene.width, scene.height), (scenes[0].width, scenes[0].height)
        if size != expected or scene.base != scenes[0].base:
            raise ValueError(
                f"scene {i}, of size {size}, differs in size or base from the first, of size "
                f"{expected}: the scenes of an animation must agree in both"
            )


def _document(scene: Scene, body: list[str]) -> str:
    """Return an SVG document of the scene's size and background, with these elements."""
    width, height = scene.width, scene.height
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="{FONT}">',
            f'<rect width="{width}" height="{height}" fill="{scene.paper}"/>',
            *body,
            "</svg>\n",
        ]
    )


def _element(shape: Shape) -> str:
    """Return the SVG element of a shape."""
    match shape:
        case Rectangle():
            radius = f' rx="{_px(shape.radius)}"' if shape.radius else ""
            return (
                f'<rect x="{_px(shape.x)}" y="{_px(shape.y)}" width="{_px(shape.width)}" '
                f'height="{_px(shape.height)}" fill="{shape.fill}"{radius}/>'
            )
        case Polygon():
            points = _points(shape.points)
            outline = _stroke(shape.outline, shape.outline_width)
            return f'<polygon points="{points}" fill="{shape.fill}"{outline}/>'
        case Circle():
            # In SVG, half of the outline lies outside the radius.
            inside = shape.outline_width / 2 if shape.outline else 0
            return (
                f'<circle cx="{_px(shape.x)}" cy="{_px(shape.y)}" r="{_px(shape.radius - inside)}" '
                f'fill="{shape.fill or "none"}"{_stroke(shape.outline, shape.outline_width)}/>'
            )
        case Line():
            (x1, y1), (x2, y2) = shape.start, shape.end
            return (
                f'<line x1="{_px(x1)}" y1="{_px(y1)}" x2="{_px(x2)}" y2="{_px(y2)}"'
                f"{_stroke(shape.color, shape.width)}/>"
            )
        case Path():
            return (
                f'<polyline points="{_points(shape.points)}" fill="none" stroke-linejoin="round"'
                f"{_stroke(shape.color, shape.width)}/>"
            )
        case Text():
            anchor = {"left": "start", "right": "end"}.get(shape.anchor, "middle")
            baseline = shape.y + 0.35 * shape.size  # centers capitals, about 0.7 font sizes high
            return (
                f'<text x="{_px(shape.x)}" y="{_px(baseline)}" font-size="{_px(shape.size)}" '
                f'fill="{shape.color}" text-anchor="{anchor}">{escape(shape.text)}</text>'
            )


def _points(points: Sequence[Point]) -> str:
    return " ".join(f"{_px(x)},{_px(y)}" for x, y in points)


def _stroke(color: str | None, width: float) -> str:
    return f' stroke="{color}" stroke-width="{_px(width)}"' if color else ""


def _px(value: float) -> str:
    """Write a number of pixels with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
