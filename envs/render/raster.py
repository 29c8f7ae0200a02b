"""Drawing of scenes by Pillow (the extra `render`): arrays of pixels, PNG and GIF files."""

import io
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.render.shapes import (
    Circle,
    Line,
    Path,
    Polygon,
    Rectangle,
    Scene,
    Shape,
    Text,
    channels,
    colors,
)
from ludoteca.envs.render.svg import check_frames

SCALE = 3  # images are drawn larger by this factor and averaged, for smooth edges


def rgb_array(scene: Scene) -> NDArray[np.uint8]:
    """Return the pixels of a scene, uint8, shape `[height, width, 3]`.

    Raises:
        ImportError: if Pillow is not installed.
    """
    return np.array(_image(scene), np.uint8)


def png(scene: Scene) -> bytes:
    """Return a scene as the bytes of a PNG file.

    Raises:
        ImportError: if Pillow is not installed.
    """
    file = io.BytesIO()
    image = _image(scene)
    # Flat colors and their blends at the edges fit a palette, at a third of the size.
    image.quantize(256, dither=_pillow("Image").Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()


def gif(scenes: Sequence[Scene], seconds: float = 0.6, last_seconds: float = 3.0) -> bytes:
    """Return an endless GIF animation, as the bytes of a file, with the scenes as its frames.

    Args:
        scenes: at least one, all with the same size and base.
        seconds: time for which each frame is shown.
        last_seconds: time for which the last frame is shown.

    Raises:
        ImportError: if Pillow is not installed.
        ValueError: if there is no scene, if sizes or bases differ, or if a time is not positive.
    """
    check_frames(scenes)
    if seconds <= 0 or last_seconds <= 0:
        raise ValueError(f"times must be positive, got {seconds} and {last_seconds}")
    pillow = _pillow("Image")
    frames = [_image(scene) for scene in scenes]
    palette = _palette(scenes, frames)
    frames = [frame.quantize(palette=palette, dither=pillow.Dither.NONE) for frame in frames]
    durations = [round(1000 * seconds)] * (len(frames) - 1) + [round(1000 * last_seconds)]
    file = io.BytesIO()
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0)
    return file.getvalue()


def _palette(scenes: Sequence[Scene], frames: Sequence[Any]) -> Any:
    """Return an image whose palette represents the colors of all frames.

    It is made from the first, the middle and the last frame, which contain the blends of colors at
    edges, and from stripes of the colors of all scenes, so that no frame lacks a color.
    """
    pillow = _pillow("Image")
    width, height = frames[0].size
    shapes = {shape for scene in scenes for shape in scene.shapes}
    palette = sorted({color for shape in shapes for color in colors(shape)})
    stripes = pillow.new("RGB", (1, max(1, len(palette))))
    stripes.putdata([channels(color) for color in palette])
    sample = pillow.new("RGB", (width, 4 * height))
    for i, frame in enumerate((frames[0], frames[len(frames) // 2], frames[-1])):
        sample.paste(frame, (0, i * height))
    sample.paste(stripes.resize((width, height), pillow.Resampling.NEAREST), (0, 3 * height))
    return sample.quantize(256)


def _image(scene: Scene) -> Any:
    """Return a scene as a Pillow image."""
    image = _base(scene.width, scene.height, scene.paper, scene.base).copy()
    _draw(image, scene.shapes)
    return image.reduce(SCALE)


@lru_cache(maxsize=2)  # few, because enlarged images take much memory
def _base(width: int, height: int, paper: str, shapes: tuple[Shape, ...]) -> Any:
    """Return the enlarged image of the shapes that all positions of a game share."""
    image = _pillow("Image").new("RGB", (width * SCALE, height * SCALE), paper)
    _draw(image, shapes)
    return image


def _draw(image: Any, shapes: Sequence[Shape]) -> None:
    """Draw shapes on an enlarged image."""
    draw = _pillow("ImageDraw").Draw(image)
    for shape in shapes:
        match shape:
            case Rectangle():
                box = _box(shape.x, shape.y, shape.x + shape.width, shape.y + shape.height)
                draw.rounded_rectangle(box, shape.radius * SCALE, shape.fill)
            case Polygon():
                points = [(x * SCALE, y * SCALE) for x, y in shape.points]
                draw.polygon(points, shape.fill)
                if shape.outline:
                    width = max(1, round(shape.outline_width * SCALE))
                    # Two points more, so that the last corner is rounded, too.
                    draw.line([*points, *points[:2]], shape.outline, width, "curve")
            case Circle():
                x, y, r = shape.x, shape.y, shape.radius
                width = max(1, round(shape.outline_width * SCALE)) if shape.outline else 0
                draw.ellipse(_box(x - r, y - r, x + r, y + r), shape.fill, shape.outline, width)
            case Line():
                _line(draw, shape)
            case Path():
                for start, end in pairwise(shape.points):
                    _line(draw, Line(start, end, shape.color, shape.width))
                r = shape.width / 2
                for x, y in shape.points[1:-1]:
                    draw.ellipse(_box(x - r, y - r, x + r, y + r), shape.color)
            case Text():
                anchor = {"left": "ls", "right": "rs"}.get(shape.anchor, "ms")
                # Vertically centered: capitals are about 0.7 font sizes high.
                position = (shape.x * SCALE, (shape.y + 0.35 * shape.size) * SCALE)
                draw.text(position, shape.text, shape.color, _font(shape.size), anchor)


def _line(draw: Any, line: Line) -> None:
    """Draw a line as a polygon, because Pillow's wide lines are a pixel off at some angles."""
    (x1, y1), (x2, y2) = line.start, line.end
    length = float(np.hypot(x2 - x1, y2 - y1))
    if length > 0:
        across_x = -(y2 - y1) / length * line.width / 2
        across_y = (x2 - x1) / length * line.width / 2
        corners = [
            (x1 + across_x, y1 + across_y),
            (x2 + across_x, y2 + across_y),
            (x2 - across_x, y2 - across_y),
            (x1 - across_x, y1 - across_y),
        ]
        # Pillow also fills the pixels on the sides: without the half pixel, lines are 1 too wide.
        draw.polygon([(x * SCALE - 0.5, y * SCALE - 0.5) for x, y in corners], line.color)


def _box(left: float, top: float, right: float, bottom: float) -> tuple[float, ...]:
    """Return an enlarged box for Pillow, whose boxes include the right and bottom pixels."""
    return left * SCALE, top * SCALE, right * SCALE - 1, bottom * SCALE - 1


@lru_cache(maxsize=64)
def _font(size: float) -> Any:
    return _pillow("ImageFont").load_default(size * SCALE)


def _pillow(module: str) -> Any:
    """Return a module of Pillow by name, imported when it is needed."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError as error:
        raise ImportError(
            'pixels need Pillow: pip install "ludoteca[render]" (text and SVG work without it)'
        ) from error
    return {"Image": Image, "ImageDraw": ImageDraw, "ImageFont": ImageFont}[module]
