"""Tests of decoupled tree search in simultaneous games: Hungry Geese and Tron."""

import json
from dataclasses import replace

import numpy as np
import pytest
from boards import small_spec

from ludoteca.agents import make_agent
from ludoteca.agents.evaluations import find_evaluation
from ludoteca.agents.games.registry import games_with
from ludoteca.agents.registry import agent_params
from ludoteca.agents.search.agent import MCTSAgent
from ludoteca.agents.search.config import SEARCH_PARAMS, SearchConfig, work_dtype
from ludoteca.agents.search.decoupled_agent import DecoupledMCTSAgent
from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.search.select import ACTION_SELECTIONS
from ludoteca.agents.search.simultaneous.act import best_action_kernel, is_max_robust_kernel
from ludoteca.agents.search.simultaneous.search import STATES, make_search, search_kernel
from ludoteca.agents.search.simultaneous.tree import (
    FULL,
    NODE,
    check_joint_actions,
    make_table,
    table_size,
)
from ludoteca.agents.search.statistics import arm_dtype
from ludoteca.envs.games.goose_positions import FOOD
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.envs.games.tron import tron
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

NORTH, EAST, SOUTH, WEST = range(4)
SMALL_TRON = small_spec("Tron-v0")
GOOSE = "mcts:simulations=300"
GEESE = ("0123456789", "abcdefghij", "ABCDEFGHIJ", "klmnopqrst")


def geese_position(lines, last, steps=1, **params):
    """Draw geese, `0123` from head to tail, `abcd`, `ABCD`, `klmn`, and food; see also `last`.

    `last` are the geese's last actions, as letters.
    """
    cells = "".join(lines)
    bodies = [[cells.index(x) for x in letters if x in cells] for letters in GEESE[: len(last)]]
    food = [i for i, letter in enumerate(cells) if letter == "*"]
    game = hungry_geese(
        len(bodies), len(lines), len(lines[0]), min_food=max(1, len(food)), **params
    )
    s = game.new()
    s.occupied[:], s.num_food, s.steps = 0, len(food), steps
    s.food[:] = -1
    s.food[: len(food)] = food
    s.occupied.ravel()[food] = FOOD
    for p, body in enumerate(bodies):
        s.body[p, : len(body)], s.length[p] = body, len(body)
        s.occupied.ravel()[body] = 1
        s.last_action[p] = "NESW".find(last[p])
        if body:
            s.score[p] = (steps + 1) * (int(s.max_length) + 1) + len(body)
    assert game.validate(s) == ""
    return game, s


def tron_position(lines):
    """Draw riders `R` and `B`, and their walls `r` and `b`."""
    board = np.array([list(line) for line in lines])
    game = tron(*board.shape)
    s = game.new()
    s.walls[:] = 0
    for p, letters in enumerate(("Rr", "Bb")):
        s.walls[np.isin(board, list(letters))] = p + 1
        s.head[p] = np.argwhere(board == letters[0])[0]
    assert game.validate(s) == ""
    return game, s


