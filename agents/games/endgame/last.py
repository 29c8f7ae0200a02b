"""Search of the last empty squares: no table, no sorting, one function per number of squares.

Most positions of a search have few empty squares, so this is where its time goes. Squares are tried
in quarters of the board with an odd number of empty squares first, where the mover can hope for the
last word.
"""

from typing import Any

import numpy as np

from ludoteca.agents.games.endgame.boards import final_score, neighbors, odd_quarters
from ludoteca.envs.games.bitboards import U0, U1, count
from ludoteca.envs.games.othello import turned
from ludoteca.envs.jit import factory, kernel

NONE = -100  # worse than every score
NEAR = np.array([neighbors(np.uint64(1 << k)) for k in range(64)], np.uint64)


@kernel
def last_one(own: Any, other: Any, empty: Any, alpha: Any, beta: Any, board: Any, work: Any) -> int:
    """Return the score with one empty square left, whatever the window."""
    work.nodes += 1
    difference = 2 * count(own) - board.squares  # as if the opponent had the last square
    turns = count(turned(empty, own, other))
    if turns > 0:
        return difference + 2 * turns + 2
    turns = count(turned(empty, other, own))
    if turns > 0:
        return difference - 2 * turns
    return difference + 2 if difference >= 0 else difference


@factory()
def make_last(squares: int) -> Any:
    """Return the kernel `last(own, other, empty, alpha, beta, board, work) -> score`.

    It searches a position with that many squares left, the set `empty`. A score in the window
    (`alpha`, `beta`) is exact, one outside it a bound. Positions are counted in `work.nodes`.
    """
    if squares == 1:
        return last_one
    later, halves = make_last(squares - 1), 2 if squares > 2 else 1

    @kernel
    def last(own: Any, other: Any, empty: Any, alpha: Any, beta: Any, board: Any, work: Any) -> int:
        work.nodes += 1
        sign = 1
        while True:
            best = NONE
            odd = odd_quarters(empty, board) if halves == 2 else ~U0
            for half in range(halves):
                left = empty & (odd if half == 0 else ~odd)
                while left != U0:
                    square = left & (~left + U1)
                    left ^= square
                    if NEAR[count(square - U1)] & other == U0:
                        continue
                    flips = turned(square, own, other)
                    if flips == U0:
                        continue
                    # The next one's own discs, then ours.
                    theirs, mine = other ^ flips, own | flips | square
                    least = max(alpha, best)
                    score = -later(theirs, mine, empty ^ square, -beta, -least, board, work)
                    if score > best:
                        best = score
                        if best >= beta:
                            return sign * best
            if best > NONE:
                return sign * best
            if sign < 0:  # neither player can move
                return -final_score(own, other, board)
            # Pass: search for the opponent and turn the result around.
            own, other, alpha, beta, sign = other, own, -beta, -alpha, -1

    return last
