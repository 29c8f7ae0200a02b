"""Tests of network-guided search: hand-computed formulas, and positions with known answers."""

import math

import numpy as np
import pytest

from ludoteca.agents.alphazero import PolicyValueAgent
from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.pv_network import PVConfig, make_pv_network
from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.search.network.gumbel import SequentialHalving, sequence_of_considered_visits
from ludoteca.agents.search.network.search import NetworkGuidedSearch
from ludoteca.agents.search.network.selection import (
    NetworkSearchConfig,
    SelectionParams,
    make_interior_selection,
    write_improved_policy,
)
from ludoteca.agents.search.network.trees import ILLEGAL, make_trees
from ludoteca.agents.search.simultaneous.tree import ROOT
from ludoteca.envs.interpreted import with_attributes
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


def select(policy, trees, params):
    """Return the action selected at the root of the first tree."""
    kernel = make_interior_selection(policy, simultaneous=False)
    arms, value = trees.arms[0, ROOT, 0], trees.values[0, ROOT, 0]
    scratch = np.zeros(len(arms), np.float32)
    return kernel(arms, trees.work[0].legal, len(arms), value, params, scratch, trees.streams[0])


def set_values(trees, values):
    """Set the sums of values in [-1, 1] of all actions at the root, by their visits."""
    trees.scores[0, ROOT] = (np.array(values) + trees.visits[0, ROOT]) / 2


@pytest.fixture
def tree():
    """Return trees whose root has three legal actions of four, the last one without visits."""
    trees = with_attributes(make_trees(make_game("connect4:rows=4,columns=4,connect=3"), 1, 3))
    trees.values[0, ROOT] = (1 - 0.4) / 2  # value -0.4 for the mover
    trees.priors[0, ROOT] = [0.5, ILLEGAL, 0.3, 0.2]
    trees.visits[0, ROOT] = [3, 0, 1, 0]
    set_values(trees, [1.5, 0, -0.5, 0])
    return trees


def test_puct_matches_hand_computation(tree):
    params = SelectionParams(c_init=1.0, c_base=100.0, fpu_reduction=0.5)
    c = (1.0 + math.log((4 + 100 + 1) / 100)) * math.sqrt(4)
    scores = [
        0.5 + c * 0.5 / 4,
        -0.5 + c * 0.3 / 2,
        (-0.4 - 0.5 * math.sqrt(0.8)) + c * 0.2 / 1,
    ]
    assert select("puct", tree, params) == [0, 2, 3][int(np.argmax(scores))] == 0
    tree.visits[0, ROOT, 0] = 40
    set_values(tree, [-20.0, 0, -0.5, 0])
    assert select("puct", tree, params) != 0
    tree.priors[0, ROOT] = ILLEGAL
    tree.priors[0, ROOT, 2] = 1.0
    assert select("puct", tree, params) == 2  # illegal actions never


# Each case has two actions: the first has visits, the second may have none. The last number is the
# mean of the first action at which both have the same score `Q + c P sqrt(N) / (1 + n)`, computed
# by hand. With a slightly higher mean the first action is chosen, otherwise the second.
#   c = c_init + ln((N + c_base + 1) / c_base)
#   An action without visits has Q = V - fpu_reduction * sqrt(prior of the visited actions).
SWITCH_VALUES = {
    # Visits, priors, mean of the second action, value of the node, parameters, switch value.
    # c = 1.25 + ln(20 / 10) = 1.943147; V - 0.25 sqrt(0.9) = -0.037171
    # -0.037171 + 1.943147 * 0.1 * 3 / 1 - 1.943147 * 0.9 * 3 / 10
    "first play": ((9, 0), (0.9, 0.1), None, 0.2, {"c_base": 10.0}, 0.021124),
    # c = 1 + ln(15 / 10) = 1.405465; V - 1 * sqrt(0.25) = 0
    # 0 + 1.405465 * 0.75 * 2 / 1 - 1.405465 * 0.25 * 2 / 5
    "urgency": (
        (4, 0), (0.25, 0.75), None, 0.5,
        {"c_init": 1.0, "c_base": 10.0, "fpu_reduction": 1.0}, 1.967651,
    ),
    # As before, without reduction: the switch value is higher by 0.5.
    "no reduction": (
        (4, 0), (0.25, 0.75), None, 0.5,
        {"c_init": 1.0, "c_base": 10.0, "fpu_reduction": 0.0}, 2.467651,
    ),
    # c = 2 + ln(26 / 20) = 2.262364; N = 5, sqrt(5) = 2.236068
    # 0.3 + 2.262364 * 0.4 * 2.236068 / 3 - 2.262364 * 0.6 * 2.236068 / 4
    "both visited": ((3, 2), (0.6, 0.4), 0.3, 0.9, {"c_init": 2.0, "c_base": 20.0}, 0.215688),
}  # fmt: skip


@pytest.mark.parametrize(
    ("visits", "priors", "mean", "value", "params", "switch_value"),
    SWITCH_VALUES.values(),
    ids=SWITCH_VALUES,
)
def test_puct_switches_action_at_hand_computed_value(
    visits, priors, mean, value, params, switch_value
):
    trees = with_attributes(make_trees(make_game("tictactoe"), 1, 3))
    trees.values[0, ROOT] = (value + 1) / 2
    trees.priors[0, ROOT] = ILLEGAL
    trees.priors[0, ROOT, [2, 5]], trees.visits[0, ROOT, [2, 5]] = priors, visits
    sums = np.zeros(9)
    sums[5] = 0 if mean is None else mean * visits[1]
    for offset, expected in ((-3e-5, 5), (3e-5, 2)):
        sums[2] = visits[0] * (switch_value + offset)
        set_values(trees, sums)
        assert select("puct", trees, SelectionParams(**params)) == expected


