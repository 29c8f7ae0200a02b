"""Placement of the board and the panel in a window of any size."""

from collections.abc import Iterable
from dataclasses import dataclass

from ludoteca.envs.render.shapes import Shape, scaled, shifted
from ludoteca.evaluate.play.panel import MIN_HEIGHT, WIDTH, ClickArea

# The window scales the picture if their sizes differ.
MIN_PICTURE_SIZE = 560, 560  # width and height in pixels, even if the window is smaller
MAX_PIXELS = 4_000_000  # of the picture, even if the window is larger
MAX_PANEL_SCALE = 2.0


@dataclass(frozen=True)
class Placement:
    """Scale and top left corner of a picture within another one."""

    scale: float
    left: float
    top: float

    def place(self, shapes: Iterable[Shape]) -> tuple[Shape, ...]:
        """Return shapes of the inner picture, in the coordinates of the outer one."""
        if self.scale != 1:
            shapes = (scaled(shape, self.scale) for shape in shapes)
        return tuple(shifted(shape, self.left, self.top) for shape in shapes)

    def place_area(self, area: ClickArea) -> ClickArea:
        """Return an area of the inner picture, in the coordinates of the outer one."""
        scale, x, y = self.scale, area.x, area.y
        return ClickArea(
            self.left + scale * x,
            self.top + scale * y,
            scale * area.width,
            scale * area.height,
            area.key,
        )

    def inverse(self, x: float, y: float) -> tuple[float, float]:
        """Return the point of the inner picture at a point of the outer one."""
        return (x - self.left) / self.scale, (y - self.top) / self.scale


@dataclass(frozen=True)
class WindowLayout:
    """Placements of the board and, to its right, of the panel.

    Attributes:
        width: width of the picture in pixels.
        height: height of the picture in pixels.
        board: placement of the board.
        panel: placement of the panel, whose own width is `panel.WIDTH`.
        panel_height: height of the panel before it is scaled.
    """

    width: int
    height: int
    board: Placement
    panel: Placement
    panel_height: float


def window_layout(
    board_width: int, board_height: int, size: tuple[int, int] | None = None
) -> WindowLayout:
    """Return the layout of a window, with the largest board that fits beside the panel.

    Args:
        board_width: width of the board's picture in pixels.
        board_height: height of the board's picture in pixels.
        size: width and height of the window; by default that of the board beside a panel, both
            unscaled.
    """
    natural = board_width + WIDTH, max(board_height, MIN_HEIGHT)
    width, height = natural if size is None else _bounded(size)
    # The panel grows with the window. It shrinks only in windows lower than its content.
    min_scale = min(1.0, height / MIN_HEIGHT)
    panel_scale = min(max(min(width / natural[0], height / natural[1]), min_scale), MAX_PANEL_SCALE)
    panel_left = width - WIDTH * panel_scale
    scale = min(panel_left / board_width, height / board_height)
    left, top = (panel_left - scale * board_width) // 2, (height - scale * board_height) // 2
    return WindowLayout(
        width,
        height,
        Placement(scale, left, top),
        Placement(panel_scale, panel_left, 0),
        height / panel_scale,
    )


def _bounded(size: tuple[int, int]) -> tuple[int, int]:
    """Return the size of the picture for a window of `size`, within the bounds of this module."""
    width, height = max(size[0], MIN_PICTURE_SIZE[0]), max(size[1], MIN_PICTURE_SIZE[1])
    shrink = min(1.0, (MAX_PIXELS / (width * height)) ** 0.5)
    return int(width * shrink), int(height * shrink)
