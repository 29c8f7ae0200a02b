"""Selection of network-guided search, compared with formulas computed by hand."""

import math

import numpy as np
import pytest

from ludoteca.agents.search.network.gumbel import SequentialHalving, sequence_of_considered_visits
from ludoteca.agents.search.network.selection import (
    SelectionParams,
    make_interior_selection,
    write_improved_policy,
)
from ludoteca.agents.search.network.trees import ILLEGAL, make_trees
from ludoteca.agents.search.simultaneous.tree import ROOT
from ludoteca.envs.interpreted import with_attributes
from ludoteca.envs.registry import make_game

pytestmark = pytest.mark.interpreted


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