def test_pending_simulations_have_virtual_loss_in_puct():
    """Of 4 visits two were won and two are pending: the mean is (2 - 2) / 4; N = 5 and n = 4."""
    trees = with_attributes(make_trees(make_game("tictactoe"), 1, 3, leaf_batch=4))
    trees.values[0, ROOT] = 0.5
    trees.priors[0, ROOT] = ILLEGAL
    trees.priors[0, ROOT, [2, 5]], trees.visits[0, ROOT, [2, 5]] = (0.5, 0.5), (4, 1)
    sums = np.zeros(9)
    # A pending simulation is a visit with the value of a loss.
    sums[2] = 2.0 + 2 * -1
    # c = 1 + ln(11 / 5) = 1.788457; 0 + 1.788457 * 0.5 * 2.236068 * (1 / 5 - 1 / 2) = -0.599864
    params = SelectionParams(c_init=1.0, c_base=5.0)
    for offset, expected in ((-3e-5, 2), (3e-5, 5)):
        sums[5] = -0.599864 + offset
        set_values(trees, sums)
        assert trees.scores[0, ROOT, 2] == 2  # from the two won simulations
        assert select("puct", trees, params) == expected


def test_improved_policy_matches_hand_computation(tree):
    params = SelectionParams(c_visit=10.0, c_scale=0.2)
    mixed = (-0.4 + 4 * (0.5 * 0.5 + 0.3 * -0.5) / 0.8) / 5
    sigma = [(10 + 3) * 0.2 * (q + 1) / 2 for q in (0.5, -0.5, mixed)]
    weights = np.exp(np.log([0.5, 0.3, 0.2]) + sigma)
    expected = weights / weights.sum()
    policy = np.zeros(4, np.float32)
    write_improved_policy(tree.arms[0, ROOT, 0], tree.values[0, ROOT, 0], params, policy)
    assert policy[1] == 0
    assert np.allclose(policy[[0, 2, 3]], expected, atol=1e-6)
    missing_visits = expected - np.array([3, 1, 0]) / 5  # mctx: policy minus visits / (1 + N)
    assert select("gumbel", tree, params) == [0, 2, 3][int(np.argmax(missing_visits))]


def test_sequential_halving_matches_hand_computation():
    assert sequence_of_considered_visits(1, 3) == (0, 1, 2)
    assert sequence_of_considered_visits(2, 4) == (0, 0, 1, 1)
    # Two phases of eight visits: all four actions twice, then the better two four times each. The
    # numbers are the visits that an action must have to be considered.
    assert sequence_of_considered_visits(4, 16) == (0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5)
    for considered in range(1, 20):
        for simulations in (1, 2, 7, 16, 50):
            assert len(sequence_of_considered_visits(considered, simulations)) == simulations


def test_halving_keeps_the_better_half():
    noisy = np.log(np.array([[0.4, 0.3, 0.2, 0.1, 0.5]]))
    legal = np.array([[True, True, True, True, False]])
    halving = SequentialHalving(
        noisy, legal, max_num_considered_actions=4, simulations=np.array([16])
    )
    # Of the legal actions, the two with the lowest logits have the highest values.
    values = np.array([[0.0, 0.0, 5.0, 4.0, 9.0]])
    visits = np.zeros((1, 5), np.int32)
    chosen = []
    for k in range(16):
        action = int(halving.choose(k, visits, values)[0])
        visits[0, action] += 1
        chosen.append(action)
    assert sorted(chosen[:4]) == sorted(chosen[4:8]) == [0, 1, 2, 3]
    assert set(chosen[8:]) == {2, 3}
    assert halving.best(visits, values)[0] == 2
    of_two = SequentialHalving(
        noisy, legal, max_num_considered_actions=2, simulations=np.array([8])
    )
    assert int(of_two.choose(0, np.zeros((1, 5), np.int32), values * 0)[0]) == 0


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
    result, trees = search(game, [win, threat, game.new()], np.array([200, 400, 50]), CONFIGS[name])
    assert result.action[:2].tolist() == [2, 6]
    assert result.action_weights[0].argmax() == 2
    assert result.action_values[0, 2] == 1
    assert result.root_value[0] > 0.2
    assert np.allclose(result.action_weights.sum(1), 1, atol=1e-5)
    assert result.visit_counts.sum(1).tolist() == [200, 400, 50]
    assert (result.visit_counts[0, [0, 1, 3, 4]] == 0).all()  # taken cells
    assert (trees.size <= [201, 401, 51]).all()


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
    together, _ = search(game, positions, 80, CONFIGS["puct"])
    for k, s in enumerate(positions):
        alone, _ = search(game, [s], 80, CONFIGS["puct"])
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

    states = game.empty(12)
    for k in range(len(states)):
        s = game.new()
        for _ in range(k % 4):
            game.step(s, int(rng.choice(game.legal(s))))
        states[k] = s
    budget = np.array([48, 96, 17] * 4)
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
