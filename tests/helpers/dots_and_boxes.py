"""Dots and Boxes: a small game of two players that is not one of the package's own.

The player who draws the last side of a box owns it and moves again; the one with more boxes wins.
Rules: https://en.wikipedia.org/wiki/Dots_and_Boxes.
"""

import numpy as np

from ludoteca.envs.game import Game, unique
from ludoteca.envs.jit import kernel
from ludoteca.envs.layout import Layout, Piece
from ludoteca.envs.params import check_integer
from ludoteca.envs.registry import GAMES
from ludoteca.envs.symmetry import grid_symmetries

NAME = "dots_and_boxes"


def register(monkeypatch=None):
    """Add the game to the registry: for a test, or for the rest of the process."""
    target = f"{__name__}:{NAME}"
    if monkeypatch is None:
        GAMES["DotsAndBoxes-v0"] = target
    else:
        monkeypatch.setitem(GAMES, "DotsAndBoxes-v0", target)


@unique
def dots_and_boxes(size: int = 2) -> Game:
    """Dots and Boxes; each action is a line between two dots, numbered row after row.

    The board has `2 * size + 1` rows and columns: dots, lines and boxes are its cells.

    Args:
        size: boxes in a row, 1 to 5.
    """
    check_integer("size", size, 1, 5)
    width = 2 * size + 1
    lines = [k for k in range(width * width) if (k // width + k % width) % 2]

    # Map actions by a symmetry that maps cell k to cell cells[k].
    def map_actions(cells, mapping):
        return np.array([lines.index(cells[line]) for line in lines], np.int64)

    return Game(
        name=NAME,
        title="Dots and Boxes",
        params={"size": size},
        num_players=2,
        num_actions=len(lines),
        max_plies=len(lines),
        observation_shape=(3, width, width),
        state=np.dtype([("board", np.int8, (width, width)), ("to_move", np.int8)], align=True),
        init=init,
        player=player,
        legal_actions=legal_actions,
        step=step,
        is_terminal=is_terminal,
        returns=returns,
        observe=observe,
        layout=Layout(
            "squares",
            width,
            width,
            (
                Piece("1", "first", "square", "#c0392b", 0),
                Piece("2", "second", "square", "#2565ae", 1),
            ),
            cells,
        ),
        action_names=tuple(f"line-{k // width}-{k % width}" for k in lines),
        symmetries=lambda: grid_symmetries(width, width, map_actions),
        validate=lambda s: "",
    )


@kernel
def init(s, seed):
    s.board[:] = 0  # 0: free; of a line: 1; of a box: 1 or 2, its owner plus one
    s.to_move = 0


@kernel
def player(s):
    return int(s.to_move)


@kernel
def legal_actions(s, out):
    width, n, action = s.board.shape[0], 0, 0
    for row in range(width):
        for column in range(width):
            if (row + column) % 2 == 1:
                out[n] = action
                n += int(s.board[row, column] == 0)
                action += 1
    return n


@kernel
def step(s, action):
    width = s.board.shape[0]
    # Two rows of cells have `width` lines together: size in the first one, size + 1 in the second.
    size = width // 2
    row, column = action // width * 2, action % width
    if column >= size:
        row, column = row + 1, 2 * (column - size)
    else:
        column = 2 * column + 1
    s.board[row, column] = 1
    again = False
    for r in range(max(row - 1, 0), min(row + 2, width)):
        for c in range(max(column - 1, 0), min(column + 2, width)):
            if r % 2 == 1 and c % 2 == 1 and s.board[r, c] == 0:
                sides = (
                    s.board[r - 1, c] + s.board[r + 1, c] + s.board[r, c - 1] + s.board[r, c + 1]
                )
                if sides == 4:
                    s.board[r, c] = 1 + s.to_move
                    again = True
    if not again:
        s.to_move = 1 - s.to_move


@kernel
def is_terminal(s):
    width = s.board.shape[0]
    for row in range(1, width, 2):
        for column in range(1, width, 2):
            if s.board[row, column] == 0:
                return False
    return True


@kernel
def returns(s, out):
    out[:] = 0
    if is_terminal(s):
        width, lead = s.board.shape[0], 0
        for row in range(1, width, 2):
            for column in range(1, width, 2):
                lead += 3 - 2 * s.board[row, column]
        out[0] = np.sign(lead)
        out[1] = -np.sign(lead)


@kernel
def observe(s, player, out):
    width = s.board.shape[0]
    for row in range(width):
        for column in range(width):
            box = row % 2 == 1 and column % 2 == 1
            code = s.board[row, column]
            out[0, row, column] = int(code != 0 and not box)
            out[1, row, column] = int(box and code == 1 + player)
            out[2, row, column] = int(box and code == 2 - player)


def cells(s):
    """Return the codes of the pieces of the layout, by cell."""
    return s.board
