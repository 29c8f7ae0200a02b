"""Boards as plain text."""

from collections.abc import Sequence
from typing import Any

from ludoteca.envs.game import Game
from ludoteca.envs.layout import Layout
from ludoteca.envs.render.status import as_record, board_codes, status_text

EMPTY = "."


def board_text(
    game: Game, s: Any, last_action: Any = None, *, captions: Sequence[str] | None = None
) -> str:
    """Return the board, one line per row, and a line with the status of the game.

    Args:
        game: the game.
        s: the position, one record of the game.
        last_action: the action of the last ply of a sequential game, to be named in the status.
        captions: lines under the board instead of the status.

    Raises:
        ValueError: if `s` is not a position of this game.
    """
    s = as_record(game, s)
    letters = [EMPTY, *(piece.letter for piece in game.layout.pieces)]
    rows = [[letters[code] for code in row] for row in board_codes(game, s)]
    lines_of = _rhombus if game.layout.grid == "hexagons" else _rectangle
    lines_below = [status_text(game, s, last_action)] if captions is None else captions
    lines = [*lines_of(game.layout, rows), *lines_below]
    return "\n".join(line.rstrip() for line in lines)


def _rectangle(layout: Layout, rows: list[list[str]]) -> list[str]:
    """Return the lines of a square board; `rows` has the letter of each cell."""
    if layout.column_actions:
        width = len(str(layout.columns))
        numbers = [str(c + 1) for c in range(layout.columns)]
        return [_join(row, width) for row in (*rows, numbers)]
    if layout.coordinates == "none":
        return [_join(row, 1) for row in rows]
    margin = len(str(layout.rows))
    header = " " * (margin + 1) + _join(_column_letters(layout), 1)
    lines = [f"{layout.row_name(r):>{margin}} {_join(row, 1)}" for r, row in enumerate(rows)]
    return [header, *lines]


def _rhombus(layout: Layout, rows: list[list[str]]) -> list[str]:
    """Return the lines of a hexagon board, with the names of the owners of its sides.

    `rows` has the letter of each cell. Each row is shifted by half a cell, one character.
    """
    north, east, south, west = _sides(layout)
    margin = len(str(layout.rows))
    indent = len(west) + 1 if west else 0
    width = 2 * layout.columns - 1
    letters = _join(_column_letters(layout), 1)
    lines = []
    if north:
        lines.append(" " * (indent + margin + 1) + north.center(width))
    lines.append(" " * (indent + margin + 1) + letters)
    for r, row in enumerate(rows):
        middle = r == len(rows) // 2
        start = (west if middle else "").ljust(indent)
        number = layout.row_name(r)
        line = f"{start}{' ' * r}{number:>{margin}} {_join(row, 1)} {number}"
        lines.append(f"{line} {east}" if middle else line)
    shift = " " * (indent + margin + 1 + layout.rows)
    lines.append(shift + letters)
    if south:
        lines.append(shift + south.center(width))
    return lines


def _sides(layout: Layout) -> tuple[str, ...]:
    """Return the names of the owners of the north, east, south and west sides."""
    owners = {piece.color: piece.name for piece in layout.pieces}
    return tuple(owners.get(color, "") for color in layout.edges or ("",) * 4)


def _column_letters(layout: Layout) -> list[str]:
    return [chr(ord("a") + c) for c in range(layout.columns)]


def _join(items: list[str], width: int) -> str:
    return " ".join(f"{item:>{width}}" for item in items)
