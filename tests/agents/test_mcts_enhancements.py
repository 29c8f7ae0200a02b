"""Enhancements of Monte Carlo tree search: solver, transpositions, AMAF, MAST, reuse, threads."""

from typing import Any

import numpy as np
import pytest
from search_trees import agent_tree, check_tree, play

from ludoteca.agents.search import MCTSAgent
from ludoteca.agents.search.config import SEARCH_PARAMS, SearchConfig, work_dtype
from ludoteca.agents.search.sequential.search import make_search, search_kernel
from ludoteca.agents.search.sequential.selection import NO_NODE, make_selection
from ludoteca.agents.search.sequential.tree import (
    AGE,
    CURRENT,
    MAX_AGE,
    ROOT,
    UNEXPANDED,
    node_dtype,
)
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import make_game

pytestmark = pytest.mark.interpreted

ENHANCEMENTS: list[dict[str, Any]] = [
    {"solver": True},
    {"transpositions": True},
    {"amaf": "amaf"},
    {"amaf": "rave"},
    {"amaf": "grave:reference=5"},
    {"amaf": "rave:fpu=True"},
    {"amaf": "grave:reference=5,fpu=True", "fpu": 0.5},
    {"mast": "gibbs"},
    {"mast": "greedy"},
    {"decisive": "win"},
    {"decisive": "both"},
    {"fpu": 0.6},
    {"solver": True, "transpositions": True, "amaf": "rave", "mast": "gibbs", "decisive": "both"},
]


@pytest.mark.parametrize("options", ENHANCEMENTS, ids=str)
def test_enhancements_compose_with_policies_and_keep_the_tree_in_order(
    options: dict[str, Any],
) -> None:
    game = make_game("tictactoe")
    policy = "exp3" if len(options) > 2 else "ucb1"
    agent = MCTSAgent(game, policy=policy, simulations=150, **options)
    report = agent.search(play(game, "b2", "a1"))
    assert report.simulations == 150 or report.proven
    exact = not (options.get("transpositions") or options.get("solver"))
    check_tree(agent_tree(agent), exact=exact)


# Each search takes seconds to compile: by default, only the one without enhancements.
@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"fpu": 0.6}, marks=pytest.mark.slow),
        pytest.param(ENHANCEMENTS[-1], marks=pytest.mark.slow),
        pytest.param(
            {"amaf": "grave:reference=5", "mast": "greedy", "decisive": "win"},
            marks=pytest.mark.slow,
        ),
        *(pytest.param(options, marks=pytest.mark.slow) for options in ENHANCEMENTS[:-1]),
    ],
    ids=str,
)
@pytest.mark.compiled
def test_interpreted_searches_equal_compiled_ones(options: dict[str, Any]) -> None:
    game = make_game("tictactoe")
    agent = MCTSAgent(game, policy="ucb1", simulations=60, **options)
    agent.search(play(game, "b2", "a1"), np.array([3], np.uint64))
    compiled = agent_tree(agent).copy()

    agent._workspace.reset(play(game, "b2", "a1"), 3)
    tree = agent._workspace.trees[0]
    records = [view_records(array) for array in (tree.nodes, tree.table, tree.states)]
    nodes, table, states = records
    work, params = view_records(tree.work)[0], view_records(agent._params)
    search = search_kernel(game, agent.config)
    with np.errstate(over="ignore"):
        search(nodes, tree.shared, table, states, tree.words, work, params, 60)
    again = agent_tree(agent)
    assert len(again) == len(compiled)
    for name in compiled.dtype.names or ():
        np.testing.assert_allclose(again[name], compiled[name], rtol=1e-12, err_msg=name)


@pytest.mark.compiled
@pytest.mark.slow
def test_solver_proves_tic_tac_toe_a_draw() -> None:
    game = make_game("tictactoe")
    report = MCTSAgent(game, solver=True, simulations=3_000_000).search(game.new())
    assert report.proven == "draw"
    assert report.simulations < 3_000_000


