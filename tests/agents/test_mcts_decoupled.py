"""Tests of decoupled tree search in simultaneous games: Hungry Geese and Tron."""

import json

import numpy as np
import pytest
from decoupled_search import (
    EAST,
    GOOSE,
    SMALL_TRON,
    SOUTH,
    WEST,
    Search,
    geese_position,
    tron_position,
)

from ludoteca.agents import make_agent
from ludoteca.agents.search.config import SEARCH_PARAMS, SearchConfig, work_dtype
from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.search.select import ACTION_SELECTIONS
from ludoteca.agents.search.simultaneous.act import best_action_kernel, is_max_robust_kernel
from ludoteca.agents.search.simultaneous.tree import FULL, NODE, make_table, table_size
from ludoteca.agents.search.statistics import arm_dtype
from ludoteca.envs.games.hungry_geese import hungry_geese
from ludoteca.envs.games.tron import tron
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import make_game

pytestmark = pytest.mark.interpreted


# Boards, and the last action of each goose.
# Goose 0 last moved north: the rival's body blocks north and west, and its own neck is south.
# Goose 1 last moved south; it must neither turn back nor hit the body of goose 0.
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
# Goose 0, in a game of four geese, has other bodies north and east of it.
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
    simulations = 300 if policy == "exp3" else 60  # EXP3 learns slowly
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
def test_visits_of_four_geese_add_up_and_dead_geese_have_none():
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
    assert set(actions[3:]) <= {EAST, WEST}  # goose 1 has its neck south, and goose 2 is north
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
    # A lone goose scores 1/2; several geese score 1/2 on average.
    assert value == pytest.approx(20 * players / 2)


@pytest.mark.parametrize(
    ("lines", "action", "simulations"),
    [
        # Blue crashes in the next ply; red wins by the move that does not crash.
        (["....rR..", "....rrrr", "bbbbbbbB"], EAST, 500),
        (["...r.Rr.", "..rrrrrr", "bbbbbbbB"], WEST, 500),
        # Red has room for two steps in the west and for five in the east, blue for four in its
        # corridor: red wins by riding east.
        (["..R.....", "rrrrrrrr", "bbbB...."], EAST, 1500),
        ([".....R..", "rrrrrrrr", "....Bbbb"], WEST, 1500),
    ],
)
def test_tron_endings_are_won(lines, action, simulations):
    game, s = tron_position(lines)
    agent = make_agent(f"mcts:simulations={simulations}", game)
    report = agent.search(s, seat=0)
    assert report.action == action
    assert report.candidates[0].mean > 0.8


def test_visits_add_up():
    for game, interpreted in ((tron(), False), (tron(4, 4), True)):
        simulations = 150 if interpreted else 300
        search = Search(game, game.new(), nodes=simulations + 1)
        search.run(simulations, interpreted=interpreted).check(simulations)
        assert search.size > simulations / 3


def test_a_full_tree_is_still_searched():
    game = tron()
    search = Search(game, game.new(), nodes=20).run(600)
    assert search.size == 20
    visits = search.arms["visits"]
    assert visits[0].sum() == 2 * search.nodes["visits"][0] == 1200
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
    s.rng[0] = 12345  # other random numbers of the game
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
    assert report.simulations >= 64  # the largest number between two readings of the clock


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


def test_low_first_play_urgency_tries_only_one_action():
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
    assert best_action(arms, 0, 1, params, work) == 0  # player 0 has no visited action
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
    for _ in range(3):  # with the entries of earlier trees in the table
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
