"""Boards in color for terminals, by rich; `text` has them as plain text."""

from itertools import pairwise
from typing import Any

from rich.style import Style
from rich.text import Text

from ludoteca.envs.game import Game
from ludoteca.envs.layout import Layout, Piece
from ludoteca.envs.render.shapes import is_dark
from ludoteca.envs.render.status import as_record, board_codes

EMPTY = "·"
SYMBOLS = {"disc": "●", "ring": "○", "cross": "X", "square": "■", "body": "■", "food": "●"}
# Which sides a piece of a body is joined to: 1 north, 2 east, 4 south, 8 west.
NORTH, EAST, SOUTH, WEST = 1, 2, 4, 8
JOINTS = " ╹╺┗╻┃┏┣╸┛━┻┓┫┳╋"
ARMS = {(-1, 0): NORTH, (0, 1): EAST, (1, 0): SOUTH, (0, -1): WEST}


def terminal_board(game: Game, s: Any, *, plain: bool = False) -> Text:
    """Return the board in its colors; a cell is two characters wide, so that it is nearly square.

    Args:
        game: whose layout is drawn.
        s: one record.
        plain: draw pieces as letters, as `board_text` does, for terminals with ASCII only.

    Raises:
        ValueError: if `s` is not a position of this game.
    """
    s = as_record(game, s)
    layout, codes = game.layout, board_codes(game, s)
    arms = _arms(layout, s)
    margin = 0 if layout.column_actions or layout.coordinates == "none" else len(str(layout.rows))
    board = Text(no_wrap=True, overflow="crop")
    if margin:
        board.append(" " * (margin + 2) + _column_names(layout) + "\n", Style(dim=True))
    for row in range(layout.rows):
        shift = " " * row if layout.grid == "hexagons" else ""
        board.append(shift)
        if margin:
            board.append(f"{layout.row_name(row):>{margin}} ", Style(dim=True))
        for column in range(layout.columns):
            code = codes[row, column]
            piece = layout.pieces[code - 1] if code else None
            joint = arms.get(row * layout.columns + column, 0)
            ground = _ground(layout, row, column)
            if column == 0:
                _append_gap(board, piece, bool(joint & WEST) and not plain, ground)
            _append_cell(board, piece, joint, ground, layout.line, plain)
            _append_gap(board, piece, bool(joint & EAST) and not plain, ground)
        board.append("\n")
    if layout.column_actions:
        board.append(" " + _column_names(layout) + "\n", Style(dim=True))
    board.right_crop(1)  # the end of the last line
    return board


def piece_symbol(game: Game, piece: Piece, *, plain: bool = False) -> Text:
    """Return a piece as it stands on the board, between two spaces."""
    layout, text = game.layout, Text()
    _append_gap(text, None, False, layout.background)
    _append_cell(text, piece, 0, layout.background, layout.line, plain)
    _append_gap(text, None, False, layout.background)
    return text


def _append_gap(board: Text, piece: Piece | None, is_joined: bool, ground: str) -> None:
    """Write what is between two cells: a piece of a body, or nothing."""
    color = piece.color if piece is not None and is_joined else None
    board.append("━" if is_joined else " ", Style(color=color, bgcolor=ground, bold=True))


def _append_cell(
    board: Text, piece: Piece | None, joint: int, ground: str, line: str, plain: bool
) -> None:
    """Write one character for a cell, as it is joined to its neighbors."""
    if piece is None:
        board.append("." if plain else EMPTY, Style(color=line, bgcolor=ground))
    elif piece.shape == "head":
        ink = "#ffffff" if is_dark(piece.color) else "#1b1b1b"
        board.append(piece.letter, Style(color=ink, bgcolor=piece.color, bold=True))
    elif plain:
        board.append(piece.letter, Style(color=piece.color, bgcolor=ground, bold=True))
    else:
        symbol = JOINTS[joint] if joint else SYMBOLS[piece.shape]
        board.append(symbol, Style(color=piece.color, bgcolor=ground, bold=True))


def _arms(layout: Layout, s: Any) -> dict[int, int]:
    """Return the sides to which bodies continue from each of their cells, also over the border."""
    arms: dict[int, int] = {}
    for path in layout.paths(s) if layout.paths else []:
        for cell, behind in pairwise(path):
            step = (
                _around(cell // layout.columns - behind // layout.columns, layout.rows),
                _around(cell % layout.columns - behind % layout.columns, layout.columns),
            )
            arms[behind] = arms.get(behind, 0) | ARMS[step]
            arms[cell] = arms.get(cell, 0) | ARMS[-step[0], -step[1]]
    return arms


def _around(step: int, size: int) -> int:
    """Return the step of -1, 0 or 1 that is equal to `step` modulo `size`."""
    return (step + 1) % size - 1


def _ground(layout: Layout, row: int, column: int) -> str:
    is_dark_cell = layout.dark is not None and (layout.rows - row + column) % 2
    return layout.dark if is_dark_cell and layout.dark else layout.background


def _column_names(layout: Layout) -> str:
    if layout.column_actions:
        return "".join(f"{(column + 1) % 100:<2}" for column in range(layout.columns))
    return "".join(f"{chr(ord('a') + column)} " for column in range(layout.columns))
