"""Tests of the rules of Two-Player Free-For-All, on boards drawn as text.

`R` are red's pieces (player 0), `B` blue's, `#` cells outside; the spawn cells are in the outer
columns.
"""

from typing import Any

import numpy as np
import pytest

from ludoteca.envs.engine.trajectory import record_trajectory
from ludoteca.envs.game import Game
from ludoteca.envs.games.bitboards import cells_of
from ludoteca.envs.games.free_for_all import free_for_all

START = """
    #.....#
    #.....#
    R.....B
    #.....#
    #.....#
"""


@pytest.fixture(autouse=True)
def wrap_around() -> Any:
    """Let uint64 wrap around in interpreted kernels, as it does in compiled ones."""
    with np.errstate(over="ignore"):
        yield


def position(picture: str, to_move: int = 0, plies: int = 30, **rules: str) -> tuple[Game, Any]:
    """Return the game and the position drawn as text."""
    board = np.array([list(line) for line in picture.split()])
    game = free_for_all(len(board), plies, **rules)
    s = game.new()
    s.pieces[:] = cells_of(board == "R"), cells_of(board == "B")
    s.to_move = to_move
    s.plies_left -= to_move
    assert game.validate(s) == ""
    return game, s


def picture(game: Game, s: Any) -> list[str]:
    """Return the rows of the board, drawn as text."""
    return ["".join(".RB#"[code] for code in row) for row in game.layout.cells(s)]


def legal_names(game: Game, s: Any) -> set[str]:
    """Return the names of the legal actions."""
    return {game.action_names[action] for action in game.legal(s)}


def returns_of(game: Game, s: Any) -> list[float]:
    """Return the returns of both players."""
    out = np.zeros(2)
    game.returns(s, out)
    return out.tolist()


def test_start() -> None:
    game = free_for_all()
    s = game.new()
    assert picture(game, s) == START.split()
    assert legal_names(game, s) == {"a3-b5", "a3-b1", "a3-c4", "a3-c2"}
    game.step(s, game.action_names.index("a3-c4"))
    assert legal_names(game, s) == {"g3-f5", "g3-f1", "g3-e4", "g3-e2"}


# Boards before and after a move of red, the move, and the number of captures.
MOVE_CASES = {
    "a spawned piece jumps in and is replaced": (
        """
        #.....#  #R....#
        #.....#  #.....#
        R.....B  R.....B
        #.....#  #.....#
        #.....#  #.....#
        """,
        "a3-b5",
        0,
    ),
    "a piece on the board jumps": (
        """
        #.....#  #..R..#
        #R....#  #.....#
        R.....B  R.....B
        #.....#  #.....#
        #....B#  #....B#
        """,
        "b4-d5",
        0,
    ),
    "a piece on the board captures like a king": (
        """
        #.....#  #.....#
        #.RB..#  #..R..#
        R.....B  R.....B
        #.....#  #.....#
        #.....#  #.....#
        """,
        "c4xd4",
        1,
    ),
    "a spawned piece captures and is replaced": (
        """
        #.....#  #.....#
        #B....#  #R....#
        R.....B  R.....B
        #.....#  #.....#
        #.....#  #.....#
        """,
        "a3xb4",
        1,
    ),
    "a piece leaves the cell beside the spawn cell": (
        """
        #.....#  #.....#
        #.....#  #.....#
        RR....B  R.....B
        #.....#  #..R..#
        #.....#  #.....#
        """,
        "b3-d2",
        0,
    ),
}


@pytest.mark.parametrize(("boards", "move", "captures"), MOVE_CASES.values(), ids=MOVE_CASES)
def test_a_move(boards: str, move: str, captures: int) -> None:
    pairs = [line.split() for line in boards.strip().splitlines()]
    game, s = position("\n".join(before for before, _ in pairs))
    assert move in legal_names(game, s)
    game.step(s, game.action_names.index(move))
    assert picture(game, s) == [after for _, after in pairs]
    assert s.captures.tolist() == [captures, 0]
    assert s.to_move == 1
    assert game.validate(s) == ""


def test_blue_moves_likewise_from_the_other_side() -> None:
    board = """
        #.....#
        #....R#
        R.....B
        #.....#
        #.....#
    """
    game, s = position(board, to_move=1)
    assert legal_names(game, s) == {"g3-f5", "g3-f1", "g3-e4", "g3-e2", "g3xf4"}
    game.step(s, game.action_names.index("g3xf4"))
    assert picture(game, s)[1:3] == ["#....B#", "R.....B"]
    assert s.captures.tolist() == [0, 1]


def test_jumps_need_empty_cells_captures_enemies_and_spawn_cells_are_safe() -> None:
    board = """
        #.....#
        #...B.#
        R....RB
        #.R...#
        #.....#
    """
    game, s = position(board)
    jumps = {
        *("a3-b5", "a3-b1", "a3-c4"),  # c2 is red's own
        *("f3-e5", "f3-d4", "f3-d2", "f3-e1"),  # g1 and g5 lie outside
        *("c2-b4", "c2-d4", "c2-e3", "c2-e1"),  # a1 and a3 lie outside
    }
    # f3 may take e4, but not what stands on g3; c2 has no enemy beside it.
    assert legal_names(game, s) == jumps | {"f3xe4"}


