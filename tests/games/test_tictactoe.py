"""Tests of the rules of Tic-Tac-Toe, on boards drawn as text: X moves first, then O; . is empty."""

from typing import Any

import numpy as np
import pytest

from ludoteca.envs.engine.trajectory import record_trajectory
from ludoteca.envs.game import Game
from ludoteca.envs.games.tictactoe import tictactoe
from ludoteca.envs.record_views import view_records


def play(game: Game, moves: str) -> Any:
    """Play moves such as `"b2 a1"` from the start."""
    s = game.new()
    for name in moves.split():
        assert name in legal(game, s), f"{name} is illegal in\n{picture(game, s)}"
        game.step(s, game.action_names.index(name))
    assert game.validate(s) == ""
    return s


def legal(game: Game, s: Any) -> list[str]:
    """Return the names of the legal actions."""
    out = np.zeros(game.num_actions, np.int16)
    return [game.action_names[action] for action in out[: game.legal_actions(s, out)]]


def picture(game: Game, s: Any) -> str:
    """Return the board drawn as text, in the form of the expected boards below."""
    rows = (" ".join(".XO"[code] for code in row) for row in game.layout.cells(s))
    return "\n".join(("", *("    " + row for row in rows), ""))


def returns(game: Game, s: Any) -> list[float]:
    """Return the returns of both players."""
    scores = np.zeros(2)
    game.returns(s, scores)
    return scores.tolist()


def lines(size: int, length: int) -> list[list[tuple[int, int]]]:
    """List every line of `length` cells, by rows, columns and both diagonals."""
    return [
        [(row + k * dr, column + k * dc) for k in range(length)]
        for row in range(size)
        for column in range(size)
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1))
        if row + (length - 1) * dr < size and 0 <= column + (length - 1) * dc < size
    ]


def test_a_row_wins() -> None:
    game = tictactoe()
    s = play(game, "a1 a2 b1 b2 c1")
    assert (
        picture(game, s)
        == """
    X X X
    O O .
    . . .
"""
    )
    assert game.is_terminal(s)
    assert returns(game, s) == [1, -1]
    assert legal(game, s) == []


def test_a_column_wins() -> None:
    game = tictactoe()
    s = play(game, "a1 c1 a2 c2 b2 c3")
    assert (
        picture(game, s)
        == """
    X . O
    X X O
    . . O
"""
    )
    assert game.is_terminal(s)
    assert returns(game, s) == [-1, 1]


@pytest.mark.parametrize("moves", ["a1 b1 b2 c1 c3", "c1 b1 b2 a1 a3"])
def test_both_diagonals_win(moves: str) -> None:
    game = tictactoe()
    s = play(game, moves)
    assert game.is_terminal(s)
    assert returns(game, s) == [1, -1]


def test_a_full_board_is_a_draw() -> None:
    game = tictactoe()
    s = play(game, "b2 a1 c1 a3 a2 c2 b1 b3 c3")
    assert (
        picture(game, s)
        == """
    O X X
    X X O
    O O X
"""
    )
    assert game.is_terminal(s)
    assert returns(game, s) == [0, 0]
    assert legal(game, s) == []


def test_the_last_mark_may_win() -> None:
    game = tictactoe()
    s = play(game, "a1 b1 b2 c1 c2 a2 a3 b3")
    assert not game.is_terminal(s)
    s = play(game, "a1 b1 b2 c1 c2 a2 a3 b3 c3")
    assert (
        picture(game, s)
        == """
    X O O
    O X X
    X O X
"""
    )
    assert returns(game, s) == [1, -1]


def test_short_lines_win_on_large_boards() -> None:
    game = tictactoe(board_size=5, line=4)
    s = play(game, "b1 a1 c2 b2 d3 c3 e4")
    assert (
        picture(game, s)
        == """
    O X . . .
    . O X . .
    . . O X .
    . . . . X
    . . . . .
"""
    )
    assert returns(game, s) == [1, -1]


