"""Placement of the board and the panel in a window of any size."""

from collections.abc import Iterable
from dataclasses import dataclass

from ludoteca.envs.render.shapes import Shape, scaled, shifted
from ludoteca.evaluate.play.panel import LEAST_HEIGHT, WIDTH, ClickArea

LEAST_SIZE = 560, 560  # of a window in pixels; in a smaller one, the picture of this size is scaled
LARGEST_PANEL = 2.0  # scale of the panel
MOST_PIXELS = 4_000_000  # of a picture; in a larger window it is scaled


@dataclass(frozen=True)
class Placement:
    """Scale and top left corner of a picture within another one."""

    scale: float
    left: float
    top: float

    def place(self, shapes: Iterable[Shape]) -> tuple[Shape, ...]:
        """Return shapes of the inner picture in the outer one."""
        if self.scale != 1:
            shapes = (scaled(shape, self.scale) for shape in shapes)
        return tuple(shifted(shape, self.left, self.top) for shape in shapes)

    def place_area(self, area: ClickArea) -> ClickArea:
        """Return an area of the inner picture in the outer one."""
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
    """Return the layout of a window: the board is as large as it fits beside the panel.

    Args:
        board_width: width of the board's picture in pixels.
        board_height: height of the board's picture in pixels.
        size: width and height of the window; by default that of the board beside a panel, both
            unscaled.
    """
    natural = board_width + WIDTH, max(board_height, LEAST_HEIGHT)
    width, height = natural if size is None else _bounded(size)
    # In low windows the panel shrinks, so that its content fits; in large ones it grows, too.
    least = min(1.0, height / LEAST_HEIGHT)
    panel_scale = min(max(min(width / natural[0], height / natural[1]), least), LARGEST_PANEL)
    room = width - WIDTH * panel_scale
    scale = min(room / board_width, height / board_height)
    left, top = (room - scale * board_width) // 2, (height - scale * board_height) // 2
    return WindowLayout(
        width,
        height,
        Placement(scale, left, top),
        Placement(panel_scale, room, 0),
        height / panel_scale,
    )


def _bounded(size: tuple[int, int]) -> tuple[int, int]:
    """Return the size of the picture for a window, neither too small nor too large."""
    width, height = max(size[0], LEAST_SIZE[0]), max(size[1], LEAST_SIZE[1])
    shrink = min(1.0, (MOST_PIXELS / (width * height)) ** 0.5)
    return int(width * shrink), int(height * shrink)
