"""Tests of the rules of Knight-Through, on boards drawn as text.

`N` are White's knights, `n` Black's.
"""

from typing import Any

import numpy as np
import pytest

from ludoteca.envs.game import Game
from ludoteca.envs.games.bitboards import cells_of
from ludoteca.envs.games.knight_through import knight_through


@pytest.fixture(autouse=True)
def wrap_around() -> Any:
    """Let uint64 wrap around in interpreted kernels, as it does in compiled ones."""
    with np.errstate(over="ignore"):
        yield


def position(lines: list[str], to_move: str) -> tuple[Game, Any]:
    """Return the game and the position drawn as text."""
    board = np.array([list(line) for line in lines])
    game = knight_through(*board.shape)
    s = game.new()
    s.pieces[:] = cells_of(board == "N"), cells_of(board == "n")
    s.to_move = "Nn".index(to_move)
    assert game.validate(s) == ""
    return game, s


def picture(game: Game, s: Any) -> list[str]:
    """Return the rows of the board, drawn as text."""
    return ["".join(".Nn"[code] for code in row) for row in game.layout.cells(s)]


def legal_names(game: Game, s: Any) -> set[str]:
    """Return the names of the legal actions."""
    return {game.action_names[action] for action in game.legal(s)}


def test_knights_jump_ahead_over_pieces_and_capture() -> None:
    board = [
        "......",
        "...n..",
        "....n.",
        "..nn..",
        "..Nn..",
        "N.....",
    ]
    game, s = position(board, "N")
    # c2 jumps over its neighbors to b4, d4, a3 and e3; a1 can jump to b3 but not to c2, its own.
    assert legal_names(game, s) == {"c2-b4", "c2-d4", "c2-a3", "c2-e3", "a1-b3"}
    s.to_move = 1
    # Cells c3 and d2 are occupied by the player's own knights.
    expected = "d5-b4 d5-f4 d5-e3 e4-f2 c3-a2 c3-e2 c3-b1 c3-d1 d3-b2 d3-f2 d3-c1 d3-e1 d2-b1 d2-f1"
    assert legal_names(game, s) == set(expected.split())


MOVE_CASES = {
    "a capture": (
        """
        ....n.  ....n.
        ......  ......
        ......  ......
        .n....  .N....
        ......  ......
        N.....  ......
        """,
        "a1-b3",
        [0, 0],
    ),
    "white on the far row wins": (
        """
        n.....  n.N...
        ......  ......
        .N....  ......
        ......  ......
        """,
        "b2-c4",
        [1, -1],
    ),
    "black on the far row wins, taking a knight": (
        """
        ......  ......
        ......  ......
        n.....  ......
        ..N..N  ..n..N
        """,
        "a2-c1",
        [-1, 1],
    ),
    "the last knight falls": (
        """
        ......  ......
        .n....  .N....
        ......  ......
        N.....  ......
        ......  ......
        """,
        "a2-b4",
        [1, -1],
    ),
}


@pytest.mark.parametrize(("boards", "move", "returns"), MOVE_CASES.values(), ids=MOVE_CASES)
def test_jumps_and_winners(boards: str, move: str, returns: list[int]) -> None:
    pairs = [line.split() for line in boards.strip().splitlines()]
    start = pairs[len(pairs) - int(move[1])][0]["abcdef".index(move[0])]
    game, s = position([before for before, _ in pairs], start)
    assert move in legal_names(game, s)
    game.step(s, game.action_names.index(move))
    assert picture(game, s) == [after for _, after in pairs]
    out = np.zeros(2)
    game.returns(s, out)
    assert out.tolist() == returns
    assert game.is_terminal(s) == bool(returns[0])
    assert bool(legal_names(game, s)) == (returns == [0, 0])
    assert game.validate(s) == ""


def test_the_foremost_knight_can_always_jump() -> None:
    """On the narrowest board, a knight on any cell before the far row can jump."""
    for cell in range(4, 16):
        board = np.full((4, 4), ".")
        board.ravel()[cell] = "N"
        board[0, :2] = "n"
        game, s = position(["".join(row) for row in board], "N")
        assert legal_names(game, s)


def test_start() -> None:
    game = knight_through()
    assert picture(game, game.new()) == ["nnnnnnnn"] * 2 + ["........"] * 4 + ["NNNNNNNN"] * 2
    assert game.num_actions == 336
    assert game.action_names[:2] == ("b6-a8", "c6-b8")
    assert game.action_names[168:170] == ("b8-a6", "c8-b6")


@pytest.mark.parametrize("size", [{"rows": 3}, {"rows": 9}, {"columns": 3}, {"columns": 9}])
def test_invalid_sizes_are_errors(size: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be an integer from 4 to 8"):
        knight_through(**size)
