"""Hex: connect your two sides of the board with a chain of your stones; there are no draws.

Black connects north and south, white connects west and east. The six observation planes are those
of Young, Vasan and Hayward, "NeuroHex" (arXiv 1604.07097, section 2), with one cell of padding.

Encoding of a 3x3 board. A cell has one bit per plane; a cell of the padding has the bits of its
edge:

    `cells`            actions      bit    plane
    *  N  N  N  *                   0      black stones, and the north and south edge
    W  .  .  .  E      0 1 2        1      white stones, and the west and east edge
    W  .  .  .  E       3 4 5       2, 3   white stones connected to the west, to the east edge
    W  .  .  .  E        6 7 8      4, 5   black stones connected to the north, to the south edge
    *  S  S  S  *                   6-8    in no plane: used by `spread`, 0 between steps

The corners (*) have the bits of both edges. Action 9 is the swap, if it is allowed.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ludoteca.envs.game import Game, unique
from ludoteca.envs.games.winner import UNDECIDED, is_decided, winner_returns
from ludoteca.envs.jit import kernel
from ludoteca.envs.layout import Layout, Piece, cell_names
from ludoteca.envs.params import check_choice, check_integer
from ludoteca.envs.rng import below
from ludoteca.envs.symmetry import CellMap, Symmetry, grid_symmetries

# The bits of a cell; bit p is its value in observation plane p.
BLACK, WHITE, WEST, EAST, NORTH, SOUTH = 1, 2, 4, 8, 16, 32
EDGES = WEST | EAST | NORTH | SOUTH
# From this bit on, `spread` stores 1 + the direction to the previous cell of its walk.
BACK_SHIFT = 6
# The six neighbors in circular order; direction d + 3 (modulo 6) is opposite to d.
NEIGHBORS = ((-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1))


@unique
def hex(board_size: int = 11, first: str = "black", swap: bool = False) -> Game:
    """Hex; action `row * board_size + column` places a stone.

    Args:
        board_size: 2 to 19.
        first: color of player 0, who moves first: `"black"` (the field's convention) or `"white"`.
        swap: pie rule: player 1 may answer the first stone with the action `board_size**2`, which
            replaces the stone by one of the other color on the mirrored cell.
    """
    check_integer("board_size", board_size, 2, 19)
    check_choice("first", first, ("black", "white"))
    check_choice("swap", swap, (False, True))
    n = board_size
    return Game(
        name="hex",
        title="Hex",
        params={"board_size": n, "first": first, "swap": swap},
        num_players=2,
        num_actions=n * n + swap,
        max_plies=n * n + swap,
        observation_shape=(6, n + 2, n + 2),
        state=np.dtype(
            [
                ("cells", np.uint16, (n + 2, n + 2)),  # padded; the padding belongs to the edges
                ("to_move", np.int8),
                ("winner", np.int8),  # UNDECIDED or a player
                ("swapped", np.int8),  # whether player 1 has swapped
                ("stones", np.int16),  # number of stones on the board
                ("white_first", np.int8),  # whether white is player 0
                ("swap", np.int8),  # whether the pie rule is on
            ],
            align=True,
        ),
        settings={"white_first": first == "white", "swap": swap},
        init=init,
        player=player,
        legal_actions=legal_actions,
        step=step,
        is_terminal=is_decided,
        returns=winner_returns,
        observe=observe,
        playout=playout,
        layout=Layout(
            "hexagons",
            n,
            n,
            (
                Piece("X", "black", "disc", "#1b1b1b", int(first == "white")),
                Piece("O", "white", "disc", "#fafafa", int(first == "black")),
            ),
            cells,
            background="#e3c58f",
            line="#8d6b35",
            edges=("#1b1b1b", "#fafafa", "#1b1b1b", "#fafafa"),
            cell_actions=True,
        ),
        action_names=(*cell_names(n, n), "swap")[: n * n + swap],
        symmetries=lambda: symmetries(n, swap),
        mirror=lambda: mirror(n, swap),
        validate=validate,
    )


@kernel
def init(s: Any, seed: int) -> None:
    last = s.cells.shape[0] - 1
    s.cells[:] = 0
    for i in range(last + 1):
        s.cells[0, i] |= BLACK | NORTH
        s.cells[last, i] |= BLACK | SOUTH
        s.cells[i, 0] |= WHITE | WEST
        s.cells[i, last] |= WHITE | EAST
    s.to_move = 0
    s.winner = UNDECIDED
    s.swapped = 0
    s.stones = 0


@kernel
def player(s: Any) -> int:
    return int(s.to_move)


@kernel
def legal_actions(s: Any, out: Any) -> int:
    size = s.cells.shape[0] - 2
    n = 0
    if s.winner == UNDECIDED:
        for row in range(size):
            for column in range(size):
                out[n] = row * size + column
                n += int(s.cells[row + 1, column + 1] == 0)
        if can_swap(s):
            out[n] = size * size
            n += 1
    return n


@kernel
def can_swap(s: Any) -> bool:
    """Return whether the player to move may swap."""
    return bool(s.swap and s.stones == 1 and s.to_move == 1)


@kernel
def step(s: Any, action: int) -> None:
    size = s.cells.shape[0] - 2
    color = WHITE if s.to_move != s.white_first else BLACK
    if action < size * size:
        place(s, action // size + 1, action % size + 1, color)
        s.stones += 1
    else:
        swap_stone(s, color)
    s.to_move = 1 - s.to_move


@kernel
def swap_stone(s: Any, color: int) -> None:
    """Replace the only stone by one of `color` on the mirrored cell."""
    size = s.cells.shape[0] - 2
    for row in range(1, size + 1):
        for column in range(1, size + 1):
            if s.cells[row, column] != 0:
                s.cells[row, column] = 0
                place(s, column, row, color)
                s.swapped = 1
                return


@kernel
def place(s: Any, row: int, column: int, color: int) -> None:
    """Place a stone and update the connections; a group that touches both its edges wins.

    `row` and `column` count from the padding, so they are at least 1.
    """
    edges = 0
    for dr, dc in NEIGHBORS:
        neighbor = s.cells[row + dr, column + dc]
        if neighbor & color:
            edges |= neighbor
    # A corner of the padding has the edges of both colors: keep those of `color`.
    edges &= (NORTH | SOUTH) if color == BLACK else (WEST | EAST)
    s.cells[row, column] = color | edges
    if edges:
        spread(s, row, column, color, edges)
        if edges == NORTH | SOUTH or edges == WEST | EAST:
            s.winner = s.to_move


@kernel
def spread(s: Any, row: int, column: int, color: int, edges: int) -> None:
    """Set the bits `edges` in all stones of the group at (row, column).

    A depth-first search without a stack: each visited cell stores the direction back, which is
    cleared on return (Schorr and Waite, "An efficient machine-independent procedure for garbage
    collection in various list structures", 1967).
    """
    size = s.cells.shape[0] - 2
    start_row, start_column = row, column
    direction = 0
    while True:
        if direction < 6:
            dr, dc = NEIGHBORS[direction]
            r, c = row + dr, column + dc
            if 1 <= r <= size and 1 <= c <= size:
                neighbor = int(s.cells[r, c])
                if neighbor & color and (neighbor & edges) != edges:
                    s.cells[r, c] = neighbor | edges | ((direction + 3) % 6 + 1) << BACK_SHIFT
                    row, column, direction = r, c, 0
                    continue
            direction += 1
        elif row == start_row and column == start_column:
            return
        else:
            back = (int(s.cells[row, column]) >> BACK_SHIFT) - 1
            s.cells[row, column] &= (1 << BACK_SHIFT) - 1
            row, column = row + NEIGHBORS[back][0], column + NEIGHBORS[back][1]
            direction = (back + 3) % 6 + 1  # continue after direction back + 3


@kernel
def playout(s: Any, legal: Any, rng: Any) -> int:
    """Fill the board at random, then determine the winner: exactly one player connects.

    See `Game.playout`. `legal` gets the actions, int16 `[num_actions]`; `rng` is uint64 `[1]`.
    """
    if can_swap(s):
        # The first ply, which may be the swap, is played by `step`; its action comes first.
        first = int(legal[below(rng, legal_actions(s, legal))])
        step(s, first)
        n = fill_at_random(s, legal, rng)
        for k in range(n, 0, -1):
            legal[k] = legal[k - 1]
        legal[0] = first
        return n + 1
    return fill_at_random(s, legal, rng)


@kernel
def fill_at_random(s: Any, legal: Any, rng: Any) -> int:
    """Fill the board at random and determine the winner; requires that no swap is legal."""
    size = s.cells.shape[0] - 2
    n = legal_actions(s, legal)
    if n == 0:
        return 0
    black = s.to_move == s.white_first
    for k in range(n):
        j = k + below(rng, n - k)
        cell = legal[j]
        legal[j] = legal[k]
        legal[k] = cell
        s.cells[cell // size + 1, cell % size + 1] = BLACK if black else WHITE
        black = not black
    s.winner = s.white_first if black_connects(s) else 1 - s.white_first
    return n


@kernel
def black_connects(s: Any) -> bool:
    """Return whether black connects north and south on a full board.

    Follows the border between black and white from the northwest corner, with black on the left:
    black cells on the border are connected to the north edge, white cells to the west edge. The
    white cell lies in `direction` from the black cell (row, column), and the cell ahead, which both
    touch, in `direction - 1`.
    """
    row, column, direction = 0, 1, 4
    while True:
        ahead = (direction + 5) % 6
        r, c = row + NEIGHBORS[ahead][0], column + NEIGHBORS[ahead][1]
        cell = s.cells[r, c]
        if cell & WHITE:
            if cell & EAST:
                return False
            if not cell & BLACK:
                direction = ahead
                continue
        if cell & SOUTH:
            return True
        row, column, direction = r, c, (direction + 1) % 6


@kernel
def observe(s: Any, player: int, out: Any) -> None:
    """Write the planes: black, white, white connected to west, east, black to north, south."""
    # Flat, so that the compiler vectorizes one long loop per plane.
    cells = s.cells.flat
    for plane in range(6):
        values = out[plane].flat
        for cell in range(s.cells.size):
            values[cell] = (cells[cell] & (1 << plane)) != 0


def cells(s: Any) -> Any:
    """Return the codes of the cells, without the padding: 1 for black, 2 for white."""
    return (s.cells[1:-1, 1:-1] & (BLACK | WHITE)).astype(np.int8)


def symmetries(n: int, swap: bool) -> tuple[Symmetry, ...]:
    """Return the identity and the half turn, which exchanges opposite edges."""
    identity, rotated = padded_symmetries(n, swap, ("identity", "rotate 180"))
    return identity, replace(rotated, planes=np.array([0, 1, 3, 2, 5, 4]))


def mirror(n: int, swap: bool) -> Symmetry:
    """Return the exchange of colors: a transposition maps north to west and south to east."""
    (transposed,) = padded_symmetries(n, swap, ("transpose",))
    return replace(transposed, name="exchange colors", planes=np.array([1, 0, 4, 5, 2, 3]))


def padded_symmetries(n: int, swap: bool, names: tuple[str, ...]) -> tuple[Symmetry, ...]:
    """Return the `grid_symmetries` with these names of the padded board, with unchanged planes."""

    def actions(cells: Any, cell_map: CellMap) -> Any:
        # `cell_map` is for the padded board, and maps the inner board to itself.
        images = [cell_map(row + 1, column + 1) for row in range(n) for column in range(n)]
        placements = [(row - 1) * n + column - 1 for row, column in images]
        return np.array(placements + [n * n] * swap, np.int64)

    return grid_symmetries(n + 2, n + 2, actions, names)


def validate(s: Any) -> str:
    """Return the reason why a position is invalid, or an empty string."""
    stones = s.cells[1:-1, 1:-1] & (BLACK | WHITE)
    if (stones == BLACK | WHITE).any():
        return "a cell holds both a black and a white stone"
    if s.to_move not in (0, 1) or s.winner not in (UNDECIDED, 0, 1) or s.swapped not in (0, 1):
        return f"to_move {s.to_move}, winner {s.winner} or swapped {s.swapped} is out of range"
    if s.stones != np.count_nonzero(stones):
        return f"stones is {s.stones}, but {np.count_nonzero(stones)} stones are on the board"
    # Placing the same stones must give the same connections and winner.
    rebuilt = np.zeros(1, s.dtype).view(np.recarray)[0]
    init(rebuilt, 0)
    for row, column in np.argwhere(stones):
        color = int(stones[row, column])
        rebuilt.to_move = int((color == WHITE) != bool(s.white_first))
        place(rebuilt, int(row) + 1, int(column) + 1, color)
    if not np.array_equal(rebuilt.cells, s.cells) or rebuilt.winner != s.winner:
        return "the connections or the winner do not follow from the stones"
    return ""
