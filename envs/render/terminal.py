"""Boards in color for terminals, as text of `rich`; `ludoteca.envs.render.text` has plain text."""

from itertools import pairwise
from typing import Any

from rich.style import Style
from rich.text import Text

from ludoteca.envs.game import Game
from ludoteca.envs.layout import Layout, Piece
from ludoteca.envs.render.pieces import wrapped_step
from ludoteca.envs.render.shapes import is_dark
from ludoteca.envs.render.status import as_record, board_codes

EMPTY = "·"
SYMBOLS = {"disc": "●", "ring": "○", "cross": "X", "square": "■", "body": "■", "food": "●"}
# Bits for the sides on which a cell of a body (a snake) is connected to its next segments; the sum
# of a cell's bits is the index of its character in JOINTS.
NORTH, EAST, SOUTH, WEST = 1, 2, 4, 8
JOINTS = " ╹╺┗╻┃┏┣╸┛━┻┓┫┳╋"
SIDES = {(-1, 0): NORTH, (0, 1): EAST, (1, 0): SOUTH, (0, -1): WEST}


def terminal_board(game: Game, s: Any, *, plain: bool = False) -> Text:
    """Return the board in its colors; a cell is two characters wide, so that it is nearly square.

    Args:
        game: the game.
        s: the position, one record of the game.
        plain: whether to draw pieces as letters, as `board_text` does, for terminals that show only
            ASCII.

    Raises:
        ValueError: if `s` is not a position of this game.
    """
    s = as_record(game, s)
    layout, codes = game.layout, board_codes(game, s)
    joints = _joints(layout, s)
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
            joint = joints.get(row * layout.columns + column, 0)
            background = _background(layout, row, column)
            if column == 0:
                _append_gap(board, piece, bool(joint & WEST) and not plain, background)
            _append_cell(board, piece, joint, background, layout.line, plain)
            _append_gap(board, piece, bool(joint & EAST) and not plain, background)
        board.append("\n")
    if layout.column_actions:
        board.append(" " + _column_names(layout) + "\n", Style(dim=True))
    board.right_crop(1)  # the end of the last line
    return board


def piece_symbol(game: Game, piece: Piece, *, plain: bool = False) -> Text:
    """Return a piece as `terminal_board` draws it, between two spaces."""
    layout, text = game.layout, Text()
    _append_gap(text, None, False, layout.background)
    _append_cell(text, piece, 0, layout.background, layout.line, plain)
    _append_gap(text, None, False, layout.background)
    return text


def _append_gap(board: Text, piece: Piece | None, is_joined: bool, background: str) -> None:
    """Append the gap between two cells: a part of the body `piece` if joined, else a space."""
    color = piece.color if piece is not None and is_joined else None
    board.append("━" if is_joined else " ", Style(color=color, bgcolor=background, bold=True))


def _append_cell(
    board: Text, piece: Piece | None, joint: int, background: str, line: str, plain: bool
) -> None:
    """Append one character for a cell; `joint` has the bits of a body's connected sides."""
    if piece is None:
        board.append("." if plain else EMPTY, Style(color=line, bgcolor=background))
    elif piece.shape == "head":
        ink = "#ffffff" if is_dark(piece.color) else "#1b1b1b"
        board.append(piece.letter, Style(color=ink, bgcolor=piece.color, bold=True))
    elif plain:
        board.append(piece.letter, Style(color=piece.color, bgcolor=background, bold=True))
    else:
        symbol = JOINTS[joint] if joint else SYMBOLS[piece.shape]
        board.append(symbol, Style(color=piece.color, bgcolor=background, bold=True))


def _joints(layout: Layout, s: Any) -> dict[int, int]:
    """Return the bits of the connected sides of each cell of a body, by cell.

    Bodies may cross the border of the board (a torus).
    """
    joints: dict[int, int] = {}
    for path in layout.paths(s) if layout.paths else []:
        for cell, behind in pairwise(path):
            step = (
                wrapped_step(cell // layout.columns - behind // layout.columns, layout.rows),
                wrapped_step(cell % layout.columns - behind % layout.columns, layout.columns),
            )
            joints[behind] = joints.get(behind, 0) | SIDES[step]
            joints[cell] = joints.get(cell, 0) | SIDES[-step[0], -step[1]]
    return joints


def _background(layout: Layout, row: int, column: int) -> str:
    """Return the color of a cell, which may be that of the dark cells of a checkered board."""
    is_dark_cell = layout.dark is not None and (layout.rows - row + column) % 2
    return layout.dark if is_dark_cell and layout.dark else layout.background


def _column_names(layout: Layout) -> str:
    if layout.column_actions:
        return "".join(f"{(column + 1) % 100:<2}" for column in range(layout.columns))
    return "".join(f"{chr(ord('a') + column)} " for column in range(layout.columns))
