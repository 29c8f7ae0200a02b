"""Evaluation of games in which a line of pieces wins: the open lines of both players."""

from typing import Any

from ludoteca.envs.jit import kernel


@kernel
def open_lines(s: Any, length: int) -> float:
    """Return the score of player 0 by the open lines on `s.board`, strictly between -1 and 1.

    A line of `length` cells is open for a player if the opponent has no piece on it. The difference
    of the numbers of open lines is the evaluation of tic-tac-toe in Nilsson, "Problem-Solving
    Methods in Artificial Intelligence" (1971). Here an open line with m pieces, m > 0, counts
    `4 ** (m - 1)`, as larger boards need weights. The difference d becomes the score
    `d / (|d| + lines)`, of all lines on the board.
    """
    rows, columns = s.board.shape
    difference, lines = 0, 0
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for row in range(rows - (length - 1) * down):
            for column in range(columns):
                if not 0 <= column + (length - 1) * right < columns:
                    continue
                lines += 1
                own, other = 0, 0
                for k in range(length):
                    piece = s.board[row + k * down, column + k * right]
                    own += int(piece == 0)
                    other += int(piece == 1)
                if own > 0 and other == 0:
                    difference += 1 << (2 * (own - 1))
                elif other > 0 and own == 0:
                    difference -= 1 << (2 * (other - 1))
    return difference / (abs(difference) + lines)