@pytest.mark.parametrize(
    ("board_size", "simulations"),
    [
        (2, 1000),
        pytest.param(3, 100_000, marks=pytest.mark.slow),
        pytest.param(4, 3_000_000, marks=pytest.mark.slow),
    ],
)
def test_solver_proves_that_the_first_player_wins_small_hex(
    board_size: int, simulations: int
) -> None:
    game = make_game("hex", board_size=board_size)
    agent = MCTSAgent(game, solver=True, simulations=simulations, max_nodes=6_000_000)
    report = agent.search(game.new())
    assert report.proven == "win"
    chosen = next(one for one in report.candidates if one.action == report.action)
    assert chosen.proven == "win"


def test_solver_agrees_with_exhaustive_search_on_random_positions() -> None:
    game = make_game("tictactoe")

    solved: dict[bytes, float] = {}

    def value(s: Any) -> float:
        """Return the result for player 0 under perfect play."""
        if game.is_terminal(s):
            out = np.zeros(2, np.float32)
            game.returns(s, out)
            return float(out[0])
        position = s.board.tobytes()
        if position not in solved:
            values = []
            for action in game.legal(s):
                child = s.copy()
                game.step(child, action)
                values.append(value(child))
            solved[position] = max(values) if game.player(s) == 0 else min(values)
        return solved[position]

    rng = np.random.default_rng(0)
    agent = MCTSAgent(game, solver=True, simulations=100_000)
    for _ in range(20):
        s = game.new()
        for _ in range(rng.integers(3, 7)):
            if not game.is_terminal(s):
                game.step(s, rng.choice(game.legal(s)))
        if game.is_terminal(s):
            continue
        sign = 1 if game.player(s) == 0 else -1
        expected = {1.0: "win", 0.0: "draw", -1.0: "loss"}[sign * value(s)]
        assert agent.search(s).proven == expected, s.board


def test_transpositions_share_the_children_of_equal_positions() -> None:
    # a1 b2 c3 and c3 b2 a1 lead to the same position: fewer nodes, same visits.
    game = make_game("tictactoe")
    plain, shared = (
        MCTSAgent(game, simulations=600, transpositions=flag) for flag in (False, True)
    )
    plain.search(game.new())
    shared.search(game.new())
    children = agent_tree(shared)["first_child"]
    expanded = children[children != UNEXPANDED]
    assert len(set(expanded.tolist())) < len(expanded), "some nodes have the same children"
    plain_children = agent_tree(plain)["first_child"]
    plain_expanded = plain_children[plain_children != UNEXPANDED]
    assert len(set(plain_expanded.tolist())) == len(plain_expanded)


def test_amaf_credits_all_actions_the_player_played_later() -> None:
    game = make_game("tictactoe")
    agent = MCTSAgent(game, simulations=1, amaf="rave")
    agent.search(game.new())
    tree = agent._workspace.trees[0]
    nodes, work = tree.nodes, tree.work[0]
    plies = int((tree.states[CURRENT]["board"] >= 0).sum())
    mine = set(work["move_actions"][:plies][work["move_players"][:plies] == 0].tolist())
    assert len(mine) == (plies + 1) // 2
    root = nodes[ROOT]
    for child in nodes[root["first_child"] : root["first_child"] + root["num_children"]]:
        assert child["amaf_visits"] == (int(child["action"]) in mine)
        assert child["amaf_value"] == child["amaf_visits"] * work["scores"][0]


