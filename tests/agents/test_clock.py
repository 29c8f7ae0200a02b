"""Clocks of searches: measured speeds and time limits do not include compilation."""

import importlib.util
import time

import numpy as np
import pytest

from ludoteca.agents.baselines import RandomAgent
from ludoteca.agents.games.endgame.limits import SearchLimits
from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.clock import search_for
from ludoteca.agents.seat_network import SeatNetworkAgent
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs import clock as clock_module
from ludoteca.envs.clock import clock
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.bench.search_workload import SearchWorkload
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.tournament.plan import Match, Tournament
from ludoteca.evaluate.tournament.run import play_games

pytestmark = pytest.mark.interpreted

# Module with a compiled function that is in no cache.
COMPILED = """
from ludoteca.envs.jit import compiled

@compiled
def weighted_sum(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * i
    return total
"""


@pytest.fixture
def compiling(monkeypatch):
    """Return a function that simulates compilation for some seconds; 100 s were spent before."""
    compile_seconds = [100.0]

    def compile_for(seconds):
        time.sleep(seconds)
        compile_seconds[0] += seconds

    monkeypatch.setattr(clock_module, "compile_seconds", lambda: compile_seconds[0])
    return compile_for


@pytest.mark.compiled
def test_clock_excludes_compilation(tmp_path):
    file = tmp_path / "compiled_total.py"  # its cache is written beside it
    file.write_text(COMPILED)
    spec = importlib.util.spec_from_file_location("compiled_total", file)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    wall_start, clock_start = time.perf_counter(), clock()
    loaded.weighted_sum(np.arange(5.0))
    wall_seconds, clock_seconds = time.perf_counter() - wall_start, clock() - clock_start
    assert wall_seconds > 0.05, "the function was not compiled"
    assert clock_seconds < wall_seconds / 2
    start = clock()
    time.sleep(0.02)
    assert clock() - start >= 0.02


def test_time_limit_of_search_excludes_compilation(compiling):
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
def test_searches_use_their_time_limit(compiling, game, agent):
    rules = make_game(game)
    searcher = make_agent(agent, rules)
    searcher.prepare()
    start = time.perf_counter()
    report = searcher.search(rules.new())
    assert 0.04 < report.seconds < 1
    assert time.perf_counter() - start < 2


def test_time_limit_of_endgame_solver_excludes_compilation(compiling):
    calls = []

    def search(limit):
        calls.append(limit)
        if len(calls) == 1:
            compiling(0.3)
        return 5 if len(calls) == 3 else 1001  # scores; 1001 is STOPPED: the limit was reached

    limits = SearchLimits(nodes=None, seconds=0.2)
    assert limits.run(search, np.zeros(1, np.int64), lambda: "a position") == 5


class CompilingAgent(RandomAgent):
    """Random agent that simulates compilation at its first move."""

    compiling = None

    def act(self, states, seats, rngs, env_indices):
        if self.compiling is not None:
            self.compiling(0.5)
            type(self).compiling = None
        return super().act(states, seats, rngs, env_indices)


def test_match_and_tournament_times_exclude_compilation(compiling, monkeypatch):
    game = make_game("tictactoe")
    monkeypatch.setattr(CompilingAgent, "prepare", lambda self: None)
    monkeypatch.setattr(CompilingAgent, "compiling", staticmethod(compiling))
    result = play_match(game, [CompilingAgent(game), RandomAgent(game)], 20)
    assert CompilingAgent.compiling is None
    assert 0 < result.seconds < 0.4

    monkeypatch.setattr(CompilingAgent, "compiling", staticmethod(compiling))
    monkeypatch.setattr(
        "ludoteca.evaluate.match.make_agent",
        lambda spec, rules: CompilingAgent(rules) if spec == "greedy" else RandomAgent(rules),
    )
    tournament = Tournament(games=("tictactoe",), agents=("random", "greedy"), repeats=1)
    result = play_games(tournament, Match(0, (0, 1), 0), 0, 2)
    assert CompilingAgent.compiling is None
    assert 0 < result.seconds < 0.4


def test_search_benchmark_excludes_compilation(compiling):
    workload = SearchWorkload("tictactoe", "random", 1)
    move, compiled = workload._move, []

    def compile_and_move():
        if not compiled:
            compiling(0.5)
            compiled.append(True)
        move()

    workload._move = compile_and_move
    sample = workload(0.1)
    assert 0.1 <= sample.seconds < 0.4
    assert sample.steps > 10


@pytest.mark.parametrize(
    ("options", "searches"),
    [("", True), (",policy=gumbel,simulations=4", True), (",simulations=0", False)],
)
def test_network_guided_search_takes_the_time_of_the_clock(options, searches):
    game, control = make_game("connect4"), TimeControl(0.1)
    agent = make_agent(f"az:connect4{options}", game)
    before = agent.simulations
    agent.set_time_control(control)
    assert agent.seconds == (control.thinking_seconds if searches else None)
    assert (agent.simulations != before) == searches
    states, seats = batch_of_one(game), np.zeros(1, np.int64)
    assert 0 <= agent.act(states, seats, np.zeros((1, 1), np.uint64), seats)[0] < 7


def test_search_of_a_policy_network_takes_the_time_of_the_clock():
    game, control = make_game("tron:rows=4,columns=4"), TimeControl(0.1)
    agent = SeatNetworkAgent(SeatEncoder(game), lambda planes: np.zeros((len(planes), 5), "f4"))
    agent.set_time_control(control)
    assert agent.seconds is None
    agent.set_search(simulations=4)
    agent.set_time_control(control)
    assert agent.seconds == control.thinking_seconds
    result = agent.search_positions(batch_of_one(game), np.zeros((1, 1), np.uint64))
    assert result.visit_counts.sum() > 2 * 4  # more than 4 simulations of 2 players
