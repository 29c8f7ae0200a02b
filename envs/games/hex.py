"""Hex: join your two sides of the board with a chain of your stones; there are no draws.

Black joins north and south, white joins west and east. The six observation planes are those of
Young, Vasan and Hayward, "NeuroHex" (arXiv 1604.07097, section 2), with one cell of padding.

Encoding of a 3x3 board. A cell has one bit per plane; the padding has those of its edges:

    `cells`            actions      bit    plane
    *  N  N  N  *                   0      black stones, and the north and south edge
    W  .  .  .  E      0 1 2        1      white stones, and the west and east edge
    W  .  .  .  E       3 4 5       2, 3   white stones joined to the west, to the east edge
    W  .  .  .  E        6 7 8      4, 5   black stones joined to the north, to the south edge
    *  S  S  S  *                   6-8    none: 1 + direction, while edges spread through a group

The corners (*) have the bits of both edges. Action 9 is the swap, if it is allowed.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ludoteca.envs.game import Game, unique
from ludoteca.envs.games.winner import UNDECIDED, is_decided, winner_returns
from ludoteca.envs.jit import kernel
from ludoteca.envs.layout import Layout, Piece, cell_names
from ludoteca.envs.params import choice, integer
from ludoteca.envs.rng import below
from ludoteca.envs.symmetry import CellMap, Symmetry, grid_symmetries

# A cell is a set of bits: bit p is what observation plane p shows there.
BLACK, WHITE, WEST, EAST, NORTH, SOUTH = 1, 2, 4, 8, 16, 32
EDGES = WEST | EAST | NORTH | SOUTH
# While edges spread through a group, a cell also holds 1 + the direction that leads back.
BACK_SHIFT = 6
# The six neighbors in circular order: direction d + 3 leads back.
NEIGHBORS = ((-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1))


@unique
def hex(board_size: int = 11, first: str = "black", swap: bool = False) -> Game:
    """Hex; action `row * board_size + column` places a stone.

    Args:
        board_size: 2 to 19.
        first: color of player 0, who moves first: `"black"` (the field's convention) or `"white"`.
        swap: whether player 1 may answer the first stone with one more action, `board_size**2`: the
            stone is replaced by one of the other color on the mirrored cell (the pie rule).
    """
    integer("board_size", board_size, 2, 19)
    choice("first", first, ("black", "white"))
    choice("swap", swap, (False, True))
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
                ("swapped", np.int8),
                ("stones", np.int16),
                ("white_first", np.int8),
                ("swap", np.int8),
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
    """Return whether the player to move may take over the first stone."""
    return bool(s.swap and s.stones == 1 and s.to_move == 1)


@kernel
def step(s: Any, action: int) -> None:
    size = s.cells.shape[0] - 2
    color = WHITE if s.to_move != s.white_first else BLACK
    if action < size * size:
        place(s, action // size + 1, action % size + 1, color)
        s.stones += 1
    else:
        take_over(s, color)
    s.to_move = 1 - s.to_move


@kernel
def take_over(s: Any, color: int) -> None:
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
    """Put a stone on a padded cell and connect it; a group with both its edges wins."""
    edges = 0
    for dr, dc in NEIGHBORS:
        near = s.cells[row + dr, column + dc]
        if near & color:
            edges |= near
    # Padding at a corner belongs to both colors: keep the edges of this one.
    edges &= (NORTH | SOUTH) if color == BLACK else (WEST | EAST)
    s.cells[row, column] = color | edges
    if edges:
        spread(s, row, column, color, edges)
        if edges == NORTH | SOUTH or edges == WEST | EAST:
            s.winner = s.to_move


@kernel
def spread(s: Any, row: int, column: int, color: int, edges: int) -> None:
    """Give `edges` to all stones of the group at (row, column) that lack some of them.

    A depth-first walk without a stack: the way back is kept in the cells it visits (Schorr and
    Waite, "An efficient machine-independent procedure", 1967) and wiped on return.
    """
    size = s.cells.shape[0] - 2
    start_row, start_column = row, column
    direction = 0
    while True:
        if direction < 6:
            dr, dc = NEIGHBORS[direction]
            r, c = row + dr, column + dc
            if 1 <= r <= size and 1 <= c <= size:
                near = int(s.cells[r, c])
                if near & color and (near & edges) != edges:
                    s.cells[r, c] = near | edges | ((direction + 3) % 6 + 1) << BACK_SHIFT
                    row, column, direction = r, c, 0
                    continue
            direction += 1
        elif row == start_row and column == start_column:
            return
        else:
            back = (int(s.cells[row, column]) >> BACK_SHIFT) - 1
            s.cells[row, column] &= (1 << BACK_SHIFT) - 1
            row, column = row + NEIGHBORS[back][0], column + NEIGHBORS[back][1]
            direction = (back + 3) % 6 + 1  # the walk left here by back + 3: continue with the next


@kernel
def playout(s: Any, legal: Any, rng: Any) -> int:
    """Fill the board at random, then see who has won: nobody can win twice, and somebody must."""
    if can_swap(s):
        # One ply by the rules; it comes first in the list, in front of the rest.
        first = int(legal[below(rng, legal_actions(s, legal))])
        step(s, first)
        n = playout_from_here(s, legal, rng)
        for k in range(n, 0, -1):
            legal[k] = legal[k - 1]
        legal[0] = first
        return n + 1
    return playout_from_here(s, legal, rng)


@kernel
def playout_from_here(s: Any, legal: Any, rng: Any) -> int:
    """As `playout`, when there is nothing to swap."""
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
    s.winner = s.white_first if black_joins(s) else 1 - s.white_first
    return n


@kernel
def black_joins(s: Any) -> bool:
    """Return whether black joins north and south on a full board.

    Walks along the border between black and white that begins in the corner of north and west,
    black on the left hand: the black cells met are joined to north, the white ones to west. From
    the black cell (row, column) the white one lies in `direction`, and the cell ahead of both in
    `direction - 1`.
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
    """Planes: black, white, white joined to west, to east, black joined to north, to south."""
    # Flat, so that the compiler sees one long loop per plane.
    cells = s.cells.flat
    for plane in range(6):
        shown = out[plane].flat
        for cell in range(s.cells.size):
            shown[cell] = (cells[cell] & (1 << plane)) != 0


def cells(s: Any) -> Any:
    """Show black as 1 and white as 2, without the padding."""
    return (s.cells[1:-1, 1:-1] & (BLACK | WHITE)).astype(np.int8)


def symmetries(n: int, swap: bool) -> tuple[Symmetry, ...]:
    """Return the identity and the half turn, which exchanges opposite edges."""
    identity, rotated = padded_symmetries(n, swap, ("identity", "rotate 180"))
    return identity, replace(rotated, planes=np.array([0, 1, 3, 2, 5, 4]))


def mirror(n: int, swap: bool) -> Symmetry:
    """Return the exchange of colors: across the main diagonal, north lies west and south east."""
    (transposed,) = padded_symmetries(n, swap, ("transpose",))
    return replace(transposed, name="exchange colors", planes=np.array([1, 0, 4, 5, 2, 3]))


def padded_symmetries(n: int, swap: bool, names: tuple[str, ...]) -> tuple[Symmetry, ...]:
    """Return symmetries of the padded board, without the map of the planes."""

    def actions(cells: Any, move: CellMap) -> Any:
        # `move` works on the padded board, and maps the inner one onto itself.
        inner = [move(row + 1, column + 1) for row in range(n) for column in range(n)]
        placed = [(row - 1) * n + column - 1 for row, column in inner]
        return np.array(placed + [n * n] * swap, np.int64)

    return grid_symmetries(n + 2, n + 2, actions, names)


def validate(s: Any) -> str:
    """Return why a position is impossible, or an empty string."""
    stones = s.cells[1:-1, 1:-1] & (BLACK | WHITE)
    if (stones == BLACK | WHITE).any():
        return "a cell holds both a black and a white stone"
    if s.to_move not in (0, 1) or s.winner not in (UNDECIDED, 0, 1) or s.swapped not in (0, 1):
        return f"to_move {s.to_move}, winner {s.winner} or swapped {s.swapped} is out of range"
    if s.stones != np.count_nonzero(stones):
        return f"stones is {s.stones}, but {np.count_nonzero(stones)} are on the board"
    # Placing the same stones again must give the same connections and winner.
    again = np.zeros(1, s.dtype).view(np.recarray)[0]
    init(again, 0)
    for row, column in np.argwhere(stones):
        color = int(stones[row, column])
        again.to_move = int((color == WHITE) != bool(s.white_first))
        place(again, int(row) + 1, int(column) + 1, color)
    if not np.array_equal(again.cells, s.cells) or again.winner != s.winner:
        return "the connections or the winner do not follow from the stones"
    return ""
