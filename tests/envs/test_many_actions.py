"""Games with more actions than an int16 can number: environments, agents, records, searches."""

from dataclasses import replace

import numpy as np
import pytest

from ludoteca.agents.registry import make_agent
from ludoteca.envs.api.vector import GameVectorEnv
from ludoteca.envs.engine.playouts import perft, perft_divide, play_randomly
from ludoteca.envs.engine.trajectory import record_trajectory
from ludoteca.envs.game import MAX_ACTIONS
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.environment_checks import check_environments
from ludoteca.evaluate.game_checks import check_game, check_kernels
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.play.session import find_action
from ludoteca.train.data.generate import GenerationConfig, generate
from ludoteca.train.data.positions import replay_positions
from ludoteca.train.data.storage import load_dataset
from tests.helpers.high_numbers import NUM_ACTIONS, high_numbers

LARGEST_INT16 = 32_767


def make_actions_game(num_actions):
    """Return Tic-Tac-Toe with a number of actions, most of them never legal."""
    names = tuple(f"action-{k}" for k in range(num_actions))
    return replace(make_game("tictactoe"), num_actions=num_actions, action_names=names)


def test_action_dtype_holds_all_actions():
    dtypes = [make_actions_game(k).action_dtype for k in (9, LARGEST_INT16, LARGEST_INT16 + 1)]
    assert dtypes == [np.int16, np.int16, np.int32]
    with pytest.raises(
        ValueError, match=r"must have at most 2,147,483,647 actions, got 2,147,483,"
    ):
        replace(make_game("tictactoe"), num_actions=MAX_ACTIONS + 1)


@pytest.mark.interpreted
@pytest.mark.parametrize("simultaneous", [False, True])
def test_environments_of_many_actions(simultaneous):
    game = high_numbers(simultaneous=simultaneous)
    check_kernels(game, games=2)
    check_environments(game)


@pytest.mark.interpreted
def test_random_games_reach_actions_beyond_int16():
    game = high_numbers()
    played = record_trajectory(game, 10, interpreted=True).actions
    assert played.dtype == np.int32
    assert played.max() > LARGEST_INT16
    assert (played % 5000 == np.arange(4)[:, np.newaxis]).all()
    total, plies = play_randomly(game, 20)
    assert plies == 80
    assert total[0] == -total[1]


@pytest.mark.interpreted
def test_perft_and_names_of_many_actions():
    game = high_numbers()
    assert [perft(game, depth) for depth in (1, 2, 3)] == [10, 100, 1000]
    assert perft_divide(game, 2) == {f"number-{k}": 10 for k in range(0, NUM_ACTIONS, 5000)}
    joint = perft_divide(high_numbers(2, True), 1)
    assert list(joint) == [f"number-{a}, number-{b}" for a in (0, 25_000) for b in (0, 25_000)]
    assert find_action(game, "NUMBER-45000", game.legal(game.new())) == 45_000


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "agent",
    [
        "mcts:simulations=50",
        "mcts:simulations=50,solver=True,transpositions=True,decisive=both,amaf=rave,mast=gibbs",
        "mcts:simulations=50,reuse=True,threads=2",
        "flat:simulations=50",
        "alphabeta:depth=2",
        "greedy",
    ],
)
def test_agents_find_actions_beyond_int16(agent):
    # The winning numbers of the last turn are those above 32,767.
    game = high_numbers()
    s = game.new()
    for number in (25_000, 20_001, 10_002):
        game.step(s, number)
    states, rng = game.empty(1), np.zeros((1, 1), np.uint64)
    states[0] = s
    made = make_agent(agent, game)
    action = int(made.act(states, np.array([1]), rng, np.zeros(1, np.int64))[0])
    assert action in game.legal(s)
    game.step(s, action)
    out = np.zeros(2)
    game.returns(s, out)
    assert out[1] == 1


@pytest.mark.interpreted
@pytest.mark.parametrize("simultaneous", [False, True])
def test_records_of_many_actions(simultaneous, tmp_path, monkeypatch):
    monkeypatch.setitem(GAMES, "HighNumbers-v0", f"{high_numbers.__module__}:high_numbers")
    game = make_game("high_numbers", simultaneous=simultaneous)
    replays = play_match(game, ["random", "random"], 4, num_replays=4).replays
    assert max(np.max(replay.actions) for replay in replays) > LARGEST_INT16
    for replay in replays:
        replay.save(tmp_path / "game.json")
        assert Replay.load(tmp_path / "game.json") == replay
    config = GenerationConfig(
        game=game.spec, agents=("random",), games=6, out=tmp_path / "a.npz", num_workers=1
    )
    games, loaded = generate(config), load_dataset(tmp_path / "a.npz")
    assert loaded.actions.dtype == np.int32
    assert loaded.actions.max() > LARGEST_INT16
    np.testing.assert_array_equal(loaded.actions, games.actions)
    samples = replay_positions(loaded).samples()
    np.testing.assert_array_equal(np.sort(samples.actions), np.sort(games.actions, axis=None))


@pytest.mark.interpreted
def test_saved_environments_of_many_actions():
    env = GameVectorEnv(high_numbers(), 2)
    env.reset(seed=1)
    env.step(np.array([45_000, 40_000]))
    saved, copy = env.save(), GameVectorEnv(high_numbers(), 2)
    copy.reset(seed=2)
    copy.restore(saved)
    np.testing.assert_array_equal(copy.game_batch.states["sums"], [[45_000, 0], [40_000, 0]])


@pytest.mark.slow
@pytest.mark.parametrize("simultaneous", [False, True])
def test_all_of_many_actions_are_legal(simultaneous):
    game = high_numbers(NUM_ACTIONS, simultaneous)
    check_game(game, games=1)
    width = 2 if simultaneous else 1
    assert perft(game, 2 // width) == NUM_ACTIONS**2
    states, rng = game.empty(1), np.zeros((1, 1), np.uint64)
    states[0] = game.new()
    for agent in ("mcts:simulations=50", "mcts:simulations=50,amaf=grave", "flat:simulations=50"):
        action = make_agent(agent, game).act(states, np.zeros(1, np.int64), rng, np.array([0]))
        assert 0 <= action[0] < NUM_ACTIONS


@pytest.mark.slow
def test_searches_visit_more_children_than_an_int16_counts():
    game = high_numbers(NUM_ACTIONS)
    report = make_agent("mcts:simulations=40000", game).search(game.new())
    visited = [candidate.action for candidate in report.candidates if candidate.visits > 0]
    assert len(visited) > LARGEST_INT16
    assert max(visited) > LARGEST_INT16
