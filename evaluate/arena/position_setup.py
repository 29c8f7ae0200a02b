"""Position editor: its pieces and fixed cells, and validated positions from edited cells.

The code of a cell is 0 if it is empty, else the number of its piece in `Layout.pieces`, from 1.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.layout import cell_names
from ludoteca.envs.render.geometry import board_geometry
from ludoteca.envs.render.pieces import piece_shapes
from ludoteca.envs.render.status import board_codes, player_name, status_text
from ludoteca.envs.render.svg import svg_elements
from ludoteca.envs.serialization import validate_states
from ludoteca.evaluate.arena.record_writers import WRITERS, Cells, place_pieces
from ludoteca.evaluate.play.history import copy_position

ICON = 24  # pixels of a piece in the list


def editor_view(game: Game, s: Any) -> dict[str, Any]:
    """Return the pieces, cells and players of the position editor, as JSON values.

    `cells` are the codes of position `s`, `start` those of the starting position, and `fixed` those
    that are the same in every position (else 0). The `svg` of a piece is drawn on the board and
    centered on the origin, its `icon` is for the list; `is_offered` says whether the list has it.
    `player` is the player to move.
    """
    fixed, start = _fixed_cells(game), board_codes(game, game.new())
    geometry = board_geometry(game.layout)
    pieces = [
        {
            "code": code,
            "name": piece.name,
            "svg": "".join(svg_elements(piece_shapes(piece, 0, 0, geometry.cell))),
            "icon": "".join(svg_elements(piece_shapes(piece, ICON / 2, ICON / 2, ICON))),
            "is_offered": _is_offered(game, code, start),
        }
        for code, piece in enumerate(game.layout.pieces, 1)
    ]
    over = bool(game.is_terminal(s))
    return {
        "cells": board_codes(game, s).ravel().tolist(),
        "start": start.ravel().tolist(),
        "fixed": fixed.ravel().tolist(),
        "pieces": pieces,
        "players": [] if game.player is None else _player_names(game),
        "player": 0 if game.player is None or over else int(game.player(s)),
    }


@lru_cache(256)
def can_be_edited(game: Game) -> bool:
    """Return whether positions of a game can be made from cells."""
    return game.name in WRITERS or _places_pieces(game)


def position_from_cells(game: Game, s: Any, cells: Any, player: int) -> Any:
    """Return the position whose board shows the given cells.

    Args:
        game: the game.
        s: the position that was edited; what the board does not show is kept.
        cells: code of each cell, row by row; see `Layout.cells`.
        player: the player to move; 0 in simultaneous games.

    Raises:
        ValueError: with the reason, if there is no such position, or the game is over in it.
    """
    codes = _as_codes(game, cells)
    if not can_be_edited(game):
        raise ValueError(f"positions of {game.title} can only be set up as JSON")
    try:
        return _position(game, s, codes, player)
    except ValueError as error:
        for other in range(game.num_players if game.player is not None else 0):
            if other != player and _is_possible(game, s, codes, other):
                name = player_name(game, other)
                raise ValueError(f"{error}; with {name} to move it is possible") from None
        raise


@np.errstate(over="ignore")  # game kernels may rely on integer overflow
def _position(game: Game, s: Any, cells: Cells, player: int) -> Any:
    """Return `s` with the given cells and player to move; raise `ValueError` if it is invalid."""
    edited = copy_position(game, s)
    WRITERS.get(game.name, place_pieces)(game, edited, cells, player)
    shown = board_codes(game, edited)
    if (shown != cells).any():
        row, column = np.argwhere(shown != cells)[0].tolist()
        name = _cell_name(game, row, column)
        raise ValueError(f"{_content_name(game, cells[row, column])} is impossible at {name}")
    problem = game.validate(edited)
    if problem and "winner" in (game.state.names or ()):
        # The position may be one in which a player has won.
        for winner in range(game.num_players):
            edited.winner = winner
            if not game.validate(edited):
                break
    if not game.validate(edited) and game.is_terminal(edited):
        raise ValueError(f"the game is over in this position: {status_text(game, edited)}")
    if problem:
        raise ValueError(problem)
    return validate_states(game, edited.reshape(1))[0]


def _is_possible(game: Game, s: Any, cells: Cells, player: int) -> bool:
    """Return whether the position is possible with this player to move; see `_position`."""
    try:
        _position(game, s, cells, player)
    except ValueError:
        return False
    return True


def _as_codes(game: Game, cells: Any) -> Cells:
    """Return cells of a message as codes.

    Raises:
        ValueError: if the number of cells or a code is wrong.
    """
    layout = game.layout
    size, highest = layout.rows * layout.columns, len(layout.pieces)
    if not isinstance(cells, list) or len(cells) != size:
        raise ValueError(f"expected the codes of {size} cells, got {cells!r:.80}")
    if not all(type(code) is int and 0 <= code <= highest for code in cells):
        raise ValueError(
            f"the codes of cells must be integers from 0 to {highest}, got {cells!r:.80}"
        )
    return np.array(cells, np.int8).reshape(layout.rows, layout.columns)


@np.errstate(over="ignore")
def _fixed_cells(game: Game) -> Cells:
    """Return the codes that a board without pieces shows, such as those of holes."""
    s, empty = game.new(), np.zeros((game.layout.rows, game.layout.columns), np.int8)
    try:
        WRITERS.get(game.name, place_pieces)(game, s, empty, 0)
    except ValueError:  # no position has an empty board, so no cell is taken as fixed
        return empty
    return board_codes(game, s)


@np.errstate(over="ignore")
def _is_offered(game: Game, code: int, start: Cells) -> bool:
    """Return whether a piece can be put on the board: it is a player's, or fits on an empty cell.

    `start` has the codes of the starting position.
    """
    if game.layout.pieces[code - 1].player >= 0 or not (start == 0).any():
        return True
    s, cells = game.new(), start.copy()
    cells.flat[np.flatnonzero(start == 0)[0]] = code
    try:
        WRITERS.get(game.name, place_pieces)(game, s, cells, 0)
    except ValueError:  # about the cells together, such as the number of pieces, not this piece
        return True
    return bool((board_codes(game, s) == cells).all())


@np.errstate(over="ignore")
def _places_pieces(game: Game) -> bool:
    """Return whether the board is empty at first, and each action places a piece of the mover."""
    layout, s = game.layout, game.new()
    owners = sorted(piece.player for piece in layout.pieces)
    is_placement = layout.cell_actions or layout.column_actions
    if game.simultaneous or not is_placement or owners != list(range(game.num_players)):
        return False
    if "to_move" not in (game.state.names or ()) or board_codes(game, s).any():
        return False
    for player in range(game.num_players):
        s = game.new()
        s.to_move = player
        legal = game.legal(s)
        if not legal:  # the record has other fields that depend on the player to move
            return False
        action = legal[0]
        game.step(s, action)
        codes = board_codes(game, s)
        cell = int(np.flatnonzero(codes)[0]) if codes.any() else -1
        placed_at = cell % layout.columns if layout.column_actions else cell
        is_own = layout.pieces[codes.flat[cell] - 1].player == player
        if np.count_nonzero(codes) != 1 or placed_at != action or not is_own:
            return False
    return True


def _player_names(game: Game) -> list[str]:
    return [player_name(game, player) for player in range(game.num_players)]


def _content_name(game: Game, code: int) -> str:
    return game.layout.pieces[code - 1].name if code else "an empty cell"


def _cell_name(game: Game, row: int, column: int) -> str:
    layout = game.layout
    if layout.coordinates == "none":
        return f"row {row + 1}, column {column + 1}"
    return cell_names(layout.rows, layout.columns, layout.coordinates)[
        row * layout.columns + column
    ]
