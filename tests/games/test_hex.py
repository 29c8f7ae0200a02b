"""Tests of the rules of Hex, on boards drawn as text.

X is black (north to south), O white (west to east), `.` empty.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludoteca.envs.engine.trajectory import record_trajectory
from ludoteca.envs.game import Game
from ludoteca.envs.games.hex import NEIGHBORS, hex
from ludoteca.envs.record_views import view_records

BLACK, WHITE = 1, 2  # as in layout.cells
# Edges in the order of the planes 2 to 5.
WEST, EAST, NORTH, SOUTH = range(4)

all_sizes = pytest.mark.parametrize(
    "size",
    [pytest.param(n, marks=pytest.mark.slow if 11 < n < 19 else ()) for n in range(2, 20)],
)


def play(game: Game, moves: str) -> Any:
    """Return the position after moves such as `"a1 b2 swap"`."""
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
    """Draw the rhombus: each row is half a cell to the right of the one above."""
    rows = enumerate(game.layout.cells(s))
    return "\n" + "".join(f"{' ' * r}{' '.join('.XO'[c] for c in row)}\n" for r, row in rows)


def planes(game: Game, s: Any) -> Any:
    """Return the observation, planes `[6, size + 2, size + 2]` with padding."""
    seen = np.zeros(game.observation_shape, np.int8)
    game.observe(s, 0, seen)
    return seen


def returns(game: Game, s: Any) -> list[float]:
    """Return the returns of both players."""
    scores = np.zeros(2)
    game.returns(s, scores)
    return scores.tolist()


def joined(cells: Any, edge: int) -> Any:
    """Return the mask of the stones connected to an edge, by flood fill; shape as `cells`."""
    color = BLACK if edge in (NORTH, SOUTH) else WHITE
    n = len(cells)
    reached = np.zeros((n, n), bool)
    starts = [(0, k) if edge == NORTH else (n - 1, k) for k in range(n)]
    if edge in (WEST, EAST):
        starts = [(k, 0) if edge == WEST else (k, n - 1) for k in range(n)]
    todo = [cell for cell in starts if cells[cell] == color]
    while todo:
        row, column = todo.pop()
        if not reached[row, column]:
            reached[row, column] = True
            near = [(row + dr, column + dc) for dr, dc in NEIGHBORS]
            inside = [(r, c) for r, c in near if 0 <= r < n and 0 <= c < n]
            todo += [cell for cell in inside if cells[cell] == color]
    return reached


def winners(cells: Any) -> set[int]:
    """Return the colors whose edges are joined."""
    black, white = joined(cells, NORTH)[-1].any(), joined(cells, WEST)[:, -1].any()
    return {color for color, wins in ((BLACK, black), (WHITE, white)) if wins}


def test_the_six_neighbors() -> None:
    r"""Around b2 on 3x3: above are b1 and c1, beside a2 and c2, below a3 and b3.

    . b c
     a * c
      a b .
    """
    game = hex(board_size=3)
    for chain, wins in (
        ("b1 b2 b3", True),  # from above, and to below
        ("c1 b2 a3", True),
        ("c1 b2 b3", True),
        ("b1 b2 a3", True),
        ("a1 b2 a3", False),  # a1 is no neighbor of b2
        ("c1 b2 c3", False),  # nor is c3
    ):
        a, b, c = chain.split()
        others = [name for name in ("a2", "c2") if name not in chain]
        s = play(game, f"{a} {others[0]} {b} {others[1]} {c}")
        assert game.is_terminal(s) == wins, chain
        assert returns(game, s) == ([1, -1] if wins else [0, 0])


def test_white_wins_from_west_to_east() -> None:
    game = hex(board_size=3)
    s = play(game, "a1 a2 b1 b2 c3 c2")
    assert picture(game, s) == "\nX X .\n O O O\n  . . X\n"
    assert game.is_terminal(s)
    assert returns(game, s) == [-1, 1]
    assert legal(game, s) == []


def test_white_first_makes_white_player_0() -> None:
    game = hex(board_size=3, first="white")
    s = play(game, "a2 a1 b2 b1 c2")
    assert picture(game, s) == "\nX X .\n O O O\n  . . .\n"
    assert returns(game, s) == [1, -1]
    assert [piece.player for piece in game.layout.pieces] == [1, 0]


def test_a_joining_stone_connects_the_whole_group() -> None:
    """c4 joins the loose stones c2, c3 and b3 to the south edge."""
    game = hex(board_size=4)
    before = play(game, "c2 a1 c3 b1 b3 d1")
    assert not planes(game, before)[5, 1:-1, 1:-1].any()
    transposed = play(game, "c2 a1 c3 b1 b3 d1 c4")
    assert picture(game, transposed) == "\nO O . O\n . . X .\n  . X X .\n   . . X .\n"
    assert planes(game, transposed)[5, 1:-1, 1:-1].tolist() == [
        [0, 0, 0, 0],
        [0, 0, 1, 0],
        [0, 1, 1, 0],
        [0, 0, 1, 0],
    ]
    assert not planes(game, transposed)[4, 1:-1, 1:-1].any()


def test_the_padding_of_3x3_by_hand() -> None:
    """The cells of the padding have the colors of the edges, its corners both colors."""
    rows, columns = [1, 1, 1, 1, 1], [1, 0, 0, 0, 0]
    none = [0, 0, 0, 0, 0]
    assert planes(hex(board_size=3), hex(board_size=3).new()).tolist() == [
        [rows, none, none, none, rows],  # black
        [[1, 0, 0, 0, 1]] * 5,  # white
        [columns] * 5,  # white at the west
        [columns[::-1]] * 5,  # white at the east
        [rows, none, none, none, none],  # black at the north
        [none, none, none, none, rows],  # black at the south
    ]


def test_stones_in_the_planes_by_hand() -> None:
    """Black a1 touches the north, b3 the south; white c1 touches the east, b2 no edge.

    X . O
     . O .
      . X .
    """
    game = hex(board_size=3)
    s = play(game, "a1 b2 b3 c1")
    assert picture(game, s) == "\nX . O\n . O .\n  . X .\n"
    assert planes(game, s)[:, 1:-1, 1:-1].tolist() == [
        [[1, 0, 0], [0, 0, 0], [0, 1, 0]],  # black
        [[0, 0, 1], [0, 1, 0], [0, 0, 0]],  # white
        [[0, 0, 0], [0, 0, 0], [0, 0, 0]],  # white at the west
        [[0, 0, 1], [0, 1, 0], [0, 0, 0]],  # white at the east: b2 touches c1
        [[1, 0, 0], [0, 0, 0], [0, 0, 0]],  # black at the north
        [[0, 0, 0], [0, 0, 0], [0, 1, 0]],  # black at the south
    ]


def test_both_players_see_the_same_planes() -> None:
    game = hex(board_size=3)
    s = play(game, "a1 b2 b3")
    seen = np.zeros(game.observation_shape, np.int8)
    game.observe(s, 1, seen)
    assert np.array_equal(seen, planes(game, s))


def test_swap_puts_the_other_color_on_the_mirrored_cell() -> None:
    game = hex(board_size=3, swap=True)
    assert "swap" not in legal(game, play(game, ""))
    assert legal(game, play(game, "b1"))[-1] == "swap"
    s = play(game, "b1 swap")
    assert picture(game, s) == "\n. . .\n O . .\n  . . .\n"
    assert planes(game, s)[1:3, 2, 1].tolist() == [1, 1], "white, and connected to the west edge"
    assert game.player is not None
    assert game.player(s) == 0
    assert len(legal(game, s)) == 8, "every empty cell, and no swap"
    assert "swap" not in legal(game, play(game, "b1 a1"))
    assert "swap" not in legal(game, play(game, "b1 swap a1"))


def test_swap_when_white_moves_first() -> None:
    game = hex(board_size=3, first="white", swap=True)
    s = play(game, "c1 swap")
    assert picture(game, s) == "\n. . .\n . . .\n  X . .\n"
    assert planes(game, s)[[0, 5], 3, 1].tolist() == [1, 1], (
        "black, and connected to the south edge"
    )


def test_swap_is_off_by_default() -> None:
    assert hex(board_size=3).num_actions == 9
    assert legal(hex(board_size=3), play(hex(board_size=3), "b1"))[-1] == "c3"


@all_sizes
def test_connections_and_winner_equal_a_flood_fill(size: int) -> None:
    game = hex(board_size=size, swap=size % 2 == 0, first="white" if size % 3 == 0 else "black")
    games = max(1, 40 // size)
    trajectory = record_trajectory(game, games, seed=size, interpreted=True)
    for i, plies in enumerate(trajectory.plies):
        # Every position of small boards; the last ones and some others of large boards.
        moments = {*range(0, plies, 1 + size * size // 50), *range(plies - 3, plies + 1)}
        for t in moments & set(range(plies + 1)):
            s = view_records(trajectory.positions[i, t : t + 1])[0]
            cells = game.layout.cells(s)
            inner = planes(game, s)[:, 1:-1, 1:-1]
            assert np.array_equal(inner[0], cells == BLACK)
            assert np.array_equal(inner[1], cells == WHITE)
            for edge in (WEST, EAST, NORTH, SOUTH):
                assert np.array_equal(inner[2 + edge], joined(cells, edge)), (i, t, edge)
            assert bool(winners(cells)) == (t == plies)
        (color,) = winners(cells_at_end(game, trajectory, i))
        winner = game.layout.pieces[color - 1].player
        assert trajectory.returns[i, plies].tolist() == ([1, -1] if winner == 0 else [-1, 1])


def cells_at_end(game: Game, trajectory: Any, i: int) -> Any:
    """Return the cells of the final position of game `i`."""
    end = trajectory.plies[i]
    return game.layout.cells(view_records(trajectory.positions[i, end : end + 1])[0])


@all_sizes
def test_the_padding_never_changes(size: int) -> None:
    game = hex(board_size=size)
    trajectory = record_trajectory(game, 1, seed=1, interpreted=True)
    end = int(trajectory.plies[0])
    first, last = (planes(game, view_records(trajectory.positions[0])[t]) for t in (0, end))
    padding = np.ones((size + 2, size + 2), bool)
    padding[1:-1, 1:-1] = False
    assert np.array_equal(first[:, padding], last[:, padding])


@settings(max_examples=40, deadline=None)
@given(size=st.integers(2, 19), seed=st.integers(0, 2**32 - 1))
def test_a_full_board_has_exactly_one_winner(size: int, seed: int) -> None:
    """The Hex theorem (Gale, "The game of Hex and the Brouwer fixed-point theorem", 1979)."""
    rng = np.random.default_rng(seed)
    assert len(winners(rng.choice([BLACK, WHITE], (size, size)))) == 1


@settings(max_examples=15, deadline=None)
@given(size=st.integers(2, 9), seed=st.integers(0, 2**32 - 1))
def test_no_stone_after_the_end_could_change_the_winner(size: int, seed: int) -> None:
    game = hex(board_size=size)
    trajectory = record_trajectory(game, 1, seed=seed, interpreted=True)
    cells = cells_at_end(game, trajectory, 0)
    filled = np.where(
        cells == 0, np.random.default_rng(seed).choice([BLACK, WHITE], cells.shape), cells
    )
    assert winners(filled) == winners(cells)


@pytest.mark.parametrize(("size", "openings"), [(2, ".B/B."), (3, "..B/BBB/B..")])
def test_winning_openings_of_solved_boards(size: int, openings: str) -> None:
    """Cells by row; `B` is a winning opening. Source: HexWiki, "Small boards".

    https://www.hexwiki.net/index.php/Small_boards
    """
    game = hex(board_size=size)
    known: dict[bytes, bool] = {}

    def mover_wins(s: Any) -> bool:
        if game.is_terminal(s):
            return False  # the last mover has won
        key = s.cells.tobytes()
        if key not in known:
            known[key] = any(not mover_wins(after(s, name)) for name in legal(game, s))
        return known[key]

    def after(s: Any, name: str) -> Any:
        copy = s.copy()
        game.step(copy, game.action_names.index(name))
        return copy

    wins = [not mover_wins(after(game.new(), name)) for name in game.action_names]
    assert wins == [letter == "B" for letter in openings.replace("/", "")]


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("to_move", 2, "to_move 2, winner -1 or swapped 0 is out of range"),
        ("stones", 5, "stones is 5, but 3 stones are on the board"),
        ("winner", 0, "the connections or the winner do not follow from the stones"),
        ("cells", 3, "a cell holds both a black and a white stone"),
    ],
)
def test_validate_finds_impossible_positions(field: str, value: int, problem: str) -> None:
    game = hex(board_size=3)
    s = play(game, "a1 b2 c1")
    s[field] = value
    assert game.validate(s) == problem


def test_validate_finds_a_wrong_connection() -> None:
    game = hex(board_size=3)
    s = play(game, "a1 b2 c1")
    s.cells[2, 2] |= 4
    assert game.validate(s) == "the connections or the winner do not follow from the stones"


@pytest.mark.parametrize(
    "params", [{"board_size": 1}, {"board_size": 20}, {"first": "red"}, {"swap": 1}]
)
def test_invalid_parameters_are_errors(params: dict[str, Any]) -> None:
    (name,) = params
    with pytest.raises(ValueError, match=f"{name} must be "):
        hex(**params)
