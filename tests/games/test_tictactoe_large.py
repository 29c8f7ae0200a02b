"""Tests of the rules of Tic-Tac-Toe Large, five in a row on 5x5, on boards drawn as text."""

import numpy as np
import pytest

from ludoteca.envs.engine.trajectory import record_trajectory
from ludoteca.envs.games.tictactoe import tictactoe, tictactoe_large

pytestmark = pytest.mark.interpreted

# Boards on which X moves to `*`, and the return of X.
MOVE_CASES = {
    "a row": (
        """
        O . . . O
        X X * X X
        . O . . .
        . . . O .
        . . . . .
        """,
        1,
    ),
    "a column": (
        """
        O . . X O
        . O . X .
        . . . X .
        . . . X O
        . . . * .
        """,
        1,
    ),
    "the falling diagonal": (
        """
        X . . . O
        . X . O .
        . . * . .
        . O . X .
        O . . . X
        """,
        1,
    ),
    "the rising diagonal": (
        """
        O . . . *
        . O . X .
        . . X . .
        . X . O .
        X . . . O
        """,
        1,
    ),
    "four in a row are not enough": (
        """
        O . . . .
        * X X X .
        . O . . .
        . . O . .
        . . . . .
        """,
        0,
    ),
}


@pytest.mark.parametrize(("board", "value"), MOVE_CASES.values(), ids=MOVE_CASES)
def test_five_in_a_row(board: str, value: int) -> None:
    game = tictactoe_large()
    cells = np.array([line.split() for line in board.strip().splitlines()])
    s = game.new()
    s.board[cells == "X"], s.board[cells == "O"] = 0, 1
    s.moves_left = np.count_nonzero(s.board == -1)
    assert (s.board == 0).sum() == (s.board == 1).sum(), "X is to move"
    assert game.validate(s) == ""
    game.step(s, int(np.flatnonzero(cells == "*")[0]))
    out = np.zeros(2)
    game.returns(s, out)
    assert out.tolist() == [value, -value]
    assert game.is_terminal(s) == bool(value)


def test_only_a_full_board_is_a_draw() -> None:
    trajectory = record_trajectory(tictactoe_large(), 300, seed=2)
    last = np.arange(300), trajectory.plies
    full = trajectory.plies == 25
    drawn = trajectory.returns[last][:, 0] == 0
    assert drawn.any()
    assert not (drawn & ~full).any()


def test_tictactoe_large_is_tictactoe_with_other_defaults() -> None:
    game = tictactoe_large()
    assert game.spec == "tictactoe_large:board_size=5,line=5"
    assert game.num_actions == tictactoe(5).num_actions == 25
    assert tictactoe_large() is game
