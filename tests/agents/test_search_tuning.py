"""Tests of the on-line tuning of search parameters."""

import math
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.config import SEARCH_PARAMS
from ludoteca.agents.search.tuner import EXPLORATION, make_tuner
from ludoteca.agents.search.tuning import TUNED_PARAMS, tuned_params, tuning_result
from ludoteca.envs import clock as clock_module
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import make_game

pytestmark = pytest.mark.interpreted

STRATEGIES = ["mab", "he", "nmc", "lsi"]
TARGETS = {"alpha": 0, "fpu": 4}
GAME = make_game("tictactoe")


def tuned_bandit(strategy, probabilities, pulls):
    """Tune two parameters whose combinations win with given probabilities; return the record."""
    grid = {"alpha": "0/1/2", "fpu": "0.5/inf"}
    params = tuned_params(np.zeros(1, SEARCH_PARAMS), strategy, grid, TARGETS)
    params["budget"] = pulls
    record, tuner = view_records(params)[0], make_tuner(strategy)
    stream, chance = np.zeros(1, np.uint64), np.random.default_rng(1)
    tuner.reset(record)
    with np.errstate(all="ignore"):
        for _ in range(pulls):
            tuner.select(record, stream)
            alpha, fpu = int(record.policy_params[0]), int(math.isinf(record.fpu))
            tuner.update(record, float(chance.random() < probabilities[fpu][alpha]))
    return record


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_strategies_find_the_best_combination_of_a_bandit(strategy):
    record = tuned_bandit(strategy, [[0.2, 0.3, 0.3], [0.3, 0.4, 0.8]], 2000)
    results = tuning_result(record, ("alpha", "fpu"))
    best = max(results, key=lambda result: result.visits)
    assert best.values == {"alpha": 2.0, "fpu": math.inf}
    # `lsi` halves sequentially: six candidates, then three, then two, each for a third of the
    # visits. So the best has about (1/6 + 1/3 + 1/2) / 3 = 1/3 of the visits.
    share = 1 / 6 + 1 / 12 if strategy == "lsi" else 0.4
    assert best.visits > share * sum(result.visits for result in results)
    assert best.mean == pytest.approx(0.8, abs=0.06)
    assert record.total == 2000
    for p, size in ((0, 3), (1, 2)):
        assert record.local_visits[p, :size].sum() == 2000
    if strategy != "lsi":  # `lsi` counts anew after half of the simulations
        assert record.visits.sum() == 2000


def select_by_prefixes(statistics, sizes):
    """Return the indices of values by UCB1 at each prefix, given `(visits, sum)` by prefix."""
    prefix = ()
    for size in sizes:
        children = [(*prefix, k) for k in range(size)]
        unvisited = [child for child in children if child not in statistics]
        if unvisited:
            prefix = unvisited[0]
            continue
        total = sum(statistics[child][0] for child in children)
        scores = {}
        for child in children:
            visits, value = statistics[child]
            scores[child] = value / visits + EXPLORATION * math.sqrt(math.log(total) / visits)
        prefix = max(scores, key=scores.get)
    return prefix


def test_hierarchical_expansion_matches_a_tree_of_prefixes():
    grid, sizes = {"alpha": "0/1/2", "fpu": "0/1", "c": "0/1/2/3"}, (3, 2, 4)
    params = tuned_params(np.zeros(1, SEARCH_PARAMS), "he", grid, TARGETS | {"c": 1})
    record, tuner, stream = view_records(params)[0], make_tuner("he"), np.zeros(1, np.uint64)
    chance, statistics = np.random.default_rng(2), {}
    tuner.reset(record)
    for _ in range(600):
        expected = select_by_prefixes(statistics, sizes)
        tuner.select(record, stream)
        chosen = (record.policy_params[0], record.fpu, record.policy_params[1])
        assert chosen == expected
        score = float(chance.integers(3)) / 2 * (0.4 + 0.2 * expected[0] + 0.1 * expected[2])
        tuner.update(record, score)
        for length in range(1, len(sizes) + 1):
            visits, value = statistics.get(expected[:length], (0, 0.0))
            statistics[expected[:length]] = visits + 1, value + score
    assert len(statistics) == 3 + 3 * 2 + 3 * 2 * 4
    assert max(statistics[(k,)][0] for k in range(3)) > 300


def test_naive_monte_carlo_tries_values_on_their_own():
    # 16 x 16 combinations: far more than simulations, so that UCB1 over them tries none twice.
    values = "/".join(map(str, range(16)))
    counts = {}
    for strategy in ("mab", "nmc"):
        params = tuned_params(
            np.zeros(1, SEARCH_PARAMS), strategy, {"alpha": values, "fpu": values}, TARGETS
        )
        record, tuner, stream = view_records(params)[0], make_tuner(strategy), np.zeros(1, "u8")
        tuner.reset(record)
        with np.errstate(all="ignore"):
            for _ in range(250):
                tuner.select(record, stream)
                tuner.update(record, float(record.policy_params[0] == 3 and record.fpu == 5))
        counts[strategy] = record.visits.max()
    assert counts["mab"] == 1
    assert counts["nmc"] > 1


