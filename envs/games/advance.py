"""Rules shared by Breakthrough and Knight-Through: two armies that only advance.

White, player 0, starts on the two rows at the bottom and moves up, Black at the top and moves down.
A piece that reaches the far row has broken through. No piece steps onto a piece of its own side;
straight ahead it captures nothing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.games.bitboards import (
    U0,
    U1,
    Steps,
    block,
    make_ends,
    make_lister,
    moves,
    squares,
    starts,
)
from ludoteca.envs.games.winner import UNDECIDED, is_decided, winner_returns
from ludoteca.envs.jit import kernel
from ludoteca.envs.layout import Layout, Piece, cell_names
from ludoteca.envs.symmetry import CellMap, Symmetry, grid_symmetries

HOME_ROWS = 2


def advance_game(
    name: str,
    title: str,
    params: dict[str, Any],
    steps: Steps,
    pieces: tuple[Piece, Piece],
    *,
    holes: int = 0,
    suicide: bool = False,
) -> Game:
    """Return a game of two armies.

    Args:
        name: see `Game`.
        title: see `Game`.
        params: see `Game`; `rows` and `columns`, of at most 8, are among them.
        steps: the steps (down, right) of White's pieces, then those of Black's, in the same order
            with `down` negated; see `bitboards.py`.
        pieces: appearance of White's and of Black's pieces.
        holes: bitboard of the cells that no piece can enter.
        suicide: whether the player that wins by the usual rules loses.
    """
    rows, columns = params["rows"], params["columns"]
    legal_actions, step, validate = make_kernels(steps, rows, columns)
    paths = moves(steps, rows, columns)
    names = cell_names(rows, columns, "a1 bottom")
    # The pieces that start on a player's first (second) row make at most rows - 1 (rows - 2) steps
    # each, but only one piece of the whole game makes its last step: that ends the game.
    max_plies = 2 * columns * (2 * rows - 5) + 1
    return Game(
        name=name,
        title=title,
        params=params,
        num_players=2,
        num_actions=len(paths),
        max_plies=max_plies,
        observation_shape=(4 if holes else 3, rows, columns),
        state=np.dtype(
            [
                ("pieces", np.uint64, (2,)),  # by player; see bitboards.py
                ("holes", np.uint64),
                # Takes no memory: kernels read rows and columns from its shape.
                ("board", np.int8, (0, rows, columns)),
                ("to_move", np.int8),
                ("winner", np.int8),  # UNDECIDED or a player
                ("suicide", np.int8),  # 0 or 1, as the argument
            ],
            align=True,
        ),
        settings={"holes": holes, "suicide": suicide},
        init=init,
        player=player,
        legal_actions=legal_actions,
        step=step,
        is_terminal=is_decided,
        returns=winner_returns,
        observe=observe,
        layout=Layout(
            "squares",
            rows,
            columns,
            (*pieces, Piece("#", "hole", "square", "#4a4038")),
            cells,
            background="#efdfbf",
            dark="#dcc094",
            line="#b58d5b",
            moves=paths,
            coordinates="a1 bottom",
        ),
        action_names=tuple(f"{names[start]}-{names[end]}" for start, end in paths),
        symmetries=lambda: symmetries(paths, holes, rows, columns),
        validate=validate,
    )


@kernel
def init(s: Any, seed: int) -> None:
    _, rows, columns = s.board.shape
    s.pieces[0] = block(rows - HOME_ROWS, rows, 0, columns)
    s.pieces[1] = block(0, HOME_ROWS, 0, columns)
    s.to_move = 0
    s.winner = UNDECIDED


@kernel
def player(s: Any) -> int:
    return int(s.to_move)


def make_kernels(
    steps: Steps, rows: int, columns: int
) -> tuple[Callable[..., int], Callable[..., None], Callable[..., str]]:
    """Return the kernels `legal_actions` and `step` for pieces with these steps, and `validate`."""
    half = len(steps) // 2
    list_white = make_lister(steps[:half], rows, columns, movers)
    start, end = make_ends(steps, rows, columns)
    list_black = make_lister(steps[half:], rows, columns, movers, len(start) // 2)

    @kernel
    def legal_actions(s: Any, out: Any) -> int:
        if s.winner != UNDECIDED:
            return 0
        if s.to_move == 0:
            return list_white(s, out, 0)
        return list_black(s, out, 0)

    @kernel
    def step(s: Any, action: int) -> None:
        mover = int(s.to_move)
        target = U1 << np.uint64(end[action])
        s.pieces[mover] ^= (U1 << np.uint64(start[action])) | target
        s.pieces[1 - mover] &= ~target
        s.to_move = 1 - mover
        if has_won(s, steps, mover):
            s.winner = 1 - mover if s.suicide else mover

    def validate(s: Any) -> str:
        return problem(s, steps)

    return legal_actions, step, validate


@kernel
def movers(s: Any, down: int, right: int) -> Any:
    """Return the pieces that can step by (down, right): White's if it leads up, else Black's."""
    player = int(down > 0)
    _, rows, columns = s.board.shape
    targets = block(0, rows, 0, columns) & ~(s.pieces[player] | s.holes)
    if right == 0:  # straight ahead
        targets &= ~s.pieces[1 - player]
    return starts(s.pieces[player], targets, down, right, columns)


@kernel
def has_won(s: Any, steps: Any, mover: int) -> bool:
    """Return whether `mover`, which moved last, broke through or left its opponent without a move.

    `steps` are those of both players, as for `advance_game`.
    """
    _, rows, columns = s.board.shape
    far = 0 if mover == 0 else rows - 1
    if s.pieces[mover] & block(far, far + 1, 0, columns):
        return True
    if s.holes == U0:
        # Without holes, a player's foremost piece can always step to a cell ahead, not straight.
        return bool(s.pieces[1 - mover] == U0)
    return not can_move(s, steps, 1 - mover)


@kernel
def can_move(s: Any, steps: Any, player: int) -> bool:
    """Return whether `player` has a piece that can step."""
    for down, right in steps:
        if (down > 0) == (player == 1) and movers(s, down, right) != U0:
            return True
    return False


@kernel
def observe(s: Any, player: int, out: Any) -> None:
    """Planes: pieces of `player`, of the opponent, 1 if `player` is White, holes (if any)."""
    _, rows, columns = s.board.shape
    own, other = s.pieces[player], s.pieces[1 - player]
    for row in range(rows):
        for column in range(columns):
            shift = np.uint64(8 * row + column)
            out[0, row, column] = (own >> shift) & np.uint64(1)
            out[1, row, column] = (other >> shift) & np.uint64(1)
            out[2, row, column] = 1 - player
            if s.holes != U0:
                out[3, row, column] = (s.holes >> shift) & np.uint64(1)


def cells(s: Any) -> NDArray[np.int8]:
    """Return the codes of the cells: 1 for white, 2 for black, 3 for holes."""
    _, rows, columns = s.board.shape
    white, black, holes = (squares(x, rows, columns) for x in (*s.pieces, s.holes))
    return white + np.int8(2) * black + np.int8(3) * holes


def symmetries(
    paths: tuple[tuple[int, int], ...], holes: int, rows: int, columns: int
) -> tuple[Symmetry, ...]:
    """Return the identity and, if the holes are symmetric, the exchange of left and right.

    `paths` holds the start and end cell of each action.
    """
    action_of = {path: action for action, path in enumerate(paths)}

    def actions(cells: NDArray[np.int64], cell_map: CellMap) -> NDArray[np.int64]:
        return np.array([action_of[cells[start], cells[end]] for start, end in paths], np.int64)

    is_hole = squares(holes, rows, columns)
    names = ("identity", "mirror columns")[: 2 if (is_hole == is_hole[:, ::-1]).all() else 1]
    return grid_symmetries(rows, columns, actions, names)


@np.errstate(over="ignore")  # bitboard kernels rely on integer overflow
def problem(s: Any, steps: Steps) -> str:
    """Return the reason why a position is invalid, or an empty string.

    `steps` are those of both players, as for `advance_game`.
    """
    _, rows, columns = s.board.shape
    white, black = s.pieces
    if white & black:
        return "a cell holds both a white and a black piece"
    if (white | black) & ~block(0, rows, 0, columns):
        return "a piece lies outside the board"
    if (white | black) & s.holes:
        return "a piece lies in a hole"
    if s.to_move not in (0, 1) or s.winner not in (UNDECIDED, 0, 1):
        return f"to_move {s.to_move} is not 0 or 1, or winner {s.winner} is not -1, 0 or 1"
    to_move = int(s.to_move)
    far = 0 if to_move == 0 else rows - 1
    if s.pieces[to_move] & block(far, far + 1, 0, columns):
        return "the player to move has broken through already, which ends the game"
    if s.pieces[1 - to_move] == U0:
        return "the player that moved last has no pieces"
    won = has_won(s, steps, 1 - to_move)
    winner = (to_move if s.suicide else 1 - to_move) if won else UNDECIDED
    if s.winner != winner:
        return f"winner is {s.winner}, but the pieces say {winner}"
    return ""
