"""Tests of network-guided search in positions with known answers."""

import numpy as np
import pytest

from ludoteca.agents.alphazero import PolicyValueAgent
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.pv_network import PVConfig, make_pv_network
from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.search.network.search import NetworkGuidedSearch
from ludoteca.agents.search.network.selection import NetworkSearchConfig
from ludoteca.agents.search.network.trees import ILLEGAL
from ludoteca.agents.search.simultaneous.tree import ROOT
from ludoteca.envs.registry import make_game

pytestmark = pytest.mark.interpreted

CONFIGS = {"puct": NetworkSearchConfig(), "gumbel": NetworkSearchConfig("gumbel")}


def uniform_evaluation(game):
    """Return an evaluation with a uniform policy and the value 0 for every position."""

    def evaluate(planes):
        return np.zeros((len(planes), game.num_actions), np.float32), np.zeros(
            len(planes), np.float32
        )

    return evaluate


def after(game, *actions):
    """Return the position after actions."""
    s = game.new()
    for action in actions:
        game.step(s, action)
    return s


def search(game, positions, simulations, config, evaluate=None, **options):
    """Search positions in one batch; return the result and the trees."""
    states = game.empty(len(positions))
    for k, s in enumerate(positions):
        states[k] = s
    workspace = NetworkGuidedSearch(Encoder(game), len(positions), int(np.max(simulations)), config)
    result = workspace.run(states, evaluate or uniform_evaluation(game), simulations, **options)
    return result, workspace.trees


def test_each_search_halves_by_its_own_budget():
    game = make_game("connect4")
    positions = [after(game, 3), after(game, 3, 3), after(game, 3, 3, 3)]
    budgets = np.array([16, 64, 0])
    mixed, _ = search(game, positions, budgets, CONFIGS["gumbel"])
    for k, budget in enumerate(budgets):
        alone, _ = search(game, [positions[k]], int(budget), CONFIGS["gumbel"])
        assert np.array_equal(mixed.visit_counts[k], alone.visit_counts[0])
        assert mixed.action[k] == alone.action[0]
    # 16 simulations: all seven moves once, the best three once more, and six for the best two.
    assert sorted(mixed.visit_counts[0].tolist()) == [1, 1, 1, 1, 2, 5, 5]


@pytest.mark.parametrize("name", CONFIGS)
def test_more_simulations_than_the_workspace_holds_raise(name):
    game = make_game("tictactoe")
    workspace = NetworkGuidedSearch(Encoder(game), 2, 8, CONFIGS[name])
    for count, simulations in ((2, 9), (2, np.array([8, 9])), (3, 8)):
        with pytest.raises(ValueError, match=r"for 2 searches of 8 simulations, got \d of up to"):
            workspace.run(game.empty(count), uniform_evaluation(game), simulations)


@pytest.mark.parametrize("name", CONFIGS)
def test_search_takes_a_win_and_prevents_a_loss(name):
    game = make_game("tictactoe")
    win = after(game, 0, 3, 1, 4)  # X wins with 2
    threat = after(game, 0, 4, 8, 2)  # O threatens to win with 6; X must play it
    result, trees = search(game, [win, threat, game.new()], np.array([100, 200, 30]), CONFIGS[name])
    assert result.action[:2].tolist() == [2, 6]
    assert result.action_weights[0].argmax() == 2
    assert result.action_values[0, 2] == 1
    assert result.root_value[0] > 0.2
    assert np.allclose(result.action_weights.sum(1), 1, atol=1e-5)
    assert result.visit_counts.sum(1).tolist() == [100, 200, 30]
    assert (result.visit_counts[0, [0, 1, 3, 4]] == 0).all()  # taken cells
    assert (trees.size <= [101, 201, 31]).all()


def test_values_are_for_the_player_to_move():
    """The second player is to move and can win: the root value is high for this player."""
    game = make_game("tictactoe")
    s = after(game, 0, 3, 1, 4, 8)  # O wins with 5
    result, trees = search(game, [s], 100, CONFIGS["puct"])
    assert result.action[0] == 5
    assert result.root_value[0] > 0.5
    assert trees.scores[0, ROOT, 5] == trees.visits[0, ROOT, 5]  # a win each time


