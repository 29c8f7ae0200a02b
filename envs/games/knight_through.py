"""Knight-Through: Breakthrough with knights that make only the four forward jumps.

Rules: the game knightThrough of the General Game Playing base repository
(http://games.ggp.org/base). Knights capture as in chess. The first player with a knight on the far
row wins; a player without knights loses.

White's actions on 4 rows and 4 columns, each in the cell where it starts. Black's, 24 to 47, are
their reflections upside down, also numbered row after row from the top:

    2 up, 1 left     2 up, 1 right     1 up, 2 left     1 up, 2 right
    .  .  .  .       .  .  .  .        .  .  .  .       .  .  .  .
    .  .  .  .       .  .  .  .        .  . 12 13      18 19  .  .
    .  0  1  2       6  7  8  .        .  . 14 15      20 21  .  .
    .  3  4  5       9 10 11  .        .  . 16 17      22 23  .  .

Bitboards: see `bitboards.py`. Planes: own knights, the opponent's knights, and all ones if the
observing player is White.
"""

from ludoteca.envs.game import Game, unique
from ludoteca.envs.games.advance import advance_game
from ludoteca.envs.layout import Piece
from ludoteca.envs.params import check_integer

KNIGHT_STEPS = (
    *((-2, -1), (-2, 1), (-1, -2), (-1, 2)),  # White
    *((2, -1), (2, 1), (1, -2), (1, 2)),  # Black
)


@unique
def knight_through(rows: int = 8, columns: int = 8) -> Game:
    """Knight-Through; each action is a jump from a cell to a cell, such as `b2-c4`.

    White (player 0) starts at the bottom. Actions 0 to `num_actions / 2 - 1` are White's: two rows
    ahead to the left and to the right, one row ahead to the left and to the right, and within each
    by the cell where they start, row after row from the top; then come Black's in the same order.
    The observation planes are the own knights, the opponent's, and 1 everywhere for White.

    Args:
        rows: 4 to 8.
        columns: 4 to 8; with fewer, a knight might have no forward jump.
    """
    check_integer("rows", rows, 4, 8)
    check_integer("columns", columns, 4, 8)
    return advance_game(
        "knight_through",
        "Knight-Through",
        {"rows": rows, "columns": columns},
        KNIGHT_STEPS,
        (Piece("N", "white", "head", "#f7f7f7", 0), Piece("n", "black", "head", "#1b1b1b", 1)),
    )
