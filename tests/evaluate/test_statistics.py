"""Tests of statistics against hand-computed values, SciPy and tables of a thesis (`uaemex2021`)."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from ludoteca.evaluate.statistics.ranks import friedman, groups, nemenyi, ranks
from ludoteca.evaluate.statistics.ratings import (
    ELO_PER_UNIT,
    VIRTUAL_DRAWS,
    Ratings,
    rate,
    rate_orders,
)
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
        assert probabilities[b, a] == pytest.approx(p, abs=2e-5)  # the thesis truncates digits
    assert probabilities["ucb_alpha1", "ucb_alpha2"] >= 0.2


def test_rank_sums_and_totals_match_the_thesis():
    results_100, results_1000 = (analyze(WINS[simulations]) for simulations in (100, 1000))
    assert results_100.ranks.sum(0).tolist() == [31, 30, 33, 15, 11]
    assert results_1000.ranks.sum(0).tolist() == [32, 34, 30, 13.5, 10.5]
    assert results_100.total.tolist() == [4378, 4586, 4307, 5294, 5329]
    assert results_1000.total.tolist() == [4295, 3506, 4199, 5897, 5923]
    np.testing.assert_allclose(
        results_100.mean, [547.25, 573.25, 538.38, 661.75, 666.13], atol=0.006
    )
    np.testing.assert_allclose(results_100.sd, [58.77, 44.14, 49.05, 66.48, 50.8], atol=0.006)
    assert results_1000.median.tolist() == [527.5, 397.5, 536.5, 723.5, 741.5]


def test_tied_ranks_share_their_mean():
    assert ranks(np.array([[5, 7, 5, 1]])).tolist() == [[2.5, 1, 2.5, 4]]


def test_friedman_corrects_for_ties_as_scipy_does():
    scores = WINS[1000]
    scipy_test = stats.friedmanchisquare(*scores.T)
    assert friedman(scores).corrected == pytest.approx(scipy_test.statistic)
    assert friedman(scores).p == pytest.approx(scipy_test.pvalue)
    assert friedman(scores).corrected > friedman(scores).statistic


def test_friedman_of_equal_agents():
    test = friedman(np.ones((4, 3)))
    assert (test.statistic, test.corrected, test.p) == (0, 0, 1)


def test_friedman_matches_hand_computation():
    # Always the same order of 3 agents in 4 games: rank sums 4, 8 and 12.
    test = friedman(np.array([[3, 2, 1]] * 4))
    assert test.statistic == pytest.approx(12 / (4 * 3 * 4) * (16 + 64 + 144) - 3 * 4 * 4)
    assert test.p == pytest.approx(math.exp(-test.statistic / 2))  # with 2 degrees of freedom


# Critical values q at the 5 % level, Demsar 2006, table 5 (a).
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
    assert groups(np.array([1.0, 2.0]), 1.0) == []  # equal to the critical difference: significant
    assert groups(np.array([1.0, 2.0, 3.0]), 5) == [(0, 2)]


@pytest.mark.parametrize("shape", [(1, 5), (5, 2)])
def test_too_few_games_or_agents_raise(shape):
    scores = np.random.default_rng(0).random(shape)
    for test in (friedman, nemenyi):
        with pytest.raises(ValueError, match="needs at least 2 games and 3 agents, got"):
            test(scores)
    assert analyze(scores).friedman is None


def test_signed_rank_matches_hand_computation():
    # Differences 1, 2 and -3: positive ranks 1 and 2, negative rank 3. Of the 8 sign assignments,
    # 5 have a positive rank sum of 3 or less (0, 1, 2, and 3 in two ways), and 2 * 5 / 8 > 1.
    test = signed_rank(np.array([2, 4, 3]), np.array([1, 2, 6]))
    assert (test.plus, test.minus, test.games, test.p) == (3, 3, 3, 1)
    assert signed_rank(np.array([2, 4, 9]), np.array([1, 2, 6])).p == 2 / 8


@pytest.mark.parametrize("n", [3, 8, 20, 40])
def test_signed_rank_without_ties_is_scipys_exact_test(n):
    rng = np.random.default_rng(n)
    x, y = rng.normal(0.3, 1, n), rng.normal(0, 1, n)
    test, scipy_test = signed_rank(x, y), stats.wilcoxon(x, y, method="exact")
    assert test.p == pytest.approx(scipy_test.pvalue)
    assert min(test.plus, test.minus) == scipy_test.statistic


def test_signed_rank_with_ties_is_scipys_permutation_test():
    x, y = np.array([3, 5, 7, 2, 9, 4, 4, 8]), np.array([2, 4, 9, 1, 5, 4, 2, 6])
    method = stats.PermutationMethod(n_resamples=np.inf)
    scipy_test = stats.wilcoxon(x, y, zero_method="wilcox", method=method)
    test = signed_rank(x, y)
    assert test.games == 7  # the scores of one game are equal
    assert test.p == pytest.approx(scipy_test.pvalue)


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
    score = (640 + VIRTUAL_DRAWS / 2) / (1000 + VIRTUAL_DRAWS)
    assert ratings.elo[0] - ratings.elo[1] == pytest.approx(
        ELO_PER_UNIT * math.log(score / (1 - score))
    )
    assert ratings.elo.sum() == pytest.approx(0)
    # The standard error of log odds is 1 / sqrt(n p (1 - p)), with n = 1000 games and a virtual
    # draw; each rating has half of it.
    half_width = 1.959964 * ELO_PER_UNIT / math.sqrt(1001 * score * (1 - score)) / 2
    np.testing.assert_allclose(ratings.high - ratings.elo, half_width, rtol=1e-3)
    np.testing.assert_allclose(ratings.elo - ratings.low, half_width, rtol=1e-3)
    # The errors of the two ratings are opposite, so that of their difference is twice that of one.
    expected = ratings.elo[0] - ratings.elo[1] + 2 * half_width * np.array([0, -1, 1])
    assert ratings.difference(0, 1) == pytest.approx(expected, rel=1e-3)
    assert ratings.difference(1, 0) == pytest.approx(-expected[[0, 2, 1]], rel=1e-3)
    assert ratings.difference(1, 1) == (0, 0, 0)


def test_ratings_of_several_agents_maximize_the_likelihood():
    wins = WINS[100][:5, :].astype(float)
    np.fill_diagonal(wins, 0)
    elo = rate(wins, np.zeros((5, 5))).elo
    points = wins + VIRTUAL_DRAWS / 2 * (1 - np.eye(5))

    def likelihood(elo):
        return (points * -np.log1p(10 ** ((elo - elo[:, None]) / 400))).sum()

    for direction in np.eye(5):
        for step in (-1, 1):
            assert likelihood(elo + step * direction) < likelihood(elo)


def test_difference_of_ratings_needs_their_covariance():
    with pytest.raises(ValueError, match="needs the covariance"):
        Ratings(*np.zeros((3, 2))).difference(0, 1)


def test_draws_narrow_rating_intervals():
    games = np.array([[0, 50.0], [50.0, 0]])
    without_draws, with_draws = rate(games, np.zeros((2, 2))), rate(games / 10, games * 1.8)
    assert without_draws.elo.tolist() == pytest.approx([0, 0], abs=1e-6)
    assert with_draws.elo.tolist() == pytest.approx([0, 0], abs=1e-6)
    assert with_draws.high[0] < without_draws.high[0] / 2


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
    covered, differences_covered = [], []
    for _ in range(1000):
        wins = np.zeros((4, 4))
        wins[upper] = rng.binomial(100, p[upper])
        wins.T[upper] = 100 - wins[upper]
        ratings = rate(wins, np.zeros((4, 4)))
        covered.append((ratings.low < truth) & (truth < ratings.high))
        _, low, high = ratings.difference(0, 2)
        differences_covered.append(low < truth[0] - truth[2] < high)
    assert np.mean(covered) == pytest.approx(0.95, abs=0.015)
    assert np.mean(differences_covered) == pytest.approx(0.95, abs=0.02)


def test_groups_that_did_not_play_each_other_cannot_be_rated():
    wins = np.zeros((4, 4))
    wins[0, 1] = wins[2, 3] = 5
    with pytest.raises(ValueError, match=r"none of \[0, 1\] played any of \[2, 3\]"):
        rate(wins, np.zeros((4, 4)))


def test_plackett_luce_matches_hand_computation():
    # Orders 0 > 1 > 2 and 2 > 1 > 0 equally often, and y = exp(t_1 - t_0): the log-likelihood is
    # 2 log y - 2 log(2 + y) - 2 log(1 + y), with its maximum at y^2 = 2.
    elo = rate_orders({((0,), (1,), (2,)): 10**6, ((2,), (1,), (0,)): 10**6}, 3).elo
    assert elo[0] == pytest.approx(elo[2])
    assert elo[1] - elo[0] == pytest.approx(ELO_PER_UNIT * math.log(2) / 2, abs=1e-3)


def test_ties_count_as_all_orders_in_equal_parts():
    # Agents 0 and 1 tie, ahead of 2 or behind it, and y = exp(t_2 - t_0). Log-likelihood if ahead:
    # -log(2 + y) - log(1 + y); if behind: log y - log(2 + y) - log 2; maximum at 2 y^2 + y = 2.
    elo = rate_orders({((0, 1), (2,)): 10**6, ((2,), (0, 1)): 10**6}, 3).elo
    assert elo[0] == pytest.approx(elo[1])
    y = (math.sqrt(17) - 1) / 4
    assert elo[2] - elo[0] == pytest.approx(ELO_PER_UNIT * math.log(y), abs=1e-3)


def test_ratings_of_orders_maximize_the_likelihood():
    """The likelihood is computed by enumerating the orders of tied agents."""
    rng, counts = np.random.default_rng(4), {}
    for _ in range(60):
        places = rng.integers(0, 3, 4)
        agents_of_game = rng.permutation(5)[:4].tolist()
        order = tuple(
            tuple(a for a, place in zip(agents_of_game, places, strict=True) if place == k)
            for k in np.unique(places)
        )
        counts[order] = counts.get(order, 0) + 1
    elo = rate_orders(counts, 5).elo
    pairs_played = {tuple(sorted((a, b))) for order in counts for a in sum(order, ()) for b in
           sum(order, ()) if a != b}  # fmt: skip
    games = [*counts.items(), *(((pair,), VIRTUAL_DRAWS) for pair in pairs_played)]

    def likelihood(elo):
        total = 0.0
        for order, count in games:
            strict_orders = [sum(places, ()) for places in product(*map(permutations, order))]
            for agents in strict_orders:
                strengths = np.exp(elo[list(agents)] / ELO_PER_UNIT)
                remaining_strengths = strengths[::-1].cumsum()[::-1]
                total += count / len(strict_orders) * np.log(strengths / remaining_strengths).sum()
        return total

    assert elo.sum() == pytest.approx(0)
    for direction in np.eye(5):
        for step in (-1, 1):
            assert likelihood(elo + step * direction) < likelihood(elo)


def test_invalid_orders_raise():
    for order in (((0,), (1,), (0,)), ((0,), (3,))):
        with pytest.raises(
            ValueError, match="an order must contain agents from 0 to 2, each at most once, got"
        ):
            rate_orders({order: 1, ((0,), (1,), (2,)): 1}, 3)
    assert rate_orders({((0,),): 3}, 1).elo.tolist() == [0]


@pytest.mark.slow
def test_intervals_of_orders_have_their_coverage():
    rng, truth = np.random.default_rng(2), np.array([-150.0, -30.0, 30.0, 150.0])
    covered = []
    for _ in range(500):
        # The order of exponential times with these rates has the Plackett-Luce distribution.
        times = rng.exponential(np.exp(-truth / ELO_PER_UNIT), (200, 4))
        orders, counts = np.unique(times.argsort(1), axis=0, return_counts=True)
        ratings = rate_orders(
            {
                tuple((a,) for a in order): count
                for order, count in zip(orders.tolist(), counts.tolist(), strict=True)
            },
            4,
        )
        covered.append((ratings.low < truth) & (truth < ratings.high))
    assert np.mean(covered) == pytest.approx(0.95, abs=0.02)
