"""Search of Othello's last empty squares, with one kernel for each number of empty squares.

Most positions of a search have few empty squares, so most time is spent here, and there is neither
a transposition table nor move ordering, but for parity: squares in quarters of the board with an
odd number of empty squares come first, since the player to move can make the last move there.
"""

from typing import Any

import numpy as np

from ludoteca.agents.games.endgame.othello_bitboards import final_score, neighbors, odd_quarters
from ludoteca.envs.games.bitboards import U0, U1, count
from ludoteca.envs.games.othello import flipped
from ludoteca.envs.jit import factory, kernel

NO_SCORE = -100  # worse than every score
# Each square with its neighbors, by bit index.
NEIGHBORS = np.array([neighbors(np.uint64(1 << k)) for k in range(64)], np.uint64)


@kernel
def last_square(
    own: Any, other: Any, empty: Any, alpha: Any, beta: Any, board: Any, work: Any
) -> int:
    """Return the exact score with one empty square, see `make_last_squares`."""
    work.nodes += 1
    difference = 2 * count(own) - board.squares  # if the last square counts for the opponent
    num_flips = count(flipped(empty, own, other))
    if num_flips > 0:
        return difference + 2 * num_flips + 2
    num_flips = count(flipped(empty, other, own))
    if num_flips > 0:
        return difference - 2 * num_flips
    return difference + 2 if difference >= 0 else difference


@factory()
def make_last_squares(squares: int) -> Any:
    """Return the kernel `search_last(own, other, empty, alpha, beta, board, work) -> score`.

    It searches the position of the bitboards `own` (discs of the player to move) and `other`, with
    `squares` empty squares, the bitboard `empty`. A score in the window (`alpha`, `beta`) is exact,
    a score outside is a bound. `work.nodes` counts the positions; `board` is a record of
    `ludoteca.agents.games.endgame.othello_bitboards.BOARD`.
    """
    if squares == 1:
        return last_square
    # Two loops over the squares, those in odd quarters first; one loop for the last two squares.
    search_rest, num_loops = make_last_squares(squares - 1), 2 if squares > 2 else 1

    @kernel
    def search_last(
        own: Any, other: Any, empty: Any, alpha: Any, beta: Any, board: Any, work: Any
    ) -> int:
        work.nodes += 1
        sign = 1
        while True:
            best = NO_SCORE
            odd = odd_quarters(empty, board) if num_loops == 2 else ~U0
            for k in range(num_loops):
                remaining = empty & (odd if k == 0 else ~odd)
                while remaining != U0:
                    square = remaining & (~remaining + U1)
                    remaining ^= square
                    if NEIGHBORS[count(square - U1)] & other == U0:
                        continue
                    flips = flipped(square, own, other)
                    if flips == U0:
                        continue
                    # From the view of the next player to move.
                    child_own, child_other = other ^ flips, own | flips | square
                    lower = max(alpha, best)
                    score = -search_rest(
                        child_own, child_other, empty ^ square, -beta, -lower, board, work
                    )
                    if score > best:
                        best = score
                        if best >= beta:
                            return sign * best
            if best > NO_SCORE:
                return sign * best
            if sign < 0:  # neither player can move
                return -final_score(own, other, board)
            # Pass: search for the opponent and negate the result.
            own, other, alpha, beta, sign = other, own, -beta, -alpha, -1

    return search_last