class Search:
    """A search with its memory in the open, compiled or interpreted."""

    def __init__(self, game, s, config=None, nodes=1000, depth=None, fpu=np.inf, seed=1):
        self.game, self.config = game, config or SearchConfig()
        self.nodes = np.zeros(nodes, NODE)
        self.arms = np.zeros(
            (nodes, game.num_players, game.num_actions), arm_dtype(self.config.policy)
        )
        self.table = np.zeros(table_size(nodes), np.int32)
        self.states, self.work = game.empty(STATES), np.zeros(1, work_dtype(game))
        self.params = np.zeros(1, SEARCH_PARAMS)
        self.params["policy_params"] = POLICIES[self.config.policy].parameters({})
        self.params["fpu"] = fpu
        self.params["playout_depth"] = game.max_plies if depth is None else depth
        self.states[0] = s
        self.work["rng"] = seed
        self.size = 0

    def run(self, simulations, *, interpreted=False):
        arrays = (self.states, self.work, self.params)
        if interpreted:
            nodes, arms, states, work, params = (
                view_records(array) for array in (self.nodes, self.arms, *arrays)
            )
            with np.errstate(over="ignore"):
                self.size = search_kernel(self.game, self.config)(
                    nodes, arms, self.table, self.size, states, work[0], params[0], simulations
                )
        else:
            self.size = make_search(self.game, self.config)(
                self.nodes, self.arms, self.table, self.size, *arrays, simulations
            )
        return self

    def check(self, simulations):
        """Check what holds in every tree of a game in which nothing is drawn."""
        nodes, visits = self.nodes[: self.size], self.arms["visits"][: self.size]
        values, squares = self.arms["value"][: self.size], self.arms["square"][: self.size]
        assert nodes["visits"][0] == simulations
        assert (nodes["visits"] > 0).all()
        assert (nodes["parent"][1:] < np.arange(1, self.size)).all()
        pairs = set(zip(nodes["parent"].tolist(), nodes["joint"].tolist(), strict=True))
        assert len(pairs) == self.size
        assert (self.table[nodes["slot"][1:]] == np.arange(1, self.size)).all()
        below = np.bincount(nodes["parent"][1:], nodes["visits"][1:], self.size)
        per_player = visits.sum(2)
        assert (per_player == per_player[:, :1]).all()  # all players are active, or none is
        assert (below <= per_player[:, 0]).all()
        has_children = per_player[:, 0] > 0
        played_out = np.where(np.arange(self.size) == 0, 0, 1)
        assert (per_player[has_children, 0] == (nodes["visits"] - played_out)[has_children]).all()
        assert np.isfinite(values).all()
        assert ((values >= 0) & (values <= visits)).all()
        assert ((squares >= 0) & (squares <= values + 1e-9)).all()
        np.testing.assert_allclose(values.sum((1, 2)), per_player[:, 0])  # zero-sum: 1 a visit


# Goose 0 came north; the rival's body closes north and west, and south is its own neck. Goose 1
# came south; it must not turn back, nor meet the body of goose 0.
TRAP = (
    [
        ".bcd.",
        ".a0..",
        "..1..",
        "..2..",
        ".....",
    ],
    "NS",
)
# North of goose 0 is a body, and so is east.
CROWD = (
    [
        "....klmno..",
        ".......0p..",
        ".......1qr.",
        ".......2...",
        "..AB.......",
        "..a........",
        "..bcd......",
    ],
    "NNWW",
)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_finds_the_only_surviving_move(policy):
    game, s = geese_position(*TRAP)
    simulations = 300 if policy == "exp3" else 60  # which learns slowly
    search = Search(game, s, SearchConfig(policy), depth=2).run(simulations, interpreted=True)
    visits, values = search.arms["visits"][0, 0], search.arms["value"][0, 0]
    assert visits.sum() == search.arms["visits"][0, 1].sum() == simulations
    assert (visits > 0).all()
    assert np.argmax(values / visits) == EAST
    assert np.isfinite(search.arms["value"]).all()
    assert policy != "exp3" or np.isfinite(search.arms["reward_estimate"]).all()
    assert policy == "uniform" or np.argmax(visits) == EAST
    visits, values = search.arms["visits"][0, 1], search.arms["value"][0, 1]
    assert np.argmax(values / visits) in (SOUTH, WEST)


@pytest.mark.compiled
@pytest.mark.slow
def test_search_of_four_geese():
    game, s = geese_position(*CROWD)
    assert game is make_game("hungry_geese:min_food=1")
    agent = make_agent(GOOSE, game)
    report = agent.search(s, seat=0)
    assert report.name == "west"
    assert [sum(one.visits for one in moves) for moves in report.players] == [300] * 4
    assert report.candidates == report.players[0]
    states = game.empty(6)
    states[:] = np.array(s, game.state)
    rngs = np.arange(6, dtype=np.uint64).reshape(6, 1)
    actions = agent.act(states, np.array([0, 0, 0, 1, 1, 1]), rngs, np.zeros(6, np.int64))
    assert (actions[:3] == WEST).all()
    assert set(actions[3:]) <= {EAST, WEST}  # goose 1 has its neck in the south, 2 in the north
    s.length[1] = 0  # dead, and taken off the board
    s.occupied[5:, 2:5] = 0
    report = agent.search(s)
    assert report.players[1] == ()
    assert [sum(one.visits for one in moves) for moves in report.players] == [300, 0, 300, 300]
    assert report.principal_variation[0].split("/")[1] == "-"


