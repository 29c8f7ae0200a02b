"""Tests of every selection policy: references from the papers, by hand, and as a bandit."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from policy_references import INDEX, PROBABILITY, Statistics, normalized, random_statistics, stream
from scipy import special, stats

from ludoteca.agents.search.config import SEARCH_PARAMS, SearchConfig, work_dtype
from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.search.policy import NO_BEST, Parent, update_best
from ludoteca.agents.search.sequential.selection import make_selection
from ludoteca.agents.search.sequential.tree import ROOT, node_dtype
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.bandits import play_bandits, random_problems

# Policies that sample arms by weights, and policies that choose the arm of the highest index.
SAMPLED = [name for name, policy in POLICIES.items() if policy.kind == "weights"]
INDICES = [name for name in POLICIES if name not in SAMPLED and name != "thompson"]


def test_every_policy_has_a_reference() -> None:
    assert list(INDEX) == INDICES
    assert sorted(PROBABILITY) == sorted(SAMPLED)


def scores(name: str, s: Statistics, c: list[float]) -> NDArray[np.float64]:
    """Call the policy's kernel for each arm, as the search does."""
    arms, rng = s.records(name), stream(1)
    best = NO_BEST
    for arm, x in zip(arms, s.x, strict=True):
        best = update_best(best, arm, x)
    parent = Parent(int(s.t), math.log(s.t), s.k, best, np.array(c), rng)
    return np.array(
        [POLICIES[name].score(arm, x, parent) for arm, x in zip(arms, s.x, strict=True)]
    )


def some_parameters(name: str, rng: np.random.Generator) -> list[list[float]]:
    """Return the default parameters of a policy, and three random sets of them."""
    default = [float(value) for value in POLICIES[name].params.values()]
    others = [[value * rng.uniform(0.2, 3) for value in default] for _ in range(3)]
    return [default, *(others if default else [])]


@pytest.mark.parametrize("name", INDICES)
def test_index_matches_the_source(name: str) -> None:
    rng = np.random.default_rng(7)
    for c in some_parameters(name, rng):
        for arms in (2, 3, 10, 57):
            s = random_statistics(rng, arms)
            ours, reference = scores(name, s, c), INDEX[name](s, c)
            if name == "omc":  # only the ratios of its indices matter
                ours, reference = normalized(ours), normalized(reference)
            precision = 1e-5 if name == "kl_ucb" else 1e-9  # kl_ucb bisects to about 1e-6
            np.testing.assert_allclose(ours, reference, rtol=precision, atol=precision)


@pytest.mark.parametrize("name", SAMPLED)
def test_weights_match_the_source(name: str) -> None:
    rng = np.random.default_rng(8)
    for c in some_parameters(name, rng):
        c = [0.9 * value / max(c) for value in c] if name == "exp3" else c  # gamma < 1
        for arms in (2, 3, 10, 57):
            s = random_statistics(rng, arms)
            weights = scores(name, s, c)
            if name == "exp3":  # the kernel returns exponents, which the search turns into weights
                weights = (1 - c[0]) * special.softmax(weights) + c[0] / arms
            np.testing.assert_allclose(
                normalized(weights), PROBABILITY[name](s, c), rtol=1e-9, atol=1e-12
            )


# One child of 4 with mean 0.6 after 10 of 100 visits, 6 wins and 4 losses; ln 100 = 4.605170.
BY_HAND = {
    "ucb1": 1.559705,  # 0.6 + sqrt(2 * 4.605170 / 10)
    "ucb_tuned": 0.939307,  # V = 0.24 + 0.959705 > 1/4: 0.6 + sqrt(0.4605170 / 4)
    "ucb_v": 2.451709,  # 0.6 + sqrt(2 * 0.24 * 4.605170 / 10) + 3 * 4.605170 / 10
    "ucb_minimal": 0.7,  # 0.6 + 1 / 10
    "moss": 0.902703,  # 0.6 + sqrt(ln(100 / 40) / 10)
    "etc": 0.6,
    "etc_log": 0.6,  # 10 visits; m = 4.605170
    # 0.6 is the best mean, as the gap is 0: 2 + 1 / 10
    "etc_elimination": 2.1,
    "ucb_alpha1": 0.939307,  # 0.6 + sqrt(4.605170 / 40)
    "ucb_alpha2": 0.995572,  # 0.6 + sqrt(2.718282 * 4.605170 / 80)
    "uct": 1.278614,  # of rewards: q = 0.2 + sqrt(4 * 4.605170 / 10) = 1.557228; (q + 1) / 2
    "puct": 0.940909,  # 0.6 + 1.5 * 0.25 * 10 / 11
    "epsilon_greedy": 0.953125,  # epsilon = 4 / (0.64 * 100) = 1/16: 1/64 + 15/16
    "uniform": 1.0,
}


