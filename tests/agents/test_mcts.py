"""Tests of Monte Carlo tree search in sequential games."""

import json
import math
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from boards import REPRESENTATIVES

from ludoteca.agents.registry import make_agent
from ludoteca.agents.search import MCTSAgent
from ludoteca.agents.search.clock import search_for
from ludoteca.agents.search.config import SEARCH_PARAMS, SearchConfig
from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.search.select import ACTION_SELECTIONS, LOSS, WIN
from ludoteca.agents.search.sequential.act import make_act, make_best_child
from ludoteca.agents.search.sequential.search import make_search, search_kernel
from ludoteca.agents.search.sequential.tree import CURRENT, ROOT, SIZE, UNEXPANDED
from ludoteca.agents.search.sequential.workspace import Workspace
from ludoteca.envs.game import Game
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

# A search is compiled anew for every game: representative games by default.
SEQUENTIAL = [
    pytest.param(id_, marks=() if id_ in REPRESENTATIVES else pytest.mark.slow)
    for id_ in GAMES
    if not make_game(id_).simultaneous
]
ENHANCEMENTS: list[dict[str, Any]] = [
    {"solver": True},
    {"transpositions": True},
    {"amaf": "amaf"},
    {"amaf": "rave"},
    {"amaf": "grave:reference=5"},
    {"mast": "gibbs"},
    {"mast": "greedy"},
    {"decisive": "win"},
    {"decisive": "both"},
    {"fpu": 0.6},
    {"solver": True, "transpositions": True, "amaf": "rave", "mast": "gibbs", "decisive": "both"},
]


def play(game: Game, *names: str) -> Any:
    """Return the position after moves called by their names."""
    s = game.new()
    for name in names:
        game.step(s, game.action_names.index(name))
    return s


def agent_tree(agent: MCTSAgent) -> np.ndarray:
    tree = agent._threads.trees[0]
    return tree.nodes[: tree.size]


def check_tree(nodes: np.ndarray, exact: bool = True) -> None:
    """Check what is true of every tree; if `exact`, visits are one's own first and the children's.

    They are not where nodes share children, or where proven nodes are no longer searched.
    """
    for i, node in enumerate(nodes):
        assert 0 <= node["value"] <= node["visits"] + 1e-9
        if node["first_child"] == UNEXPANDED:
            continue
        children = nodes[node["first_child"] : node["first_child"] + node["num_children"]]
        visits = children["visits"]
        num_visited = children[0]["num_visited"]
        assert (visits[:num_visited] > 0).all(), "the visited children come first"
        assert (visits[num_visited:] == 0).all()
        assert visits.sum() == children[0]["block_visits"]
        assert len(set(children["action"].tolist())) == len(children)
        if exact:
            assert node["visits"] == visits.sum() + (i != ROOT)


@pytest.mark.parametrize("id_", SEQUENTIAL)
def test_every_game_is_searched_and_visits_add_up(id_: str) -> None:
    game = make_game(id_)
    agent = MCTSAgent(game, simulations=300)
    report = agent.search(game.new(), np.array([5], np.uint64))
    assert report.simulations == sum(one.visits for one in report.candidates) == 300
    assert report.action in game.legal(game.new())
    check_tree(agent_tree(agent))


# One of each kind; the others, compiled anew like these, wait for `make test-slow`.
SOME_POLICIES = ("ucb1", "epsilon_greedy", "exp3", "omc", "thompson", "puct")


@pytest.mark.parametrize(
    "policy",
    [pytest.param(p, marks=() if p in SOME_POLICIES else pytest.mark.slow) for p in POLICIES],
)
def test_every_policy_takes_the_winning_move(policy: str) -> None:
    # X X .   X to move wins at c1: every policy sees that it scores 1.
    # O O .
    game = make_game("tictactoe")
    s = play(game, "a1", "a2", "b1", "b2")
    for action_selection in ACTION_SELECTIONS:
        report = MCTSAgent(
            game, policy=policy, action_selection=action_selection, simulations=400
        ).search(s)
        assert report.simulations >= 400
        assert {one.name: one.mean for one in report.candidates}["c1"] == 1
        # Uniform visits and those of OMC, which looks away from a sure best, say little.
        if action_selection == "mean" or (
            policy not in ("uniform", "omc", "omc_stochastic") and action_selection != "policy"
        ):
            assert report.name == "c1", action_selection