@pytest.mark.parametrize("players", [1, 8])
def test_searches_of_the_fewest_and_most_geese(players):
    game = hungry_geese(players)
    search = Search(game, game.new(2), depth=3).run(20, interpreted=True)
    assert (search.arms["visits"][0].sum(1) == 20).all()
    assert search.nodes["joint"][: search.size].max() < 4**players
    value = search.arms["value"][0].sum()
    # A lone goose has neither won nor lost; many share half of all points between them.
    assert value == pytest.approx(20 * players / 2)


@pytest.mark.parametrize(
    ("lines", "action"),
    [
        # Blue crashes next; red wins by the move that does not.
        (["....rR..", "....rrrr", "bbbbbbbB"], EAST),
        (["...r.Rr.", "..rrrrrr", "bbbbbbbB"], WEST),
        # Red has room for two steps in the west, blue for four in his corridor, red for five in
        # the east: he must ride there, and wins.
        (["..R.....", "rrrrrrrr", "bbbB...."], EAST),
        ([".....R..", "rrrrrrrr", "....Bbbb"], WEST),
    ],
)
def test_tron_endings_are_won(lines, action):
    game, s = tron_position(lines)
    agent = make_agent("mcts:simulations=1500", game)
    report = agent.search(s, seat=0)
    assert report.action == action
    assert report.candidates[0].mean > 0.8


def test_visits_add_up():
    for game, interpreted in ((tron(), False), (tron(4, 4), True)):
        simulations = 150 if interpreted else 600
        search = Search(game, game.new(), nodes=simulations + 1)
        search.run(simulations, interpreted=interpreted).check(simulations)
        assert search.size > simulations / 3


def test_a_full_tree_is_still_searched():
    game = tron()
    search = Search(game, game.new(), nodes=20).run(2000)
    assert search.size == 20
    visits = search.arms["visits"]
    assert visits[0].sum() == 2 * search.nodes["visits"][0] == 4000
    assert np.isfinite(search.arms["value"]).all()


@pytest.mark.parametrize(
    ("name", "config", "depth"),
    [
        pytest.param(SMALL_TRON, SearchConfig(), None, marks=pytest.mark.compiled),
        pytest.param(
            "tron:rows=5,columns=6",
            SearchConfig(playout="safe"),
            None,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "tron:rows=5,columns=6",
            SearchConfig("exp3", True),
            None,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "hungry_geese:min_food=1",
            SearchConfig(playout="safe"),
            4,
            marks=pytest.mark.slow,
        ),
    ],
)
def test_compiled_and_interpreted_are_equal(name, config, depth):
    game = make_game(name)
    searches = [Search(game, game.new(5), config, depth=depth) for _ in range(2)]
    for part in (40, 30):
        searches[0].run(part)
        searches[1].run(part, interpreted=True)
    first, second = searches
    assert first.size == second.size
    for field in ("nodes", "arms", "table", "work"):
        a, b = getattr(first, field), getattr(second, field)
        for key in a.dtype.names or (None,):
            a_part, b_part = (a[key], b[key]) if key else (a, b)
            np.testing.assert_array_equal(a_part, b_part, err_msg=f"{field} {key}")


@pytest.mark.compiled
@pytest.mark.slow
def test_search_is_reproducible_and_does_not_observe_future_chance():
    game = make_game("hungry_geese:min_food=1")
    agent = make_agent(GOOSE, game)
    s, other = game.new(1), game.new(2)
    reports = [agent.search(s, np.array([7], np.uint64)) for _ in range(2)]
    agent.search(other)
    reports.append(agent.search(s, np.array([7], np.uint64)))
    reports.append(make_agent(GOOSE, game).search(s, np.array([7], "u8")))
    s.rng[0] = 12345  # what the game would draw next
    reports.append(agent.search(s, np.array([7], np.uint64)))
    players = [report.players for report in reports]
    assert all(one == players[0] for one in players)
    assert agent.search(s, np.array([8], np.uint64)).players != players[0]
    rng = np.array([7], np.uint64)
    agent.search(s, rng)
    assert rng[0] != 7