def test_a_player_without_moves_must_pass() -> None:
    board = """
        #RRRRR#
        #RRRRR#
        RRRRRRB
        #RRRRR#
        #RRRRR#
    """
    game, s = position(board)
    assert legal_names(game, s) == {"pass"}
    before = picture(game, s)
    game.step(s, game.action_names.index("pass"))
    assert picture(game, s) == before
    assert s.captures.tolist() == [0, 0]
    assert s.plies_left == 29
    # Every cell that blue's spawned piece could jump to is taken too.
    assert legal_names(game, s) == {"g3xf4", "g3xf3", "g3xf2"}


@pytest.mark.parametrize(
    ("captures", "returns"), [((0, 0), [0, 0]), ((3, 2), [1, -1]), ((1, 4), [-1, 1])]
)
def test_most_captures_in_30_plies_win(captures: tuple[int, int], returns: list[int]) -> None:
    game = free_for_all()
    s = game.new()
    rng = np.random.default_rng(1)
    for _ in range(30):
        assert not game.is_terminal(s)
        assert returns_of(game, s) == [0, 0]
        game.step(s, int(rng.choice(game.legal(s))))
    assert game.is_terminal(s)
    assert game.legal(s) == []
    s.captures[:] = captures
    assert returns_of(game, s) == returns
    assert game.validate(s) == ""


@pytest.mark.parametrize(
    "games",
    [pytest.param(10, marks=pytest.mark.interpreted), pytest.param(200, marks=pytest.mark.slow)],
)
def test_captures_count_the_pieces_that_vanish(games: int) -> None:
    trajectory = record_trajectory(free_for_all(), games, seed=4)
    assert (trajectory.plies == 30).all()
    pieces, captures = trajectory.positions["pieces"], trajectory.positions["captures"]
    held = np.bitwise_count(pieces).astype(int)
    for t in range(30):
        mover, other = t % 2, 1 - t % 2
        lost = held[:, t, other] - held[:, t + 1, other]
        assert np.array_equal(captures[:, t + 1, mover] - captures[:, t, mover], lost)
        assert ((lost == 0) | (lost == 1)).all()
        gained = held[:, t + 1, mover] - held[:, t, mover]
        assert ((gained == 0) | (gained == 1)).all(), "by spawning"
    assert {-1, 0, 1} == set(trajectory.returns[:, 30, 0])


def test_parameters_change_moves_and_captures() -> None:
    board = """
        #.....#
        #.....#
        RB....B
        #.B...#
        #.....#
    """
    game, s = position(board, move="king", capture="knight")
    assert legal_names(game, s) == {"a3-b4", "a3-b2", "a3xc2"}
    game, s = position(board, capture="knight")
    assert legal_names(game, s) == {"a3-b5", "a3-b1", "a3-c4", "a3-c2"}
    game, s = position(board, move="king", capture="king")
    assert legal_names(game, s) == {"a3-b4", "a3-b2", "a3-b3"}


def test_spawn_cells_of_an_even_board_are_not_level() -> None:
    game = free_for_all(6)
    assert picture(game, game.new()) == [
        "#......#",
        "#......#",
        "#......B",
        "R......#",
        "#......#",
        "#......#",
    ]
    assert len(game.symmetries()) == 1
    assert len(free_for_all().symmetries()) == 2


def test_planes() -> None:
    board = """
        #.....#
        #..B..#
        R.....B
        #.R...#
        #.....#
    """
    game, s = position(board, to_move=1)
    s.captures[:] = 1, 0
    cells = game.layout.cells(s)
    everywhere = np.ones((5, 7), int)
    expected = [cells == 2, cells == 1, 29 * everywhere, 0 * everywhere, everywhere]
    seen = np.zeros((5, 5, 7), np.int8)
    game.observe(s, 1, seen)
    assert np.array_equal(seen, expected)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"pieces": [1 << 16 | 2, 1 << 22 | 2]}, "both a red and a blue piece"),
        ({"pieces": [1 << 16 | 1, 1 << 22]}, "red must have a piece on its spawn cell"),
        ({"pieces": [1 << 16, 0]}, "blue must have a piece on its spawn cell"),
        ({"plies_left": 31}, "plies_left 31 must be from 0 to 30"),
        ({"to_move": 1}, "to_move is 1 after 0 plies"),
        ({"captures": [1, 0]}, "too many or negative"),
        ({"captures": [0, -1]}, "too many or negative"),
    ],
)
def test_validate_refuses_impossible_positions(change: dict[str, Any], problem: str) -> None:
    game = free_for_all()
    s = game.new()
    for name, value in change.items():
        s[name] = value
    assert problem in game.validate(s)


@pytest.mark.parametrize(
    "bad", [{"board_size": 7}, {"plies": 0}, {"move": "rook"}, {"capture": "pawn"}]
)
def test_invalid_parameters_are_errors(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(bad))} must be"):
        free_for_all(**bad)
