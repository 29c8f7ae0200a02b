"""Exploration factor: selections against formulas in plain Python, schedule over the budget."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from decoupled_search import Search
from search_trees import agent_tree

from ludoteca.agents.registry import make_agent
from ludoteca.agents.search import MCTSAgent
from ludoteca.agents.search.options import SearchOptions
from ludoteca.agents.search.sequential.search import search_kernel
from ludoteca.agents.search.sequential.tree import ROOT
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import make_game

pytestmark = pytest.mark.interpreted
SIMULATIONS = 100
OPTIONS = (
    "linear",
    "linear:final=0.25",
    "power:exponent=3,final=0.1",
    ":depth_decay=0.6",
    ":stdev=node",
    ":stdev=root",
    "power:depth_decay=1.2,stdev=root",
)


def bonus(policy: str, arm: Any, t: int) -> float:
    """Return the exploration term of an arm by the formula of its policy."""
    n, log_t = int(arm["visits"]), math.log(t)
    if policy == "ucb1":
        return math.sqrt(2 * log_t / n)
    variance = arm["square"] / n - (arm["value"] / n) ** 2
    return math.sqrt(log_t / n * min(0.25, variance + math.sqrt(2 * log_t / n)))


def stdev(arms: Any) -> float:
    """Return the standard deviation of the scores of arms, with a win and a loss added."""
    n = arms["visits"].sum() + 2
    mean = (arms["value"].sum() + 1) / n
    return math.sqrt((arms["square"].sum() + 1) / n - mean**2)


def factor(options: str, done: int, depth: int, node: Any, root: Any) -> float:
    """Return the exploration factor, given the arms of the node and of the root."""
    schedule, _, text = options.partition(":")
    params = dict(part.split("=") for part in text.split(",") if part)
    result = float(params.get("depth_decay", 1)) ** depth
    if schedule:
        exponent = float(params.get("exponent", 2)) if schedule == "power" else 1
        final = float(params.get("final", 0))
        result *= final + (1 - final) * (1 - done / SIMULATIONS) ** exponent
    if "stdev" in params:
        result *= 2 * stdev({"node": node, "root": root}[params["stdev"]])
    return result


def best_arms(policy: str, arms: Any, t: int, scale: float) -> set[int]:
    """Return the indices of the arms whose scores are the highest, up to rounding."""
    scores = [arm["value"] / arm["visits"] + scale * bonus(policy, arm, t) for arm in arms]
    return {k for k, score in enumerate(scores) if score > max(scores) - 1e-12}


@pytest.mark.parametrize("policy", ["ucb1", "ucb_tuned"])
@pytest.mark.parametrize("options", OPTIONS)
def test_selected_children_are_those_of_the_formula(policy: str, options: str) -> None:
    game = make_game("tictactoe")
    agent = MCTSAgent(game, policy=policy, simulations=SIMULATIONS, exploration=options)
    tree = agent._workspace.trees[0]
    tree.reset(game.new(), 5)
    nodes, table, states = (view_records(a) for a in (tree.nodes, tree.table, tree.states))
    work, params = view_records(tree.work)[0], view_records(agent._params)
    agent._params["planned_simulations"] = SIMULATIONS
    search, checked = search_kernel(game, agent.config), 0
    for done in range(SIMULATIONS):
        agent._params["completed_simulations"] = done
        before = tree.nodes[: tree.size].copy()
        with np.errstate(over="ignore"):
            search(nodes, tree.shared, table, states, tree.words, work, params, 1)
        path = [int(node) for node in tree.work["path"][0]]
        for depth, (parent, child) in enumerate(pairwise(path)):
            if parent >= len(before) or before[parent]["first_child"] == 0:
                break
            first, n = (int(before[parent][name]) for name in ("first_child", "num_children"))
            arms = before[first : first + n]
            if not (first <= child < first + n):
                break  # below the leaf: the path of an earlier simulation
            if arms["visits"].min() == 0:
                break
            root = before[before[ROOT]["first_child"] :][: before[ROOT]["num_children"]]
            scale = factor(options, done, depth, arms, root)
            t = int(arms["visits"].sum()) + 1
            assert child - first in best_arms(policy, arms, t, scale), (done, depth)
            checked += 1
    assert checked > 90


@pytest.mark.parametrize("options", OPTIONS)
def test_players_of_simultaneous_games_select_by_the_formula(options: str) -> None:
    game = make_game("tron:rows=4,columns=4")
    config = SearchOptions(exploration=options).config(game)
    search = Search(game, game.new(), config)
    given = SearchOptions(exploration=options).params(game)
    for name in ("final_exploration", "exploration_exponent", "depth_decay"):
        search.params[name] = given[name]
    search.params["planned_simulations"] = SIMULATIONS
    checked = 0
    for done in range(SIMULATIONS):
        search.params["completed_simulations"] = done
        before = search.arms.copy()
        search.run(1, interpreted=True)
        for p in range(game.num_players):
            # Only nodes at depths 0 and 1: those of the last simulation come first in the path.
            for depth in range(2):
                node = int(search.work["path"][0, depth])
                visits = search.arms["visits"][node, p]
                if (depth > 0 and node == ROOT) or (visits == before["visits"][node, p]).all():
                    break  # below the leaf
                arms = before[node, p]
                arms, actions = arms[visits > 0], np.flatnonzero(visits > 0)
                if arms["visits"].min() == 0 or len(arms) < game.num_actions:
                    break
                root = before[ROOT, p]
                root = root[root["visits"] > 0]
                scale = factor(options, done, depth, arms, root)
                best = best_arms("ucb1", arms, int(arms["visits"].sum()), scale)
                chosen = int(search.work["path_actions"][0, depth, p])
                assert chosen in actions[list(best)], (done, depth, p)
                checked += 1
    assert checked > 150


def test_schedule_spans_the_budget_of_each_search() -> None:
    game = make_game("tictactoe")
    agent = MCTSAgent(game, simulations=100, exploration="linear")
    agent.search(game.new(), np.array([3], np.uint64))
    expected = agent_tree(agent).copy()
    assert agent._params["completed_simulations"][0] == 0
    assert agent._params["planned_simulations"][0] == 100

    agent.monitor = lambda report: False  # watched searches run in chunks
    agent.search(game.new(), np.array([3], np.uint64))
    np.testing.assert_array_equal(agent_tree(agent), expected)
    assert agent._params["completed_simulations"][0] > 0

    states, rng = np.stack([game.new(), game.new()]), np.array([[1], [3]], np.uint64)
    agent.act(states.view(game.state), np.zeros(2, np.int64), rng, np.zeros(2, np.int64))
    np.testing.assert_array_equal(agent_tree(agent), expected)


def test_schedule_follows_the_clock_with_a_time_limit() -> None:
    game = make_game("tictactoe")
    agent = make_agent("mcts:seconds=0.2,exploration=linear", game)
    agent.search(game.new())
    done, planned = (agent._params[f"{x}_simulations"][0] for x in ("completed", "planned"))
    assert 0.5 < done / planned <= 1


def test_threads_divide_the_schedule() -> None:
    agent: Any = make_agent(
        "mcts:simulations=301,threads=3,exploration=linear", make_game("tictactoe")
    )
    agent._with_schedule(lambda count: None, 0.0, 3)(100)
    assert agent._params["planned_simulations"][0] == 101


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mcts:exploration=cosine", "exploration must be one of '', 'linear', 'power'"),
        ("mcts:exploration.stdev=arm", "exploration.stdev must be one of '', 'node', 'root'"),
        ("mcts:exploration=linear,exploration.final=2", "exploration.final must be a number"),
        ("mcts:exploration.final=0.5", "exploration.final needs exploration=linear or power"),
        ("mcts:exploration=linear,exploration.exponent=3", "exponent needs exploration=power"),
        ("mcts:exploration=power,exploration.exponent=0", "exploration.exponent must be a number"),
        ("mcts:exploration=linear,policy=etc", "needs a policy with an exploration term, one of"),
    ],
)
def test_invalid_options_are_refused(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(spec, make_game("tictactoe"))