def test_searches_of_a_batch_equal_single_searches():
    game, s = tron_position(["..R.....", "........", "bbbB...."])
    agent = make_agent("mcts:simulations=100,action_selection=max_robust", game)
    states = game.empty(3)
    states[:] = np.array(s, game.state)
    rngs = np.array([[3], [4], [5]], np.uint64)
    alone = [agent.search(s, rng.copy(), seat=1).action for rng in rngs]
    together = agent.act(states, np.ones(3, np.int64), rngs, np.zeros(3, np.int64))
    assert together.tolist() == alone


@pytest.mark.compiled
def test_search_stops_at_its_time_limit():
    game = make_game(SMALL_TRON)
    agent = make_agent("mcts:seconds=0.05", game)
    agent.prepare()
    report = agent.search(game.new())
    assert 0.05 <= report.seconds < 1
    assert report.simulations >= 64


@pytest.mark.parametrize(
    "options", [{}, {"action_selection": "max_robust"}, {"seconds": 0.05}], ids=str
)
@pytest.mark.compiled
def test_threads_share_the_simulations(options):
    game = make_game(SMALL_TRON)
    s = game.new(3)
    agent = DecoupledMCTSAgent(game, simulations=301, threads=3, **options)
    report = agent.search(s, np.array([5], np.uint64), seat=1)
    visits = [tree.nodes["visits"][0] for tree in agent._threads.trees]
    assert min(visits) >= 100
    assert report.simulations == sum(visits)
    for p in range(2):
        assert sum(one.visits for one in report.players[p]) == report.simulations
    for one in report.candidates:
        arms = [tree.arms[0, 1, one.action] for tree in agent._threads.trees]
        assert one.visits == sum(arm["visits"] for arm in arms)
        assert one.mean == pytest.approx(sum(arm["value"] for arm in arms) / one.visits)
    first, second, third = (tree.arms["value"][0] for tree in agent._threads.trees)
    assert (first != second).any()
    assert (second != third).any()


def test_report_prints_and_serializes():
    game = make_game("tron")
    report = make_agent("mcts:simulations=100", game).search(game.new(), seat=1)
    as_json = json.loads(report.to_json())
    assert as_json["simulations"] == 100
    assert len(as_json["players"]) == 2
    assert as_json["candidates"] == as_json["players"][1]
    most = [one for one in report.candidates if one.visits == report.candidates[0].visits]
    assert as_json["name"] in [one.name for one in most]
    assert sum(one["visits"] for one in as_json["players"][0]) == 100
    assert "player 0" in str(report)
    assert all(len(joint.split("/")) == 2 for joint in report.principal_variation)


def test_zero_first_play_urgency_tries_one_action():
    game = tron(4, 4)
    search = Search(game, game.new(), fpu=-1.0).run(30, interpreted=True)
    assert np.count_nonzero(search.arms["visits"][0], axis=1).tolist() == [1, 1]


def test_action_selection_rules():
    game = tron()
    arms = view_records(np.zeros((1, 2, 4), arm_dtype("ucb1")))
    arms["visits"][0, 1], arms["value"][0, 1] = (0, 60, 70, 10), (0, 40, 35, 9)
    work = view_records(np.zeros(1, work_dtype(game)))[0]
    params = view_records(np.zeros(1, SEARCH_PARAMS))[0]
    params.policy_params[0] = 2.0
    best_action = best_action_kernel(game, SearchConfig())
    with np.errstate(over="ignore"):
        chosen = {
            name: best_action(arms, 1, action_selection, params, work)
            for action_selection, name in enumerate(ACTION_SELECTIONS)
        }
    assert chosen == {"max": 1, "robust": 2, "max_robust": 2, "mean": 3, "policy": 3}
    assert best_action(arms, 0, 1, params, work) == 0  # who has no move
    assert not is_max_robust_kernel(game)(arms, 1)
    arms["visits"][0, 1, 1] = 80
    assert is_max_robust_kernel(game)(arms, 1)
    # Equal moves are chosen equally often.
    arms["visits"][0, 1], arms["value"][0, 1] = 50, 20
    with np.errstate(over="ignore"):
        counts = np.bincount([best_action(arms, 1, 1, params, work) for _ in range(400)])
    assert len(counts) == 4
    assert counts.min() > 60


