"""Tests of UCT with a value network, and of batched leaf evaluation."""

import math

import numpy as np
import pytest
import torch

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.pv_network import PVConfig, make_pv_network
from ludoteca.agents.networks.value_network import ValueConfig, make_value_network
from ludoteca.agents.networks.weights import save_weights
from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.network.search import NetworkGuidedSearch
from ludoteca.agents.search.network.selection import (
    NetworkSearchConfig,
    SelectionParams,
    make_interior_selection,
)
from ludoteca.agents.search.network.trees import ILLEGAL, make_trees
from ludoteca.agents.search.simultaneous.tree import ROOT
from ludoteca.agents.time_control import TimeControl
from ludoteca.agents.uctnet import UCTNetAgent
from ludoteca.envs.interpreted import with_attributes
from ludoteca.envs.records import batch_of_one
from ludoteca.envs.registry import make_game
from ludoteca.envs.rng import below
from ludoteca.evaluate.match import play_match

pytestmark = pytest.mark.interpreted

PUCT = NetworkSearchConfig()


def uct_config(**params):
    """Return the settings of UCT without priors."""
    return NetworkSearchConfig("uct", False, SelectionParams(**params))


UCT = uct_config()
EXPLORATION_CONSTANTS = (math.sqrt(2), 0.3)
SMALL = ValueConfig(filters=(4,), hidden=8)


def after(game, *actions):
    """Return the position after these actions."""
    s = game.new()
    for action in actions:
        game.step(s, action)
    return s


def distinct_values(planes):
    """Return a different value in [-1, 1] for each position, for the player to move."""
    flat = planes.reshape(len(planes), -1).astype(np.float64)
    return np.tanh(flat @ np.sin(1 + np.arange(flat.shape[1]) ** 2)).astype(np.float32)


def evaluate(planes):
    """Evaluate positions of tic-tac-toe: equal logits and `distinct_values`."""
    return np.zeros((len(planes), 9), np.float32), distinct_values(planes)


def search(game, positions, simulations, config, leaf_batch=1, streams=None, **options):
    """Return the result and the trees of a search of a batch of positions."""
    states = game.empty(len(positions))
    for k, s in enumerate(positions):
        states[k] = s
    workspace = NetworkGuidedSearch(
        Encoder(game), len(states), simulations, config, leaf_batch=leaf_batch
    )
    result = workspace.run(
        states, options.pop("evaluate_leaves", evaluate), simulations, streams=streams, **options
    )
    return result, workspace.trees


class Reference:
    """UCT in plain Python, after algorithm 2 of Browne et al. (2012)."""

    def __init__(self, game, s, stream, c):
        self.game, self.stream, self.c = game, stream, c
        self.encoder, self.children, self.root = Encoder(game), {}, s

    def simulate(self):
        """Simulate once; return the visits and value sum of each action at the root."""
        s, path = self.root.copy(), []
        while True:
            key = tuple(action for _, action, _ in path)
            node = self.children.setdefault(key, {a: [0, 0.0] for a in self.game.legal(s)})
            untried = [a for a, (n, _) in node.items() if n == 0]
            if untried:
                with np.errstate(over="ignore"):
                    action = untried[below(self.stream, len(untried))]
            else:
                total = sum(n for n, _ in node.values())
                action = max(
                    node,
                    key=lambda a: (
                        node[a][1] / node[a][0]
                        + self.c * math.sqrt(2 * math.log(total) / node[a][0])
                    ),
                )
            path.append((node, action, int(s.to_move)))
            self.game.step(s, action)
            if self.game.is_terminal(s):
                scores = np.zeros(2)
                self.game.returns(s, scores)
                value = scores[0]
                break
            if untried:
                value = self.value(s)
                break
        for node, action, mover in path:
            node[action][0] += 1
            node[action][1] += value if mover == 0 else -value
        return self.children[()]

    def value(self, s):
        """Return the value of a position for player 0."""
        states = self.game.empty(1)
        states[0] = s
        seat = int(s.to_move)
        value = float(distinct_values(self.encoder.encode(states, np.array([seat]))[0])[0])
        return value if seat == 0 else -value


