"""Compiling is counted neither in speeds nor in the time of a search."""

import importlib.util
import time

import numpy as np
import pytest

from ludoteca.agents.baselines import RandomAgent
from ludoteca.agents.games.endgame.limits import SearchLimits
from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.clock import search_for
from ludoteca.envs import clock as module
from ludoteca.envs.clock import clock
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.bench.search_workload import SearchWorkload
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.tournament.plan import Match, Tournament
from ludoteca.evaluate.tournament.run import play

pytestmark = pytest.mark.interpreted

COMPILED = """
from ludoteca.envs.jit import compiled

@compiled
def total(x):
    found = 0.0
    for i in range(len(x)):
        found += x[i] * i
    return found
"""


@pytest.fixture
def compiling(monkeypatch):
    """Return a function that seems to compile for some seconds; some were spent already."""
    spent = [100.0]

    def compile_for(seconds):
        time.sleep(seconds)
        spent[0] += seconds

    monkeypatch.setattr(module, "compile_seconds", lambda: spent[0])
    return compile_for


@pytest.mark.compiled
def test_the_clock_stands_still_while_numba_compiles(tmp_path):
    file = tmp_path / "compiled_total.py"  # its cache is written beside it
    file.write_text(COMPILED)
    spec = importlib.util.spec_from_file_location("compiled_total", file)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    wall, passed = time.perf_counter(), clock()
    loaded.total(np.arange(5.0))
    wall, passed = time.perf_counter() - wall, clock() - passed
    assert wall > 0.05, "it was not compiled"
    assert passed < wall / 2
    start = clock()
    time.sleep(0.02)
    assert clock() - start >= 0.02


def test_a_search_with_a_time_limit_does_not_lose_it_to_compiling(compiling):
    counts = []

    def run(count):
        if not counts:
            compiling(0.3)
        counts.append(count)
        time.sleep(0.001)
        return False

    search_for(0.1, clock(), run)
    assert len(counts) > 10


@pytest.mark.parametrize(
    ("game", "agent"),
    [("tictactoe", "mcts:seconds=0.05"), ("tron:rows=4,columns=4", "mcts:seconds=0.05")],
)
def test_searches_take_the_time_they_are_given(compiling, game, agent):
    made = make_game(game)
    searcher = make_agent(agent, made)
    searcher.prepare()
    start = time.perf_counter()
    report = searcher.search(made.new())
    assert 0.04 < report.seconds < 1
    assert time.perf_counter() - start < 2


def test_endgames_do_not_lose_their_time_to_compiling(compiling):
    calls = []

    def search(limit):
        calls.append(limit)
        if len(calls) == 1:
            compiling(0.3)
        return 5 if len(calls) == 3 else 1001  # STOPPED

    limits = SearchLimits(nodes=None, seconds=0.2)
    assert limits.run(search, np.zeros(1, np.int64), lambda: "a position") == 5


class Compiling(RandomAgent):
    """An agent that compiles something at its first move."""

    compiling = None

    def act(self, states, seats, rngs, env_indices):
        if self.compiling is not None:
            self.compiling(0.5)
            type(self).compiling = None
        return super().act(states, seats, rngs, env_indices)


def test_matches_and_tournaments_do_not_count_it(compiling, monkeypatch):
    game = make_game("tictactoe")
    monkeypatch.setattr(Compiling, "prepare", lambda self: None)
    monkeypatch.setattr(Compiling, "compiling", staticmethod(compiling))
    result = play_match(game, [Compiling(game), RandomAgent(game)], 20)
    assert Compiling.compiling is None
    assert 0 < result.seconds < 0.4

    monkeypatch.setattr(Compiling, "compiling", staticmethod(compiling))
    monkeypatch.setattr(
        "ludoteca.evaluate.match.make_agent",
        lambda spec, rules: Compiling(rules) if spec == "greedy" else RandomAgent(rules),
    )
    tournament = Tournament(games=("tictactoe",), agents=("random", "greedy"), repeats=1)
    played = play(tournament, Match(0, (0, 1), 0), 0, 2)
    assert Compiling.compiling is None
    assert 0 < played.seconds < 0.4


def test_benchmarks_of_searches_do_not_count_it(compiling):
    side = SearchWorkload("tictactoe", "random", 1)
    move, compiled = side._move, []

    def moved():
        if not compiled:
            compiling(0.5)
            compiled.append(True)
        move()

    side._move = moved
    sample = side(0.1)
    assert 0.1 <= sample.seconds < 0.4
    assert sample.steps > 10
