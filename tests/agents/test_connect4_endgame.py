"""Tests of the Connect Four solver against exhaustive search and published results."""

from typing import Any

import numpy as np
import pytest

from ludoteca import make_agent, make_game
from ludoteca.agents.games.endgame import (
    EndgameLimitError,
    EndgameSolution,
    limits,
    make_endgame_solver,
    solve_endgame,
)
from ludoteca.agents.games.endgame.connect4_search import board_bits, winning_squares
from ludoteca.envs.game import Game
from ludoteca.evaluate.exploit import solved_positions
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.solve import solve

GAME = make_game("connect4")
SMALL = [
    pytest.param("connect4:rows=4,columns=4", marks=pytest.mark.slow),
    pytest.param("connect4:rows=4,columns=5", marks=pytest.mark.slow),
    pytest.param("connect4:rows=3,columns=5,connect=3", marks=pytest.mark.slow),
    pytest.param("connect4:rows=2,columns=6,connect=3", marks=pytest.mark.slow),
    pytest.param("connect4:rows=5,columns=3,connect=3", marks=pytest.mark.interpreted),
]
SHAPES = (
    "connect4:rows=4,columns=4",
    "connect4:rows=3,columns=5,connect=3",
    "connect4:rows=2,columns=6,connect=3",
    "connect4:rows=5,columns=3,connect=3",
)


def after(game: Game, moves: str) -> Any:
    """Return the position after moves, a digit per column."""
    s = game.new()
    with np.errstate(over="ignore"):
        for move in moves:
            assert game.is_terminal(s) is False
            game.step(s, int(move) - 1)
    return s


def random_position(game: Game, plies: int, rng: np.random.Generator) -> Any:
    """Return a position after random moves that is not terminal."""
    while True:
        s = solved_positions.random_position(game, plies, rng)
        if not game.is_terminal(s):
            return s


def check_solution(game: Game, s: Any, solution: EndgameSolution) -> None:
    """Check that the principal variation is a game, and ends in the score."""
    mover, s, returns = int(s.to_move), s.copy(), np.zeros(2)
    for name in solution.principal_variation:
        action = game.action_names.index(name)
        assert action in game.legal(s)
        with np.errstate(over="ignore"):
            game.step(s, action)
    assert game.is_terminal(s)
    game.returns(s, returns)
    assert returns[mover] == solution.score


def check_by_exhaustive_search(game: Game, s: Any) -> int:
    """Check a solution against an exhaustive search; return the score."""
    solution, known = solve_endgame(game, s, all_moves=True), solve(game, from_state=s)
    assert solution.score == known.returns[int(s.to_move)]
    assert solution.scores == known.actions
    assert solution.name in known.best
    check_solution(game, s, solution)
    return solution.score


@pytest.mark.parametrize("spec", SMALL)
def test_small_boards_match_exhaustive_search(spec: str) -> None:
    game, rng = make_game(spec), np.random.default_rng(0)
    check_by_exhaustive_search(game, game.new())
    squares = game.params["rows"] * game.params["columns"]
    scores = [
        check_by_exhaustive_search(
            game, random_position(game, int(rng.integers(1, squares - 2)), rng)
        )
        for _ in range(8)
    ]
    assert len(set(scores)) > 1


@pytest.mark.slow
def test_full_board_matches_exhaustive_search() -> None:
    rng = np.random.default_rng(1)
    scores = [
        check_by_exhaustive_search(GAME, random_position(GAME, 24 + k % 16, rng)) for k in range(24)
    ]
    assert set(scores) >= {-1, 1}


def test_winning_squares_complete_a_line() -> None:
    rng = np.random.default_rng(2)
    for spec in (*SHAPES, "connect4"):
        game = make_game(spec)
        rows, columns = game.params["rows"], game.params["columns"]
        for _ in range(20):
            s = random_position(game, int(rng.integers(1, rows * columns - 2)), rng)
            s.to_move = mover = int(rng.integers(2))
            free = board_bits(rows, columns)[1] & ~(s.discs[0] | s.discs[1])
            cells = int(winning_squares(s.discs[mover], free, rows, game.params["connect"]))
            for column in game.legal(s):
                later = s.copy()
                game.step(later, column)
                square = int(later.discs[mover]) ^ int(s.discs[mover])
                assert (cells & square != 0) == (later.winner == mover)


@pytest.mark.slow
def test_solution_is_deterministic_and_independent_of_slices(monkeypatch) -> None:
    s = random_position(GAME, 14, np.random.default_rng(3))
    whole, again = solve_endgame(GAME, s), solve_endgame(GAME, s)
    assert (whole.nodes, whole.principal_variation) == (again.nodes, again.principal_variation)
    monkeypatch.setattr(limits, "SLICE", 97)  # nodes searched between checks of the limits
    sliced = solve_endgame(GAME, s)
    assert whole.nodes > 97
    assert (sliced.nodes, sliced.score) == (whole.nodes, whole.score)


@pytest.mark.interpreted
def test_limits_raise_and_large_boards_are_rejected(monkeypatch) -> None:
    with pytest.raises(EndgameLimitError, match="not solved within 1000 nodes"):
        solve_endgame(GAME, GAME.new(), nodes=1000)
    monkeypatch.setattr(limits, "SLICE", 500)  # interpreted, a whole slice takes minutes
    with pytest.raises(EndgameLimitError, match=r"not solved within 0\.01 seconds"):
        solve_endgame(GAME, GAME.new(), seconds=0.01)
    with pytest.raises(ValueError, match="must be at most 64, got 72"):
        make_endgame_solver(make_game("connect4:rows=8,columns=8"))
    with pytest.raises(ValueError, match="the game is over"):
        solve_endgame(GAME, after(GAME, "1212121"))


@pytest.mark.slow
def test_searches_with_the_solver_play_perfectly() -> None:
    agent = make_agent("mcts:simulations=10,solver_empties=34", GAME)
    rng, env_indices = np.random.default_rng(4), np.zeros(1, np.int64)
    for _ in range(4):
        s = random_position(GAME, 12, rng)
        solution = solve_endgame(GAME, s, all_moves=True)
        states, streams = np.asarray(s[()]).reshape(1), np.zeros((1, 1), np.uint64)
        (action,) = agent.act(states, np.array([s.to_move]), streams, env_indices)
        assert solution.scores is not None
        assert solution.scores[GAME.action_names[action]] == solution.score


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "empties"),
    [
        pytest.param("connect4:rows=3,columns=3,connect=3", 9, marks=pytest.mark.interpreted),
        ("connect4:rows=4,columns=4", 16),
    ],
)
def test_perfect_play_does_not_lose_a_drawn_game(spec: str, empties: int) -> None:
    game = make_game(spec)
    assert solve_endgame(game, game.new()).score == 0
    perfect = make_agent(f"mcts:simulations=5,solver_empties={empties}", game)
    for opponent in ("random", "mcts:simulations=50"):
        result = play_match(game.spec, [perfect, opponent], 20, seed=1)
        assert result.totals[0].losses == 0