@pytest.mark.parametrize(
    "c",
    [
        *EXPLORATION_CONSTANTS,
        *(
            pytest.param(c, marks=pytest.mark.slow, id=f"compiled-{c:.1f}")
            for c in EXPLORATION_CONSTANTS
        ),
    ],
)
def test_search_matches_plain_python_reference(c):
    game = make_game("tictactoe")
    s = after(game, 4)
    stream = np.array([[77]], np.uint64)
    result, trees = search(game, [s], 300, uct_config(c_uct=c), streams=stream)
    reference = Reference(game, s, np.array([77], np.uint64), c)
    for _ in range(300):
        node = reference.simulate()
    legal = game.legal(s)
    assert [node[a][0] for a in legal] == result.visit_counts[0, legal].tolist()
    totals = 2 * trees.scores[0, ROOT] - trees.visits[0, ROOT]  # of values in [-1, 1]
    assert np.allclose([node[a][1] for a in legal], totals[legal], atol=1e-4)
    assert stream[0, 0] == reference.stream[0]  # both drew the same random numbers
    means = {a: total / n for a, (n, total) in node.items()}
    assert result.action[0] == max(means, key=lambda a: means[a])


@pytest.fixture
def tree():
    """A node with three legal actions of four."""
    trees = with_attributes(
        make_trees(make_game("connect4:rows=4,columns=4,connect=3"), 1, 3, leaf_batch=4)
    )
    trees.priors[0, ROOT] = [0.5, ILLEGAL, 0.3, 0.2]
    trees.visits[0, ROOT] = [3, 0, 2, 5]
    trees.scores[0, ROOT] = [2.25, 0, 0.75, 4.25]  # means 0.5, -0.25 and 0.7 in [-1, 1]
    return trees


def select(policy, trees, params):
    """Return the action that a policy selects at the root."""
    kernel = make_interior_selection(policy, simultaneous=False)
    arms, scratch = trees.arms[0, ROOT, 0], np.zeros(4, np.float32)
    return kernel(arms, trees.work[0].legal, 4, 0.5, params, scratch, trees.streams[0])


def test_uct_matches_hand_computation(tree):
    params = SelectionParams(c_uct=0.5)
    scores = [
        q + 0.5 * math.sqrt(2 * math.log(10) / n) for q, n in ((0.5, 3), (-0.25, 2), (0.7, 5))
    ]
    assert select("uct", tree, params) == [0, 2, 3][int(np.argmax(scores))] == 3
    with np.errstate(over="ignore"):
        tree.visits[0, ROOT, 2] = 0
        assert select("uct", tree, params) == 2  # an action without visits comes first
        tree.visits[0, ROOT] = 0
        assert {select("uct", tree, params) for _ in range(50)} == {0, 2, 3}


def test_pending_simulations_have_virtual_loss(tree):
    """A pending simulation is a visit without a score."""
    params = SelectionParams(c_uct=0.0)
    assert select("uct", tree, params) == 3
    tree.visits[0, ROOT, 3] += 1  # 4.25 / 6 is less than 0.75
    assert select("uct", tree, params) == 0
    tree.visits[0, ROOT, 0] += 1  # 2.25 / 4 is less still
    assert select("uct", tree, params) == 3
    greedy = SelectionParams(c_init=0.0, c_base=1e9)
    assert select("puct", tree, greedy) == 3
    tree.visits[0, ROOT, 3] += 2
    assert select("puct", tree, greedy) == 0


