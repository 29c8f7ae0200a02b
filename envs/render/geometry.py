"""Geometry of a drawn board: positions of cells, in pixels from the top left corner."""

import math
from dataclasses import dataclass
from functools import cache

from ludoteca.envs.layout import Layout
from ludoteca.envs.render.shapes import Point

# Lengths are in pixels.
LONGER_SIDE = 640  # approximate longer side of a board, unless its cells would get too large
MAX_CELL = {"squares": 128, "hexagons": 72}
MIN_CELL = 8
MARGIN = 16
LABEL_SIZE = 24  # space for coordinates
EDGE_WIDTH = 0.36  # width of the colored edges of a hexagon board, in cells
COS_30 = math.sqrt(3) / 2
SLOPE = 1 / math.sqrt(3)  # of the sides of a rhombus: pixels to the right per pixel down


@dataclass(frozen=True)
class Geometry:
    """Positions of the cells of a board; `(left, top)` is the corner of their bounding box.

    A hexagon stands on a corner: it is `cell` wide and `2 * side` high. Each row of hexagons begins
    half a cell to the right of the row above.

    Attributes:
        grid: `"squares"` or `"hexagons"`.
        rows: number of rows.
        columns: number of columns.
        cell: width of a cell.
        left: smallest x of all cells.
        top: smallest y of all cells.
        width: width of the drawing.
        height: height of the drawing without the captions below it.
    """

    grid: str
    rows: int
    columns: int
    cell: int
    left: float
    top: float
    width: int
    height: int

    @property
    def side(self) -> float:
        """Length of the side of a hexagon."""
        return self.cell / math.sqrt(3)

    def center(self, row: float, column: float) -> Point:
        """Return the center of a cell."""
        if self.grid == "squares":
            return self.left + (column + 0.5) * self.cell, self.top + (row + 0.5) * self.cell
        x = self.left + (column + row / 2 + 0.5) * self.cell
        return x, self.top + (1.5 * row + 1) * self.side

    def outline(self, row: int, column: int) -> tuple[Point, ...]:
        """Return the corners of a cell, clockwise from the upper left one."""
        x, y = self.center(row, column)
        half = self.cell / 2
        if self.grid == "squares":
            corners = [(-half, -half), (half, -half), (half, half), (-half, half)]
        else:
            a = self.side
            corners = [
                (-half, -a / 2), (0, -a), (half, -a / 2), (half, a / 2), (0, a), (-half, a / 2),
            ]  # fmt: skip
        return tuple((x + dx, y + dy) for dx, dy in corners)

    def cell_at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return the (row, column) of the cell at a pixel, or None if there is none."""
        if self.grid == "squares":
            row = math.floor((y - self.top) / self.cell)
            column = math.floor((x - self.left) / self.cell)
        else:
            row, column = self._nearest_center(x, y)
        if 0 <= row < self.rows and 0 <= column < self.columns:
            return row, column
        return None

    def _nearest_center(self, x: float, y: float) -> tuple[int, int]:
        """Return the (row, column) of the hexagon at a pixel: the one with the nearest center."""
        row_guess = round(((y - self.top) / self.side - 1) / 1.5)
        candidates = []
        for row in (row_guess - 1, row_guess, row_guess + 1):
            column = round((x - self.left) / self.cell - row / 2 - 0.5)
            candidates.append((math.dist((x, y), self.center(row, column)), row, column))
        return min(candidates)[1:]

    def corners(self) -> tuple[Point, Point, Point, Point]:
        """Return the outer corners of the edges of a hexagon board: NW, NE, SE, SW."""
        edge = EDGE_WIDTH * self.cell
        north = self.top - edge
        south = self.top + (1.5 * self.rows + 0.5) * self.side + edge
        width = self.columns * self.cell + self.side * SLOPE + 2 * edge / COS_30
        (nw, ne), (sw, se) = ((self.west(y), self.west(y) + width) for y in (north, south))
        return (nw, north), (ne, north), (se, south), (sw, south)

    def west(self, y: float) -> float:
        """Return the x of the outer side of the west edge of a hexagon board, at height `y`."""
        # The edge runs past the lower left corners of the hexagons of column 0.
        x0, y0 = self.left, self.top + 1.5 * self.side
        return x0 + (y - y0) * SLOPE - EDGE_WIDTH * self.cell / COS_30


@cache
def board_geometry(layout: Layout) -> Geometry:
    """Return the geometry of a board."""
    grid, rows, columns = layout.grid, layout.rows, layout.columns
    label = LABEL_SIZE if layout.coordinates != "none" else 0
    # The longer side in cells.
    size = max(rows, columns) if grid == "squares" else columns + rows / 2 + 4 * EDGE_WIDTH
    # Even, so that half a cell is a whole number of pixels.
    cell = int(min(MAX_CELL[grid], max(MIN_CELL, LONGER_SIDE / size))) // 2 * 2
    if grid == "squares":
        above, below = (0, label) if layout.column_actions else (label, 0)
        corner = MARGIN + above  # the same on the left, for row numbers
        width = corner + columns * cell + MARGIN
        height = corner + rows * cell + below + MARGIN
        return Geometry(grid, rows, columns, cell, corner, corner, width, height)
    at_origin = Geometry(grid, rows, columns, cell, 0, 0, 0, 0)
    northwest, _, southeast, _ = at_origin.corners()
    left_label = at_origin.west(at_origin.side) - label
    left = MARGIN - min(northwest[0], left_label)
    top = MARGIN + label - northwest[1]
    width = math.ceil(left + southeast[0] + MARGIN)
    height = math.ceil(top + southeast[1] + MARGIN)
    return Geometry(grid, rows, columns, cell, left, top, width, height)
