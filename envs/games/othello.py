"""Othello (Reversi): players outflank discs of the opponent to flip them; most discs win.

Rules: https://www.worldothello.org/about/about-othello/othello-rules. A player without a move must
pass; the game ends when no player can move. Perfect play on 8x8 is a draw (Takizawa, "Othello is
solved", arXiv 2310.19387, 2023).

Encoding of a 4x4 board, the top left of 8x8: the bit of a square is 8 * row + column.

    bits of `discs`      actions, planes
     0  1  2  3           0  1  2  3
     8  9 10 11           4  5  6  7
    16 17 18 19           8  9 10 11
    24 25 26 27          12 13 14 15     16: pass

Plane 0 has the own discs, plane 1 those of the opponent; with `planes="absolute"` plane 0 the white
ones, plane 1 the black ones.
"""

from typing import Any

import numpy as np

from ludoteca.envs.game import Game, unique
from ludoteca.envs.games.bitboards import U0, U1, count, squares
from ludoteca.envs.jit import kernel
from ludoteca.envs.layout import Layout, Piece, cell_names
from ludoteca.envs.params import check_choice, check_integer
from ludoteca.envs.symmetry import CellMap, grid_symmetries

U7, U8, U9 = np.uint64(7), np.uint64(8), np.uint64(9)  # shifts by one square; see `AXES`
NOT_FIRST_COLUMN = np.uint64(0xFEFEFEFEFEFEFEFE)
NOT_LAST_COLUMN = np.uint64(0x7F7F7F7F7F7F7F7F)
# For each axis (row, two diagonals, column): the shift by one square, the squares that a right
# shift reaches without wrapping around the side of the board, and those that a left shift reaches.
AXES = (
    (U1, NOT_LAST_COLUMN, NOT_FIRST_COLUMN),
    (U7, NOT_FIRST_COLUMN, NOT_LAST_COLUMN),
    (U8, np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0xFFFFFFFFFFFFFFFF)),
    (U9, NOT_LAST_COLUMN, NOT_FIRST_COLUMN),
)


@unique
def othello(board_size: int = 8, planes: str = "relative", auto_pass: bool = False) -> Game:
    """Othello; action `row * board_size + column` places a disc, the last action passes.

    A pass is legal only if no placement is and the game is not over.

    Args:
        board_size: 4, 6 or 8.
        planes: `"relative"`: plane 0 has the discs of the observing player, plane 1 the opponent's.
            `"absolute"`: plane 0 has the white discs, plane 1 the black ones, as in Sancho Cebrero
            and Fernández Limárquez (Universidad de Sevilla, 2019).
        auto_pass: whether to skip the turn of a player that must pass, so that a pass is not a ply.
    """
    check_choice("board_size", check_integer("board_size", board_size, 4, 8), (4, 6, 8))
    check_choice("planes", planes, ("relative", "absolute"))
    check_choice("auto_pass", auto_pass, (False, True))
    n = board_size
    return Game(
        name="othello",
        title="Othello",
        params={"board_size": n, "planes": planes, "auto_pass": auto_pass},
        num_players=2,
        num_actions=n * n + 1,
        max_plies=2 * (n * n - 4),
        observation_shape=(2, n, n),
        state=np.dtype(
            [
                ("discs", np.uint64, (2,)),  # by player; black is player 0
                ("legal", np.uint64),  # squares where the player to move may place a disc
                ("to_move", np.int8),
                ("over", np.int8),  # whether no player can place a disc
                ("board", np.int8, (0, n)),  # takes no memory: kernels read n from its shape
                ("absolute", np.int8),
                ("auto_pass", np.int8),
            ],
            align=True,
        ),
        settings={"absolute": planes == "absolute", "auto_pass": auto_pass},
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
            n,
            (Piece("X", "black", "disc", "#111111", 0), Piece("O", "white", "disc", "#f7f7f7", 1)),
            cells,
            background="#2e8b57",
            line="#1d5c39",
            cell_actions=True,
            counts="discs",
        ),
        action_names=(*cell_names(n, n), "pass"),
        symmetries=lambda: grid_symmetries(n, n, _actions_with_pass),
        validate=validate,
    )


def _actions_with_pass(cells: Any, cell_map: CellMap) -> Any:
    """Return the map of actions: that of the cells; the pass maps to itself."""
    return np.append(cells, len(cells))