@pytest.mark.parametrize("options", ENHANCEMENTS, ids=str)
def test_enhancements_compose_with_policies_and_keep_the_tree_in_order(
    options: dict[str, Any],
) -> None:
    game = make_game("tictactoe")
    policy = "exp3" if len(options) > 2 else "ucb1"
    agent = MCTSAgent(game, policy=policy, simulations=500, **options)
    report = agent.search(play(game, "b2", "a1"))
    assert report.simulations == 500 or report.proven
    exact = not (options.get("transpositions") or options.get("solver"))
    check_tree(agent_tree(agent), exact=exact)


# Each takes seconds to compile: none of the enhancements by default; others are slow.
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

    agent._threads.reset(play(game, "b2", "a1"), 3)
    tree = agent._threads.trees[0]
    records = [view_records(array) for array in (tree.nodes, tree.table, tree.states)]
    nodes, table, states = records
    work, params = view_records(tree.work)[0], view_records(agent._params)[0]
    search = search_kernel(game, agent.config)
    with np.errstate(over="ignore"):
        search(nodes, tree.shared, table, states, tree.words, work, params, 60)
    again = agent_tree(agent)
    assert len(again) == len(compiled)
    for name in compiled.dtype.names or ():
        np.testing.assert_allclose(again[name], compiled[name], rtol=1e-12, err_msg=name)


def test_searches_are_determined_by_the_random_stream_and_advance_it() -> None:
    game = make_game("connect4")
    states = np.array([game.new(), game.new(), game.new()], game.state)
    rngs = np.array([[7], [7], [8]], np.uint64)
    env_indices = seats = np.zeros(3, np.int64)
    agent = MCTSAgent(game, simulations=50)
    batch = agent.act(states, seats, rngs, env_indices)
    assert batch[0] == batch[1]
    assert rngs[0] == rngs[1] != 7
    rng = np.array([8], np.uint64)
    assert agent.search(states[2], rng).action == batch[2]
    assert rng[0] == rngs[2, 0]


@pytest.mark.compiled
@pytest.mark.slow
def test_connect_four_is_opened_in_the_center() -> None:
    game = make_game("connect4")
    assert MCTSAgent(game, simulations=20_000).search(game.new()).name == "4"


@pytest.mark.compiled
@pytest.mark.slow
def test_solver_proves_tic_tac_toe_a_draw() -> None:
    game = make_game("tictactoe")
    report = MCTSAgent(game, solver=True, simulations=3_000_000).search(game.new())
    assert report.proven == "draw"
    assert report.simulations < 3_000_000


@pytest.mark.parametrize(
    ("board_size", "budget"),
    [(2, 1000), (3, 100_000), pytest.param(4, 3_000_000, marks=pytest.mark.slow)],
)
def test_solver_proves_small_hex_boards_a_first_player_win(board_size: int, budget: int) -> None:
    game = make_game("hex", board_size=board_size)
    agent = MCTSAgent(game, solver=True, simulations=budget, max_nodes=6_000_000)
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
        for _ in range(rng.integers(2, 6)):
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
        MCTSAgent(game, simulations=1000, transpositions=flag) for flag in (False, True)
    )
    plain.search(game.new())
    shared.search(game.new())
    firsts = agent_tree(shared)["first_child"]
    blocks = firsts[firsts != UNEXPANDED]
    assert len(set(blocks.tolist())) < len(blocks), "some nodes have the same children"
    plain_firsts = agent_tree(plain)["first_child"]
    plain_blocks = plain_firsts[plain_firsts != UNEXPANDED]
    assert len(set(plain_blocks.tolist())) == len(plain_blocks)