@pytest.mark.parametrize("name", BY_HAND)
def test_index_matches_hand_computation(name: str) -> None:
    child = view_records(np.zeros(1, node_dtype(name)))[0]
    child.visits, child.value, child.square, child.prior = 10, 6, 6, 0.25
    c = list(POLICIES[name].params.values())
    parent = Parent(100, math.log(100), 4, (0.6, 0.1, 1), c, stream(1))
    score = POLICIES[name].score(child, 0.6, parent)
    assert score == pytest.approx(BY_HAND[name], abs=1e-6)


def test_further_indices_match_hand_computation() -> None:
    child = view_records(np.zeros(1, node_dtype("ucb1")))[0]

    def score(
        name: str, visits: int, wins: float, t: int, k: int, best: float = 1.0, **given: float
    ) -> float:
        child.visits, child.value, child.square = visits, wins, wins
        c = list(POLICIES[name].parameters(given))
        mean, log_t = wins / visits, math.log(t)
        parent = Parent(t, log_t, k, (best, 0.01, 2), c, stream(1))
        return POLICIES[name].score(child, mean, parent)

    # The variance is below the bound: V = 0.0196 + 0.0606971 = 0.0802971 < 1/4.
    assert score("ucb_tuned", 5000, 100, 10_000, 2) == pytest.approx(0.0321619, abs=1e-6)
    # Scores from 0 to 100: 10,000 * 0.24 + 0.959705 is above the bound, 0.6 + 0.339307 / 100.
    tuned = {"bound": 0.25, "scale": 100.0}
    assert score("ucb_tuned", 10, 6, 100, 4, **tuned) == pytest.approx(0.603393, abs=1e-6)
    # Without the bound: 0.6 + sqrt(0.4605170 * 2400.959705) / 100.
    tuned = {"bound": 1e9, "scale": 100.0}
    assert score("ucb_tuned", 10, 6, 100, 4, **tuned) == pytest.approx(0.932518, abs=1e-6)
    # No bonus for the arms with more than their share of the pulls.
    assert score("moss", 50, 30, 100, 4) == 0.6
    # Explore: 1 pull of 2 scores above every mean, and none below 2.
    assert score("etc", 1, 1, 9, 4) == 3
    # Explore: m = ln 100 = 4.605170 visits, and there are 3.
    assert score("etc_log", 3, 3, 100, 4) == pytest.approx(3.605170, abs=1e-6)
    assert score("etc_log", 5, 3, 100, 4) == 0.6
    # The smoothed variance of 6 wins in 10 is 7/12 * 5/12 = 0.2430556. The radius is
    # sqrt(0.2 * 4.605170 * (0.01 + 0.02430556)) = 0.1777557.
    assert score("etc_elimination", 10, 6, 100, 4, best=0.777) == pytest.approx(2.1)
    assert score("etc_elimination", 10, 6, 100, 4, best=0.778) == 0.6
    # epsilon / K for an arm that is not the best.
    assert score("epsilon_greedy", 10, 6, 100, 4, best=0.7) == pytest.approx(1 / 64)
    # Two best arms share the remaining 15/16.
    assert score("epsilon_greedy", 10, 7, 100, 4, best=0.7) == pytest.approx(1 / 64 + 15 / 32)


# The following tests let the search choose a child.


def search_choice(s: Statistics, name: str) -> tuple[Callable[[], tuple[int, float]], Any]:
    """Return a function that lets the search choose a child, and the random stream.

    The function returns the index of the child and the probability of its choice.
    """
    game, config = make_game("tictactoe"), SearchConfig(policy=name)
    choose, _, _ = make_selection(game, config)
    nodes = np.zeros(s.k + 1, node_dtype(name))
    nodes[1:] = s.records(name)
    nodes[ROOT]["first_child"], nodes[ROOT]["num_children"], nodes[ROOT]["visits"] = 1, s.k, s.t
    nodes[1]["num_visited"], nodes[1]["block_visits"] = s.k, s.t
    params = np.zeros(1, SEARCH_PARAMS)
    params["policy_params"][0, : len(POLICIES[name].params)] = list(POLICIES[name].params.values())
    params["fpu"] = math.inf
    work = np.zeros(1, work_dtype(game))
    work["rng"] = 5
    memory = (
        view_records(nodes),
        ROOT,
        view_records(work)[0],
        view_records(params)[0],
    )
    return lambda: (choose(*memory) - 1, float(work["probability"][0])), work["rng"][0]


