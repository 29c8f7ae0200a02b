"""Two-Player Free-For-All, zero-sum: pieces respawn; the most captures in 30 plies win.

Rules: the game 2pffa_zerosum of the General Game Playing base repository
(http://games.ggp.org/base). Each side has a spawn cell outside the square board. It always holds
one of the side's pieces: a piece that leaves it is replaced at once, and no piece can enter it. A
piece jumps like a chess knight to an empty cell of the board, or steps like a chess king onto an
enemy piece on the board and captures it. A player without such a move passes. With equal numbers of
captures the game is a draw.

Encoding of a 3x3 board with the spawn cells 8 (Red, player 0) and 12 (Blue); the other cells
outside the square are never used:

    bits of `pieces`       planes (3 rows, 5 columns)
     .  1  2  3  .         0 own pieces             3 own captures, everywhere
     8  9 10 11 12         1 opponent's pieces      4 opponent's captures, everywhere
     .  17 18 19 .         2 plies left, everywhere

Actions are the jumps, then the captures, then the pass. Jumps and captures are numbered by
direction, then by the cell where they start, as in `bitboards.py`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game, unique
from ludoteca.envs.games.bitboards import (
    U0,
    U1,
    Steps,
    bit,
    block,
    make_ends,
    make_lister,
    moves,
    squares,
    starts,
)
from ludoteca.envs.jit import kernel
from ludoteca.envs.layout import Layout, Piece, cell_names
from ludoteca.envs.params import check_choice, check_integer
from ludoteca.envs.symmetry import CellMap, Symmetry, grid_symmetries

STEPS: dict[str, Steps] = {
    "knight": ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1)),
    "king": ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)),
}


@unique
def free_for_all(
    board_size: int = 5, plies: int = 30, move: str = "knight", capture: str = "king"
) -> Game:
    """Two-Player Free-For-All; Red is player 0.

    The cells are those of `board_size` rows and `board_size + 2` columns: the outer columns hold
    the spawn cells, Red's (`a3` on the usual board) and Blue's (`g3`), and nothing else. Each
    action is a step from a cell to a cell, `b3-d4` or, if it captures, `b3xc4`; the last action
    passes. First come the jumps, then the captures, direction by direction, and within each by the
    cell where they start, row after row from the top.

    The observation planes are the own pieces and the opponent's, spawned ones included, and, the
    same everywhere, the plies left and the own and the opponent's captures.

    Args:
        board_size: 3 to 6.
        plies: length of every game, 1 to 100.
        move: how pieces move to empty cells, like a `"knight"` or a `"king"`.
        capture: how they capture, like a `"knight"` or a `"king"`.
    """
    n = check_integer("board_size", board_size, 3, 6)
    check_integer("plies", plies, 1, 100)
    check_choice("move", move, tuple(STEPS))
    check_choice("capture", capture, tuple(STEPS))
    steps = STEPS[move] if move == capture else STEPS[move] + STEPS[capture]
    legal_actions, step = make_kernels(n, move, capture, steps)
    paths = moves(steps, n, n + 2)
    names = cell_names(n, n + 2, "a1 bottom")
    num_captures = 0 if move == capture else len(moves(STEPS[capture], n, n + 2))
    signs = "-" * (len(paths) - num_captures) + "x" * num_captures
    return Game(
        name="free_for_all",
        title="Two-Player Free-For-All",
        params={"board_size": n, "plies": plies, "move": move, "capture": capture},
        num_players=2,
        num_actions=len(paths) + 1,
        max_plies=plies,
        observation_shape=(5, n, n + 2),
        observation_high=plies,
        state=np.dtype(
            [
                ("pieces", np.uint64, (2,)),  # by player, spawned ones included; see bitboards.py
                ("captures", np.int8, (2,)),  # by player
                ("plies_left", np.int8),
                ("to_move", np.int8),
                ("plies", np.int8),  # length of every game
                ("board", np.int8, (0, n)),  # takes no memory: kernels read n from its shape
            ],
            align=True,
        ),
        settings={"plies": plies},
        init=init,
        player=player,
        legal_actions=legal_actions,
        step=step,
        is_terminal=is_terminal,
        returns=returns,
        observe=observe,
        layout=Layout(
            "squares",
            n,
            n + 2,
            (
                Piece("R", "red", "disc", "#c0392b", 0),
                Piece("B", "blue", "disc", "#2565ae", 1),
                Piece("#", "outside", "square", "#b9b2a4"),
            ),
            cells,
            moves=paths,
            coordinates="a1 bottom",
        ),
        action_names=(
            *(f"{names[i]}{sign}{names[j]}" for (i, j), sign in zip(paths, signs, strict=True)),
            "pass",
        ),
        symmetries=lambda: symmetries(paths, n),
        validate=validate,
    )


def make_kernels(
    size: int, move: str, capture: str, steps: Steps
) -> tuple[Callable[..., int], Callable[..., None]]:
    """Return the kernels `legal_actions` and `step`.

    Args:
        size: rows of the board; it has two more columns, for the spawn cells.
        move: `"knight"` or `"king"`.
        capture: `"knight"` or `"king"`.
        steps: the steps of both, in the order in which actions are numbered.
    """
    moves_as_knight, captures_as_knight = move == "knight", capture == "knight"

    @kernel
    def movers(s: Any, down: int, right: int) -> Any:
        """Return the pieces of the player to move that can make the step (down, right)."""
        as_knight = abs(down) + abs(right) == 3
        own, other = s.pieces[s.to_move], s.pieces[1 - s.to_move]
        targets = U0
        if as_knight == moves_as_knight:
            targets |= ~(own | other)
        if as_knight == captures_as_knight:
            targets |= other
        return starts(own, targets & inside(size), down, right, size + 2)

    list_steps = make_lister(steps, size, size + 2, movers)
    start, end = make_ends(steps, size, size + 2)
    pass_action = len(start)

    @kernel
    def legal_actions(s: Any, out: Any) -> int:
        if s.plies_left == 0:
            return 0
        n = list_steps(s, out, 0)
        if n == 0:
            out[0] = pass_action
            n = 1
        return n

    @kernel
    def step(s: Any, action: int) -> None:
        mover = int(s.to_move)
        if action != pass_action:
            target = U1 << np.uint64(end[action])
            s.pieces[mover] ^= (U1 << np.uint64(start[action])) | target
            s.pieces[mover] |= spawn(mover, size)
            if s.pieces[1 - mover] & target != U0:
                s.pieces[1 - mover] ^= target
                s.captures[mover] += 1
        s.to_move = 1 - mover
        s.plies_left -= 1

    return legal_actions, step


@kernel
def inside(size: int) -> Any:
    """Return the cells that pieces can enter: the square board."""
    return block(0, size, 1, size + 1)


@kernel
def spawn(player: int, size: int) -> Any:
    """Return the spawn cell of a player; a half turn of the board exchanges the two."""
    if player == 0:
        return bit(size // 2, 0)
    return bit(size - 1 - size // 2, size + 1)


@kernel
def init(s: Any, seed: int) -> None:
    for p in range(2):
        s.pieces[p] = spawn(p, s.board.shape[1])
        s.captures[p] = 0
    s.plies_left = s.plies
    s.to_move = 0


@kernel
def player(s: Any) -> int:
    return int(s.to_move)


@kernel
def is_terminal(s: Any) -> bool:
    return bool(s.plies_left == 0)


@kernel
def returns(s: Any, out: Any) -> None:
    out[:] = 0
    if s.plies_left == 0 and s.captures[0] != s.captures[1]:
        out[0] = 1 if s.captures[0] > s.captures[1] else -1
        out[1] = -out[0]


@kernel
def observe(s: Any, player: int, out: Any) -> None:
    """Planes: own pieces, the opponent's, plies left, own captures, the opponent's captures."""
    size = s.board.shape[1]
    own, other = s.pieces[player], s.pieces[1 - player]
    for row in range(size):
        for column in range(size + 2):
            here = bit(row, column)
            out[0, row, column] = own & here != U0
            out[1, row, column] = other & here != U0
            out[2, row, column] = s.plies_left
            out[3, row, column] = s.captures[player]
            out[4, row, column] = s.captures[1 - player]


def cells(s: Any) -> NDArray[np.int8]:
    """Return the codes of the cells: 1 for red, 2 for blue, 3 outside the board."""
    size = s.board.shape[1]
    red, blue = (squares(pieces, size, size + 2) for pieces in s.pieces)
    outside = ~squares(inside(size), size, size + 2) & ~red & ~blue
    return red + np.int8(2) * blue + np.int8(3) * outside


def symmetries(paths: tuple[tuple[int, int], ...], size: int) -> tuple[Symmetry, ...]:
    """Return the identity and, if the spawn cells are in the middle row, the exchange of rows."""
    action_of = {path: action for action, path in enumerate(paths)}

    def actions(cells: NDArray[np.int64], cell_map: CellMap) -> NDArray[np.int64]:
        mapped = [action_of[cells[start], cells[end]] for start, end in paths]
        return np.array([*mapped, len(paths)], np.int64)

    names = ("identity", "mirror rows")[: 1 + size % 2]
    return grid_symmetries(size, size + 2, actions, names)


@np.errstate(over="ignore")  # bitboard kernels rely on integer overflow
def validate(s: Any) -> str:
    """Return the reason why a position is invalid, or an empty string."""
    size = s.board.shape[1]
    red, blue = s.pieces
    if red & blue:
        return "a cell holds both a red and a blue piece"
    for name, p in (("red", 0), ("blue", 1)):
        if s.pieces[p] & ~inside(size) != spawn(p, size):
            return f"outside the board {name} must have a piece on its spawn cell and nowhere else"
    if not 0 <= s.plies_left <= s.plies:
        return f"plies_left {s.plies_left} must be from 0 to {s.plies}"
    played = int(s.plies) - int(s.plies_left)
    if s.to_move != played % 2:
        return f"to_move is {s.to_move} after {played} plies"
    if not (0 <= s.captures[0] <= (played + 1) // 2 and 0 <= s.captures[1] <= played // 2):
        return f"captures {s.captures} are too many or negative after {played} plies"
    return ""