def test_amaf_credits_all_actions_the_player_played_later() -> None:
    game = make_game("tictactoe")
    agent = MCTSAgent(game, simulations=1, amaf="rave")
    agent.search(game.new())
    tree = agent._threads.trees[0]
    nodes, work = tree.nodes, tree.work[0]
    plies = int((tree.states[CURRENT]["board"] >= 0).sum())
    mine = set(work["move_actions"][:plies][work["move_players"][:plies] == 0].tolist())
    assert len(mine) == (plies + 1) // 2
    root = nodes[ROOT]
    for child in nodes[root["first_child"] : root["first_child"] + root["num_children"]]:
        assert child["amaf_visits"] == (int(child["action"]) in mine)
        assert child["amaf_value"] == child["amaf_visits"] * work["scores"][0]


def test_mast_prefers_actions_with_high_mean_scores() -> None:
    # After many simulations the playouts of MAST agents try the center more often than a corner.
    game = make_game("tictactoe")
    for mast in ("gibbs", "greedy"):
        agent = MCTSAgent(game, simulations=1000, mast=mast)
        agent.search(game.new())
        work = agent._threads.trees[0].work[0]
        assert work["mast_visits"].sum() > 1000 * 5
        means = work["mast_value"] / np.maximum(work["mast_visits"], 1)
        assert means[0, 4] == means[0].max(), "the center is the best move anywhere"


def test_decisive_moves_win_at_once_and_anti_decisive_ones_prevent_it() -> None:
    # X X .    With one simulation only the rule can find c1;
    # O O .    and O to move after X's b2 elsewhere must not leave a1-b1-c1 open.
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
    agent = MCTSAgent(game, simulations=500, reuse=True)
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
    assert tree.nodes[ROOT]["visits"] == reply["visits"] + 500
    check_kept = tree.nodes[: tree.size].copy()
    check_kept[ROOT]["visits"] -= 1  # its first visit was as a leaf
    check_tree(check_kept)

    agent.reset(env_indices)
    assert not agent._reused_trees, "a new game begins with a new tree"


def test_a_tree_that_is_full_is_still_searched() -> None:
    game = make_game("tictactoe")
    agent = MCTSAgent(game, simulations=1000, max_nodes=100)
    report = agent.search(game.new())
    assert report.simulations == 1000
    assert report.nodes <= 100


@pytest.mark.parametrize(("max_depth", "nodes"), [(1, 1 + 7), (2, 1 + 7 + 49), (0, 400)])
def test_max_depth_limits_the_tree(max_depth: int, nodes: int) -> None:
    game = make_game("connect4")
    agent = MCTSAgent(game, simulations=500, max_depth=max_depth)
    report = agent.search(game.new())
    assert report.simulations == 500
    assert report.nodes == nodes if max_depth else report.nodes > nodes


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
    # Virtual loss: with a score that never comes in, the next simulation goes elsewhere.
    game = make_game("tictactoe")
    agent = MCTSAgent(game, simulations=90, threads=2, parallel="tree")
    agent.search(game.new())
    nodes = agent_tree(agent)
    root = nodes[ROOT]
    children = nodes[root["first_child"] : root["first_child"] + root["num_children"]]
    best = children["visits"].argmax()
    before = children["value"][best] / children["visits"][best]
    children["visits"][best] += 10  # ten threads on their way
    assert children["value"][best] / children["visits"][best] < before
    agent._threads.run(_compiled_search(agent), agent._params, 1)
    assert children["visits"].argmax() == best
    assert children["visits"].sum() == 90 + 10 + 1


def _compiled_search(agent: MCTSAgent) -> Any:
    from ludoteca.agents.search.sequential.search import make_search

    return make_search(agent.game, agent.config)


@pytest.mark.compiled
def test_search_stops_at_its_time_limit() -> None:
    game = make_game("tictactoe")
    agent = MCTSAgent(game, seconds=0.05)
    agent.search(game.new())  # compiles
    report = agent.search(game.new())
    assert report.seconds < 0.5
    assert report.simulations > 64