def test_five_in_a_row_is_needed_on_5x5() -> None:
    game = tictactoe(board_size=5)
    assert game.params["line"] == 5
    assert not game.is_terminal(play(game, "a1 a2 b1 b2 c1 c2 d1 d2"))
    assert returns(game, play(game, "a1 a2 b1 b2 c1 c2 d1 d2 e1")) == [1, -1]


def test_longer_lines_win_too() -> None:
    game = tictactoe(board_size=5, line=3)
    s = play(game, "a1 a5 b1 b5 d1 d5 e1 e4 c1")
    assert (
        picture(game, s)
        == """
    X X X X X
    . . . . .
    . . . . .
    . . . . O
    O O . O .
"""
    )
    assert returns(game, s) == [1, -1]


def test_lines_do_not_go_around_the_board() -> None:
    game = tictactoe()
    s = play(game, "b1 a1 c1 b2 a2")
    assert (
        picture(game, s)
        == """
    O X X
    X O .
    . . .
"""
    )
    assert not game.is_terminal(s)


def test_observations_of_each_player() -> None:
    game = tictactoe()
    s = play(game, "a1 b2 c1")
    first = [[1, 0, 1], [0, 0, 0], [0, 0, 0]]
    second = [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    for player, expected in ((0, [first, second]), (1, [second, first])):
        seen = np.zeros((2, 3, 3), np.int8)
        game.observe(s, player, seen)
        assert seen.tolist() == expected


@pytest.mark.parametrize(
    ("size", "length", "games"),
    [
        (3, 3, 100),
        (4, 3, 30),
        (4, 4, 30),
        (5, 4, 30),
        (5, 5, 30),
        (7, 3, 20),
        (9, 5, 8),
        (15, 5, 4),
    ],
)
def test_random_games_equal_a_search_for_lines(size: int, length: int, games: int) -> None:
    game = tictactoe(board_size=size, line=length)
    all_lines = lines(size, length)
    trajectory = record_trajectory(game, games, seed=size, interpreted=True)
    for i, plies in enumerate(trajectory.plies):
        board = np.zeros((size, size), int)
        for t in range(plies + 1):
            s = view_records(trajectory.positions[i, t : t + 1])[0]
            assert np.array_equal(game.layout.cells(s), board)
            # Every position of small boards; the last ones and some others of large boards.
            if size < 9 or t % 10 == 0 or t >= plies - 1:
                grid = board.tolist()
                marks = [{grid[r][c] for r, c in line} for line in all_lines]
                won = [code for code in (1, 2) if {code} in marks]
                scores = [0, 0] if not won else [1, -1] if won == [1] else [-1, 1]
                assert trajectory.returns[i, t].tolist() == scores
                assert trajectory.over[i, t] == (bool(won) or t == size * size)
            empty = [] if t == plies else np.flatnonzero(board == 0).tolist()
            assert np.flatnonzero(trajectory.legal[i, t, 0]).tolist() == empty
            if t < plies:
                board[divmod(int(trajectory.actions[i, t, 0]), size)] = 1 + t % 2


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("to_move", 2, "to_move is 2, expected 0 or 1"),
        ("moves_left", 5, "moves_left is 5, but 7 cells are empty"),
        ("board", 5, "board holds [5], expected -1, 0 and 1"),
    ],
)
def test_validate_finds_impossible_positions(field: str, value: int, problem: str) -> None:
    game = tictactoe()
    s = play(game, "a1 b2")
    s[field] = value
    assert game.validate(s) == problem


@pytest.mark.parametrize(
    "params", [{"board_size": 2}, {"board_size": 16}, {"line": 4}, {"line": 2}, {"line": "3"}]
)
def test_invalid_parameters_are_errors(params: dict[str, Any]) -> None:
    (name,) = params
    with pytest.raises(ValueError, match=f"{name} must be an integer from "):
        tictactoe(**params)