@pytest.mark.parametrize("name", SAMPLED)
def test_search_samples_with_the_policy_probabilities(name: str) -> None:
    s = random_statistics(np.random.default_rng(3), 5)
    c = list(POLICIES[name].params.values())
    expected = PROBABILITY[name](s, c)
    choose, _ = search_choice(s, name)
    num_samples = 1500
    counts = np.zeros(s.k)
    with np.errstate(over="ignore"):
        for _ in range(num_samples):
            arm, probability = choose()
            counts[arm] += 1
            assert probability == pytest.approx(expected[arm])
    # The chi-squared test needs at least 5 expected samples of each arm; the other arms form one.
    frequent = expected * num_samples >= 5
    observed = [*counts[frequent], counts[~frequent].sum()]
    expected_counts = [*expected[frequent] * num_samples, expected[~frequent].sum() * num_samples]
    if not (~frequent).any():
        observed, expected_counts = observed[:-1], expected_counts[:-1]
    assert stats.chisquare(observed, expected_counts).pvalue > 0.001


@pytest.mark.parametrize("name", INDICES)
def test_the_search_visits_the_child_of_highest_index(name: str) -> None:
    rng = np.random.default_rng(4)
    with np.errstate(over="ignore"):
        for _ in range(20):
            s = random_statistics(rng, 6)
            index = INDEX[name](s, list(POLICIES[name].params.values()))
            choose, _ = search_choice(s, name)
            precision = 1e-5 if name == "kl_ucb" else 1e-12
            assert index[choose()[0]] == pytest.approx(index.max(), abs=precision)


# The following tests play the policies as bandits.


# Each policy is compiled: by default only those that other tests compile, too.
COMPILED = ("ucb1", "exp3")
# Policies whose regret is below a tenth of that of uniform choices.
LOW_REGRET = ("kl_ucb", "ucb1", "ucb_tuned", "moss", "ucb_alpha1", "ucb_alpha2", "thompson", "pbbm")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in COMPILED else pytest.mark.slow) for name in POLICIES],
)
def test_every_policy_beats_uniform(name: str) -> None:
    problems = np.tile([0.5, 0.9, 0.4, 0.5, 0.2], (40, 1))
    regret = play_bandits(name, problems, 3000, seed=2).mean()
    # Uniform choices lose the best mean, 0.9, minus the mean of all arms, 0.5, in each round.
    uniform = 0.4 * 3000
    if name == "uniform":
        assert regret == pytest.approx(uniform, rel=0.02)
    else:
        assert regret < 0.8 * uniform
    if name in LOW_REGRET:
        assert regret < 0.1 * uniform


@pytest.mark.parametrize("arms", [2, 10, 50])
@pytest.mark.slow
def test_the_thesis_policies_beat_ucb1(arms: int) -> None:
    problems = random_problems(200, arms, seed=1)
    ucb1 = play_bandits("ucb1", problems, 20_000)
    for name in ("ucb_alpha1", "ucb_alpha2"):
        saved_regret = ucb1 - play_bandits(name, problems, 20_000)
        assert saved_regret.mean() > 3 * saved_regret.std() / math.sqrt(len(saved_regret))
        assert saved_regret.mean() > 0.3 * ucb1.mean()


def test_regret_of_exp3_keeps_its_bound() -> None:
    """Auer et al. (2002), theorem 3.1: (e - 1) gamma G + K ln K / gamma."""
    arms, rounds, g = 5, 3000, POLICIES["exp3"].params["gamma"]
    problems = random_problems(50, arms, seed=4)
    bound = (math.e - 1) * g * rounds * problems.max(axis=1) + arms * math.log(arms) / g
    assert np.all(play_bandits("exp3", problems, rounds, runs=20)[:, 0] < bound)