@pytest.mark.parametrize("cost", [1e-6, 1e-4, 3e-3, 0.02])
def test_time_limit_holds_for_slow_simulations(
    cost: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, counts = 0.0, []

    def run(count: int) -> bool:
        nonlocal now
        now += count * cost
        counts.append(count)
        return sum(counts) >= 200_000

    monkeypatch.setattr("ludoteca.agents.search.clock.clock", lambda: now)
    search_for(0.1, 0.0, run)
    assert now >= 0.1
    assert now <= max(0.1 + max(0.1 / 20, cost), 8 * cost)  # the first look is after eight
    assert max(counts) <= 64

    counts.clear()
    search_for(1e9, 0.0, run)
    assert 200_000 <= sum(counts) < 200_064  # the end of a search ends it, too


def test_draws_may_count_as_losses() -> None:
    # X O X    O to move: every line is a draw with c3 and a3 filled, so all scores are 0 or 1/2.
    # X O O
    # . X .
    game = make_game("tictactoe")
    s = play(game, "a1", "b1", "c1", "b2", "a2", "c2", "b3")
    half = MCTSAgent(game, simulations=50).search(s)
    loss = MCTSAgent(game, simulations=50, draw="loss").search(s)
    assert {one.name: one.mean for one in half.candidates}["a3"] == 0.5
    assert {one.name: one.mean for one in loss.candidates}["a3"] == 0


def test_playouts_may_follow_a_policy() -> None:
    game = make_game("othello")
    agent = MCTSAgent(game, simulations=1, playout="greedy", amaf="amaf")  # AMAF writes moves down
    agent.search(game.new(), np.array([5], np.uint64))
    work = view_records(agent._threads.trees[0].work)[0]
    s, legal = game.new(), np.zeros(game.num_actions, np.int16)
    choices = 0
    with np.errstate(over="ignore"):
        game.step(s, int(work.move_actions[0]))  # chosen in the tree
        ply = 1
        while not game.is_terminal(s):
            options = legal[: game.legal_actions(s, legal)].tolist()
            gains = {}
            for action in options:
                after = view_records(game.empty(1))
                after[0] = s
                game.step(after[0], action)
                gains[action] = -int(after[0].discs[1 - s.to_move]).bit_count()
            played = int(work.move_actions[ply])
            assert gains[played] == max(gains.values())
            choices += len(set(gains.values())) > 1
            game.step(s, played)
            ply += 1
    assert choices > 10


def test_truncated_playouts_are_evaluated() -> None:
    game = make_game("othello")
    by_default = MCTSAgent(game, simulations=4, playout=":depth=0").search(game.new())
    # Each of the four first moves leaves 4 discs to 1.
    assert [one.mean for one in by_default.candidates] == pytest.approx([0.5 + 0.5 * 3 / 5] * 4)
    returns = MCTSAgent(game, simulations=4, playout=":depth=0,evaluation=returns").search(
        game.new()
    )
    assert [one.mean for one in returns.candidates] == [0.5] * 4


@pytest.mark.parametrize(
    "options",
    [
        {},
        *(
            pytest.param(options, marks=pytest.mark.slow)
            for options in ({"reuse": True}, {"seconds": 60.0}, {"threads": 2})
        ),
    ],
    ids=str,
)
@pytest.mark.compiled
def test_prepared_agents_do_not_compile_in_search(options: dict[str, Any]) -> None:
    game = make_game("tictactoe")
    agent = MCTSAgent(game, simulations=5, **options)
    agent.prepare()
    functions = [
        make_act(game, agent.config),
        make_search(game, agent.config),
        make_best_child(agent.config),
    ]
    before = [len(function.signatures) for function in functions]
    assert sum(before) >= 1
    agent.simulations, agent.seconds = 5, None
    states = game.empty(1)
    states[0] = game.new()
    agent.act(states, np.array([0]), np.array([[1]], np.uint64), np.array([0]))
    assert [len(function.signatures) for function in functions] == before


def test_reports_can_be_read_and_written() -> None:
    game = make_game("connect4")
    report = MCTSAgent(game, simulations=500).search(game.new())
    text = str(report)
    assert "500 simulations" in text
    assert f"principal variation: {report.name} " in text
    data = json.loads(report.to_json())
    assert data["simulations"] == 500
    assert {one["name"] for one in data["candidates"]} == set("1234567")


@pytest.mark.compiled
@pytest.mark.slow
def test_more_simulations_win_more() -> None:
    game = make_game("connect4")
    result = play_match(game, ["mcts:simulations=400", "mcts:simulations=20"], games=60, seed=1)
    assert result.totals[0].wins >= 48


@pytest.mark.parametrize(
    "id_",
    [
        pytest.param(id_, marks=pytest.mark.compiled if id_ == "TicTacToe-v0" else pytest.mark.slow)
        for id_ in GAMES
        if not make_game(id_).simultaneous
    ],
)
def test_search_beats_random_play(id_: str) -> None:
    result = play_match(id_, ["mcts:simulations=100", "random"], games=20, seed=2)
    assert result.totals[0].points >= 15


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy": "ucb2"}, "policy must be one of 'ucb1'"),
        ({"simulations": 0}, "simulations must be an integer from 1"),
        ({"simulations": 1.5}, "simulations must be an integer from 1"),
        ({"seconds": -1}, "seconds must be a number from 0.0001"),
        (
            {"action_selection": "best"},
            "action_selection must be one of 'max', 'robust', 'max_robust'",
        ),
        ({"policy": "moss:alpha=1.0"}, "policy 'moss' has no parameter 'alpha'; it has no"),
        ({"policy": "ucb1:gamma=1.0"}, "no parameter 'gamma'; its parameters are alpha"),
        ({"amaf": "raves"}, "amaf must be one of '', 'amaf', 'rave', 'grave'"),
        ({"threads": 0}, "threads must be an integer from 1"),
        ({"playout": "wild"}, "playout must be one of 'uniform', 'valid', 'safe', 'greedy'"),
        ({"playout": "greedy"}, "connect4 has no playout 'greedy'; games with it are othello"),
        (
            {"playout": "safe", "mast": "gibbs"},
            "mast='gibbs' needs uniform playouts, got playout='safe'",
        ),
        ({"playout": ":evaluation=discs"}, "connect4 has no evaluation 'discs'; it has returns"),
        ({"threads": 2, "parallel": "root", "reuse": True}, "reuse=True needs"),
    ],
)
def test_invalid_parameters_raise(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MCTSAgent(make_game("connect4"), **options)


def test_search_options_are_agent_parameters() -> None:
    names = {field.name for field in fields(SearchConfig)}
    assert names == {
        "policy", "draw_is_loss", "solver", "amaf", "mast", "decisive", "transpositions",
        "shared_tree", "playout", "evaluation",
    }  # fmt: skip
    assert WIN > LOSS
    assert SIZE == 1
    assert math.isinf(MCTSAgent(make_game("connect4"))._params["fpu"][0])
    assert Workspace.make(make_game("connect4"), SearchConfig(), 10).size == 0
    assert SEARCH_PARAMS.isalignedstruct


def test_options_may_have_parameters_of_their_own() -> None:
    game = make_game("connect4")
    spec = "mcts:policy=ucb_v,policy.zeta=2,amaf=grave,amaf.reference=7,playout.depth=3"
    by_spec = make_agent(spec, game)
    by_name = MCTSAgent(game, policy="ucb_v:zeta=2", amaf="grave:reference=7", playout=":depth=3")
    for agent in (by_spec, by_name):
        assert isinstance(agent, MCTSAgent)
        assert (agent.config.policy, agent.config.amaf) == ("ucb_v", "grave")
        assert agent._params["policy_params"][0].tolist() == [2, 1, 0, 0]
        assert agent._params["grave_reference"][0] == 7
        assert agent._params["playout_depth"][0] == 3
    assert by_spec.config == by_name.config


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mcts:policy=moss,policy.c=1", "policy 'moss' has no parameter 'c'; it has no parameters"),
        ("mcts:policy.alhpa=1", r"policy has no parameter 'alhpa' \(did you mean 'alpha'\?\)"),
        ("mcts:policy.alpha=1,policy.alpha=2", "'policy.alpha' comes twice"),
        ("mcts:policy.alpha=x", "policy.alpha must be a number"),
        ("mcts:.alpha=1", "expected key=value"),
        ("mcts:amaf=rave,amaf.bias=1", "no parameter 'bias'; its parameters are weight, reference"),
        ("mcts:playout.depth=-1", "must be an integer from 0"),
    ],
)
def test_wrong_parameters_of_options_are_refused(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(spec, make_game("connect4"))