def test_later_searches_do_not_see_the_transpositions_of_earlier_ones() -> None:
    """The ages of the table's entries begin again after the largest one."""
    game = make_game("tictactoe")
    s, options = play(game, "b2", "a1"), {"policy": "ucb1", "transpositions": True}
    fresh = MCTSAgent(game, simulations=80, **options)
    fresh.search(s, np.array([7], np.uint64))
    again = MCTSAgent(game, simulations=80, **options)
    again.search(game.new())
    tree = again._workspace.trees[0]
    tree.shared[AGE] = MAX_AGE - 2
    tree.table[::2]["age"], tree.table[1::2]["age"] = 1, 2  # of searches long ago
    tree.table["first_child"] = 10**6  # which would be an error
    for age in (MAX_AGE - 1, MAX_AGE, 1, 2):
        again.search(s, np.array([7], np.uint64))
        assert tree.shared[AGE] == age
        assert (agent_tree(again) == agent_tree(fresh)).all()
        used = tree.table["age"] == age
        assert 0 < used.sum() < 80


@pytest.mark.parametrize("simulations", [5, 30, 61, 100, 140])
def test_grave_uses_the_nearest_ancestor_with_the_same_player_to_move(simulations: int) -> None:
    """The path of the last simulation has the visits that its selections have seen."""
    game = make_game("tictactoe")
    agent = MCTSAgent(game, policy="ucb1", simulations=simulations, amaf="grave:reference=12")
    agent.search(play(game, "b2", "a1"))
    nodes, work = agent_tree(agent), agent._workspace.trees[0].work[0]
    expected, mover = [NO_NODE, NO_NODE], 0
    for node in work["path"]:
        if nodes[node]["first_child"] == UNEXPANDED:
            break
        mover = nodes[nodes[node]["first_child"]]["mover"]
        if nodes[node]["visits"] > 12:
            expected[mover] = node
    assert work["reference_nodes"].tolist() == expected
    assert work["reference_node"] == expected[mover]
    assert (expected[0] == NO_NODE) == (simulations < 13)
    assert (expected[1] == NO_NODE) == (simulations < 100)


def test_amaf_means_are_first_play_urgencies() -> None:
    """Of three children the first is visited, with mean 0.5; the second has the AMAF mean 0.6."""
    game = make_game("tictactoe")
    config = SearchConfig(policy="ucb1", amaf="rave", amaf_fpu=True)
    choose, clear_references, _ = make_selection(game, config)

    def chosen(amaf_visits: tuple[int, int], fpu: float, constant: float = 0.0) -> tuple[int, Any]:
        """Return the child that is chosen, and its action."""
        nodes = np.zeros(4, node_dtype("ucb1"))
        nodes[ROOT]["first_child"], nodes[ROOT]["num_children"] = 1, 3
        nodes[1]["num_visited"], nodes[1]["block_visits"] = 1, 10
        nodes["action"][1:] = 3, 5, 8
        nodes["visits"][1], nodes["value"][1] = 10, 5.0
        nodes["amaf_visits"][2:] = amaf_visits
        nodes["amaf_value"][2:] = 0.6 * np.array(amaf_visits)
        params = np.zeros(1, SEARCH_PARAMS)
        params["fpu"], params["policy_params"][0, 0] = fpu, constant
        work = view_records(np.zeros(1, work_dtype(game, config)))[0]
        clear_references(work)
        child = choose(view_records(nodes), ROOT, work, view_records(params)[0])
        return child, nodes["action"][child]

    assert chosen((4, 4), np.inf, constant=2.0) == (1, 3)  # the bonus of the visited child decides
    assert chosen((4, 0), 0.4) == (2, 5)  # 0.6 is above 0.5 and 0.4
    assert chosen((4, 0), np.inf) == (2, 8)  # without AMAF statistics: visited first
    assert chosen((0, 0), 0.4) == (1, 3)  # all urgencies are below 0.5
    assert chosen((0, 0), 0.55)[0] == 2


def test_mast_prefers_actions_with_high_mean_scores() -> None:
    # After many simulations the playouts of MAST agents try the center more often than a corner.
    game = make_game("tictactoe")
    for mast in ("gibbs", "greedy"):
        agent = MCTSAgent(game, simulations=500, mast=mast)
        agent.search(game.new())
        work = agent._workspace.trees[0].work[0]
        assert work["mast_visits"].sum() > 500 * 5
        means = work["mast_value"] / np.maximum(work["mast_visits"], 1)
        assert means[0, 4] == means[0].max(), "the center is the best move anywhere"