def test_linear_side_information_halves_its_candidates():
    record = tuned_bandit("lsi", [[0.1, 0.1, 0.1], [0.1, 0.1, 0.9]], 600)
    assert record.num_candidates == 2  # in the last round
    visits = sorted(int(v) for v in record.visits if v)
    assert sum(visits) == 300  # the second half
    assert visits[-1] > 3 * visits[0]


def test_one_value_is_the_search_without_tuning():
    s = GAME.new()
    plain = make_agent("mcts:simulations=200,policy.alpha=0.5", GAME).search(s)
    tuned = make_agent("mcts:simulations=200,tune=mab,tune.alpha=0.5", GAME).search(s)
    assert [(c.name, c.visits, c.mean) for c in tuned.candidates] == [
        (c.name, c.visits, c.mean) for c in plain.candidates
    ]


def test_hierarchical_expansion_of_one_parameter_is_the_bandit_over_its_values():
    results = []
    for strategy in ("mab", "he"):
        agent = make_agent(f"mcts:simulations=100,tune={strategy},tune.alpha=0.1/0.5/2", GAME)
        agent.search(GAME.new())
        results.append(agent.tuning_results(0))
    assert results[0] == results[1]
    assert all(result.visits for result in results[0])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_players_have_values_of_their_own(strategy):
    spec = f"mcts:simulations=150,amaf=rave,tune={strategy},tune.alpha=0.1/2,tune.weight=0.01/1"
    agent = make_agent(spec, GAME)
    agent.search(GAME.new())
    first, second = (agent.tuning_results(player) for player in range(2))
    assert [result.values for result in first] == [result.values for result in second]
    assert len(first) == 4
    simulations = 75 if strategy == "lsi" else 150
    wins = [
        sum(result.mean * result.visits for result in part if result.visits)
        for part in (first, second)
    ]
    assert [sum(result.visits for result in part) for part in (first, second)] == [simulations] * 2
    assert sum(wins) == pytest.approx(simulations)  # the scores of a simulation sum to 1
    assert wins[0] != wins[1]


def test_halves_of_lsi_share_a_time_limit(monkeypatch):
    readings = count(step=0.004)  # mocked seconds
    monkeypatch.setattr(clock_module, "time", SimpleNamespace(perf_counter=lambda: next(readings)))
    monkeypatch.setattr(clock_module, "compile_seconds", lambda: 0.0)
    agent = make_agent("mcts:seconds=0.2,tune=lsi,tune.alpha=0.1/0.5/1/2", GAME)
    for _ in range(2):
        simulations = agent.search(GAME.new()).simulations
        # Results are those of the second half, which ends with one candidate.
        results = agent.tuning_results(0)
        assert 0.2 < sum(result.visits for result in results) / simulations < 0.8
        assert agent._params["num_candidates"].tolist() == [1, 1]


def test_a_batch_is_searched_like_single_positions():
    spec = "mcts:simulations=40,tune=nmc,tune.alpha=0.1/1/2,tune.fpu=0.5/inf"
    agent, states = make_agent(spec, GAME), GAME.empty(3)
    for k, actions in enumerate(((), (4,), (0, 4, 8))):
        s = GAME.new()
        for action in actions:
            GAME.step(s, action)
        states[k] = s
    streams = np.arange(3, dtype=np.uint64)[:, None]
    together = agent.act(states, states["to_move"].astype(int), streams.copy(), np.arange(3))
    searcher = make_agent(spec, GAME)
    assert together.tolist() == [
        searcher.search(s, stream.copy()).action
        for s, stream in zip(view_records(states), streams, strict=True)
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("tune=best,tune.alpha=1/2", "tune must be one of"),
        ("tune.alpha=1/2", "tune needs a strategy"),
        ("tune=nmc", "needs the values of 1 to 4 parameters"),
        ("tune=nmc,tune.alpha=1/x", "must be numbers such as"),
        ("tune=nmc,tune.alpha=inf", "tune.alpha must be"),
        ("tune=nmc,tune.zeta=1/2", "has no parameter 'zeta'"),
        ("tune=nmc,tune.weight=1/2", "has no parameter 'weight'"),
        ("tune=nmc,tune.alpha=" + "/".join("1" * 17), "can have up to 16 values, got 17"),
        ("tune=nmc,tune.alpha=1/2,reuse=True", "needs reuse=False and threads=1"),
        ("tune=nmc,tune.alpha=1/2,threads=2", "needs reuse=False and threads=1"),
    ],
)
def test_wrong_options_raise(options, message):
    with pytest.raises(ValueError, match=message):
        make_agent(f"mcts:{options}", GAME)


def test_combinations_are_limited():
    values = "/".join(map(str, range(16)))
    spec = f"mcts:policy=ucb_v,tune=mab,tune.c={values},tune.zeta={values},tune.fpu=1/2"
    with pytest.raises(ValueError, match="256 combinations, got 512"):
        make_agent(spec, GAME)
    with pytest.raises(ValueError, match="no on-line tuning"):
        make_agent("mcts", GAME).tuning_results(0)
    assert TUNED_PARAMS.itemsize < 10_000  # it is copied for each player
