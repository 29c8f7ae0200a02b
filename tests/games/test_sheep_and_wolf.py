"""Tests of the rules of Sheep and Wolf, on small boards drawn as text.

`S` is a sheep, `W` the wolf, which moves first.
"""

from typing import Any

import numpy as np
import pytest

from ludoteca.envs.game import Game
from ludoteca.envs.games.bitboards import cells_of
from ludoteca.envs.games.sheep_and_wolf import SHEEP, UNDECIDED, WOLF, ends, sheep_and_wolf


@pytest.fixture(autouse=True)
def wrap_around() -> Any:
    """Let uint64 wrap around in interpreted kernels, as it does in compiled ones."""
    with np.errstate(over="ignore"):
        yield


def position(lines: list[str], to_move: int) -> tuple[Game, Any]:
    """Return the game and the position drawn as text."""
    board = np.array([list(line) for line in lines])
    game = sheep_and_wolf(len(board))
    s = game.new()
    s.sheep, s.wolf = cells_of(board == "S"), cells_of(board == "W")
    s.to_move = to_move
    assert game.validate(s) == ""
    return game, s


def picture(game: Game, s: Any) -> list[str]:
    """Return the rows of the board, drawn as text."""
    return ["".join(".WS"[code] for code in row) for row in game.layout.cells(s)]


def legal_names(game: Game, s: Any) -> set[str]:
    """Return the names of the legal actions."""
    return {game.action_names[action] for action in game.legal(s)}


def test_starting_position_and_first_moves() -> None:
    game = sheep_and_wolf()
    s = game.new()
    assert picture(game, s) == ["...W....", *["........"] * 6, "S.S.S.S."]
    assert game.player is not None
    assert game.player(s) == WOLF
    assert legal_names(game, s) == {"d8-c7", "d8-e7"}
    game.step(s, game.action_names.index("d8-c7"))
    assert game.player(s) == SHEEP
    assert legal_names(game, s) == {"a1-b2", "c1-b2", "c1-d2", "e1-d2", "e1-f2", "g1-f2", "g1-h2"}


def test_the_wolf_moves_in_all_directions_and_sheep_only_up() -> None:
    board = [
        "........",
        "........",
        "...S....",
        "....W...",
        ".S...S..",
        "........",
        "...S....",
        "........",
    ]
    game, s = position(board, WOLF)
    assert legal_names(game, s) == {"e5-f6", "e5-d4"}
    s.to_move = SHEEP
    # The wolf is on the left of f4; pieces do not jump.
    assert legal_names(game, s) == {"d6-c7", "d6-e7", "b4-a5", "b4-c5", "f4-g5", "d2-c3", "d2-e3"}


# Boards before and after a move, the move, and the winner.
MOVE_CASES = {
    "the wolf is enclosed": (
        """
        ...W  ...W
        ....  ..S.
        .S..  ....
        S...  S...
        """,
        "b2-c3",
        SHEEP,
    ),
    "the wolf is enclosed, although no sheep can move either": (
        """
        .S.W  .S.W
        ....  ..S.
        .S..  ....
        ....  ....
        """,
        "b2-c3",
        SHEEP,
    ),
    "a sheep is still below the wolf": (
        """
        ....  ....
        ..W.  ....
        ....  ...W
        S.S.  S.S.
        """,
        "c3-d2",
        UNDECIDED,
    ),
    "the wolf passes the sheep: level with the last sheep is enough": (
        """
        ....  ....
        S.W.  S...
        ...S  .W.S
        ....  ....
        """,
        "c3-b2",
        WOLF,
    ),
    "the last sheep below moves up to the row of the wolf": (
        """
        .S..  .S..
        ....  ....
        ...W  .S.W
        ..S.  ....
        """,
        "c1-b2",
        WOLF,
    ),
    "no sheep can move": (
        """
        .S..  .S..
        ..W.  ....
        ....  .W..
        S...  S...
        """,
        "c3-b2",
        WOLF,
    ),
    "the wolf may also go back up": (
        """
        ....  .W..
        W...  ....
        ...S  ...S
        S...  S...
        """,
        "a3-b4",
        UNDECIDED,
    ),
}


@pytest.mark.parametrize(("boards", "move", "winner"), MOVE_CASES.values(), ids=MOVE_CASES)
def test_moves_and_winners(boards: str, move: str, winner: int) -> None:
    pairs = [line.split() for line in boards.strip().splitlines()]
    start = pairs[4 - int(move[1])][0]["abcd".index(move[0])]
    game, s = position([before for before, _ in pairs], "WS".index(start))
    assert move in legal_names(game, s)
    game.step(s, game.action_names.index(move))
    assert picture(game, s) == [after for _, after in pairs]
    assert s.winner == winner
    assert game.is_terminal(s) == (winner != UNDECIDED)
    out = np.zeros(2)
    game.returns(s, out)
    assert out.tolist() == {WOLF: [1, -1], SHEEP: [-1, 1], UNDECIDED: [0, 0]}[winner]
    assert bool(legal_names(game, s)) == (winner == UNDECIDED)
    assert game.validate(s) == ""


@pytest.mark.parametrize("size", [4, 6, 8])
def test_actions_are_the_diagonals_of_dark_cells(size: int) -> None:
    """Each diagonal step is one action. The dark cells are those reachable from a1."""
    dark = {(size - 1, 0)}
    for _ in range(2 * size):
        dark |= {(r + dr, c + dc) for r, c in dark for dr in (-1, 1) for dc in (-1, 1)}
        dark = {(r, c) for r, c in dark if 0 <= r < size and 0 <= c < size}
    expected = {
        (r, c, r + dr, c + dc)
        for r, c in dark
        for dr in (-1, 1)
        for dc in (-1, 1)
        if (r + dr, c + dc) in dark
    }
    game = sheep_and_wolf(size)
    moves = [ends(action, size) for action in range(game.num_actions)]
    assert set(moves) == expected
    assert len(moves) == len(expected)
    up = [end_row < row for row, _, end_row, _ in moves]
    assert up == [True] * (len(up) // 2) + [False] * (len(up) // 2)


def test_planes_have_sheep_wolf_and_the_player_to_move() -> None:
    game = sheep_and_wolf(4)
    s = game.new()
    for to_move in (WOLF, SHEEP):
        s.to_move = to_move
        for p in range(2):
            planes = np.zeros((3, 4, 4), np.int8)
            game.observe(s, p, planes)
            cells = game.layout.cells(s)
            assert np.array_equal(
                planes, [cells == 2, cells == 1, np.full((4, 4), to_move == WOLF)]
            )


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("wolf", 1, "different dark cells"),
        ("wolf", 1 << 56, "different dark cells"),
        ("wolf", 0, "0 wolves"),
        ("sheep", 2, "1 sheep"),
        ("to_move", 2, "to_move 2 is not 0 or 1"),
        ("winner", 1, "winner is 1, but the cells say -1"),
    ],
)
def test_validate_returns_the_reason_of_invalid_positions(
    field: str, value: int, problem: str
) -> None:
    game = sheep_and_wolf()
    s = game.new()
    s[field] = value
    assert problem in game.validate(s)


@pytest.mark.parametrize("size", [5, 10, "8"])
def test_invalid_board_sizes_are_errors(size: Any) -> None:
    with pytest.raises(ValueError, match="board_size must be"):
        sheep_and_wolf(size)
