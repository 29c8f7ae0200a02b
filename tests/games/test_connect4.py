"""Tests of the rules of Connect Four, on boards drawn as text: X is first, O second."""

from typing import Any

import numpy as np
import pytest

from ludoteca.envs.engine.trajectory import record_trajectory
from ludoteca.envs.game import Game
from ludoteca.envs.games.connect4 import connect4
from ludoteca.envs.record_views import view_records


def play(game: Game, columns: str) -> Any:
    """Return the position after dropping discs into columns, one digit each."""
    s = game.new()
    for name in columns:
        assert name in legal(game, s), f"column {name} is illegal in\n{picture(game, s)}"
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


def has_line(cells: Any, code: int, length: int) -> bool:
    """Return whether a color has a line, by checking every window of `length` cells."""
    rows, columns = cells.shape
    for row in range(rows):
        for column in range(columns):
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                window = [(row + k * dr, column + k * dc) for k in range(length)]
                inside = all(0 <= r < rows and 0 <= c < columns for r, c in window)
                if inside and all(cells[cell] == code for cell in window):
                    return True
    return False


def test_discs_fall_to_the_lowest_empty_cell() -> None:
    game = connect4()
    assert (
        picture(game, play(game, "4451"))
        == """
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . O . . .
    O . . X X . .
"""
    )


def test_four_in_a_horizontal_row_win() -> None:
    game = connect4()
    s = play(game, "4455667")
    assert (
        picture(game, s)
        == """
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . O O O .
    . . . X X X X
"""
    )
    assert game.is_terminal(s)
    assert returns(game, s) == [1, -1]
    assert legal(game, s) == []


def test_four_in_a_column_win() -> None:
    game = connect4()
    s = play(game, "71217131")
    assert (
        picture(game, s)
        == """
    . . . . . . .
    . . . . . . .
    O . . . . . .
    O . . . . . .
    O . . . . . X
    O X X . . . X
"""
    )
    assert game.is_terminal(s)
    assert returns(game, s) == [-1, 1]


def test_four_in_a_rising_diagonal_win() -> None:
    game = connect4()
    s = play(game, "12233434414")
    assert (
        picture(game, s)
        == """
    . . . . . . .
    . . . . . . .
    . . . X . . .
    . . X X . . .
    O X X O . . .
    X O O O . . .
"""
    )
    assert game.is_terminal(s)
    assert returns(game, s) == [1, -1]


def test_four_in_a_falling_diagonal_win() -> None:
    game = connect4()
    s = play(game, "76655454474")
    assert (
        picture(game, s)
        == """
    . . . . . . .
    . . . . . . .
    . . . X . . .
    . . . X X . .
    . . . O X X O
    . . . O O O X
"""
    )
    assert game.is_terminal(s)
    assert returns(game, s) == [1, -1]


def test_a_disc_in_the_middle_completes_a_line() -> None:
    game = connect4()
    assert not game.is_terminal(play(game, "112244"))
    s = play(game, "1122443")
    assert (
        picture(game, s)
        == """
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    O O . O . . .
    X X X X . . .
"""
    )
    assert returns(game, s) == [1, -1]


def test_lines_do_not_go_around_the_board() -> None:
    game = connect4()
    s = play(game, "5165761")
    assert (
        picture(game, s)
        == """
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    X . . . O O .
    O . . . X X X
"""
    )
    assert not game.is_terminal(s)
    assert returns(game, s) == [0, 0]


def test_a_full_column_is_closed() -> None:
    game = connect4()
    assert legal(game, play(game, "11111")) == list("1234567")
    assert legal(game, play(game, "111111")) == list("234567")


def test_a_full_board_is_a_draw() -> None:
    game = connect4(rows=2, columns=3, connect=3)
    s = play(game, "123123")
    assert (
        picture(game, s)
        == """
    O X O
    X O X
"""
    )
    assert game.is_terminal(s)
    assert returns(game, s) == [0, 0]
    assert legal(game, s) == []


def test_the_last_disc_may_win() -> None:
    game = connect4(rows=2, columns=2, connect=2)
    assert not game.is_terminal(play(game, "1"))
    s = play(game, "112")
    assert (
        picture(game, s)
        == """
    O .
    X X
"""
    )
    assert returns(game, s) == [1, -1]


def test_observations_of_each_player() -> None:
    game = connect4(rows=2, columns=3, connect=3)
    s = play(game, "112")
    assert (
        picture(game, s)
        == """
    O . .
    X X .
"""
    )
    first, second = [[0, 0, 0], [1, 1, 0]], [[1, 0, 0], [0, 0, 0]]
    for player, expected in ((0, [first, second]), (1, [second, first])):
        seen = np.zeros(game.observation_shape, np.int8)
        game.observe(s, player, seen)
        assert seen.tolist() == expected


@pytest.mark.parametrize(
    ("rows", "columns", "connect", "games"),
    [
        (6, 7, 4, 30),
        (2, 2, 2, 10),
        (4, 4, 3, 40),
        (5, 9, 5, 10),
        (9, 5, 5, 10),
        (3, 8, 2, 20),
        (2, 9, 7, 20),
        (10, 3, 3, 20),
        (20, 20, 6, 3),
    ],
)
def test_random_games_equal_a_search_for_lines(
    rows: int, columns: int, connect: int, games: int
) -> None:
    game = connect4(rows=rows, columns=columns, connect=connect)
    trajectory = record_trajectory(game, games, seed=rows, interpreted=True)
    for i, plies in enumerate(trajectory.plies):
        heights = [0] * columns
        for t in range(plies + 1):
            s = view_records(trajectory.positions[i, t : t + 1])[0]
            cells = game.layout.cells(s)
            filled = [int(np.count_nonzero(column)) for column in cells.T]
            assert filled == heights
            assert all(cells[rows - h :, c].all() for c, h in enumerate(heights))
            # Every position of small boards; the last ones and some others of large boards.
            if rows * columns < 100 or t % 20 == 0 or t >= plies - 1:
                won = [code for code in (1, 2) if has_line(cells, code, connect)]
                scores = [0, 0] if not won else [1, -1] if won == [1] else [-1, 1]
                assert trajectory.returns[i, t].tolist() == scores
                assert trajectory.over[i, t] == (bool(won) or t == rows * columns)
            if t < plies:
                heights[trajectory.actions[i, t, 0]] += 1


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("to_move", 2, "to_move 2 is not 0 or 1, or winner -1 is not -1, 0 or 1"),
        ("moves_left", 5, "moves_left is 5, but 40 cells are empty"),
        ("height", 1, "heights [1 1 1 1 1 1 1] do not match the discs, [1 0 0 1 0 0 0]"),
        ("board", 5, "board holds [5], expected -1, 0 and 1"),
    ],
)
def test_validate_finds_impossible_positions(field: str, value: int, problem: str) -> None:
    game = connect4()
    s = play(game, "14")
    s[field] = value
    assert game.validate(s) == problem


def test_validate_finds_a_floating_disc() -> None:
    game = connect4()
    s = play(game, "1")
    s.board[5, 0], s.board[3, 0] = s.board[3, 0], s.board[5, 0]
    assert game.validate(s) == "a disc hangs in the air"


@pytest.mark.parametrize(
    "params", [{"rows": 1}, {"columns": 21}, {"connect": 8}, {"connect": 1}, {"rows": 6.0}]
)
def test_invalid_parameters_are_errors(params: dict[str, Any]) -> None:
    (name,) = params
    with pytest.raises(ValueError, match=f"{name} must be an integer from "):
        connect4(**params)