def test_joint_action_table_matches_a_dictionary():
    rng = np.random.default_rng(0)
    reset_tree, find_or_add_child = make_table("ucb1")
    nodes, arms = view_records(np.zeros(300, NODE)), np.zeros((300, 1, 1), arm_dtype("ucb1"))
    arms, table = view_records(arms), np.zeros(table_size(300), np.int32)
    for _ in range(3):  # whatever an earlier tree left in it
        with np.errstate(over="ignore"):
            reset_tree(nodes, arms)
            size, known = 1, {}
            for _ in range(700):
                node, joint = int(rng.integers(size)), int(rng.integers(4))
                found = find_or_add_child(nodes, arms, table, size, node, joint)
                if (node, joint) in known:
                    assert found == known[node, joint]
                elif size == 300:
                    assert found == FULL
                else:
                    assert found == size
                    known[node, joint] = size
                    size += 1
        assert size == 300


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
    s.length[0], s.score[0] = 0, 40 * 100 + 4  # the longest died: now it lost to both
    find_evaluation("standing", game)(s, out)
    assert out.tolist() == [-1, 0, 1]
    s.steps = s.max_steps
    returns = np.zeros(3)
    game.returns(s, returns)
    assert out.tolist() == returns.tolist()
    with pytest.raises(ValueError, match="tron has no evaluation 'standing'; it has returns"):
        find_evaluation("standing", tron())
    assert set(games_with("evaluations")) <= {"hungry_geese", "othello"}


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


@pytest.mark.compiled
@pytest.mark.slow
def test_search_beats_random():
    result = play_match("tron", ("mcts:simulations=100", "random"), 200, seed=1)
    assert result.totals[0].score > 0.9
    result = play_match("tron", ("mcts:simulations=300", "random_safe"), 100, seed=1)
    assert result.totals[0].score > 0.7


def test_playout_defaults_of_geese_and_tron():
    goose, rider = (make_agent("mcts", make_game(name)) for name in ("hungry_geese", "tron"))
    assert (goose.config.playout, goose._params["playout_depth"][0]) == ("safe", 6)
    assert (rider.config.playout, rider._params["playout_depth"][0]) == ("uniform", 50)
    asked = make_agent("mcts:playout=uniform,playout.depth=200", goose.game)
    assert (asked.config.playout, asked._params["playout_depth"][0]) == ("uniform", 200)


@pytest.mark.compiled
@pytest.mark.slow
def test_search_beats_three_geese():
    agents = (GOOSE, "random", "random", "random")
    assert play_match("hungry_geese:min_food=1", agents, 60, seed=1).totals[0].win_rate > 0.9
    agents = (GOOSE, *["random_safe"] * 3)
    result = play_match("hungry_geese:min_food=1", agents, 20, seed=1)
    assert result.totals[0].score > 0.8
    assert result.totals[0].mean_return > 0.5


@pytest.mark.parametrize(
    ("game", "spec", "message"),
    [
        ("tron", "mcts:solver=True", "no parameter 'solver' where all move at once, as in tron"),
        ("tron", "mcts:transpositions=True", "no parameter 'transpositions' where all move"),
        ("hungry_geese", "mcts:reuse=True", "reuse needs a game without chance"),
        ("tron", "mcts:reuse=True,threads=2", "reuse=True needs"),
        ("hungry_geese", "mcts:decisive=win", "no parameter 'decisive' where .* hungry_geese"),
        (
            "connect4",
            "mcts:playout=safe",
            "connect4 has no playout 'safe'",
        ),
        (
            "tron",
            "mcts:playout=valid",
            "tron has no playout 'valid'; games with it are hungry_geese",
        ),
        (
            "tron",
            "mcts:playout=x",
            "playout must be one of 'uniform', 'valid', 'safe', 'greedy', got 'x'",
        ),
        ("tron", "mcts:policy=x", "policy must be one of"),
        ("tron", "mcts:policy.alpha=1,policy=moss", "policy 'moss' has no parameter 'alpha'"),
        ("tron", "mcts:simulations=0", "simulations must be an integer from 1"),
        ("tron", "mcts:x=1", "agent mcts has no parameter 'x'"),
    ],
)
def test_invalid_parameters_raise(game, spec, message):
    with pytest.raises(ValueError, match=message):
        make_agent(spec, make_game(game))


