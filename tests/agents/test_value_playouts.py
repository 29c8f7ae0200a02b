"""Tests of playouts whose moves a value network chooses, and of the search with them."""

import numpy as np
import pytest

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.value_network import ValueConfig, make_value_network
from ludoteca.agents.networks.weights import save_weights
from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.network.value_playouts import MOVE, ValuePlayouts, sample_move
from ludoteca.envs.record_views import view_records
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

GAME = make_game("tictactoe")
ENCODER = Encoder(GAME)


class DistinctValues:
    """Evaluate positions with a different value each, for the player to move; count the calls."""

    def __init__(self):
        self.calls = 0

    def __call__(self, planes):
        self.calls += 1
        flat = planes.reshape(len(planes), -1).astype(np.float64)
        values = np.tanh(flat @ np.sin(1 + np.arange(flat.shape[1]) ** 2)).astype(np.float32)
        return np.zeros((len(planes), GAME.num_actions), np.float32), values


def random_positions(count, rng):
    """Return positions after up to six random moves, some of which ended the game."""
    states = GAME.empty(count)
    for k in range(count):
        s = GAME.new()
        for _ in range(rng.integers(0, 7)):
            if not GAME.is_terminal(s):
                GAME.step(s, int(rng.choice(GAME.legal(s))))
        states[k] = s
    return states


def streams(count):
    """Return a random stream for each position, with seeds 0, 1, ..."""
    return np.arange(count, dtype=np.uint64)[:, None].copy()


def returns(s):
    """Return the returns of both players at the end of a game."""
    scores = np.zeros(2)
    GAME.returns(s, scores)
    return scores


def best_line(s):
    """Return the result for player 0 of the greedy playout, in plain Python."""
    s = s.copy()
    while not GAME.is_terminal(s):
        mover, best, after = s.to_move, -np.inf, None
        for action in GAME.legal(s):
            child = s.copy()
            GAME.step(child, int(action))
            if GAME.is_terminal(child):
                value = returns(child)[mover]
            else:
                planes, _ = ENCODER.encode(batch_of_one(GAME, child), np.array([child.to_move]))
                value = -DistinctValues()(planes)[1][0]
            if value > best:
                best, after = value, child
        s = after
    return returns(s)[0]


def test_greedy_playouts_are_those_of_plain_python():
    states, evaluate = random_positions(16, np.random.default_rng(0)), DistinctValues()
    expected = [best_line(s) for s in view_records(states)]
    results = ValuePlayouts(ENCODER, 0.0)(states, streams(16), evaluate)
    np.testing.assert_array_equal(results, expected)
    assert set(expected) == {-1, 0, 1}
    assert evaluate.calls <= GAME.max_plies  # one call per ply evaluates all positions


def test_results_do_not_depend_on_the_batch():
    states = random_positions(20, np.random.default_rng(1))
    playouts, seeds = ValuePlayouts(ENCODER, 0.3), streams(20)
    together = playouts(states.copy(), seeds.copy(), DistinctValues())
    one_by_one = [
        playouts(states[k : k + 1].copy(), seeds[k : k + 1].copy(), DistinctValues())[0]
        for k in range(20)
    ]
    np.testing.assert_array_equal(together, one_by_one)


def test_moves_are_sampled_by_the_softmax_of_the_movers_values():
    moves = np.zeros(4, MOVE).view(np.recarray)
    moves["mover"] = 1
    moves["value"] = [9, 0.5, -0.5, 0.1]  # the first belongs to another playout
    stream, counts = np.zeros(1, np.uint64), np.zeros(4)
    with np.errstate(over="ignore"):
        for _ in range(1500):
            counts[sample_move(moves, 1, 4, 0.5, stream)] += 1
    weights = np.exp(-moves["value"][1:] / 0.5)
    expected = 1500 * weights / weights.sum()
    assert counts[0] == 0
    assert (np.abs(counts[1:] - expected) < 4 * np.sqrt(expected)).all()  # 4 standard deviations


@pytest.fixture
def network(tmp_path):
    """Return the file of an untrained value network."""
    config = ValueConfig(filters=(4,), hidden=8, view="mover")
    path = tmp_path / "value.safetensors"
    weights = make_value_network(config, GAME).state_dict()
    save_weights(path, weights, {"game": GAME.spec, "network": config.as_dict()})
    return path


def test_leaves_of_a_tree_of_one_level_have_a_new_playout_each_time(network):
    spec = f"uctnet:{network},simulations=60,max_depth=1"
    agent = make_agent(f"{spec},playout=softmax,temperature=100", GAME)
    rngs = streams(1)
    result = agent.search_positions(batch_of_one(GAME), rngs)
    assert result.visit_counts.sum() == 60
    results = (result.action_values + 1) / 2 * result.visit_counts  # wins, and draws as halves
    np.testing.assert_allclose(2 * results, np.round(2 * results), atol=1e-4)
    assert len(np.unique(result.action_values)) > 3  # one playout of each would be -1, 0 or 1
    assert rngs[0, 0] != 0


@pytest.mark.parametrize("playout", ["greedy", "softmax"])
def test_agent_wins_against_random_moves_without_a_learned_network(network, playout):
    agent = make_agent(f"uctnet:{network},simulations=12,leaf_batch=4,playout={playout}", GAME)
    result = play_match(GAME, [agent, "random"], 8, seed=1)
    assert result.totals[0].points >= 6


def test_unknown_playouts_raise(network):
    with pytest.raises(ValueError, match="playout must be one of"):
        make_agent(f"uctnet:{network},playout=uniform", GAME)
    with pytest.raises(ValueError, match="temperature must be"):
        make_agent(f"uctnet:{network},playout=softmax,temperature=0", GAME)
