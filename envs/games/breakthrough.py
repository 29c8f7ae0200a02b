"""Breakthrough and two variants: with holes, and the suicide form, lost by breaking through.

Rules: https://en.wikipedia.org/wiki/Breakthrough_(board_game). A pawn moves one row ahead, straight
or diagonally, and captures diagonally only. The first player with a pawn on the far row wins; a
player without pawns loses. The smaller board, the holes and the suicide form are those of the games
breakthroughSmall, breakthroughSmallHoles, breakthroughHoles and breakthroughSuicideSmall of the
General Game Playing base repository (http://games.ggp.org/base).

White's actions on 4 rows and 3 columns, each in the cell where it starts. Black's, 21 to 41, are
their reflections upside down (up left becomes down left), also numbered row after row from the top:

    up left       up            up right
    .  .  .       .  .  .       .  .  .
    .  0  1       6  7  8      15 16  .
    .  2  3       9 10 11      17 18  .
    .  4  5      12 13 14      19 20  .

Bitboards: see `bitboards.py`. Planes: own pawns, the opponent's pawns, all ones if the observing
player is White, and the holes, if there are any.
"""

import re
from typing import Any

from ludoteca.envs.game import Game, unique
from ludoteca.envs.games.advance import HOME_ROWS, advance_game
from ludoteca.envs.layout import Piece
from ludoteca.envs.params import check_integer

PAWN_STEPS = (
    *((-1, -1), (-1, 0), (-1, 1)),  # White
    *((1, -1), (1, 0), (1, 1)),  # Black
)
PAWNS = (Piece("O", "white", "disc", "#f7f7f7", 0), Piece("X", "black", "disc", "#1b1b1b", 1))
# Holes in the games of the GGP base repository, by (rows, columns).
USUAL_HOLES = {(6, 6): "b3+d3+c4+e4", (8, 8): "c3+f3+c6+f6"}


@unique
def breakthrough(rows: int = 6, columns: int = 6) -> Game:
    """Breakthrough; each action is a step from a cell to a cell, such as `b2-c3`.

    White (player 0) starts at the bottom. Actions 0 to `num_actions / 2 - 1` are White's: to the
    left, straight ahead, to the right, and within each by the cell where they start, row after row
    from the top; then come Black's in the same order. The observation planes are the own pawns, the
    opponent's, and 1 everywhere for White.

    Args:
        rows: 4 to 8.
        columns: 2 to 8.
    """
    return _breakthrough_game("breakthrough", "Breakthrough", rows, columns)


@unique
def breakthrough_holes(rows: int = 6, columns: int = 6, holes: str | None = None) -> Game:
    """Breakthrough with cells that no pawn can enter; a player without a legal move loses.

    Actions are those of `breakthrough`; a fourth observation plane shows the holes.

    Args:
        rows: 5 to 8.
        columns: 2 to 8.
        holes: where they are, e.g. `"b3+d3+c4+e4"`, which is the default on 6x6; on 8x8 it is
            `"c3+f3+c6+f6"`. None may be on a home row, and White must have a first move.
    """
    check_integer("rows", rows, 2 * HOME_ROWS + 1, 8)
    check_integer("columns", columns, 2, 8)
    if holes is None:
        holes = USUAL_HOLES.get((rows, columns), "")
    names = _hole_names(holes, rows, columns)
    bits = sum(1 << (8 * (rows - int(name[1])) + ord(name[0]) - ord("a")) for name in names)
    return _breakthrough_game(
        "breakthrough_holes",
        "Breakthrough with Holes",
        rows,
        columns,
        params={"holes": "+".join(names)},
        holes=bits,
    )


@unique
def breakthrough_suicide(rows: int = 6, columns: int = 6) -> Game:
    """Breakthrough with the goals inverted: reaching the far row or capturing all pawns loses.

    Actions and observations are those of `breakthrough`.

    Args:
        rows: 4 to 8.
        columns: 2 to 8.
    """
    return _breakthrough_game(
        "breakthrough_suicide", "Breakthrough Suicide", rows, columns, suicide=True
    )


def _breakthrough_game(
    name: str,
    title: str,
    rows: int,
    columns: int,
    params: dict[str, Any] | None = None,
    **rules: Any,
) -> Game:
    check_integer("rows", rows, 2 * HOME_ROWS, 8)
    check_integer("columns", columns, 2, 8)
    params = {"rows": rows, "columns": columns} | (params or {})
    return advance_game(name, title, params, PAWN_STEPS, PAWNS, **rules)


def _hole_names(holes: str, rows: int, columns: int) -> list[str]:
    """Return the cell names in `holes`, such as `"b3+d3"`, row after row from the bottom.

    Raises:
        ValueError: if `holes` violates the conditions of `breakthrough_holes`.
    """
    names = holes.split("+") if isinstance(holes, str) else []
    last = chr(ord("a") + columns - 1)
    between_homes = f"[a-{last}][{HOME_ROWS + 1}-{rows - HOME_ROWS}]"
    are_cells = all(re.fullmatch(between_homes, name) for name in names)
    if not names or len(set(names)) < len(names) or not are_cells:
        raise ValueError(
            f"holes must be different cells of columns a to {last} and rows {HOME_ROWS + 1} to "
            f"{rows - HOME_ROWS}, such as 'a3+b3', got {holes!r}"
        )
    if sum(name[1] == str(HOME_ROWS + 1) for name in names) == columns:
        raise ValueError(f"holes must leave White a first move, got {holes!r}")
    return sorted(names, key=lambda name: (name[1], name[0]))
