"""AMAF, MAST, tree reuse and threads in searches of simultaneous games."""

import numpy as np
import pytest
from decoupled_search import SMALL_TRON, Search, geese_position

from ludoteca.agents.evaluations import find_evaluation
from ludoteca.agents.search.config import SearchConfig
from ludoteca.agents.search.decoupled_agent import DecoupledMCTSAgent
from ludoteca.envs.games.tron import tron
from ludoteca.envs.registry import make_game

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize(
    "options", [{}, {"action_selection": "max_robust"}, {"seconds": 0.05}], ids=str
)
@pytest.mark.compiled
def test_threads_share_the_simulations(options):
    game = make_game(SMALL_TRON)
    s = game.new(3)
    agent = DecoupledMCTSAgent(game, simulations=301, threads=3, **options)
    report = agent.search(s, np.array([5], np.uint64), seat=1)
    visits = [tree.nodes["visits"][0] for tree in agent._workspace.trees]
    assert min(visits) >= (1 if "seconds" in options else 100)
    assert report.simulations == sum(visits)
    for p in range(2):
        assert sum(one.visits for one in report.players[p]) == report.simulations
    for one in report.candidates:
        arms = [tree.arms[0, 1, one.action] for tree in agent._workspace.trees]
        assert one.visits == sum(arm["visits"] for arm in arms)
        assert one.mean == pytest.approx(sum(arm["value"] for arm in arms) / one.visits)
    first, second, third = (tree.arms["value"][0] for tree in agent._workspace.trees)
    assert (first != second).any()
    assert (second != third).any()


def test_evaluation_is_the_result_if_the_game_ended_now():
    lines = ["0123..a", ".......", "ABC....", ".......", "......."]
    game, s = geese_position(lines, "WEW", steps=50)
    out = np.zeros(3)
    find_evaluation("", game)(s, out)
    assert out.tolist() == [1, -1, 0]
    game.returns(s, out)
    assert out.tolist() == [0, 0, 0]
    find_evaluation("returns", game)(s, out)
    assert out.tolist() == [0, 0, 0]
    s.length[0], s.score[0] = 0, 40 * 100 + 4  # goose 0 died in step 40, before the others
    find_evaluation("standing", game)(s, out)
    assert out.tolist() == [-1, 0, 1]
    s.steps = s.max_steps
    returns = np.zeros(3)
    game.returns(s, returns)
    assert out.tolist() == returns.tolist()
    with pytest.raises(
        ValueError, match="tron has no evaluation 'standing'; expected one of returns"
    ):
        find_evaluation("standing", tron())


def test_truncated_playouts_are_evaluated():
    lines = ["0123..a", ".......", "ABC....", ".......", "......."]
    game, s = geese_position(lines, "WEW", steps=50)
    means = []
    for evaluation in ("standing", "returns"):
        config = SearchConfig(evaluation=evaluation)
        search = Search(game, s, config, depth=0).run(40, interpreted=True)
        means.append(search.arms["value"][0].sum(1) / 40)
    assert means[0][0] > means[0][2] > means[0][1]  # in the order of their lengths
    assert abs(means[1] - 0.5).max() < abs(means[0] - 0.5).max()


@pytest.mark.parametrize("amaf", ["amaf", "rave", "grave:reference=3"])
def test_amaf_credits_the_actions_of_each_player_at_that_ply_or_later(amaf):
    game = tron(4, 4)
    agent = DecoupledMCTSAgent(game, simulations=40, amaf=amaf)
    with np.errstate(over="ignore"):
        agent.search(game.new(), np.array([3], np.uint64))
    root = agent._workspace.trees[0].arms[0]
    visited = root["visits"] > 0
    assert (root["amaf_visits"][visited] >= root["visits"][visited]).all()
    assert (root["amaf_visits"] <= 40).all()
    assert (root["amaf_value"] <= root["amaf_visits"]).all()
    assert root["amaf_visits"].sum() > root["visits"].sum()


def test_amaf_of_one_simulation_counts_its_actions_once():
    game = tron(4, 4)
    agent = DecoupledMCTSAgent(game, simulations=1, amaf="rave")
    with np.errstate(over="ignore"):
        agent.search(game.new(), np.array([3], np.uint64))
    tree = agent._workspace.trees[0]
    work, root = tree.work[0], tree.arms[0]
    moves = int(work["num_moves"])
    for p in range(2):
        played = {
            int(action)
            for action, player in zip(
                work["move_actions"][:moves], work["move_players"][:moves], strict=True
            )
            if player == p and action >= 0
        }
        assert set(np.flatnonzero(root["amaf_visits"][p])) == played
        assert (root["amaf_value"][p] == root["amaf_visits"][p] * work["scores"][p]).all()


@pytest.mark.parametrize("mast", ["gibbs", "greedy"])
def test_mast_counts_the_moves_of_all_players(mast):
    game = tron(4, 4)
    agent = DecoupledMCTSAgent(game, simulations=30, mast=mast)
    with np.errstate(over="ignore"):
        report = agent.search(game.new(), np.array([3], np.uint64))
    work = agent._workspace.trees[0].work[0]
    assert report.simulations == 30
    assert (work["mast_visits"].sum(1) >= 30).all()
    assert (work["mast_value"] <= work["mast_visits"]).all()
    # Both players move at every ply of this game.
    assert work["mast_visits"][0].sum() == work["mast_visits"][1].sum()


def test_the_subtree_of_the_joint_action_is_reused():
    game = tron(5, 5)
    agent = DecoupledMCTSAgent(game, simulations=200, reuse=True)
    with np.errstate(over="ignore"):
        s, rng, workspace = game.new(), np.array([3], np.uint64), agent.tree_of(0, 0)
        agent.search(s, rng, workspace)
        tree = workspace.trees[0]
        children = 1 + np.flatnonzero(tree.nodes["parent"][1 : workspace.sizes[0]] == 0)
        child = children[tree.nodes["visits"][children].argmax()]
        visits, joint = int(tree.nodes["visits"][child]), int(tree.nodes["joint"][child])
        arms = tree.arms[child].copy()
        game.step(s, np.array(divmod(joint, game.num_actions)))
        agent.simulations = 1
        report = agent.search(s, rng, workspace)
        assert visits > 10
        assert report.simulations == visits + 1
        added_visits = tree.arms[0]["visits"] - arms["visits"]
        assert (added_visits >= 0).all()
        assert added_visits.sum(1).tolist() == [1, 1]
        # The table finds every node of the new tree.
        nodes = tree.nodes[: workspace.sizes[0]]
        assert (tree.table[nodes["slot"][1:]] == np.arange(1, len(nodes))).all()
        # Two plies later the tree is new.
        for _ in range(2):
            legal = [game.legal(s, p)[0] for p in range(2)]
            game.step(s, np.array(legal))
        if not game.is_terminal(s):
            assert agent.search(s, rng, workspace).simulations == 1
