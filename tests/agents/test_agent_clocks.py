"""Clocks of every registered agent: searches end in the time of the clock, others have none."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from ludoteca.agents.agent import Agent
from ludoteca.agents.networks.pv_network import PVConfig, make_pv_network
from ludoteca.agents.networks.value_network import ValueConfig, make_value_network
from ludoteca.agents.networks.weights import save_weights
from ludoteca.agents.registry import AGENTS, EXTENSIONS, agent_params, find_maker, make_agent
from ludoteca.agents.search.network.gumbel import sequence_of_considered_visits
from ludoteca.agents.search.rate import DEFAULT_SIMULATIONS, PLANNED_FRACTION, SimulationRate
from ludoteca.agents.time_control import TimeControl
from ludoteca.envs import clock as clock_module
from ludoteca.envs.games.connect4 import connect4
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.registry import make_game

pytestmark = pytest.mark.interpreted

TICK = 0.1  # seconds between two readings of the mocked clock
# Game and spec string of searches; `{pv}` and `{value}` are files of networks.
SEARCHES = [
    ("connect4", "flat:simulations=7"),
    ("tron:rows=4,columns=4", "flat"),
    ("connect4", "mcts:simulations=7"),
    ("connect4", "mcts:reuse=True,seconds=99"),
    ("connect4", "mcts:tune=lsi,tune.alpha=0.1/1"),
    ("tron:rows=4,columns=4", "mcts"),
    ("connect4", "alphabeta"),
    ("connect4", "alphabeta:seconds=99"),
    ("connect4", "az:{pv},simulations=7"),
    ("connect4", "az:{pv},policy=gumbel,simulations=7"),
    ("connect4", "az:{pv},policy=gumbel,seconds=99"),
    ("connect4", "uctnet:{value},simulations=7"),
    ("connect4", "uctnet:{value},playout=greedy"),
]
GEESE = ("hungry_geese", "ac:geese,simulations=7")
OPENSPIEL = ("connect4", "openspiel")  # its search reads a clock of its own
# Agents of other programs: their moves are interrupted by the clock, see their own tests.
INTERRUPTED = {"gtp", "htp", "nboard", "kaggle"}
# Agents that compute a move without a search or a number of simulations.
WITHOUT_SEARCH = {
    *("random", "greedy", "random_valid", "random_safe", "deterministic", "heuristic"),
    *("mixed", "conductance"),
    *("dqn", "cnn", "nfsp", "sb3", "rllib", "torch", "function", "onnx"),
}
SEARCH_PARAMS = {"simulations", "seconds", "depth"}


@pytest.fixture
def fill(tmp_path):
    """Return a function that writes the files of networks into a spec string."""
    game = connect4()
    torch.manual_seed(1)
    pv, value = PVConfig(filters=4, blocks=0), ValueConfig(filters=(4,), hidden=8)
    for name, network, config in [
        ("pv", make_pv_network(pv, game), pv),
        ("value", make_value_network(value, game), value),
    ]:
        metadata = {"game": game.spec, "network": config.as_dict()}
        save_weights(tmp_path / f"{name}.safetensors", network.state_dict(), metadata)
    return lambda spec: spec.format(
        pv=tmp_path / "pv.safetensors", value=tmp_path / "value.safetensors"
    )


@pytest.fixture
def now(monkeypatch):
    """Return the mocked time in seconds, a list of one element; each reading advances it."""
    seconds = [0.0]

    def read():
        seconds[0] += TICK
        return seconds[0]

    monkeypatch.setattr(clock_module, "time", SimpleNamespace(perf_counter=read))
    monkeypatch.setattr(clock_module, "compile_seconds", lambda: 0.0)
    return seconds


def move(agent, game):
    """Let an agent choose an action in the start position of a game."""
    seats = np.zeros(1, np.int64)
    return agent.act(batch_of_one(game), seats, np.zeros((1, 1), np.uint64), seats)[0]


def test_every_registered_agent_has_a_clock_or_no_search():
    searches = {spec.partition(":")[0] for _, spec in [*SEARCHES, GEESE, OPENSPIEL]}
    registered = AGENTS.keys() - EXTENSIONS.keys()
    assert sorted([*searches, *INTERRUPTED, *WITHOUT_SEARCH]) == sorted(registered)
    for name in registered:
        maker, has_clock = find_maker(name), name in searches | INTERRUPTED
        if isinstance(maker, type):
            assert (maker.set_time_control is not Agent.set_time_control) == has_clock or (
                name in ("cnn", "nfsp")  # classes of agents with a search
            ), name
        if name in WITHOUT_SEARCH:
            assert not SEARCH_PARAMS & agent_params(name).keys(), name


@pytest.mark.parametrize(
    ("game", "spec"), [*SEARCHES, pytest.param(*GEESE, marks=pytest.mark.slow)]
)
def test_searches_end_in_the_time_of_the_clock(fill, now, game, spec):
    rules, control = make_game(game), TimeControl(1, 10, 60)
    agent = make_agent(fill(spec), rules)
    agent.set_time_control(control)
    for _ in range(2):
        start = now[0]
        assert move(agent, rules) >= 0
        spent = now[0] - start
        # The clock is read a few times before and after the search.
        assert 0.6 * control.thinking_seconds <= spent <= control.thinking_seconds + 4 * TICK


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.parametrize(("game", "spec"), [*SEARCHES, GEESE, OPENSPIEL])
def test_moves_take_the_time_of_the_clock(fill, game, spec):
    rules, control = make_game(game), TimeControl(0.5)
    agent = make_agent(fill(spec), rules)
    agent.set_time_control(control)
    agent.prepare()
    seconds = []
    for _ in range(4):
        start = time.perf_counter()
        move(agent, rules)
        seconds.append(time.perf_counter() - start)
    # The machine may have other work: one move of four may be late.
    assert sorted(seconds)[-2] < control.move_seconds
    assert max(seconds) > 0.3 * control.thinking_seconds


def test_simulations_are_planned_by_the_rate_of_the_last_searches():
    rate = SimulationRate()
    assert rate.plan(1, 10**6) == DEFAULT_SIMULATIONS
    assert rate.plan(1, 10) == 10
    for simulations, seconds in [(999, 1), (100, 1), (100, 0.5), (400, 1.5), (0, 1)]:
        rate.measure(simulations, seconds)
    assert rate.plan(2, 10**6) == PLANNED_FRACTION * 2 * 600 / 3  # of the last three searches
    assert rate.plan(2, 50) == 50
    assert rate.plan(1e-9, 50) == 1


@pytest.fixture
def delay(monkeypatch):
    """Return a function that lets every call of an agent's network take mocked seconds."""

    def delay_network(agent, seconds):
        now, cache = [0.0], type(agent._cache)
        run = cache.__call__

        def evaluate(self, planes):
            now[0] += seconds
            return run(self, planes)

        monkeypatch.setattr(clock_module, "time", SimpleNamespace(perf_counter=lambda: now[0]))
        monkeypatch.setattr(clock_module, "compile_seconds", lambda: 0.0)
        monkeypatch.setattr(cache, "__call__", evaluate)
        return now

    return delay_network


def test_gumbel_search_finishes_its_planned_simulations(fill, delay):
    """With a steady rate a search completes sequential halving before its time is over."""
    game = connect4()
    agent = make_agent(fill("az:{pv},policy=gumbel"), game)
    now = delay(agent, 0.01)
    agent.set_time_control(TimeControl(1))
    agent.prepare()
    for _ in range(3):
        start, report = now[0], agent.search(game.new())
        assert 0.7 * 0.9 < now[0] - start < 0.9
        visits = sorted(candidate.visits for candidate in report.candidates)
        schedule = sequence_of_considered_visits(game.num_actions, report.simulations)
        assert visits[-1] == max(schedule) + 1


@pytest.mark.parametrize("policy", ["puct", "gumbel"])
def test_searches_begin_no_evaluation_that_would_exceed_their_time(fill, delay, policy):
    """By hand: the root and one batch of leaves take 0.8 s of 0.9 s, another would take 0.4 s."""
    game = connect4()
    agent = make_agent(fill("az:{pv},policy=" + policy), game)
    agent.set_time_control(TimeControl(1))
    now = delay(agent, 0.4)
    assert agent.search(game.new()).simulations == (8 if policy == "puct" else 1)
    assert now[0] == pytest.approx(0.8)
