"""Pieces on the board of a rule sheet: which planes show pieces, their owners, shapes and colors.

Names only determine the picture, not observations or rules.
"""

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.gdl.boards import NO_CELL, Board
from ludoteca.envs.gdl.term_shapes import CONSTANT
from ludoteca.envs.layout import Piece, Shape

COLORS = (
    "#c0392b", "#2565ae", "#27864a", "#b7791f", "#7d3c98", "#148f8f", "#8d5a3b", "#5d6d7e",
)  # fmt: skip
NAMED_COLORS = {
    "white": "#fafafa", "black": "#1b1b1b", "red": "#c0392b", "blue": "#2565ae",
    "green": "#27864a", "yellow": "#e8b923", "orange": "#d9730d", "purple": "#7d3c98",
    "brown": "#8d5a3b", "teal": "#148f8f", "pink": "#d98cb3", "cyan": "#3fb5c4",
    "magenta": "#b5348f", "gold": "#e8b923", "gray": "#8c8c8c", "grey": "#8c8c8c",
}  # fmt: skip
EMPTY_NAMES = {"blank", "empty", "none", "free", "nothing", "clear", "b", "e", "0", "-", "_"}
MARKS: dict[str, Shape] = {"x": "cross", "xplayer": "cross", "o": "ring", "oplayer": "ring"}
COORDINATES = ("?x", "?y", "?x?y", "?y?x")
SQUARES = {"wall", "hole", "block", "blocked", "arrow", "obstacle", "brick", "stone", "rock"}
OTHER = "#6f6557"  # color of pieces without an owner
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789*#@%&$+=?!<>^~"
MAX_PIECES = 100


def find_empty_planes(
    board: Board, roles: tuple[str, ...], states: NDArray[np.bool_]
) -> tuple[int, ...]:
    """Return the planes whose fluents say that a cell is empty.

    The name says so, and in all states another fluent of the same relation is true in exactly those
    cells in which this one is false.

    Args:
        board: the board.
        roles: names of the roles.
        states: which fluents are true in reachable states. Shape `[F, S]`.
    """
    has_black = any(role[0].lower() == "b" for role in roles)
    planes = [_names(text) for text in board.planes[: board.num_cell_planes]]
    empty = []
    for plane, (relation, constants) in enumerate(planes):
        if len(constants) != 1 or constants[0].lower() not in EMPTY_NAMES:
            continue
        same = [p for p, (other, _) in enumerate(planes) if other == relation]
        pieces = {name.lower() for p in same for name in planes[p][1]}
        if constants[0].lower() == "b" and "w" in pieces and has_black:
            continue  # b is black
        filled = np.zeros((board.rows * board.columns, states.shape[1]), np.bool_)
        others = np.flatnonzero(np.isin(board.plane_of, same) & (board.plane_of != plane))
        np.logical_or.at(filled, board.cell_of[others], states[others])
        own = np.flatnonzero(board.plane_of == plane)
        if (filled[board.cell_of[own]] != states[own]).all():
            empty.append(plane)
    return tuple(empty)


def has_stacks(board: Board, empty: Iterable[int], states: NDArray[np.bool_]) -> bool:
    """Return whether pieces always lie at the bottom of their column, or on other pieces."""
    shown = (board.cell_of != NO_CELL) & ~np.isin(board.plane_of, tuple(empty))
    filled = np.zeros((board.rows * board.columns, states.shape[1]), np.bool_)
    np.logical_or.at(filled, board.cell_of[shown], states[shown])
    rows = filled.reshape(board.rows, board.columns, -1)
    return board.rows > 1 and bool((rows[1:] | ~rows[:-1]).all()) and bool(filled.any())


