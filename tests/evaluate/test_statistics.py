"""Tests of statistics against hand-computed values, SciPy and the tables of the thesis."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from ludoteca.evaluate.statistics.ranks import friedman, groups, nemenyi, ranks
from ludoteca.evaluate.statistics.ratings import ELO, VIRTUAL, rate, rate_orders
from ludoteca.evaluate.statistics.wilcoxon import all_pairs, holm, signed_rank
from ludoteca.evaluate.studies.ggp.uaemex2021 import FRIEDMAN, POLICIES, WILCOXON, WINS
from ludoteca.evaluate.tournament.analysis import analyze

SIMULATIONS = list(WINS)


@pytest.mark.parametrize("simulations", SIMULATIONS)
def test_friedman_statistic_matches_the_thesis(simulations):
    test = friedman(WINS[simulations])
    assert test.statistic == pytest.approx(FRIEDMAN[simulations], abs=1e-9)
    assert test.degrees == 4


@pytest.mark.parametrize("simulations", SIMULATIONS)
def test_wilcoxon_probabilities_match_the_thesis(simulations):
    probabilities = {
        (POLICIES[a], POLICIES[b]): test.p for a, b, test in all_pairs(WINS[simulations])
    }
    assert len(probabilities) == 10
    for (a, b), p in WILCOXON[simulations].items():
        assert probabilities[b, a] == pytest.approx(p, abs=2e-5)  # the thesis cuts off digits
    assert probabilities["ucb_alpha1", "ucb_alpha2"] >= 0.2


def test_rank_sums_and_totals_match_the_thesis():
    few, many = (analyze(WINS[simulations]) for simulations in (100, 1000))
    assert few.ranks.sum(0).tolist() == [31, 30, 33, 15, 11]
    assert many.ranks.sum(0).tolist() == [32, 34, 30, 13.5, 10.5]
    assert few.total.tolist() == [4378, 4586, 4307, 5294, 5329]
    assert many.total.tolist() == [4295, 3506, 4199, 5897, 5923]
    np.testing.assert_allclose(few.mean, [547.25, 573.25, 538.38, 661.75, 666.13], atol=0.006)
    np.testing.assert_allclose(few.sd, [58.77, 44.14, 49.05, 66.48, 50.8], atol=0.006)
    assert many.median.tolist() == [527.5, 397.5, 536.5, 723.5, 741.5]


def test_tied_ranks_share_their_mean():
    assert ranks(np.array([[5, 7, 5, 1]])).tolist() == [[2.5, 1, 2.5, 4]]


def test_friedman_corrects_for_ties_as_scipy_does():
    scores = WINS[1000]
    theirs = stats.friedmanchisquare(*scores.T)
    assert friedman(scores).corrected == pytest.approx(theirs.statistic)
    assert friedman(scores).p == pytest.approx(theirs.pvalue)
    assert friedman(scores).corrected > friedman(scores).statistic


def test_friedman_of_equal_agents():
    test = friedman(np.ones((4, 3)))
    assert (test.statistic, test.corrected, test.p) == (0, 0, 1)


def test_friedman_matches_hand_computation():
    # Always the same order of 3 agents in 4 games: rank sums 4, 8 and 12.
    test = friedman(np.array([[3, 2, 1]] * 4))
    assert test.statistic == pytest.approx(12 / (4 * 3 * 4) * (16 + 64 + 144) - 3 * 4 * 4)
    assert test.p == pytest.approx(math.exp(-test.statistic / 2))  # with 2 degrees of freedom


@pytest.mark.parametrize(("agents", "q"), [(3, 2.343), (5, 2.728), (10, 3.164)])
def test_nemenyi_critical_difference_as_in_demsar(agents, q):
    scores = np.random.default_rng(0).random((8, agents))
    expected = q * math.sqrt(agents * (agents + 1) / (6 * 8))
    assert nemenyi(scores).critical_difference == pytest.approx(expected, abs=0.001)


def test_nemenyi_probability_is_the_level_at_the_critical_difference():
    scores = WINS[1000]
    difference = np.ptp(ranks(scores).mean(0))
    alpha = nemenyi(scores).p.min()
    assert nemenyi(scores, alpha).critical_difference == pytest.approx(difference)


def test_groups_are_the_largest_that_do_not_differ():
    assert groups(np.array([4.0, 1.0, 2.0, 2.5]), 1.6) == [(0, 2), (2, 3)]
    assert groups(np.array([1.0, 2.0]), 1.0) == []  # just significant
    assert groups(np.array([1.0, 2.0, 3.0]), 5) == [(0, 2)]


@pytest.mark.parametrize("shape", [(1, 5), (5, 2)])
def test_too_few_games_or_agents_raise(shape):
    scores = np.random.default_rng(0).random(shape)
    for test in (friedman, nemenyi):
        with pytest.raises(ValueError, match="needs at least 2 games and 3 agents, got"):
            test(scores)
    assert analyze(scores).friedman is None


def test_signed_rank_matches_hand_computation():
    # Differences 1, 2, -3, so ranks 1 and 2 for and 3 against: of the 8 ways to give them signs,
    # 5 have a sum of 3 or less on one side (0, 1, 2, and 3 in two ways), and 2 * 5 / 8 > 1.
    test = signed_rank(np.array([2, 4, 3]), np.array([1, 2, 6]))
    assert (test.plus, test.minus, test.games, test.p) == (3, 3, 3, 1)
    assert signed_rank(np.array([2, 4, 9]), np.array([1, 2, 6])).p == 2 / 8


@pytest.mark.parametrize("n", [3, 8, 20, 40])
def test_signed_rank_without_ties_is_scipys_exact_test(n):
    rng = np.random.default_rng(n)
    x, y = rng.normal(0.3, 1, n), rng.normal(0, 1, n)
    test, theirs = signed_rank(x, y), stats.wilcoxon(x, y, method="exact")
    assert test.p == pytest.approx(theirs.pvalue)
    assert min(test.plus, test.minus) == theirs.statistic


def test_signed_rank_with_ties_is_scipys_permutation_test():
    x, y = np.array([3, 5, 7, 2, 9, 4, 4, 8]), np.array([2, 4, 9, 1, 5, 4, 2, 6])
    method = stats.PermutationMethod(n_resamples=np.inf)
    theirs = stats.wilcoxon(x, y, zero_method="wilcox", method=method)
    test = signed_rank(x, y)
    assert test.games == 7  # in one game they are equal
    assert test.p == pytest.approx(theirs.pvalue)


def test_signed_rank_of_equal_agents():
    test = signed_rank(np.ones(4), np.ones(4))
    assert (test.plus, test.minus, test.games, test.p) == (0, 0, 0, 1)


def test_holm_matches_hand_computation():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_rating_difference_of_two_agents_follows_their_score():
    wins = np.array([[0, 640], [360, 0]])
    ratings = rate(wins, np.zeros((2, 2)))
    share = (640 + VIRTUAL / 2) / (1000 + VIRTUAL)
    assert ratings.elo[0] - ratings.elo[1] == pytest.approx(ELO * math.log(share / (1 - share)))
    assert ratings.elo.sum() == pytest.approx(0)
    # The standard error of a log-odds is 1 / sqrt(n p q), half of it for each of the two.
    reach = 1.959964 * ELO / math.sqrt(1001 * share * (1 - share)) / 2
    np.testing.assert_allclose(ratings.high - ratings.elo, reach, rtol=1e-3)
    np.testing.assert_allclose(ratings.elo - ratings.low, reach, rtol=1e-3)


def test_ratings_of_many_are_the_most_likely_ones():
    wins = WINS[100][:5, :].astype(float)
    np.fill_diagonal(wins, 0)
    elo = rate(wins, np.zeros((5, 5))).elo
    points = wins + VIRTUAL / 2 * (1 - np.eye(5))

    def likelihood(elo):
        return (points * -np.log1p(10 ** ((elo - elo[:, None]) / 400))).sum()

    for direction in np.eye(5):
        for small in (-1, 1):
            assert likelihood(elo + small * direction) < likelihood(elo)


def test_draws_narrow_rating_intervals():
    games = np.array([[0, 50.0], [50.0, 0]])
    decided, drawn = rate(games, np.zeros((2, 2))), rate(games / 10, games * 1.8)
    assert decided.elo.tolist() == pytest.approx([0, 0], abs=1e-6)
    assert drawn.elo.tolist() == pytest.approx([0, 0], abs=1e-6)
    assert drawn.high[0] < decided.high[0] / 2


def test_agent_that_always_wins_has_a_finite_rating():
    ratings = rate(np.array([[0, 100], [0, 0]]), np.zeros((2, 2)))
    assert 400 < ratings.elo[0] < 600
    assert ratings.low[0] < 350


@pytest.mark.slow
def test_rating_intervals_have_their_coverage():
    rng = np.random.default_rng(1)
    truth = np.array([-100.0, -20.0, 20.0, 100.0])
    p = 1 / (1 + 10 ** ((truth - truth[:, None]) / 400))
    upper = np.triu_indices(4, 1)
    inside = []
    for _ in range(1000):
        wins = np.zeros((4, 4))
        wins[upper] = rng.binomial(100, p[upper])
        wins.T[upper] = 100 - wins[upper]
        ratings = rate(wins, np.zeros((4, 4)))
        inside.append((ratings.low < truth) & (truth < ratings.high))
    assert np.mean(inside) == pytest.approx(0.95, abs=0.015)


def test_agents_that_never_met_cannot_be_rated_together():
    wins = np.zeros((4, 4))
    wins[0, 1] = wins[2, 3] = 5
    with pytest.raises(ValueError, match=r"none of \[0, 1\] played any of \[2, 3\]"):
        rate(wins, np.zeros((4, 4)))


def test_plackett_luce_matches_hand_computation():
    # 0 > 1 > 2 and 2 > 1 > 0 equally often, y = exp(t_1 - t_0): the logarithm of the likelihood is
    # 2 log y - 2 log(2 + y) - 2 log(1 + y), highest where y^2 = 2. Who is between has done better.
    elo = rate_orders({((0,), (1,), (2,)): 10**6, ((2,), (1,), (0,)): 10**6}, 3).elo
    assert elo[0] == pytest.approx(elo[2])
    assert elo[1] - elo[0] == pytest.approx(ELO * math.log(2) / 2, abs=1e-3)


def test_ties_count_as_all_orders_in_equal_parts():
    # 0 and 1 tie, ahead of 2 or behind, y = exp(t_2 - t_0). Ahead: minus log(2 + y) + log(1 + y);
    # behind: log y - log(2 + y) - log 2. Together highest where 2 y^2 + y = 2.
    elo = rate_orders({((0, 1), (2,)): 10**6, ((2,), (0, 1)): 10**6}, 3).elo
    assert elo[0] == pytest.approx(elo[1])
    y = (math.sqrt(17) - 1) / 4
    assert elo[2] - elo[0] == pytest.approx(ELO * math.log(y), abs=1e-3)


def test_ratings_of_orders_are_the_most_likely_ones():
    """Every tie is written out as the orders that it stands for."""
    rng, counts = np.random.default_rng(4), {}
    for _ in range(60):
        places = rng.integers(0, 3, 4)
        who = rng.permutation(5)[:4].tolist()
        order = tuple(
            tuple(a for a, place in zip(who, places, strict=True) if place == k)
            for k in np.unique(places)
        )
        counts[order] = counts.get(order, 0) + 1
    elo = rate_orders(counts, 5).elo
    met = {tuple(sorted((a, b))) for order in counts for a in sum(order, ()) for b in
           sum(order, ()) if a != b}  # fmt: skip
    games = [*counts.items(), *(((pair,), VIRTUAL) for pair in met)]

    def likelihood(elo):
        total = 0.0
        for order, count in games:
            strict = [sum(parts, ()) for parts in product(*map(permutations, order))]
            for agents in strict:
                worths = np.exp(elo[list(agents)] / ELO)
                left = worths[::-1].cumsum()[::-1]
                total += count / len(strict) * np.log(worths / left).sum()
        return total

    assert elo.sum() == pytest.approx(0)
    for direction in np.eye(5):
        for small in (-1, 1):
            assert likelihood(elo + small * direction) < likelihood(elo)


def test_invalid_orders_raise():
    for order in (((0,), (1,), (0,)), ((0,), (3,))):
        with pytest.raises(ValueError, match="an order must hold agents from 0 to 2 once, got"):
            rate_orders({order: 1, ((0,), (1,), (2,)): 1}, 3)
    assert rate_orders({((0,),): 3}, 1).elo.tolist() == [0]


@pytest.mark.slow
def test_intervals_of_orders_have_their_coverage():
    rng, truth = np.random.default_rng(2), np.array([-150.0, -30.0, 30.0, 150.0])
    inside = []
    for _ in range(500):
        # The order of exponential times with these rates is that of Plackett and Luce.
        times = rng.exponential(np.exp(-truth / ELO), (200, 4))
        orders, counts = np.unique(times.argsort(1), axis=0, return_counts=True)
        ratings = rate_orders(
            {
                tuple((a,) for a in order): count
                for order, count in zip(orders.tolist(), counts.tolist(), strict=True)
            },
            4,
        )
        inside.append((ratings.low < truth) & (truth < ratings.high))
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)