@pytest.mark.parametrize("config", [PUCT, UCT], ids=["puct", "uct"])
@pytest.mark.parametrize("leaf_batch", [1, 4, 7, 100])
def test_leaf_batches_evaluate_several_leaves(config, leaf_batch):
    game = make_game("tictactoe")
    positions = [game.new(), after(game, 0, 3, 1, 4), after(game, 0, 4, 8, 2)]
    batch_sizes = []

    def counting_evaluate(planes):
        batch_sizes.append(len(planes))
        return evaluate(planes)

    streams = np.arange(3, dtype=np.uint64)[:, None].copy()
    result, trees = search(
        game, positions, 90, config, leaf_batch, streams, evaluate_leaves=counting_evaluate
    )
    assert (result.visit_counts.sum(1) == 90).all()
    scores = trees.scores[:, ROOT].sum(1)
    assert ((scores >= 0) & (scores <= 90)).all()
    assert len(batch_sizes) <= 1 + -(-90 // leaf_batch)  # the root, and 90 leaves rounded up
    for b in range(3):
        nodes = trees.nodes[b, : trees.size[b]]
        # The simulation that evaluated a node counts as a visit to it, but not to its children.
        for node in range(1, len(nodes)):
            if nodes["evaluated"][node]:
                visits = trees.visits[b, nodes["parent"][node], nodes["joint"][node]]
                assert trees.visits[b, node].sum() == nodes["visits"][node] <= visits - 1
    assert sum(batch_sizes) == sum(
        trees.nodes["evaluated"][b, : trees.size[b]].sum() for b in range(3)
    )
    if leaf_batch < 100:  # with a single batch of leaves the win is not found
        assert result.action[1] == 2
    alone, _ = search(game, positions[1:2], 90, config, leaf_batch, np.array([[1]], np.uint64))
    np.testing.assert_array_equal(alone.visit_counts[0], result.visit_counts[1])


def test_gumbel_evaluates_one_leaf_per_batch():
    with pytest.raises(ValueError, match="the policy gumbel needs leaf_batch=1, got 2"):
        NetworkGuidedSearch(
            Encoder(make_game("tictactoe")), 1, 8, NetworkSearchConfig("gumbel"), leaf_batch=2
        )


@pytest.mark.parametrize("leaf_batch", [1, 3])
def test_max_depth_one_expands_only_the_root(leaf_batch):
    game = make_game("tictactoe")
    s = after(game, 0, 4)
    result, trees = search(game, [s], 60, uct_config(max_depth=1), leaf_batch)
    assert trees.size[0] == 1 + 7
    assert result.visit_counts.sum() == 60
    for child in range(1, trees.size[0]):
        value = 1 - 2 * trees.values[0, child, 0]  # of the opponent
        action = trees.nodes["joint"][0, child]
        assert result.action_values[0, action] == pytest.approx(value, abs=1e-5)
    assert result.action[0] == np.nanargmax(result.action_values[0])


def test_search_stops_at_its_time_limit():
    game = make_game("tictactoe")
    result, _ = search(game, [game.new()], 5000, UCT, seconds=0.0)
    assert result.visit_counts.sum() < 5000


def test_shortest_time_limit_still_gives_legal_moves():
    game = make_game("othello")

    def uniform_evaluation(planes):
        return np.zeros((len(planes), 65), np.float32), np.zeros(len(planes), np.float32)

    result, _ = search(
        game, [game.new()], 5000, UCT, seconds=0.0, evaluate_leaves=uniform_evaluation
    )
    assert result.visit_counts.sum() == 1
    assert result.action[0] in game.legal(game.new())


def test_networks_of_other_games_are_refused():
    game = make_game("othello")
    with pytest.raises(ValueError, match=r"logits \(1, 65\) .* got \(1, 9\)"):
        search(game, [game.new()], 10, UCT)


@pytest.fixture
def network_file(tmp_path):
    """Return a function that saves an untrained value network of a game and returns its path."""

    def make(game, view="second"):
        torch.manual_seed(0)
        config = ValueConfig(filters=(4,), hidden=8, view=view)
        path = tmp_path / f"{game.name}-{view}.safetensors"
        weights = make_value_network(config, game).state_dict()
        save_weights(path, weights, {"game": game.spec, "network": config.as_dict()})
        return path

    return make


@pytest.mark.parametrize(
    ("spec", "view", "games", "wins"),
    [
        ("tictactoe", "second", 10, 6),
        ("tictactoe", "mover", 10, 6),
        ("othello:board_size=4", "mover", 2, 0),
    ],
)
def test_agent_plays_legal_moves(network_file, spec, view, games, wins):
    game = make_game(spec)
    agent = f"uctnet:{network_file(game, view)},simulations=30,leaf_batch=2"
    result = play_match(game, [agent, "random"], games, seed=1)
    # The network is untrained, but in short games the search reaches their ends.
    assert result.totals[0].wins >= wins
    again = play_match(game, [agent, "random"], 2, seed=1)
    np.testing.assert_array_equal(result.returns[:2], again.returns)


def test_search_takes_the_time_of_the_clock(network_file):
    game = make_game("tictactoe")
    agent = UCTNetAgent(game, network_file(game), simulations=5, max_nodes=50)
    agent.search(game.new())  # allocates trees too small for the timed search
    agent.set_time_control(TimeControl(60))
    assert agent.seconds == TimeControl(60).thinking_seconds
    assert agent.search(game.new()).simulations == 49


@pytest.mark.parametrize(
    "options", [{}, {"leaf_batch": 4}, {"max_depth": 1}, {"seconds": 60.0, "max_nodes": 61}]
)
def test_agent_prefers_an_immediate_win(network_file, options):
    game = make_game("tictactoe")
    agent = UCTNetAgent(game, network_file(game), simulations=60, **options)
    agent.prepare()
    states = game.empty(3)
    states[0] = after(game, 0, 3, 1, 4)  # X wins with 2
    states[1] = after(game, 0, 3, 1, 4, 8)  # O wins with 5
    states[2] = after(game, 4, 0, 8, 1, 5)  # O wins with 2
    seats, rngs = np.array([0, 1, 1]), np.arange(3, dtype=np.uint64)[:, None].copy()
    assert agent.act(states, seats, rngs, np.arange(3)).tolist() == [2, 5, 2]
    assert agent.values(states[0])[2] == 1


def test_network_value_is_for_the_player_to_move(tmp_path):
    """The network has the value tanh(1) everywhere; actions have values for the player to move."""
    game = make_game("tictactoe")
    network = make_value_network(SMALL, game)
    with torch.no_grad():
        for weights in network.parameters():
            weights.zero_()
        network.head[4].bias.fill_(1.0)
    path = tmp_path / "certain.safetensors"
    metadata = {"game": game.spec, "network": SMALL.as_dict()}
    save_weights(path, network.state_dict(), metadata)
    agent = UCTNetAgent(game, path, simulations=9)
    predicted_value = math.tanh(1)
    first, second = agent.values(game.new()), agent.values(after(game, 4))
    assert np.allclose(first, -predicted_value, atol=1e-6)
    assert np.allclose(np.delete(second, 4), predicted_value, atol=1e-6)


@pytest.fixture
def alphazero_file(tmp_path):
    """Return the path of an untrained AlphaZero network for Tic-Tac-Toe."""
    game, config = make_game("tictactoe"), PVConfig(filters=4, blocks=0)
    metadata = {"game": game.spec, "network": config.as_dict()}
    save_weights(tmp_path / "az.safetensors", make_pv_network(config, game).state_dict(), metadata)
    return tmp_path / "az.safetensors"


def test_alphazero_evaluates_leaf_batches(alphazero_file):
    game = make_game("tictactoe")
    agent = make_agent(f"az:{alphazero_file},simulations=100,leaf_batch=4", game)
    assert agent.values(after(game, 0, 3, 1, 4))[2] == 1
    assert agent.search_positions(batch_of_one(game)).visit_counts.sum() == 100
    with pytest.raises(ValueError, match="the policy gumbel needs leaf_batch=1, got 4"):
        make_agent(f"az:{alphazero_file},policy=gumbel,leaf_batch=4", game)


def test_alphazero_searches_for_some_time(alphazero_file):
    game, path = make_game("tictactoe"), alphazero_file
    agent = make_agent(f"az:{path},seconds=0.05", game)
    agent.prepare()
    assert agent.search_positions(batch_of_one(game)).visit_counts.sum() >= 8
    assert agent.search(after(game, 0, 3, 1, 4)).name == game.action_names[2]
    small = make_agent(f"az:{path},seconds=60,max_nodes=33", game)
    assert small.search_positions(batch_of_one(game)).visit_counts.sum() == 32
    gumbel = make_agent(f"az:{path},policy=gumbel,seconds=60,max_nodes=33", game)
    assert gumbel.search_positions(batch_of_one(game)).visit_counts.sum() == 32
    with pytest.raises(ValueError, match="max_nodes"):
        make_agent(f"az:{path},seconds=1,max_nodes=1", game)


def test_invalid_settings_raise(network_file):
    game = make_game("tictactoe")
    path = network_file(game)
    for parameter, message in (
        ("simulations=0", "simulations must be"),
        ("max_depth=-1", "max_depth must be"),
        ("leaf_batch=0", "leaf_batch must be"),
        ("speed=1", "agent uctnet has no parameter 'speed'"),
    ):
        with pytest.raises(ValueError, match=message):
            make_agent(f"uctnet:{path},{parameter}", game)
    with pytest.raises(ValueError, match="plays tictactoe, not othello"):
        make_agent(f"uctnet:{path}", make_game("othello"))
    with pytest.raises(FileNotFoundError, match="no network"):
        make_agent("uctnet:nothing", game)
