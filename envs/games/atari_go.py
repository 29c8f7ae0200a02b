"""Atari Go: the first capture wins.

Rules: the game atariGo_7x7 of the General Game Playing base repository (http://games.ggp.org/base);
see also https://senseis.xmp.net/?AtariGo. Players take turns to place a stone; they cannot pass. A
stone that takes the last liberty of an enemy group wins, even if its own group has none left; a
stone that takes only the last liberty of its own group loses. So every game is decided by the time
the board is full.

As no stone is ever removed, groups only grow and merge: they are kept as the trees of a union-find
forest. A group's root stores the number of its liberties, each counted once per stone beside it
("pseudo-liberties"), since all that matters is whether there are none.

Encoding of a 3x3 board; the fields have one number per cell, with a WALL (#) around the board:

    `stones`, `parent`, `liberties`     actions, planes
     #  #  #  #  #
     #  6  7  8  #                      0 1 2
     # 11 12 13  #                      3 4 5
     # 16 17 18  #                      6 7 8
     #  #  #  #  #

Plane 0 has the own stones, plane 1 those of the opponent.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game, unique
from ludoteca.envs.games.winner import UNDECIDED, is_decided, winner_returns
from ludoteca.envs.jit import kernel
from ludoteca.envs.layout import Layout, Piece, cell_names
from ludoteca.envs.params import check_integer
from ludoteca.envs.symmetry import cells_are_actions, grid_symmetries

EMPTY, WALL = -1, 2


@unique
def atari_go(board_size: int = 7) -> Game:
    """Atari Go; action `row * board_size + column` places a stone. Black is player 0.

    The observation planes are the own stones and the opponent's.

    Args:
        board_size: 2 to 19.
    """
    n = check_integer("board_size", board_size, 2, 19)
    # Cells with a WALL of one cell around the board; (row, column) is cell row * (n + 2) + column.
    num_cells = (n + 2) ** 2
    return Game(
        name="atari_go",
        title="Atari Go",
        params={"board_size": n},
        num_players=2,
        num_actions=n * n,
        max_plies=n * n,
        observation_shape=(2, n, n),
        state=np.dtype(
            [
                ("stones", np.int8, (num_cells,)),  # EMPTY, WALL or a player
                # At a stone: the next cell on the path to the root of its group; the root: itself.
                ("parent", np.int16, (num_cells,)),
                ("liberties", np.int16, (num_cells,)),  # at a root: pseudo-liberties of its group
                ("board", np.int8, (0, n)),  # takes no memory: kernels read n from its shape
                ("to_move", np.int8),
                ("winner", np.int8),  # UNDECIDED or a player
            ],
            align=True,
        ),
        init=init,
        player=player,
        legal_actions=legal_actions,
        step=step,
        is_terminal=is_decided,
        returns=winner_returns,
        observe=observe,
        layout=Layout(
            "squares",
            n,
            n,
            (Piece("X", "black", "disc", "#1b1b1b", 0), Piece("O", "white", "disc", "#fafafa", 1)),
            cells,
            background="#e3c58f",
            line="#8d6b35",
            cell_actions=True,
            coordinates="a1 bottom",
        ),
        action_names=cell_names(n, n, "a1 bottom"),
        symmetries=lambda: grid_symmetries(n, n, cells_are_actions),
        validate=validate,
    )


@kernel
def init(s: Any, seed: int) -> None:
    n = s.board.shape[1]
    s.stones[:] = WALL
    for row in range(1, n + 1):
        for column in range(1, n + 1):
            s.stones[row * (n + 2) + column] = EMPTY
    s.parent[:] = 0
    s.liberties[:] = 0
    s.to_move = 0
    s.winner = UNDECIDED


@kernel
def player(s: Any) -> int:
    return int(s.to_move)


@kernel
def legal_actions(s: Any, out: Any) -> int:
    size = s.board.shape[1]
    n = 0
    if s.winner == UNDECIDED:
        action = 0
        for row in range(1, size + 1):
            for column in range(1, size + 1):
                out[n] = action
                n += int(s.stones[row * (size + 2) + column] == EMPTY)
                action += 1
    return n


@kernel
def step(s: Any, action: int) -> None:
    size = s.board.shape[1]
    cell = (action // size + 1) * (size + 2) + action % size + 1
    mover = int(s.to_move)
    s.to_move = 1 - mover
    place(s, cell, mover)
    for near in (cell - size - 2, cell - 1, cell + 1, cell + size + 2):
        if s.stones[near] == 1 - mover and s.liberties[root(s, near)] == 0:
            s.winner = mover
            return
    if s.liberties[cell] == 0:
        s.winner = 1 - mover


@kernel
def place(s: Any, cell: int, color: int) -> None:
    """Place a stone of player `color`; it becomes the root of its group."""
    size = s.board.shape[1]
    s.stones[cell] = color
    s.parent[cell] = cell
    s.liberties[cell] = 0
    for near in (cell - size - 2, cell - 1, cell + 1, cell + size + 2):
        if s.stones[near] == EMPTY:
            s.liberties[cell] += 1
        elif s.stones[near] != WALL:
            group = root(s, near)
            s.liberties[group] -= 1
            if s.stones[near] == color and group != cell:
                s.parent[group] = cell
                s.liberties[cell] += s.liberties[group]


@kernel
def root(s: Any, cell: int) -> int:
    """Return the root of the group of a stone, and shorten the path to it (path halving)."""
    while s.parent[cell] != cell:
        s.parent[cell] = s.parent[s.parent[cell]]
        cell = int(s.parent[cell])
    return cell


@kernel
def observe(s: Any, player: int, out: Any) -> None:
    """Plane 0: stones of `player`; plane 1: the opponent's."""
    size = s.board.shape[1]
    for row in range(size):
        for column in range(size):
            stone = s.stones[(row + 1) * (size + 2) + column + 1]
            out[0, row, column] = stone == player
            out[1, row, column] = stone == 1 - player