def test_sequential_and_simultaneous_searches_reject_other_games():
    with pytest.raises(
        ValueError, match="MCTSAgent needs a turn-based game, and tron is simultaneous"
    ):
        MCTSAgent(tron())
    with pytest.raises(ValueError, match="connect4 is turn-based"):
        DecoupledMCTSAgent(make_game("connect4"))
    assert isinstance(make_agent("mcts:simulations=10", make_game("connect4")), MCTSAgent)
    assert {"policy", "solver", "playout"} <= set(agent_params("mcts"))


def test_too_many_joint_actions_are_refused():
    game = hungry_geese(8)
    check_joint_actions(game)
    many = replace(game, num_actions=256, action_names=("x",) * 256)
    with pytest.raises(ValueError, match=r"256\^8 joint actions"):
        check_joint_actions(many)


@pytest.mark.parametrize("amaf", ["amaf", "rave", "grave:reference=3"])
def test_amaf_credits_the_actions_of_each_player_at_that_ply_or_later(amaf):
    game = tron(4, 4)
    agent = DecoupledMCTSAgent(game, simulations=40, amaf=amaf)
    with np.errstate(over="ignore"):
        agent.search(game.new(), np.array([3], np.uint64))
    root = agent._threads.trees[0].arms[0]
    visited = root["visits"] > 0
    assert (root["amaf_visits"][visited] >= root["visits"][visited]).all()
    assert (root["amaf_visits"] <= 40).all()
    assert (root["amaf_value"] <= root["amaf_visits"]).all()
    assert root["amaf_visits"].sum() > root["visits"].sum()


def test_amaf_of_one_simulation_by_hand():
    game = tron(4, 4)
    agent = DecoupledMCTSAgent(game, simulations=1, amaf="rave")
    with np.errstate(over="ignore"):
        agent.search(game.new(), np.array([3], np.uint64))
    tree = agent._threads.trees[0]
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
    work = agent._threads.trees[0].work[0]
    assert report.simulations == 30
    assert (work["mast_visits"].sum(1) >= 30).all()
    assert (work["mast_value"] <= work["mast_visits"]).all()
    # Both players move at every ply of this game.
    assert work["mast_visits"][0].sum() == work["mast_visits"][1].sum()


def test_the_subtree_of_the_joint_action_is_reused():
    game = tron(5, 5)
    agent = DecoupledMCTSAgent(game, simulations=200, reuse=True)
    with np.errstate(over="ignore"):
        s, rng, threads = game.new(), np.array([3], np.uint64), agent.tree_of(0, 0)
        agent.search(s, rng, threads)
        tree = threads.trees[0]
        children = 1 + np.flatnonzero(tree.nodes["parent"][1 : threads.sizes[0]] == 0)
        child = children[tree.nodes["visits"][children].argmax()]
        visits, joint = int(tree.nodes["visits"][child]), int(tree.nodes["joint"][child])
        arms = tree.arms[child].copy()
        game.step(s, np.array(divmod(joint, game.num_actions)))
        agent.simulations = 1
        report = agent.search(s, rng, threads)
        assert visits > 10
        assert report.simulations == visits + 1
        more = tree.arms[0]["visits"] - arms["visits"]
        assert (more >= 0).all()
        assert more.sum(1).tolist() == [1, 1]
        # The table finds every node of the new tree.
        nodes = tree.nodes[: threads.sizes[0]]
        assert (tree.table[nodes["slot"][1:]] == np.arange(1, len(nodes))).all()
        # Two plies later the tree is new.
        for _ in range(2):
            legal = [game.legal(s, p)[0] for p in range(2)]
            game.step(s, np.array(legal))
        if not game.is_terminal(s):
            assert agent.search(s, rng, threads).simulations == 1
