"""Layouts of games from rule sheets: a board, or a cell for each fluent."""

import math
from typing import Any

import numpy as np

from ludoteca.envs.gdl.board_actions import BoardActions
from ludoteca.envs.gdl.board_pieces import COLORS, make_pieces
from ludoteca.envs.gdl.boards import NO_CELL, Board
from ludoteca.envs.gdl.network import Network
from ludoteca.envs.layout import Layout, Piece

LETTERS = "ABCDEFGH"  # of the players in text rendering, without a board
MAX_NAMED = 26  # columns that renderers can label


def board_layout(
    network: Network, board: Board, empty: tuple[int, ...], actions: BoardActions
) -> Layout:
    """Return the layout of a board.

    Of several pieces in a cell, the one of the plane with the fewest fluents in the initial state
    is shown: a rider in front of a wall.

    Args:
        network: the network.
        board: its board.
        empty: planes whose fluents say that a cell is empty.
        actions: its actions.
    """
    players = tuple(network.roles[r] for r in network.players)
    pieces, codes = make_pieces(board, players, empty)
    counts = np.bincount(board.plane_of[network.initial], minlength=len(board.planes))
    code_of = codes[board.plane_of]
    shown = np.flatnonzero((code_of > 0) & (board.cell_of != NO_CELL))
    shown = shown[np.argsort(-counts[board.plane_of[shown]], kind="stable")]  # front comes last
    rows, columns, num_fluents = board.rows, board.columns, len(network.fluents)

    def cells(s: Any) -> Any:
        true = shown[fluent_bits(s, num_fluents)[shown]]
        result = np.zeros(rows * columns, np.int8)
        result[board.cell_of[true]] = code_of[true]
        return result.reshape(rows, columns)

    upright = {"background": "#3b6ea5", "line": "#2c5480"}
    checkered = {"background": "#efdfbf", "dark": "#dcc094", "line": "#b58d5b"}
    is_checkered = any(start != end for start, end in actions.moves)
    colors: dict[str, Any] = (
        upright if actions.kind == "columns" else checkered if is_checkered else {}
    )
    return Layout(
        "squares",
        rows,
        columns,
        pieces,
        cells,
        cell_actions=actions.kind == "cells",
        column_actions=actions.kind == "columns",
        moves=actions.moves,
        coordinates="a1 bottom" if _has_usual_names(board) else "none",
        **colors,
    )


def _has_usual_names(board: Board) -> bool:
    """Return whether columns are named by letters from a or numbers from 1, and rows by numbers."""
    letters = tuple(chr(ord("a") + i) for i in range(board.columns))
    numbers = tuple(str(i + 1) for i in range(max(board.columns, board.rows)))
    names = tuple(name.lower() for name in board.column_names)
    usual = names == letters or names == numbers[: board.columns]
    return (
        usual and board.columns <= MAX_NAMED and board.row_names == numbers[: len(board.row_names)]
    )


def fluent_layout(network: Network) -> Layout:
    """Return a layout that shows every fluent as a cell, row after row."""
    size = len(network.fluents)
    columns = max(1, math.isqrt(max(size - 1, 0)) + 1)
    rows = max(1, -(-size // columns))
    pieces = [Piece("#", "true", "square", "#3f4a5a")]
    # No cell shows the pieces of the players: they give the players' names and colors.
    for p, r in enumerate(network.players):
        pieces.append(Piece(LETTERS[p], network.roles[r], "disc", COLORS[p], p))

    def cells(s: Any) -> Any:
        shown = np.zeros(rows * columns, np.int8)
        shown[:size] = fluent_bits(s, size)
        return shown.reshape(rows, columns)

    return Layout("squares", rows, columns, tuple(pieces), cells, coordinates="none")


def fluent_bits(s: Any, num_fluents: int) -> Any:
    """Return whether each fluent is true in a record. Shape `[num_fluents]`."""
    words = np.asarray(s["fluents"]).astype("<u8")
    return np.unpackbits(words.view(np.uint8), bitorder="little")[:num_fluents].astype(np.bool_)