def test_decisive_moves_win_at_once_and_anti_decisive_ones_prevent_it() -> None:
    # X X .    X to move wins with c1; with one simulation, only the rule can find that.
    # O O .
    game = make_game("tictactoe")
    s = play(game, "a1", "a2", "b1", "b2")
    for decisive in ("win", "both"):
        agent = MCTSAgent(game, simulations=1, decisive=decisive)
        assert agent.search(s).name == "c1"
        assert len(agent.search(s).candidates) == 1
    # X X .    O to move: all moves but c1 lose at once.
    # . O .
    s = play(game, "a1", "b2", "b1")
    report = MCTSAgent(game, simulations=50, decisive="both").search(s)
    assert [one.name for one in report.candidates] == ["c1"]
    assert len(MCTSAgent(game, simulations=50, decisive="win").search(s).candidates) == 6


def test_reuse_continues_with_the_subtree_of_the_moves_played() -> None:
    game = make_game("tictactoe")
    agent = MCTSAgent(game, simulations=200, reuse=True)
    env_indices, seats = np.array([0]), np.array([0])
    s = game.empty(1)
    s[0] = game.new()
    agent.act(s, seats, np.array([[1]], np.uint64), env_indices)
    nodes = agent._reused_trees[0, 0].trees[0].nodes
    root = nodes[ROOT]
    children = nodes[root["first_child"] : root["first_child"] + root["num_children"]]
    mine = children[children["visits"].argmax()]
    replies = nodes[mine["first_child"] : mine["first_child"] + mine["num_children"]]
    reply = replies[replies["visits"].argmax()].copy()

    record = view_records(s)[0]
    game.step(record, int(mine["action"]))
    game.step(record, int(reply["action"]))
    agent.act(s, seats, np.array([[2]], np.uint64), env_indices)
    tree = agent._reused_trees[0, 0].trees[0]
    assert tree.nodes[ROOT]["visits"] == reply["visits"] + 200
    reused = tree.nodes[: tree.size].copy()
    reused[ROOT]["visits"] -= 1  # the first visit of the reused root, as a leaf
    check_tree(reused)

    agent.reset(env_indices)
    assert not agent._reused_trees, "a new game begins with a new tree"


@pytest.mark.slow
@pytest.mark.parametrize("parallel", ["tree", "root"])
@pytest.mark.compiled
def test_threads_share_the_simulations(parallel: str) -> None:
    game = make_game("tictactoe")
    agent = MCTSAgent(game, simulations=9001, threads=3, parallel=parallel)
    report = agent.search(game.new())
    assert report.simulations == sum(one.visits for one in report.candidates) == 9001
    assert report.name == "b2"
    if parallel == "tree":
        check_tree(agent_tree(agent))


def test_a_visit_counts_as_a_loss_until_its_score_is_known() -> None:
    # Virtual loss: visits without scores lower the mean of an action.
    game = make_game("tictactoe")
    agent = MCTSAgent(game, simulations=90, threads=2, parallel="tree")
    agent.search(game.new())
    nodes = agent_tree(agent)
    root = nodes[ROOT]
    children = nodes[root["first_child"] : root["first_child"] + root["num_children"]]
    best = children["visits"].argmax()
    before = children["value"][best] / children["visits"][best]
    children["visits"][best] += 10  # as of ten threads whose simulations have not ended
    assert children["value"][best] / children["visits"][best] < before
    agent._workspace.run(_compiled_search(agent), agent._params, 1)
    assert children["visits"].argmax() == best
    assert children["visits"].sum() == 90 + 10 + 1


def _compiled_search(agent: MCTSAgent) -> Any:
    """Return the compiled search of an agent."""
    return make_search(agent.game, agent.config)
