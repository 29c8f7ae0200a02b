"""Boards and positions as JSON values with SVG shapes, for the web page."""

from typing import Any

import numpy as np

from ludoteca.envs.formats.registry import FORMATS
from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.layout import cell_names
from ludoteca.envs.render import Standing, scene
from ludoteca.envs.render.geometry import board_geometry
from ludoteca.envs.render.pieces import piece_shapes
from ludoteca.envs.render.players import player_names
from ludoteca.envs.render.status import board_codes, player_name, player_piece, status_text
from ludoteca.envs.render.svg import svg_elements
from ludoteca.evaluate.arena.position_setup import can_be_edited

ICON = 24  # pixels of a player's piece


def board_view(game: Game) -> dict[str, Any]:
    """Return the description of a board, which is the same in all positions.

    `input` says how an action is entered on the board: by a click on its `"cell"` or `"column"`, by
    clicks on two cells (`"moves"`, where `moves` has the start and target of each action), or not
    at all (`"keys"`). Cells are numbered row by row. `base` is the SVG of the empty board, and
    `formats` has the suffixes of the file formats for replays of this game.
    """
    layout, geometry = game.layout, board_geometry(game.layout)
    start = scene(game, game.new(0), captions=())
    input_kind = "keys"
    if layout.column_actions:
        input_kind = "column"
    elif layout.cell_actions:
        input_kind = "cell"
    elif layout.moves:
        input_kind = "moves"
    return {
        "spec": game.spec,
        "name": game.name,
        "title": game.title,
        "simultaneous": game.simultaneous,
        "width": geometry.width,
        "height": geometry.height,
        "rows": layout.rows,
        "columns": layout.columns,
        "grid": layout.grid,
        "base": "".join(svg_elements(start.base)),
        "input": input_kind,
        "moves": [list(move) for move in layout.moves],
        "cells": _cells(game),
        "actions": list(game.action_names),
        "pieces": [piece.name for piece in layout.pieces],
        "can_be_edited": can_be_edited(game),
        "formats": [format_.suffix for format_ in FORMATS if game.name in format_.games],
        "players": [_player(game, p) for p in range(game.num_players)],
    }


@np.errstate(over="ignore")  # game kernels may rely on integer overflow
def position_view(
    game: Game, s: Any, ply: int, last_action: Any, standings: tuple[Standing, ...]
) -> dict[str, Any]:
    """Return a position: its shapes as SVG, the code of each cell, and its status in words.

    The code of a cell is 0 if it is empty, else 1 + the index of its piece in `Layout.pieces`.

    Args:
        game: the game.
        s: the position, a NumPy record.
        ply: number of plies before it.
        last_action: the action before it, of a simultaneous game a joint action; None at the start.
        standings: standing of each player, or empty if they are not shown.
    """
    marked = None if game.simultaneous else last_action  # joint actions are not marked
    drawn = scene(game, s, marked, captions=())
    over = bool(game.is_terminal(s))
    legal: list[Any] = [] if over or game.simultaneous else game.legal(s)
    return {
        "ply": ply,
        "svg": "".join(svg_elements(drawn.shapes)),
        "codes": board_codes(game, s).ravel().tolist(),
        "last": None if last_action is None else action_text(game, last_action),
        "status": status_text(game, s),
        "legal": legal,
        "over": over,
        "standing": [{"text": standing.text, "out": standing.is_out} for standing in standings],
    }


def action_text(game: Game, action: Any) -> str:
    """Return the name of an action; of a joint action, the names joined by slashes."""
    if not game.simultaneous:
        return str(game.action_names[action])
    return "/".join("-" if a == FORFEIT else game.action_names[a] for a in action)


def _cells(game: Game) -> list[dict[str, Any]]:
    """Return name, center and outline of each cell, in pixels, row by row."""
    layout, geometry = game.layout, board_geometry(game.layout)
    if layout.coordinates == "none":
        names = tuple(
            f"row {row + 1} column {column + 1}"
            for row in range(layout.rows)
            for column in range(layout.columns)
        )
    else:
        names = cell_names(layout.rows, layout.columns, layout.coordinates)
    cells = []
    for cell, name in enumerate(names):
        row, column = divmod(cell, layout.columns)
        x, y = geometry.center(row, column)
        outline = " ".join(f"{a:.4g},{b:.4g}" for a, b in geometry.outline(row, column))
        cells.append({"name": name, "x": round(x, 2), "y": round(y, 2), "outline": outline})
    return cells


def _player(game: Game, player: int) -> dict[str, Any]:
    """Return name, label and SVG icon of a player."""
    shapes = piece_shapes(player_piece(game, player), ICON / 2, ICON / 2, ICON)
    return {
        "name": player_name(game, player),
        "label": player_names(game, ())[player],
        "icon": "".join(svg_elements(shapes)),
    }