def make_pieces(
    board: Board, roles: tuple[str, ...], empty: tuple[int, ...]
) -> tuple[tuple[Piece, ...], NDArray[np.int8]]:
    """Return the pieces of a board, and the code of each plane, 0 for none.

    First come the pieces of the players, with the names of their roles. A player with several kinds
    of pieces has a disc with a letter for each kind.
    """
    names = [_names(text) for text in board.planes]
    shown = [p for p in range(board.num_cell_planes) if p not in empty][:MAX_PIECES]
    between = {p for p in shown if _names_cell(board, names[p][1])}  # such as walls between cells
    owners = {p: -1 if p in between else _owner(names[p][1], roles) for p in shown}
    codes = np.zeros(len(board.planes), np.int8)
    pieces: list[Piece] = []
    for r, role in enumerate(roles):
        own = [plane for plane in shown if owners[plane] == r]
        labels = (role, *names[own[0]][1]) if len(own) == 1 else (role,)
        shape: Shape = "head" if len(own) > 1 else "disc"
        if len(own) == 1:
            codes[own[0]] = r + 1
            shape = next((MARKS[x.lower()] for x in labels if x.lower() in MARKS), shape)
        pieces.append(Piece("", role, shape, _color(labels, COLORS[r]), r))
    for plane in shown:
        if codes[plane]:
            continue
        (relation, constants), owner = names[plane], owners[plane]
        label = " ".join(constants) or relation
        color = pieces[owner].color if owner >= 0 else _color(constants, OTHER)
        is_square = not constants or label.lower() in SQUARES or plane in between
        is_square &= owner < 0
        pieces.append(Piece("", label, "square" if is_square else "head", color, owner))
        codes[plane] = len(pieces)
    return _with_letters(pieces, roles), codes


def _with_letters(pieces: list[Piece], roles: tuple[str, ...]) -> tuple[Piece, ...]:
    """Return pieces with different letters: of the second player lower case, if possible.

    Letters of pieces that no cell shows, those of players with several kinds, are chosen last.
    """
    used = {"."}
    letters = {}
    for i in sorted(range(len(pieces)), key=lambda i: i < len(roles) and pieces[i].shape == "head"):
        piece = pieces[i]
        kind = piece.name if i < len(roles) else _kind(piece.name, piece.player, roles)
        own = [c.upper() for c in kind if c.isalnum()]
        if piece.player == 1 and i >= len(roles):
            own = [c.lower() for c in own]
        more = map(chr, range(0x3B1, 0x3B1 + 200))  # Greek letters and further
        letter = next(c for c in (*own, *LETTERS, *more) if c not in used)
        used.add(letter)
        letters[i] = letter
    return tuple(replace(piece, letter=letters[i]) for i, piece in enumerate(pieces))


def _names(plane: str) -> tuple[str, tuple[str, ...]]:
    """Return the name of the relation of a plane, and its constants but the coordinates."""
    constants = (name for name in CONSTANT.findall(plane) if name not in COORDINATES)
    return plane.strip("()").split(" ")[0], tuple(constants)


def _names_cell(board: Board, constants: tuple[str, ...]) -> bool:
    """Return whether two constants of a plane are the coordinates of another cell."""
    return any(
        column in board.column_names and row in board.row_names
        for column, row in pairwise(constants)
    )


def _owner(names: tuple[str, ...], roles: tuple[str, ...]) -> int:
    """Return the player that owns a piece, by its name, or -1.

    The name contains that of the role, or begins like it: `white`, `whitePawn`, `wp`; `x` is the
    piece of `xplayer`.
    """
    lowered = [name.lower() for name in names]
    for r, role in enumerate(roles):
        if role.lower() in lowered:
            return r
    for r, role in enumerate(roles):
        if any(name.startswith(role.lower()) for name in lowered):
            return r
    initials = [role[:1].lower() for role in roles]
    if len(set(initials)) == len(roles) > 1:
        for name in lowered[:1]:
            if len(name) <= 2 and name[:1] in initials:
                return initials.index(name[0])
    return -1


def _kind(name: str, player: int, roles: tuple[str, ...]) -> str:
    """Return a piece's name without that of its owner, such as `Pawn` for `whitePawn`."""
    role = roles[player].lower() if player >= 0 else ""
    if role and name.lower().startswith(role):
        return name[len(role) :]
    return name[1:] if len(name) == 2 and name[:1].lower() == role[:1] else name


def _color(names: Iterable[str], default: str) -> str:
    """Return the color that a name begins with, or the default."""
    for name in names:
        for color, code in NAMED_COLORS.items():
            if name.lower().startswith(color):
                return code
    return default