def cells(s: Any) -> NDArray[np.int8]:
    """Return the codes of the cells: 1 for black, 2 for white."""
    size = s.board.shape[1] + 2
    shown: NDArray[np.int8] = s.stones.reshape(size, size)[1:-1, 1:-1] + 1
    return shown


def validate(s: Any) -> str:
    """Return the reason why a position is invalid, or an empty string."""
    size = s.board.shape[1] + 2
    walls = np.ones((size, size), bool)
    walls[1:-1, 1:-1] = False
    if not np.isin(s.stones, (EMPTY, 0, 1, WALL)).all():
        return f"stones holds {np.unique(s.stones)}, expected -1, 0, 1 and 2"
    if not np.array_equal(s.stones == WALL, walls.ravel()):
        return "the wall does not surround the board"
    if s.to_move not in (0, 1) or s.winner not in (UNDECIDED, 0, 1):
        return f"to_move {s.to_move} is not 0 or 1, or winner {s.winner} is not -1, 0 or 1"
    played = np.flatnonzero((s.stones == 0) | (s.stones == 1))
    if np.count_nonzero(s.stones == 0) - np.count_nonzero(s.stones == 1) != s.to_move:
        return "the numbers of stones do not fit the player to move"
    if ((s.parent < 0) | (s.parent >= size * size)).any():
        return "parent lies outside the board"
    if (s.stones[s.parent[played]] != s.stones[played]).any():
        return "parent joins stones of different colors"
    # Placing the same stones again must give the same groups and liberties.
    again = s.copy()
    init(again, 0)
    for cell in played.tolist():
        place(again, cell, int(s.stones[cell]))
    roots = s.parent  # of each stone, after as many steps as a path can have
    for _ in range(len(played)):
        roots = s.parent[roots]
    groups = [root(again, cell) for cell in played.tolist()]
    same = np.equal.outer(roots[played], roots[played])
    if (s.parent[roots] != roots).any() or (same != np.equal.outer(groups, groups)).any():
        return "parent does not match the groups"
    if not np.array_equal(s.liberties[roots[played]], again.liberties[groups]):
        return "liberties are not those of the groups"
    dead = {int(s.stones[cell]) for cell in played if s.liberties[roots[cell]] == 0}
    mover = 1 - int(s.to_move)
    winner = mover if 1 - mover in dead else 1 - mover if mover in dead else UNDECIDED
    if s.winner != winner:
        return f"winner is {s.winner}, but the liberties say {winner}"
    return ""
