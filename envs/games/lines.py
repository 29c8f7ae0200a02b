"""Lines of pieces on `s.board`, shape `[rows, columns]`, whose cells are EMPTY or a player."""

from typing import Any

from ludoteca.envs.jit import kernel

EMPTY = -1


@kernel
def in_line(s: Any, row: int, column: int, length: int) -> bool:
    """Return whether the piece at (row, column) is part of a line of at least `length`."""
    for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
        before, behind = count_equal(s, row, column, dr, dc), count_equal(s, row, column, -dr, -dc)
        if before + 1 + behind >= length:
            return True
    return False


@kernel
def count_equal(s: Any, row: int, column: int, dr: int, dc: int) -> int:
    """Return the number of consecutive equal pieces after (row, column) in direction (dr, dc)."""
    rows, columns = s.board.shape
    piece = s.board[row, column]
    n = 0
    row, column = row + dr, column + dc
    while 0 <= row < rows and 0 <= column < columns and s.board[row, column] == piece:
        n += 1
        row, column = row + dr, column + dc
    return n
