"""Board layouts: descriptions of boards for renderers, which the rules do not use."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Shape = Literal["disc", "cross", "ring", "square", "head", "body", "food"]


@dataclass(frozen=True)
class Piece:
    """Kind of piece, such as a black disc.

    Attributes:
        letter: character on text boards, unique within a layout.
        name: displayed name, e.g. `"black"`.
        shape: shape in images; `"head"` and `"body"` are parts of a snake.
        color: color in images, `"#rrggbb"`.
        player: the player that owns it, or -1 for none.
    """

    letter: str
    name: str
    shape: Shape
    color: str
    player: int = -1


@dataclass(frozen=True)
class Layout:
    """Layout of a board, with its kinds of pieces and colors.

    Attributes:
        grid: `"squares"`, or `"hexagons"`: a rhombus in which each row is shifted by half a cell.
        rows: number of rows; row 0 is drawn on top.
        columns: number of columns; column 0 is drawn on the left.
        pieces: kinds of pieces; a cell with code k > 0 shows `pieces[k - 1]`, code 0 is empty.
        cells: `cells(s)` returns the codes of all cells of a position, int8 `[rows, columns]`.
        background: color of empty cells, `"#rrggbb"` like all colors.
        line: color of the lines between cells.
        edges: colors of the north, east, south and west sides of the board, if they belong to
            players, as in Hex.
        cell_actions: whether action `row * columns + column` is a move to that cell, so that users
            choose actions by clicking on cells.
        column_actions: whether action `c` is a move in column `c`, likewise.
        counts: plural of a player's pieces, such as `"discs"`, if renderers show their number; else
            empty.
        paths: `paths(s)` returns for each player the cells (`row * columns + column`) of its
            snake, head first, which are drawn connected; neighbors may be across the edges of a
            torus.
        coordinates: `"a1 top"`: rows are numbered from the top; `"a1 bottom"`: from the bottom, as
            in chess; `"none"`: no labels.
        moves: for games in which pieces move, the cells where each action's move starts and ends,
            which are the same if it places a piece; actions beyond this list, such as passing, move
            no piece.
        dark: color of the dark cells of a checkered board, such as the one at the bottom left.
    """

    grid: Literal["squares", "hexagons"]
    rows: int
    columns: int
    pieces: tuple[Piece, ...]
    cells: Callable[[Any], NDArray[np.int8]]
    background: str = "#f2e8d5"
    line: str = "#8a7f6d"
    edges: tuple[str, str, str, str] | None = None
    cell_actions: bool = False
    column_actions: bool = False
    counts: str = ""
    paths: Callable[[Any], list[list[int]]] | None = None
    coordinates: Literal["a1 top", "a1 bottom", "none"] = "a1 top"
    moves: tuple[tuple[int, int], ...] = ()
    dark: str | None = None

    def row_name(self, row: int) -> str:
        """Return the displayed number of a row."""
        return str(self.rows - row if self.coordinates == "a1 bottom" else row + 1)


def cell_names(rows: int, columns: int, coordinates: str = "a1 top") -> tuple[str, ...]:
    """Return the names of the cells, row by row from the top: column letter, then row number.

    Rows are numbered from the top, or from the bottom if `coordinates` is `"a1 bottom"`.
    """
    numbers = range(rows, 0, -1) if coordinates == "a1 bottom" else range(1, rows + 1)
    return tuple(f"{chr(ord('a') + c)}{number}" for number in numbers for c in range(columns))