# The mean of a child mixed with its AMAF mean, by hand: 10 visits with mean 0.4, 30 of AMAF with
# mean 0.8, and bias 0.3: the weight of AMAF is 30 / (30 + 10 + 4 * 0.3^2 * 30 * 10) = 30 / 148.
# An ancestor's child for the same action, for GRAVE: 60 with mean 0.6: 60 / (70 + 216) = 60 / 286.
# Bias, visits, sum of scores, AMAF visits, sum of AMAF scores, and the mixed mean.
MIXED = {
    "": (0.3, 10, 4.0, 30, 24.0, 0.4),
    "amaf": (0.3, 10, 4.0, 30, 24.0, 0.52),  # 0.7 * 0.4 + 0.3 * 0.8
    "rave": (0.3, 10, 4.0, 30, 24.0, 0.481081),  # 0.4 + 0.4 * 30 / 148
    "rave without bias": (0.0, 10, 4.0, 30, 24.0, 0.7),  # 0.4 + 0.4 * 30 / 40
    "rave of many visits": (1.0, 1000, 400.0, 30, 24.0, 0.400099),  # 0.4 + 0.4 * 30 / 121030
    "rave without amaf": (0.3, 10, 4.0, 0, 0.0, 0.4),
    "grave": (0.3, 10, 4.0, 30, 24.0, 0.441958),  # 0.4 + 0.2 * 60 / 286
    "grave without ancestor": (0.3, 10, 4.0, 30, 24.0, 0.481081),  # as RAVE
    "grave of an action unknown there": (0.3, 10, 4.0, 30, 24.0, 0.481081),
}


@pytest.mark.parametrize("case", MIXED)
def test_rave_weight_matches_hand_computation(case: str) -> None:
    """Another child without AMAF has a mean just above or below; the better child is chosen."""
    bias, visits, value, amaf_visits, amaf_value, expected = MIXED[case]
    game = make_game("tictactoe")
    config = SearchConfig(policy="etc", amaf=case.partition(" ")[0])
    choose, clear_references, set_reference = make_selection(game, config)
    nodes = np.zeros(8, node_dtype("etc"))
    nodes[ROOT]["first_child"], nodes[ROOT]["num_children"] = 1, 2
    nodes[1]["num_visited"], nodes[1]["block_visits"] = 2, 2 * visits
    nodes["action"][1:3] = 4, 7
    nodes["visits"][1:3], nodes["value"][1] = visits, value
    nodes["amaf_visits"][1], nodes["amaf_value"][1] = amaf_visits, amaf_value
    # Node 5 is GRAVE's ancestor with its children 6 and 7.
    nodes[5]["first_child"], nodes[5]["num_children"] = 6, 2
    nodes["action"][6:8] = (2, 4) if "unknown" not in case else (2, 3)
    nodes["amaf_visits"][6:8], nodes["amaf_value"][6:8] = (9, 60), (9.0, 36.0)
    params = np.zeros(1, SEARCH_PARAMS)
    params["policy_params"][0, 0], params["fpu"], params["amaf_weight"] = 1, math.inf, bias
    work = view_records(np.zeros(1, work_dtype(game)))[0]
    tree = view_records(nodes)
    clear_references(work)
    if case in ("grave", "grave of an action unknown there"):
        set_reference(tree, 5, work)
    for offset, chosen in ((-2e-6, 1), (2e-6, 2)):
        tree.value[2] = visits * (expected + offset)
        memory = (tree, ROOT, work, view_records(params)[0])
        assert choose(*memory) == chosen


@pytest.mark.parametrize("offset", [-1e-6, 1e-6])
def test_unvisited_action_is_selected_below_first_play_urgency(offset) -> None:
    """The best of two visited children has the index 0.6 + 1 / 10."""
    game = make_game("tictactoe")
    choose, _, _ = make_selection(game, SearchConfig(policy="ucb_minimal"))
    nodes = np.zeros(4, node_dtype("ucb_minimal"))
    nodes[ROOT]["first_child"], nodes[ROOT]["num_children"] = 1, 3
    nodes[1]["num_visited"], nodes[1]["block_visits"] = 2, 14
    nodes["visits"][1:3], nodes["value"][1:3] = (10, 4), (6.0, 1.0)
    params = np.zeros(1, SEARCH_PARAMS)
    params["policy_params"][0, 0], params["fpu"] = 1, 0.7 + offset
    work = np.zeros(1, work_dtype(game))
    work["rng"] = 5
    memory = (view_records(nodes), ROOT, view_records(work)[0])
    with np.errstate(over="ignore"):
        assert choose(*memory, view_records(params)[0]) == (3 if offset > 0 else 1)
