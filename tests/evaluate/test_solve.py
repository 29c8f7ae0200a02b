"""Tests of the exhaustive solver against the literature and plain minimax."""

import re
from typing import Any

import numpy as np
import pytest

from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.solve import field_bytes, solve

pytestmark = pytest.mark.interpreted


@pytest.fixture(autouse=True)
def wrap_around() -> Any:
    """Let uint64 wrap around in interpreted kernels, as it does in compiled ones."""
    with np.errstate(over="ignore"):
        yield


@pytest.mark.slow
def test_sheep_win_from_the_initial_position() -> None:
    """The sheep win after each first move of the wolf."""
    solution = solve(make_game("sheep_and_wolf"))
    assert solution.returns == (-1, 1)
    assert solution.actions == {"d8-c7": -1, "d8-e7": -1}


@pytest.mark.parametrize(
    ("size", "returns"), [(4, (-1, 1)), pytest.param(6, (1, -1), marks=pytest.mark.slow)]
)
def test_values_of_sheep_and_wolf_on_small_boards(size: int, returns: tuple[int, int]) -> None:
    assert solve(make_game(f"sheep_and_wolf:board_size={size}")).returns == returns


@pytest.mark.slow
def test_wolf_wins_after_a_mistake_of_the_sheep() -> None:
    """After the wolf's move d8-c7 only some replies win for the sheep."""
    game = make_game("sheep_and_wolf")
    s = game.new()
    game.step(s, game.action_names.index("d8-c7"))
    solution = solve(game, from_state=s)
    assert solution.returns == (-1, 1)
    assert 0 < len(solution.best) < len(solution.actions) == 7
    for name, action_value in solution.actions.items():
        successor = s.copy()
        game.step(successor, game.action_names.index(name))
        assert solve(game, from_state=successor).returns == (-action_value, action_value)


def test_tic_tac_toe_is_a_draw_after_every_first_move() -> None:
    solution = solve(make_game("tictactoe"))
    assert solution.returns == (0, 0)
    assert set(solution.actions.values()) == {0}
    assert solution.positions <= 5478, "number of reachable positions"


# Rows of the board; B: the first move wins for black, the player to move.
@pytest.mark.parametrize(
    ("size", "wins"),
    [
        (2, ".B/B."),
        pytest.param(3, "..B/BBB/B..", marks=pytest.mark.slow),
        pytest.param(4, "...B/..B./.B../B...", marks=pytest.mark.slow),
    ],
)
def test_winning_first_moves_of_hex(size: int, wins: str) -> None:
    solution = solve(make_game(f"hex:board_size={size}"))
    assert solution.returns == (1, -1)
    values = [1 if letter == "B" else -1 for letter in wins.replace("/", "")]
    assert list(solution.actions.values()) == values
    assert len(solution.best) == wins.count("B")


@pytest.mark.slow
def test_three_in_a_row_on_a_larger_board_is_a_win() -> None:
    assert solve(make_game("tictactoe:board_size=4,line=3")).returns == (1, -1)


def minimax(game: Game, s: Any, known_values: dict[str, float]) -> float:
    """Return the value of a position for player 0, and store it in `known_values`."""
    assert game.player is not None
    key = str(s)
    if game.is_terminal(s):
        scores = np.zeros(2)
        game.returns(s, scores)
        known_values[key] = float(scores[0])
    elif key not in known_values:
        values = []
        for action in game.legal(s):
            successor = s.copy()
            game.step(successor, action)
            values.append(minimax(game, successor, known_values))
        known_values[key] = max(values) if game.player(s) == 0 else min(values)
    return known_values[key]


@pytest.mark.parametrize(
    ("spec", "plies"),
    [
        ("tictactoe", 4),
        ("connect4:rows=3,columns=4,connect=3", 6),
        ("sheep_and_wolf:board_size=4", 1),
        *(
            pytest.param(spec, plies, marks=pytest.mark.slow)
            for spec, plies in (
                ("breakthrough:rows=4,columns=2", 2),
                ("breakthrough_suicide:rows=4,columns=2", 2),
                ("atari_go:board_size=3", 4),
                ("free_for_all:board_size=3,plies=6", 3),
            )
        ),
    ],
)
def test_solutions_equal_plain_minimax(spec: str, plies: int) -> None:
    """Check solutions of positions after a few random moves, with either player to move."""
    game = make_game(spec)
    rng = np.random.default_rng(0)
    assert game.player is not None
    compared: set[int] = set()
    known_values: dict[str, float] = {}
    for extra_plies in (0, 1, 0, 1, 0, 1):
        s = game.new()
        for _ in range(plies + extra_plies):
            if not game.is_terminal(s):
                game.step(s, int(rng.choice(game.legal(s))))
        if game.is_terminal(s):
            continue
        solution = solve(game, from_state=s, capacity=100_000)
        value = minimax(game, s, known_values)
        assert solution.returns == (value, -value)
        mover = game.player(s)
        for name, action_value in solution.actions.items():
            successor = s.copy()
            game.step(successor, game.action_names.index(name))
            assert minimax(game, successor, known_values) == (
                action_value if mover == 0 else -action_value
            )
        compared.add(mover)
    assert compared == {0, 1}


def test_padding_bytes_do_not_distinguish_positions() -> None:
    dtype = np.dtype([("a", np.int8), ("b", np.int32), ("none", np.int8, (0, 3))], align=True)
    assert dtype.itemsize == 8
    assert field_bytes(dtype).tolist() == [0, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("spec", "capacity", "message"),
    [
        (
            "tron",
            10,
            "expected a sequential, zero-sum game for two players without chance events, got tron",
        ),
        ("tictactoe", 100, "has more positions than the capacity, 100"),
        ("tictactoe", 0, "capacity must be at least 1, got 0"),
    ],
)
def test_unsolvable_games_are_rejected(spec: str, capacity: int, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        solve(make_game(spec), capacity=capacity)


def test_finished_game_is_rejected() -> None:
    game = make_game("tictactoe")
    s = game.new()
    for action in (0, 3, 1, 4, 2):
        game.step(s, action)
    with pytest.raises(ValueError, match="the game is over"):
        solve(game, from_state=s)