@kernel
def init(s: Any, seed: int) -> None:
    middle = np.uint64(9 * (s.board.shape[1] // 2))  # square just past the center: e5 on 8x8
    s.discs[0] = (U1 << (middle - U8)) | (U1 << (middle - U1))
    s.discs[1] = (U1 << middle) | (U1 << (middle - U9))
    s.to_move = 0
    s.over = 0
    s.legal = placements(s, 0)


@kernel
def player(s: Any) -> int:
    return int(s.to_move)


@kernel
def legal_actions(s: Any, out: Any) -> int:
    size = s.board.shape[1]
    if s.over:
        return 0
    if s.legal == U0:
        out[0] = size * size  # pass
        return 1
    n = 0
    remaining = s.legal
    while remaining != U0:
        lowest = remaining & (~remaining + U1)  # lowest bit
        square = count(lowest - U1)  # number of that bit
        out[n] = square // 8 * size + square % 8
        n += 1
        remaining ^= lowest
    return n


@kernel
def step(s: Any, action: int) -> None:
    mover = int(s.to_move)
    size = s.board.shape[1]
    passed = action == size * size
    if not passed:
        square = U1 << np.uint64(8 * (action // size) + action % size)
        flips = flipped(square, s.discs[mover], s.discs[1 - mover])
        s.discs[mover] |= square | flips
        s.discs[1 - mover] &= ~flips
    s.to_move = 1 - mover
    s.legal = placements(s, 1 - mover)
    if s.legal == U0:
        own = placements(s, mover)
        if own == U0:
            s.over = 1
        elif s.auto_pass:
            s.to_move = mover
            s.legal = own


@kernel
def is_terminal(s: Any) -> bool:
    return bool(s.over)


@kernel
def returns(s: Any, out: Any) -> None:
    out[:] = 0
    difference = count(s.discs[0]) - count(s.discs[1])
    if s.over and difference != 0:
        out[0] = 1 if difference > 0 else -1
        out[1] = -out[0]


@kernel
def observe(s: Any, player: int, out: Any) -> None:
    """Plane 0: discs of `player`, plane 1: the opponent's; or white and black if absolute."""
    first = 1 if s.absolute else player
    size = s.board.shape[1]
    for plane in range(2):
        discs = s.discs[first if plane == 0 else 1 - first]
        # One flat loop over the plane, which the compiler vectorizes.
        squares = out[plane].flat
        for square in range(size * size):
            bit = np.uint64(8 * (square // size) + square % size)
            squares[square] = (discs >> bit) & U1


@kernel
def placements(s: Any, player: int) -> Any:
    """Return the squares where a disc of `player` flips at least one disc."""
    return outflanking(s.discs[player], s.discs[1 - player]) & region(s.board.shape[1])


@kernel
def outflanking(own: Any, other: Any) -> Any:
    """Return the empty squares where a disc of `own` flips at least one of `other`.

    On a board smaller than 8x8, some of them may lie outside. Flood fills by doubling (Kogge-Stone)
    in eight directions, see https://www.chessprogramming.org/Fill_Algorithms.
    """
    squares = U0
    for shift, after_right_shift, after_left_shift in AXES:
        squares |= after_left_shift & (runs_up(own, other & after_left_shift, shift) << shift)
        squares |= after_right_shift & (runs_down(own, other & after_right_shift, shift) >> shift)
    return squares & ~(own | other)


@kernel
def flipped(square: Any, own: Any, other: Any) -> Any:
    """Return the discs of `other` that a disc of `own` on `square` flips."""
    flips = U0
    for shift, after_right_shift, after_left_shift in AXES:
        run = runs_up(square, other & after_left_shift, shift)
        if after_left_shift & (run << shift) & own:
            flips |= run
        run = runs_down(square, other & after_right_shift, shift)
        if after_right_shift & (run >> shift) & own:
            flips |= run
    return flips


@kernel
def runs_up(start: Any, discs: Any, shift: Any) -> Any:
    """Return the runs of up to six `discs` next to the squares `start`, towards higher bits.

    The first two lines fill runs of two discs; the last two lines each add a pair.
    """
    runs = discs & (start << shift)
    runs |= discs & (runs << shift)
    pairs = discs & (discs << shift)
    runs |= pairs & (runs << (shift + shift))
    runs |= pairs & (runs << (shift + shift))
    return runs


@kernel
def runs_down(start: Any, discs: Any, shift: Any) -> Any:
    """Return the runs of up to six `discs` next to the squares `start`, towards lower bits."""
    runs = discs & (start >> shift)
    runs |= discs & (runs >> shift)
    pairs = discs & (discs >> shift)
    runs |= pairs & (runs >> (shift + shift))
    runs |= pairs & (runs >> (shift + shift))
    return runs


@kernel
def region(board_size: int) -> Any:
    """Return the bitboard of all squares of the board."""
    if board_size == 8:
        return np.uint64(0xFFFFFFFFFFFFFFFF)
    if board_size == 6:
        return np.uint64(0x00003F3F3F3F3F3F)
    return np.uint64(0x000000000F0F0F0F)


def cells(s: Any) -> Any:
    """Return the codes of the cells: 1 for black, 2 for white."""
    size = s.board.shape[1]
    return (squares(s.discs[0], size, size) + 2 * squares(s.discs[1], size, size)).astype(np.int8)


def validate(s: Any) -> str:
    """Return the reason why a position is invalid, or an empty string."""
    if s.discs[0] & s.discs[1]:
        return "a square holds both a black and a white disc"
    if (s.discs[0] | s.discs[1]) & ~region(s.board.shape[1]):
        return "a disc lies outside the board"
    if s.to_move not in (0, 1) or s.over not in (0, 1):
        return f"to_move {s.to_move} or over {s.over} is not 0 or 1"
    with np.errstate(over="ignore"):  # bitboard kernels rely on integer overflow
        legal, replies = placements(s, int(s.to_move)), placements(s, 1 - int(s.to_move))
    if s.legal != legal:
        return f"legal is {int(s.legal):#x}, but the discs allow {int(legal):#x}"
    if bool(s.over) != (legal == U0 and replies == U0):
        return f"over is {s.over}, which does not say whether a placement is left"
    if s.auto_pass and not s.over and legal == U0:
        return "the player to move must pass, but passes are skipped"
    return ""
