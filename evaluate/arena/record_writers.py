"""Writers of positions from the cells of a board: the inverse of `Layout.cells`, game by game.

A writer changes a position, a NumPy record, so that its board shows given cells. A cell's code is 0
if it is empty, else the number of its piece in `Layout.pieces`, from 1. What the board does not
show, such as a number of plies or captures, is kept as far as the rules allow. Writers need not
validate: the caller compares the board with the cells, and calls the game's `validate`.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.games import free_for_all, othello
from ludoteca.envs.games.bitboards import cells_of
from ludoteca.envs.games.goose_positions import FOOD, NONE, geese
from ludoteca.envs.games.torus import neighbor
from ludoteca.envs.games.winner import UNDECIDED

MAX_STEPS = 20_000  # of the search for the order of a goose's cells
Cells = NDArray[np.int8]  # codes as in `Layout.cells`, shape `[rows, columns]`
# `write(game, s, cells, player)`; the player to move is 0 in simultaneous games.
# It raises a `ValueError` with the reason if there is no such position.
Writer = Callable[[Game, Any, Cells, int], None]


def place_pieces(game: Game, s: Any, cells: Cells, player: int) -> None:
    """Place the pieces by actions of their owners, on an empty board, from the bottom row up.

    This is for games whose actions place a piece in a cell or column, and change no other piece.
    """
    layout = game.layout
    if layout.column_actions:
        unsupported = (cells[:-1] != 0) & (cells[1:] == 0)
        if unsupported.any():
            column = int(np.argwhere(unsupported)[-1, 1])
            raise ValueError(f"the piece in column {column + 1} must lie on another piece")
    game.init(s, 0)
    for cell in np.flatnonzero(cells)[::-1].tolist():
        s.to_move = layout.pieces[cells.flat[cell] - 1].player
        game.step(s, cell % layout.columns if layout.column_actions else cell)
    s.to_move = player


def write_othello(game: Game, s: Any, cells: Cells, player: int) -> None:
    """Write the discs and the legal placements."""
    for p in range(2):
        s.discs[p] = cells_of(cells == p + 1)
    s.to_move = player
    s.legal = othello.placements(s, player)
    s.over = s.legal == 0 and othello.placements(s, 1 - player) == 0


def write_armies(game: Game, s: Any, cells: Cells, player: int) -> None:
    """Write the pieces of Breakthrough or Knight-Through."""
    for p in range(2):
        s.pieces[p] = cells_of(cells == p + 1)
    s.to_move, s.winner = player, UNDECIDED


def write_sheep_and_wolf(game: Game, s: Any, cells: Cells, player: int) -> None:
    """Write wolf and sheep."""
    s.wolf, s.sheep = cells_of(cells == 1), cells_of(cells == 2)
    s.to_move, s.winner = player, UNDECIDED


def write_free_for_all(game: Game, s: Any, cells: Cells, player: int) -> None:
    """Write the pieces, and the plies left, whose parity gives the player to move.

    The plies left change by at most one; a spawn cell always holds a piece of its player. A
    position in which the game is over gets all its plies back.
    """
    for p in range(2):
        s.pieces[p] = cells_of(cells == p + 1) | free_for_all.spawn(p, s.board.shape[1])
    left = int(s.plies_left) or int(s.plies)
    if (s.plies - left) % 2 != player:
        left += -1 if left > 1 else 1
    played = int(s.plies) - left
    s.plies_left, s.to_move = left, player
    # No player has captured more often than it has moved.
    s.captures[:] = np.minimum(s.captures, [(played + 1) // 2, played // 2])


def write_knight_fight(game: Game, s: Any, cells: Cells, player: int) -> None:
    """Write knights and arrows; whether the next action is an attack is kept.

    The pieces are the two knights (codes 1, 2), an arrow (3), and the knights on an arrow (4, 5).
    """
    for p in range(2):
        s.knights[p] = _only(game, np.flatnonzero(np.isin(cells, (1 + p, 4 + p))), p)
    s.arrows[:] = cells >= 3
    s.to_move, s.winner = player, UNDECIDED


def write_tron(game: Game, s: Any, cells: Cells, player: int) -> None:
    """Write heads and walls; the cell of a head is a wall of its player, too.

    The pieces are the walls of the two players (codes 1, 2) and their heads (3, 4).
    """
    for p in range(2):
        s.head[p] = divmod(_only(game, np.flatnonzero(cells == 3 + p), p), cells.shape[1])
    s.walls[:] = np.where(cells == 0, 0, (cells - 1) % 2 + 1)
    s.crashed[:] = 0


def write_hungry_geese(game: Game, s: Any, cells: Cells, player: int) -> None:
    """Write food and geese: a goose without cells is dead, a goose with cells is alive.

    The pieces are food (code 1) and, for player p, a head (2 + 2 p) and other cells (3 + 2 p).
    """
    food = np.flatnonzero(cells == 1)
    if len(food) > len(s.food):
        raise ValueError(f"there are {len(food)} foods, at most {len(s.food)} are possible")
    s.food[:], s.food[: len(food)], s.num_food = NONE, food, len(food)
    s.occupied[:] = np.where(cells == 1, FOOD, cells > 1)
    s.steps = 0 if s.steps >= s.max_steps else s.steps  # a finished game begins anew
    for p, before in enumerate(geese(s)):
        heads, rest = (np.flatnonzero(cells == 2 + 2 * p + k).tolist() for k in range(2))
        if before[:1] != heads or set(before[1:]) != set(rest):
            _write_goose(game, s, p, heads, rest)


def _write_goose(game: Game, s: Any, p: int, heads: list[int], rest: list[int]) -> None:
    """Write the goose of player `p` with its head in `heads`, which must be one cell.

    `rest` has its other cells, in any order.
    """
    length, most, shape = (
        len(heads) + len(rest),
        min(s.body.shape[1], s.max_length),
        s.occupied.shape,
    )
    if length > most:
        raise ValueError(f"{_head_name(game, p)} has {length} cells, at most {most} are possible")
    body = _longest_line(_only(game, heads, p), rest, shape) if length else []
    if len(body) < length:
        raise ValueError(f"the cells of {_head_name(game, p)} do not form a line behind its head")
    s.start[p], s.length[p], s.body[p], s.body[p, :length] = 0, length, 0, body
    s.last_head[p], s.last_action[p] = NONE, NONE
    if length > 1:  # the last action led from the second cell to the head
        s.last_head[p] = body[1]
        s.last_action[p] = [*_neighbors(body[1], shape)].index(body[0])
    if length and s.steps > 0:  # as in the rules: steps lived, then length
        s.score[p] = (int(s.steps) + 1) * (int(s.max_length) + 1) + length


WRITERS: dict[str, Writer] = {
    "othello": write_othello,
    "breakthrough": write_armies,
    "breakthrough_holes": write_armies,
    "breakthrough_suicide": write_armies,
    "knight_through": write_armies,
    "sheep_and_wolf": write_sheep_and_wolf,
    "free_for_all": write_free_for_all,
    "knight_fight": write_knight_fight,
    "tron": write_tron,
    "hungry_geese": write_hungry_geese,
}


def _only(game: Game, cells: Any, player: int) -> int:
    """Return the cell of a player's head, the only one of `cells`.

    Raises:
        ValueError: if there is none, or there are several.
    """
    if len(cells) != 1:
        name = _head_name(game, player)
        raise ValueError(f"expected one piece {name!r} on the board, got {len(cells)}")
    return int(cells[0])


def _head_name(game: Game, player: int) -> str:
    """Return the name of the piece that is a player's head."""
    pieces = [piece for piece in game.layout.pieces if piece.player == player]
    return next(piece.name for piece in pieces if piece.shape == "head")


def _longest_line(head: int, rest: list[int], shape: tuple[int, int]) -> list[int]:
    """Return the longest path found from a head through the cells `rest` of a torus, head first.

    The depth-first search takes at most `MAX_STEPS` steps, and ends at the first path through all
    cells. `shape` is `(rows, columns)`.
    """
    line, longest, free = [head], [head], set(rest)
    choices = [_neighbors(head, shape)]
    for _ in range(MAX_STEPS):
        if not choices or len(longest) > len(rest):
            break
        cell = next(choices[-1], None)
        if cell is None:
            choices.pop()
            free.add(line.pop())
        elif cell in free:
            free.remove(cell)
            line.append(cell)
            choices.append(_neighbors(cell, shape))
            longest = max(longest, list(line), key=len)
    return longest


def _neighbors(cell: int, shape: tuple[int, int]) -> Iterator[int]:
    """Yield the neighbors of a cell of a torus, north, east, south and west."""
    for action in range(4):
        row, column = neighbor(cell, action, shape)
        yield int(row * shape[1] + column)