@pytest.mark.parametrize("name", CONFIGS)
def test_both_colors_of_hex_search_alike(name):
    """Search a position and its mirror image with exchanged colors, by a non-uniform network."""
    n = 4
    game = make_game(f"hex:board_size={n}")

    def transposed(action):
        return action % n * n + action // n

    black = after(game, 5, 2, 11, 8)  # black is to move and has stones on 5 and 11
    white = after(game, transposed(2), transposed(5), transposed(8), transposed(11))
    white.to_move = 1  # white is to move and has the transposed stones

    def evaluate(planes):
        flat = planes.reshape(len(planes), -1).astype(np.float32)
        weights = np.sin(np.arange(flat.shape[1] * n * n, dtype=np.float32)).reshape(-1, n * n)
        return flat @ weights / 4, np.tanh(flat @ weights[:, 3] / 9)

    result, _ = search(game, [black, white], 60, CONFIGS[name], evaluate)
    assert result.visit_counts[0].max() > 5
    for action in range(n * n):
        assert result.visit_counts[0, action] == result.visit_counts[1, transposed(action)]
    assert result.root_value[0] == result.root_value[1]


def test_searches_of_a_batch_are_independent():
    game = make_game("connect4")
    positions = [after(game, *range(k)) for k in range(5)]
    together, _ = search(game, positions, 40, CONFIGS["puct"])
    for k, s in enumerate(positions):
        alone, _ = search(game, [s], 40, CONFIGS["puct"])
        assert np.array_equal(alone.visit_counts[0], together.visit_counts[k])
    none, _ = search(game, positions, 0, CONFIGS["puct"])
    assert np.allclose(none.action_weights, 1 / 7)


def test_dirichlet_noise_changes_only_priors_of_legal_moves():
    game = make_game("tictactoe")
    s = after(game, 0, 4)
    rng = np.random.default_rng(0)
    _, trees = search(game, [s], 10, CONFIGS["puct"], rng=rng, dirichlet_fraction=0.5)
    priors = trees.priors[0, ROOT]
    legal = game.legal(s)
    assert set(np.flatnonzero(priors >= 0)) == set(legal)
    assert priors[legal].sum() == pytest.approx(1, abs=1e-5)
    assert priors[legal].std() > 0.01


def test_each_search_has_its_own_fraction_of_dirichlet_noise():
    game = make_game("tictactoe")
    states = game.empty(2)
    states[:] = after(game, 4)
    workspace = NetworkGuidedSearch(Encoder(game), 2, 10, CONFIGS["puct"])
    workspace.run(
        states,
        uniform_evaluation(game),
        10,
        np.random.default_rng(1),
        dirichlet_fraction=np.array([0.0, 0.5]),
    )
    uniform = np.full(9, 1 / 8, np.float32)
    uniform[4] = ILLEGAL
    assert workspace.root_priors == pytest.approx(np.stack([uniform, uniform]))
    without, noisy = workspace.trees.priors[:, ROOT]
    assert without == pytest.approx(uniform)
    legal = uniform > 0
    assert (noisy[legal] >= 1 / 16 - 1e-6).all()
    assert noisy[legal].std() > 0.01
    assert noisy[legal].sum() == pytest.approx(1)


@pytest.mark.parametrize("name", CONFIGS)
def test_immediate_wins_are_found_regardless_of_the_network(name):
    """The network gives the decisive last column almost no prior, and all positions one value."""
    game = make_game("connect4")

    def biased_evaluation(planes):
        logits = np.zeros((len(planes), 7), np.float32)
        logits[:, 6] = -50
        return logits, np.full(len(planes), -0.9, np.float32)

    win = after(game, 6, 0, 6, 0, 6, 1)  # player 0 has three in the last column
    threat = after(game, 6, 0, 6, 1, 6)  # player 1 must block this line
    result, _ = search(game, [win, threat], 40, CONFIGS[name], biased_evaluation)
    assert result.action[0] == 6
    assert result.action_weights[0, 6] > 0.9
    assert result.action_values[0, 6] == 1
    others = [value for a, value in enumerate(result.action_values[1]) if a != 6 and value == value]
    assert others
    assert max(others) == -1  # all moves but one are known to lose
    not_decisive = CONFIGS[name]._replace(decisive=False)
    result, _ = search(game, [threat], 40, not_decisive, biased_evaluation)
    assert np.nanmax(result.action_values[0, :6]) > -1


