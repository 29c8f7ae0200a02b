"""Knight Fight: two knights jump on a board that fills with arrows; a knight on an arrow loses.

Rules: the game knightfight of the General Game Playing base repository
(http://games.ggp.org/base). White starts in the corner a1, Black in the opposite one. White jumps
first; from then on a turn is an attack and a jump:

* a jump, as in chess, ends on any cell but the opponent's, and leaves an arrow on the cell where it
  starts;
* an attack puts arrows on the cells beside the opponent's knight, on the orthogonal or on the
  diagonal ones, as the player chooses.

Encoding of a 4x4 board: actions 0 to 15 are jumps to a cell, 16 attacks the orthogonal cells and 17
the diagonal ones. The field `knights` numbers the cells in the same way.

     0  1  2  3
     4  5  6  7
     8  9 10 11
    12 13 14 15

Planes: own knight, the opponent's, arrows, and 1 everywhere when the next action is an attack.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game, unique
from ludoteca.envs.games.winner import UNDECIDED, is_decided, winner_returns
from ludoteca.envs.jit import kernel
from ludoteca.envs.layout import Layout, Piece, cell_names
from ludoteca.envs.params import check_integer
from ludoteca.envs.symmetry import CellMap, grid_symmetries

WHITE, BLACK = 0, 1
JUMPS = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1))
BESIDE = (
    ((-1, 0), (0, -1), (0, 1), (1, 0)),  # orthogonal
    ((-1, -1), (-1, 1), (1, -1), (1, 1)),  # diagonal
)


@unique
def knight_fight(board_size: int = 10) -> Game:
    """Knight Fight; actions are jumps to a cell, such as `b3`, and two kinds of attack.

    White (player 0) starts at the bottom left, Black at the top right. Action
    `row * board_size + column` is a jump to that cell; the last two are the attack on the
    orthogonal cells and the one on the diagonal cells. The observation planes are the own knight,
    the opponent's, the arrows, and 1 everywhere when the next action is an attack.

    Args:
        board_size: 4 to 19.
    """
    n = check_integer("board_size", board_size, 4, 19)
    return Game(
        name="knight_fight",
        title="Knight Fight",
        params={"board_size": n},
        num_players=2,
        num_actions=n * n + 2,
        # Each jump starts from a cell without an arrow and leaves one there, so there are at most
        # n * n - 1 jumps; between two jumps there is one attack.
        max_plies=2 * n * n - 3,
        observation_shape=(4, n, n),
        state=np.dtype(
            [
                ("knights", np.int16, (2,)),  # row * board_size + column, by player
                ("arrows", np.int8, (n, n)),  # 0 or 1
                ("attack", np.int8),  # 1 if the next action is an attack
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
            (
                Piece("W", "white", "head", "#f7f7f7", WHITE),
                Piece("B", "black", "head", "#1b1b1b", BLACK),
                Piece("*", "arrow", "cross", "#b03a2e"),
                Piece("w", "white on an arrow", "square", "#f7f7f7", WHITE),
                Piece("b", "black on an arrow", "square", "#1b1b1b", BLACK),
            ),
            cells,
            cell_actions=True,
            coordinates="a1 bottom",
        ),
        action_names=(*cell_names(n, n, "a1 bottom"), "orthogonal", "diagonal"),
        symmetries=lambda: grid_symmetries(n, n, _actions_with_attacks),
        validate=validate,
    )


@kernel
def init(s: Any, seed: int) -> None:
    size = s.arrows.shape[0]
    s.knights[WHITE], s.knights[BLACK] = size * (size - 1), size - 1
    s.arrows[:] = 0
    s.attack = 0
    s.to_move = WHITE
    s.winner = UNDECIDED


@kernel
def player(s: Any) -> int:
    return int(s.to_move)


@kernel
def legal_actions(s: Any, out: Any) -> int:
    n, size = 0, s.arrows.shape[0]
    if s.winner != UNDECIDED:
        return n
    if s.attack:
        out[0], out[1] = size * size, size * size + 1
        return 2
    row, column = s.knights[s.to_move] // size, s.knights[s.to_move] % size
    for down, right in JUMPS:
        end_row, end_column = row + down, column + right
        if 0 <= end_row < size and 0 <= end_column < size:
            cell = end_row * size + end_column
            if cell != s.knights[1 - s.to_move]:
                out[n] = cell
                n += 1
    return n


@kernel
def step(s: Any, action: int) -> None:
    if s.attack:
        attack(s, action - s.arrows.size)
        s.attack = 0
    else:
        jump(s, action)
        s.attack = 1
        s.to_move = 1 - s.to_move


@kernel
def jump(s: Any, cell: int) -> None:
    """Move the knight of the player to move; it loses on an arrow."""
    size = s.arrows.shape[0]
    start = s.knights[s.to_move]
    s.arrows[start // size, start % size] = 1
    s.knights[s.to_move] = cell
    if s.arrows[cell // size, cell % size]:
        s.winner = 1 - s.to_move


@kernel
def attack(s: Any, kind: int) -> None:
    """Put arrows beside the opponent's knight: orthogonal (kind 0) or diagonal (kind 1).

    The player to move loses if its own knight is on one of these cells.
    """
    size, own = s.arrows.shape[0], s.knights[s.to_move]
    target = s.knights[1 - s.to_move]
    for down, right in BESIDE[kind]:
        row, column = target // size + down, target % size + right
        if 0 <= row < size and 0 <= column < size:
            s.arrows[row, column] = 1
            if row * size + column == own:
                s.winner = 1 - s.to_move


@kernel
def observe(s: Any, player: int, out: Any) -> None:
    """Planes: own knight, the opponent's, arrows, 1 if the next action is an attack."""
    size = s.arrows.shape[0]
    out[:2] = 0
    out[0, s.knights[player] // size, s.knights[player] % size] = 1
    out[1, s.knights[1 - player] // size, s.knights[1 - player] % size] = 1
    for row in range(size):
        for column in range(size):
            out[2, row, column] = s.arrows[row, column]
            out[3, row, column] = s.attack


def cells(s: Any) -> NDArray[np.int8]:
    """Return the codes of the cells: 1, 2 for knights, 3 for arrows, 4, 5 for knights on arrows."""
    codes: NDArray[np.int8] = 3 * s.arrows
    for player, knight in enumerate(s.knights):
        codes.reshape(-1)[knight] += 1 + player
    return codes


def _actions_with_attacks(cells: NDArray[np.int64], cell_map: CellMap) -> NDArray[np.int64]:
    """Return the map of actions: that of the cells; attacks map to themselves."""
    return np.append(cells, (len(cells), len(cells) + 1))


def validate(s: Any) -> str:
    """Return the reason why a position is invalid, or an empty string."""
    size = s.arrows.shape[0]
    if not np.isin(s.arrows, (0, 1)).all():
        return "arrows must be 0 or 1"
    if s.knights[0] == s.knights[1] or not all(0 <= knight < size**2 for knight in s.knights):
        return (
            f"the knights are on {s.knights.tolist()}, expected two different cells from 0 to "
            f"{size**2 - 1}"
        )
    if s.to_move not in (WHITE, BLACK) or s.attack not in (0, 1):
        return f"to_move {s.to_move} is not a player, or attack {s.attack} is not 0 or 1"
    lost = [player for player in (WHITE, BLACK) if s.arrows.flat[s.knights[player]]]
    if len(lost) == 2:
        return "both knights are on arrows"
    winner = 1 - lost[0] if lost else UNDECIDED
    if s.winner != winner:
        return f"winner is {s.winner}, but the cells say {winner}"
    return ""
