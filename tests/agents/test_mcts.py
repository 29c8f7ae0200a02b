"""Tests of Monte Carlo tree search in sequential games."""

import json
from typing import Any

import numpy as np
import pytest
from boards import REPRESENTATIVES
from search_trees import agent_tree, check_tree, play

from ludoteca.agents.search import MCTSAgent
from ludoteca.agents.search.clock import search_for
from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.search.select import ACTION_SELECTIONS
from ludoteca.agents.search.sequential.act import make_act, make_best_child
from ludoteca.agents.search.sequential.search import make_search
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


@pytest.mark.parametrize("id_", SEQUENTIAL)
def test_every_game_is_searched_and_visits_add_up(id_: str) -> None:
    game = make_game(id_)
    agent = MCTSAgent(game, simulations=60)
    report = agent.search(game.new(), np.array([5], np.uint64))
    assert report.simulations == sum(one.visits for one in report.candidates) == 60
    assert report.action in game.legal(game.new())
    check_tree(agent_tree(agent))


# One policy of each class: each is compiled, so the others run only in `make test-slow`.
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
            game, policy=policy, action_selection=action_selection, simulations=150
        ).search(s)
        assert report.simulations >= 150
        assert {one.name: one.mean for one in report.candidates}["c1"] == 1
        # `uniform` visits all actions equally, and OMC rarely visits an action known to be best.
        if action_selection == "mean" or (
            policy not in ("uniform", "omc", "omc_stochastic") and action_selection != "policy"
        ):
            assert report.name == "c1", action_selection


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


def test_a_tree_that_is_full_is_still_searched() -> None:
    game = make_game("tictactoe")
    agent = MCTSAgent(game, simulations=300, max_nodes=100)
    report = agent.search(game.new())
    assert report.simulations == 300
    assert report.nodes <= 100


@pytest.mark.parametrize(("max_depth", "nodes"), [(1, 1 + 9), (2, 1 + 9 + 72), (0, 100)])
def test_max_depth_limits_the_tree(max_depth: int, nodes: int) -> None:
    game = make_game("tictactoe")
    agent = MCTSAgent(game, simulations=300, max_depth=max_depth)
    report = agent.search(game.new())
    assert report.simulations == 300
    assert report.nodes == nodes if max_depth else report.nodes > nodes


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
    # The clock is first read after eight simulations, and then at least 20 times.
    assert now <= max(0.1 + max(0.1 / 20, cost), 8 * cost)
    assert max(counts) <= 64

    counts.clear()
    search_for(1e9, 0.0, run)
    assert 200_000 <= sum(counts) < 200_064  # the search ends when `run` returns True


def test_draws_may_count_as_losses() -> None:
    # X O X    O to move: both orders of filling a3 and c3 end in a draw, 1/2 or 0.
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
    agent = MCTSAgent(game, simulations=1, playout="greedy", amaf="amaf")  # AMAF records moves
    agent.search(game.new(), np.array([5], np.uint64))
    work = view_records(agent._workspace.trees[0].work)[0]
    s, legal = game.new(), np.zeros(game.num_actions, np.int16)
    choices = 0
    with np.errstate(over="ignore"):
        game.step(s, int(work.move_actions[0]))  # chosen in the tree
        ply = 1
        while not game.is_terminal(s):
            options = legal[: game.legal_actions(s, legal)].tolist()
            opponent_discs = {}
            for action in options:
                after = view_records(game.empty(1))
                after[0] = s
                game.step(after[0], action)
                opponent_discs[action] = int(after[0].discs[1 - s.to_move]).bit_count()
            played = int(work.move_actions[ply])
            assert opponent_discs[played] == min(opponent_discs.values())
            choices += len(set(opponent_discs.values())) > 1
            game.step(s, played)
            ply += 1
    assert choices > 10


def test_truncated_playouts_are_evaluated() -> None:
    game = make_game("othello")
    discs = MCTSAgent(game, simulations=4, playout=":depth=0,evaluation=discs").search(game.new())
    # After each of the four first moves the discs are 4 to 1: the evaluation is (4 - 1) / 5.
    assert [one.mean for one in discs.candidates] == pytest.approx([0.5 + 0.5 * 3 / 5] * 4)
    by_default = MCTSAgent(game, simulations=4, playout=":depth=0").search(game.new())
    corners = MCTSAgent(game, simulations=4, playout=":depth=0,evaluation=corners")
    assert by_default.candidates == corners.search(game.new()).candidates
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
    report = MCTSAgent(game, simulations=100).search(game.new())
    text = str(report)
    assert "100 simulations" in text
    assert f"principal variation: {report.name} " in text
    data = json.loads(report.to_json())
    assert data["simulations"] == 100
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