@pytest.mark.parametrize("leaf_batch", [1, 4])
def test_a_search_that_stops_early_chooses_the_same_action(leaf_batch):
    game = make_game("connect4:rows=4,columns=4,connect=3")
    rng = np.random.default_rng(leaf_batch)
    weights = rng.normal(size=(int(np.prod(Encoder(game).shape)), game.num_actions + 1)) / 3

    def evaluate(planes):
        out = (planes.reshape(len(planes), -1) @ weights).astype(np.float32)
        return out[:, :-1], np.tanh(out[:, -1])

    states = game.empty(6)
    for k in range(len(states)):
        s = game.new()
        for _ in range(k % 4):
            game.step(s, int(rng.choice(game.legal(s))))
        states[k] = s
    budget = np.array([48, 96, 17] * 2)
    workspace = NetworkGuidedSearch(Encoder(game), len(states), 96, leaf_batch=leaf_batch)
    complete = workspace.run(states, evaluate, budget)
    early = workspace.run(states, evaluate, budget, stop_early=True)
    assert np.array_equal(early.action, complete.action)
    counts, sorted_visits = early.visit_counts.sum(1), np.sort(early.visit_counts, 1)
    lead = sorted_visits[:, -1] - sorted_visits[:, -2]
    assert (complete.visit_counts.sum(1) == budget).all()
    assert (counts <= budget).all()
    assert counts.sum() < 0.95 * budget.sum()
    # A search stopped as soon as the lead of its best action exceeded the remaining simulations.
    stopped = counts < budget
    assert (lead > budget - counts)[stopped].all()
    not_one_batch_before = lead - leaf_batch <= budget - counts + leaf_batch
    assert not_one_batch_before[stopped].all()


def test_forced_moves_are_not_searched_and_time_limits_hold():
    game = make_game("connect4:rows=4,columns=4,connect=3")
    forced = game.new()
    for action in (1, 1, 1, 1, 0, 0, 0, 0, 3, 3, 3, 2, 3):
        game.step(forced, action)
    assert len(game.legal(forced)) == 1
    states = game.empty(2)
    states[0], states[1] = forced, game.new()
    workspace = NetworkGuidedSearch(Encoder(game), 2, 40)
    result = workspace.run(states, uniform_evaluation(game), 40, stop_early=True)
    assert result.action[0] == game.legal(forced)[0]
    assert result.visit_counts[0].sum() == 1
    assert result.visit_counts[1].sum() > 20
    assert workspace.run(states, uniform_evaluation(game), 40).visit_counts.sum() == 80
    # The time limit is shorter than one simulation, so only one is made.
    in_time = workspace.run(states[1:], uniform_evaluation(game), 40, seconds=1e-9, stop_early=True)
    assert in_time.visit_counts.sum() == 1


@pytest.mark.parametrize("policy", CONFIGS)
def test_a_search_ends_when_it_is_stopped(policy):
    game, calls = make_game("tictactoe"), []

    def is_stopped():
        calls.append(None)
        return len(calls) == 5

    result, _ = search(game, [game.new()], 200, CONFIGS[policy], is_stopped=is_stopped)
    assert result.visit_counts.sum() == 5
    assert result.action[0] in game.legal(game.new())
    assert len(calls) == 5


def test_agents_with_a_search_refuse_games_with_chance():
    game = make_game("gdl:path=dice_race")
    runner = Runner(make_pv_network(PVConfig(4, 1), game))
    assert PolicyValueAgent(game, runner, 0, CONFIGS["puct"]).simulations == 0
    with pytest.raises(ValueError, match="needs a game without chance, unlike gdl"):
        PolicyValueAgent(game, runner, 10, CONFIGS["puct"])
