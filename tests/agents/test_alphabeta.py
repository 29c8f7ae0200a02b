"""Tests of the alpha-beta agent: exact values, and minimax to a given depth."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ludoteca.agents.evaluations import find_evaluation
from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.alphabeta.agent import AlphaBetaAgent
from ludoteca.envs.game import Game
from ludoteca.envs.interpreted import interpreting
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.solve import solve

pytestmark = pytest.mark.interpreted


def random_game(game: Game, seed: int, opening: int = 0) -> list[Any]:
    """Return the unfinished positions of a random game, without the first `opening` ones."""
    rng, s, positions = np.random.default_rng(seed), game.new(), []
    while not game.is_terminal(s):
        positions.append(s.copy())
        game.step(s, int(rng.choice(game.legal(s))))
    return positions[opening:]


def minimax(game: Game, s: Any, depth: int, evaluation: str = "") -> float:
    """Return the value of a position for player 0 by plain minimax without pruning."""
    out = np.zeros(2)
    if game.is_terminal(s) or depth == 0:
        (game.returns if game.is_terminal(s) else find_evaluation(evaluation, game))(s, out)
        return float(out[0] - out[1]) / 2
    values = []
    for action in game.legal(s):
        child = s.copy()
        game.step(child, action)
        values.append(minimax(game, child, depth - 1, evaluation))
    assert game.player is not None
    return max(values) if game.player(s) == 0 else min(values)


def value_of(report: Any) -> float:
    """Return the value in [-1, 1] of a report for the player to move."""
    return float(2 * report.candidates[0].mean - 1)


@pytest.mark.parametrize(
    ("spec", "opening"),
    [
        ("tictactoe", 3),
        ("hex:board_size=3", 3),
        ("hex:board_size=3,swap=True", 4),
        ("connect4:rows=3,columns=4,connect=3", 4),
        ("othello:board_size=4", 6),
    ],
)
def test_search_to_the_end_equals_the_exact_solver(spec: str, opening: int) -> None:
    game = make_game(spec)
    assert game.player is not None
    agent = AlphaBetaAgent(game, depth=min(game.max_plies, 128))  # 128 is the largest depth
    for seed in range(3):
        for s in random_game(game, seed, opening):
            report, solution = agent.search(s), solve(game, from_state=s)
            value = solution.returns[game.player(s)]
            if report.proven != {1: "win", -1: "loss"}.get(int(np.sign(value)), "draw"):
                raise AssertionError(f"{report} differs from {solution} in {s}")
            assert value_of(report) == pytest.approx(value, abs=1e-5)
            assert report.name in solution.best or report.proven == "loss"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "opening"),
    [
        ("tictactoe", 0),
        ("hex:board_size=4", 3),
        ("connect4:rows=4,columns=5", 8),
        ("othello:board_size=4", 3),
    ],
)
def test_compiled_search_of_games_equals_the_exact_solver(spec: str, opening: int) -> None:
    game = make_game(spec)
    assert game.player is not None
    agent = AlphaBetaAgent(game, depth=game.max_plies)
    for seed in range(4):
        for s in random_game(game, seed, opening):
            value = solve(game, from_state=s, capacity=1 << 18).returns[game.player(s)]
            assert value_of(agent.search(s)) == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize(
    ("spec", "depth", "opening"),
    [
        ("othello:board_size=4", 3, 2),
        ("othello:board_size=4,auto_pass=True", 4, 4),
        ("connect4:rows=4,columns=4", 3, 0),
        ("tictactoe", 2, 0),
        ("breakthrough:rows=5,columns=3", 3, 2),
    ],
)
def test_limited_search_equals_minimax(spec: str, depth: int, opening: int) -> None:
    game = make_game(spec)
    assert game.player is not None
    agent = AlphaBetaAgent(game, depth=depth)
    for s in random_game(game, 1, opening)[::3]:
        sign = 1 - 2 * game.player(s)
        expected = sign * minimax(game, s, depth)
        report = agent.search(s)
        assert value_of(report) == pytest.approx(expected, abs=1e-5)
        assert report.depth == depth or report.proven
        child = s.copy()
        game.step(child, report.action)
        if report.proven != "loss":
            assert sign * minimax(game, child, report.depth - 1) == pytest.approx(
                expected, abs=1e-5
            )


def test_tiny_transposition_table_changes_no_value() -> None:
    game = make_game("tictactoe")
    small, large = AlphaBetaAgent(game, 9, table_size=2), AlphaBetaAgent(game, 9)
    for s in random_game(game, 5, 3):
        assert value_of(small.search(s)) == value_of(large.search(s))


def test_quickest_win_is_played_and_a_loss_is_delayed() -> None:
    game = make_game("connect4")
    agent = AlphaBetaAgent(game, depth=6)
    s = game.new()
    for column in (3, 0, 3, 0, 3, 1):
        game.step(s, column)
    report = agent.search(s)
    assert (report.action, report.proven, report.depth) == (3, "win", 1)
    assert report.principal_variation == (game.action_names[3],)
    game.step(s, 6)  # the other player must block: every other move loses
    assert agent.search(s).action == 3


def test_report_shows_depth_nodes_value_and_variation() -> None:
    game = make_game("tictactoe")
    report = AlphaBetaAgent(game, depth=9).search(random_game(game, 0, 3)[0])
    text = str(report)
    assert f"depth {report.depth} in" in text
    assert f"{report.nodes:,} nodes" in text
    assert "principal variation: " + " ".join(report.principal_variation) in text
    assert f"proven {report.proven}" in text
    assert f'"depth": {report.depth}' in report.to_json()


def test_random_stream_decides_between_equal_actions() -> None:
    game = make_game("tictactoe")
    agent = AlphaBetaAgent(game, depth=1, evaluation="returns")
    states = np.repeat(np.array(game.new(), game.state).reshape(1), 20)
    rngs = np.arange(20, dtype=np.uint64).reshape(-1, 1)
    zeros = np.zeros(20, np.int64)  # the seats and the indices of the games
    first = agent.act(states, zeros, rngs.copy(), zeros)
    assert len(set(first.tolist())) > 3
    assert (agent.act(states, zeros, rngs.copy(), zeros) == first).all()


def test_time_limit_ends_a_search_with_the_best_action_so_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = iter(range(10**6))
    monkeypatch.setattr("ludoteca.agents.search.alphabeta.agent.clock", lambda: next(times) / 1000)
    game = make_game("connect4")
    report = AlphaBetaAgent(game, seconds=0.02).search(game.new())
    assert 1 <= report.depth < 42
    assert report.name in game.action_names


def test_monitor_sees_reports_and_stops_the_search() -> None:
    game = make_game("connect4")
    agent = AlphaBetaAgent(game, depth=42)
    seen = []

    def monitor(report: Any) -> bool:
        seen.append(report())
        return len(seen) == 3

    agent.monitor = monitor
    assert agent.search(game.new()).action in range(7)
    assert len(seen) == 3


def test_pickled_agent_plays_the_same() -> None:
    game = make_game("tictactoe")
    agent = AlphaBetaAgent(game, depth=3)
    copy = pickle.loads(pickle.dumps(agent))
    for s in random_game(game, 2):
        assert agent.search(s).action == copy.search(s).action


def test_match_against_random_moves_is_won() -> None:
    result = play_match("tictactoe", ["minimax:depth=3", "random"], 10, seed=3)
    assert result.totals[0].wins >= 8


@pytest.mark.parametrize("game", ["tron", "hungry_geese"])
def test_simultaneous_games_are_refused(game: str) -> None:
    with pytest.raises(ValueError, match="alpha-beta search needs a sequential game for two"):
        make_agent("alphabeta", make_game(game))


@pytest.mark.parametrize(
    "spec", ["alphabeta:depth=0", "alphabeta:seconds=0", "alphabeta:evaluation=guess"]
)
def test_invalid_parameters_are_refused(spec: str) -> None:
    with pytest.raises(ValueError, match=r"depth|seconds|evaluation"):
        make_agent(spec, make_game("tictactoe"))


@pytest.mark.slow
@pytest.mark.compiled
def test_compiled_search_equals_the_interpreted_one() -> None:
    game = make_game("tictactoe")
    compiled = AlphaBetaAgent(game, depth=4)
    with interpreting():
        interpreted = AlphaBetaAgent(game, depth=4)
        expected = [interpreted.search(s) for s in random_game(game, 4, 2)]
    for s, report in zip(random_game(game, 4, 2), expected, strict=True):
        assert replace(compiled.search(s), seconds=report.seconds) == report
