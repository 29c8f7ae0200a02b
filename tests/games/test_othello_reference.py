"""Rules of Othello, compared with a plain implementation in perft and random games."""

from typing import Any

import numpy as np
import pytest

from ludoteca.envs.engine.playouts import perft
from ludoteca.envs.engine.trajectory import record_trajectory
from ludoteca.envs.games.othello import othello
from ludoteca.envs.record_views import view_records

pytestmark = pytest.mark.interpreted


Board = list[list[int]]  # 0 empty, 1 black, 2 white


class Reference:
    """Reference implementation of Othello in plain Python."""

    def __init__(self, size: int) -> None:
        h = size // 2
        self.size = size
        self.start: Board = [[0] * size for _ in range(size)]
        self.start[h - 1][h] = self.start[h][h - 1] = 1
        self.start[h - 1][h - 1] = self.start[h][h] = 2

    def flipped(self, board: Board, color: int, row: int, column: int) -> list[tuple[int, int]]:
        """Return the discs that a disc of `color` on (row, column) turns over."""
        flipped = []
        for dr in (-1, 0, 1):
            for dc in (-1, 0, 1):
                line, r, c = [], row + dr, column + dc
                while 0 <= r < self.size and 0 <= c < self.size and board[r][c] == 3 - color:
                    line.append((r, c))
                    r, c = r + dr, c + dc
                if 0 <= r < self.size and 0 <= c < self.size and board[r][c] == color:
                    flipped += line
        return flipped

    def moves(self, board: Board, color: int) -> list[int]:
        """Return the legal placements of a color, row * size + column."""
        return [
            row * self.size + column
            for row in range(self.size)
            for column in range(self.size)
            if board[row][column] == 0 and self.flipped(board, color, row, column)
        ]

    def play(self, board: Board, color: int, action: int) -> Board:
        """Return the board after a placement."""
        row, column = divmod(action, self.size)
        child = [line[:] for line in board]
        for r, c in [*self.flipped(board, color, row, column), (row, column)]:
            child[r][c] = color
        return child

    def perft(self, board: Board, color: int, depth: int, auto_pass: bool) -> int:
        """Return the number of sequences of moves of a length; finished games count once."""
        if depth == 0:
            return 1
        moves = self.moves(board, color)
        if moves:
            boards = (self.play(board, color, move) for move in moves)
            return sum(self.perft(child, 3 - color, depth - 1, auto_pass) for child in boards)
        if not self.moves(board, 3 - color):
            return 1
        return self.perft(board, 3 - color, depth - (not auto_pass), auto_pass)


@pytest.mark.parametrize("auto_pass", [False, True])
@pytest.mark.parametrize(
    ("size", "depths"),
    [
        pytest.param(4, range(1, 6), marks=pytest.mark.interpreted),
        pytest.param(6, range(1, 5), marks=pytest.mark.interpreted),
        *(
            pytest.param(size, depths, marks=pytest.mark.slow)
            for size, depths in ((4, range(1, 10)), (6, range(1, 7)), (8, [5]))
        ),
    ],
)
def test_perft_equals_a_plain_implementation(size: int, depths: Any, auto_pass: bool) -> None:
    game, reference = othello(board_size=size, auto_pass=auto_pass), Reference(size)
    expected = {d: reference.perft(reference.start, 1, d, auto_pass) for d in depths}
    assert {depth: perft(game, depth) for depth in depths} == expected


@pytest.mark.parametrize(
    ("size", "games"),
    [
        *(pytest.param(size, 10, marks=pytest.mark.interpreted) for size in (4, 6, 8)),
        *(pytest.param(size, 60, marks=pytest.mark.slow) for size in (4, 6, 8)),
    ],
)
def test_random_games_equal_a_plain_implementation(size: int, games: int) -> None:
    game, reference = othello(board_size=size), Reference(size)
    trajectory = record_trajectory(game, games, seed=size)
    passes = 0
    for i, plies in enumerate(trajectory.plies):
        board, color = reference.start, 1
        for t in range(plies):
            s = view_records(trajectory.positions[i, t : t + 1])[0]
            assert game.layout.cells(s).tolist() == board
            assert trajectory.mover[i, t] == color - 1
            moves = reference.moves(board, color) or [size * size]
            assert np.flatnonzero(trajectory.legal[i, t, 0]).tolist() == moves
            action = int(trajectory.actions[i, t, 0])
            if action < size * size:
                board = reference.play(board, color, action)
            else:
                passes += 1
            color = 3 - color
        assert not reference.moves(board, 1)
        assert not reference.moves(board, 2)
        lead = sum(row.count(1) - row.count(2) for row in board)
        assert trajectory.returns[i, plies].tolist() == [np.sign(lead), -np.sign(lead)]
    assert passes > 0
