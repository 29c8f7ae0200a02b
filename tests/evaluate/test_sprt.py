"""Tests of the SPRT against published values, closed forms and simulations."""

import math

import numpy as np
import pytest

from ludoteca.evaluate.statistics.brownian import StoppedBrownianMotion
from ludoteca.evaluate.statistics.elo_models import (
    LOGISTIC,
    NORMALIZED,
    expected_score,
    mean_and_variance,
)
from ludoteca.evaluate.statistics.likelihood_ratio import (
    log_likelihood_ratio,
    log_likelihood_ratios,
    with_mean,
    with_t_value,
)
from ludoteca.evaluate.statistics.simulation import simulate_tests
from ludoteca.evaluate.statistics.sprt import Sprt, parse_sprt, score_variance
from ludoteca.evaluate.statistics.stopped_elo import estimate_elo

pytestmark = pytest.mark.interpreted

# Frequencies and log-likelihood ratios that Fishtest printed in pull requests of Stockfish (number
# in the comment). Fishtest prints logistic bounds in braces, normalized ones in angle brackets.
PUBLISHED = [
    (LOGISTIC, -0.25, 1.25, (253, 4282, 17604, 4431, 286), 2.94),  # 3209
    (LOGISTIC, 0.25, 1.25, (58, 3302, 33130, 3518, 84), 2.97),
    (LOGISTIC, -0.25, 1.25, (491, 7345, 29693, 7670, 465), 2.96),  # 3098
    (LOGISTIC, -0.5, 1.5, (17, 253, 1042, 337, 39), 2.96),  # 2971
    (LOGISTIC, 0.25, 1.75, (11, 407, 3238, 513, 11), 2.93),
    (LOGISTIC, -0.5, 1.5, (59, 754, 2467, 865, 75), 2.95),  # 2951
    (LOGISTIC, -1.0, 3.0, (424, 2948, 5832, 3045, 460), 2.94),  # 2493
    (LOGISTIC, 0.0, 2.0, (1284, 17437, 55536, 18085, 1292), 2.94),
    (NORMALIZED, 0.0, 2.0, (831, 31795, 68460, 32448, 834), 2.93),  # 5712
    (NORMALIZED, 0.5, 2.5, (307, 54901, 140959, 56230, 281), 2.95),
    (NORMALIZED, 0.0, 2.0, (371, 10263, 24989, 10642, 379), 2.95),  # 4194
    (NORMALIZED, 0.5, 2.5, (47, 8181, 25234, 8575, 47), 2.94),
    (NORMALIZED, -1.75, 0.25, (467, 16804, 36571, 16874, 484), 2.94),  # 5906
    (NORMALIZED, -1.75, 0.25, (289, 26459, 62934, 26379, 331), 2.94),  # 6285
    (NORMALIZED, -1.75, 0.25, (62, 2806, 6477, 3012, 75), 2.95),  # 6109
]


@pytest.mark.parametrize(("model", "elo0", "elo1", "frequencies", "published"), PUBLISHED)
def test_log_likelihood_ratio_matches_published_tests(model, elo0, elo1, frequencies, published):
    llr = log_likelihood_ratio(elo0, elo1, frequencies, model)
    # Fishtest rounds or truncates to two decimals.
    assert llr == pytest.approx(published, abs=0.011)


@pytest.mark.parametrize("model", [LOGISTIC, NORMALIZED])
def test_log_likelihood_ratios_of_many_tests_are_those_of_each(model):
    counts = np.random.default_rng(0).multinomial(40, [0.1, 0.2, 0.4, 0.2, 0.1], 30).astype(float)
    counts[0] = (0, 0, 40, 0, 0)
    expected = [log_likelihood_ratio(-5, 30, row, model) for row in counts]
    assert log_likelihood_ratios(-5, 30, counts, model) == pytest.approx(expected, abs=1e-12)


def test_log_likelihood_ratio_without_draws_is_that_of_binomial_trials():
    s0, s1 = expected_score(0), expected_score(40)
    expected = 60 * math.log(s1 / s0) + 40 * math.log((1 - s1) / (1 - s0))
    # They differ only by the prior frequency of draws, 0.001.
    assert log_likelihood_ratio(0, 40, (40, 0, 60)) == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("elo", [-80.0, 0.0, 35.0])
def test_most_likely_probabilities_solve_the_quadratic_equation_of_three_results(elo):
    """Check the maximum of the likelihood under a given mean score s by its Lagrange condition.

    The condition is a quadratic equation in the Lagrange multiplier x.
    """
    losses, draws, wins = 30.0, 50.0, 45.0
    n, s = losses + draws + wins, expected_score(elo)
    values = (-s, 0.5 - s, 1 - s)
    # The sum of f_i v_i / (1 + x v_i) is 0; multiplied by the three denominators:
    a, b, c = values
    f = (losses / n, draws / n, wins / n)
    quadratic = [
        f[0] * a * b * c + f[1] * b * a * c + f[2] * c * a * b,
        f[0] * a * (b + c) + f[1] * b * (a + c) + f[2] * c * (a + b),
        f[0] * a + f[1] * b + f[2] * c,
    ]
    roots = [x.real for x in np.roots(quadratic)]
    (x,) = [x for x in roots if all(1 + x * v > 0 for v in values)]
    expected = [f_i / (1 + x * v) for f_i, v in zip(f, values, strict=True)]
    assert with_mean(np.array([losses, draws, wins]), s) == pytest.approx(expected, abs=1e-12)


def test_equal_wins_and_losses_share_their_number_at_an_elo_difference_of_zero():
    assert with_mean(np.array([30.0, 50, 20]), 0.5) == pytest.approx([0.25, 0.5, 0.25])


@pytest.mark.parametrize("t", [-0.4, 0.0, 0.15])
@pytest.mark.parametrize("frequencies", [(30, 50, 45), (3, 20, 40, 25, 9)])
def test_no_other_probabilities_with_the_t_value_are_more_likely(t, frequencies):
    from scipy.optimize import minimize

    counts = np.array(frequencies, float)
    scores = np.linspace(0, 1, len(counts))

    def t_value(p):
        mean = p @ scores
        return (mean - 0.5) / math.sqrt(p @ (scores - mean) ** 2)

    p = with_t_value(counts, t)
    assert (p.sum(), t_value(p)) == pytest.approx((1, t), abs=1e-7)
    best = minimize(
        lambda q: -(counts @ np.log(q)),
        np.full(len(counts), 1 / len(counts)),
        method="SLSQP",
        bounds=[(1e-6, 1)] * len(counts),
        constraints=[
            {"type": "eq", "fun": lambda q: q.sum() - 1},
            {"type": "eq", "fun": lambda q: t_value(q) - t},
        ],
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert counts @ np.log(p) == pytest.approx(-best.fun, abs=1e-5)


@pytest.mark.parametrize("model", [LOGISTIC, NORMALIZED])
@pytest.mark.parametrize("frequencies", [(30, 50, 45), (3, 20, 40, 25, 9), (0, 0, 7), (0,) * 5])
def test_log_likelihood_ratio_changes_its_sign_with_hypotheses_and_agents(model, frequencies):
    llr = log_likelihood_ratio(-5, 30, frequencies, model)
    assert log_likelihood_ratio(30, -5, frequencies, model) == pytest.approx(-llr, abs=1e-7)
    swapped = log_likelihood_ratio(-30, 5, frequencies[::-1], model)
    assert swapped == pytest.approx(-llr, abs=1e-7)


def test_normalized_ratio_converges_for_extreme_results():
    rng = np.random.default_rng(0)
    for _ in range(100):
        results = rng.choice([3, 5])
        frequencies = rng.multinomial(10 ** rng.integers(0, 6), rng.dirichlet([0.1] * results))
        elo0 = rng.uniform(-50, 50)
        llr = log_likelihood_ratio(elo0, elo0 + rng.choice([2, 50]), frequencies, NORMALIZED)
        assert math.isfinite(llr)


@pytest.mark.parametrize(
    "frequencies", [(1, 2), (1, 2, 3, 4), (-1, 2, 3), (math.nan, 1, 1), (math.inf, 1, 1)]
)
def test_invalid_frequencies_are_rejected(frequencies):
    with pytest.raises(ValueError, match="frequencies"):
        log_likelihood_ratio(0, 10, frequencies)


def lattice_worse_probability(lower, upper, drift, variance, time, position, steps=1000):
    """Return `StoppedBrownianMotion.worse_probability` by finite differences (Crank-Nicolson).

    That is the probability that the motion hits the lower bound before a time, or is below a
    position at that time.
    """
    from scipy.linalg import solve_banded

    intervals = 550  # the positions of the test are points of the lattice
    x = np.linspace(lower, upper, intervals + 1)
    h, dt = x[1] - x[0], time / steps
    value = np.where(x < position - 1e-12, 1.0, 0.0)
    value[np.abs(x - position) < h / 2] = 0.5
    value[0], value[-1] = 1.0, 0.0
    up = variance / (2 * h * h) + drift / (2 * h)
    down = variance / (2 * h * h) - drift / (2 * h)
    for step in range(steps):
        # The first steps are implicit, as the final values are discontinuous.
        theta = 1.0 if step < 8 else 0.5
        rate = dt * (1 - theta)
        right = value.copy()
        right[1:-1] += rate * (up * value[2:] + down * value[:-2] - (up + down) * value[1:-1])
        bands = np.zeros((3, intervals + 1))
        bands[1] = 1
        bands[1, 1:-1] += dt * theta * (up + down)
        bands[0, 2:] = -dt * theta * up
        bands[2, :-2] = -dt * theta * down
        value = solve_banded((1, 1), bands, right)
    return float(np.interp(0.0, x, value))


@pytest.mark.parametrize(
    ("drift", "time", "position"),
    [(0.02, 110.0, 0.4), (0.02, 110.0, 3.0), (-0.1, 20.0, -2.5), (0.0, 500.0, 1.0)],
)
def test_distribution_of_the_outcome_solves_the_backward_equation(drift, time, position):
    motion = StoppedBrownianMotion(-2.5, 3.0, drift, 0.05)
    expected = lattice_worse_probability(-2.5, 3.0, drift, 0.05, time, position)
    assert motion.worse_probability(time, position) == pytest.approx(expected, abs=3e-5)


def test_outcomes_are_ordered_by_the_bound_and_then_by_the_time():
    motion = StoppedBrownianMotion(-2.9, 2.9, 0.01, 0.02)
    late = 1e5
    order = [
        motion.worse_probability(time, position)
        for time, position in [(1, -2.9), (50, -2.9), (300, -2.9), (300, 0.5), (300, 2.9), (9, 2.9)]
    ]
    assert order == sorted(order)
    assert order[0] == pytest.approx(0, abs=1e-9)
    assert order[-1] == pytest.approx(1, abs=1e-9)
    stops_below = motion.lower_probability()
    assert motion.worse_probability(late, -2.9) == pytest.approx(stops_below, abs=1e-9)
    assert motion.worse_probability(late, 2.9) == pytest.approx(stops_below, abs=1e-9)


@pytest.mark.parametrize("drift", [1e-13, 1e-7, 1e-5])
def test_expected_time_is_continuous_where_there_is_no_drift(drift):
    # Without drift the expected time is -lower * upper / variance.
    motion = StoppedBrownianMotion(-2.0, 3.0, drift, 0.5)
    assert motion.expected_time() == pytest.approx(12, rel=1e-4)


def test_bounds_by_wald():
    test = Sprt(0, 10, alpha=0.05, beta=0.1)
    assert test.lower == pytest.approx(math.log(0.1 / 0.95))
    assert test.upper == pytest.approx(math.log(0.9 / 0.05))
    assert [test.verdict(llr) for llr in (-3, 0, 3)] == ["H0", "undecided", "H1"]


@pytest.mark.parametrize("model", [LOGISTIC, NORMALIZED])
def test_expected_games_and_error_rates_are_those_of_wald(model):
    test = Sprt(0, 5, alpha=0.05, beta=0.1, model=model)
    assert test.acceptance_probability(0, 0.4) == pytest.approx(0.05, rel=0.02)
    assert test.acceptance_probability(5, 0.4) == pytest.approx(0.9, rel=0.02)
    # Wald 1945, formula 4.8: E[n] = (L(theta) lower + (1 - L(theta)) upper) / E[z]
    deviation = math.sqrt(score_variance(5, 0.4, model))
    # A normalized Elo difference of 800 / log(10) = 347.4 is a standard deviation of a game.
    s0, s1 = 0.5, expected_score(5) if model == LOGISTIC else 0.5 + 5 / 347.43558552 * deviation
    # E[z] of a pair is (s1 - s0)^2 / (2 variance), with half the variance of a game.
    drift = (s1 - s0) ** 2 / deviation**2
    expected = 2 * (0.1 * test.lower + 0.9 * test.upper) / drift
    assert test.expected_games(5, 0.4) == pytest.approx(expected, rel=0.02)
    assert (
        test.expected_games(2.5, 0.4) > test.expected_games(5, 0.4) > test.expected_games(20, 0.4)
    )


def test_correlation_within_pairs_changes_the_expected_games_in_proportion():
    test = Sprt(0, 5)
    games = [test.expected_games(5, 0.2, rho) for rho in (-0.5, 0.0, 0.5)]
    assert games == pytest.approx([games[1] / 2, games[1], 1.5 * games[1]], rel=1e-3)


def test_impossible_fractions_of_draws_are_rejected():
    with pytest.raises(ValueError, match=r"at most 0\.481 of the games can be draws, got 0\.5"):
        score_variance(200, 0.5)


def test_texts_are_parsed_into_tests():
    test = parse_sprt("elo0=-5,elo1=10.5,alpha=0.01,model=normalized,counts=trinomial")
    assert test == Sprt(-5, 10.5, 0.01, 0.05, "normalized", "trinomial")
    assert parse_sprt(test.spec) == test
    precise = Sprt(0.1234567, 1 / 3)
    assert parse_sprt(precise.spec) == precise


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("elo0=0", "needs elo0 and elo1"),
        ("", "needs elo0 and elo1"),
        ("0,10", "expected key=value"),
        ("elo0=0,elo1=10,gamma=1", "no parameter 'gamma'"),
        ("elo0=10,elo1=0", "elo0 must be less than elo1"),
        ("elo0=5,elo1=5", "elo0 must be less than elo1"),
        ("elo0=a,elo1=5", "elo0 must be a number"),
        ("elo0=0,elo1=5000", "elo1 must be a number from -1000 to 1000"),
        ("elo0=0,elo1=5,alpha=0.5", "alpha must be a number"),
        ("elo0=0,elo1=5,beta=0", "beta must be a number"),
        ("elo0=0,elo1=5,model=bayes", "model must be one of"),
        ("elo0=0,elo1=5,counts=pairs", "counts must be one of"),
        ("elo0=0,elo1=5,elo1=6", "comes twice"),
    ],
)
def test_invalid_texts_are_rejected(text, message):
    with pytest.raises(ValueError, match=message):
        parse_sprt(text)


def test_estimate_of_a_test_that_did_not_stop_is_near_the_mean():
    test = Sprt(-20, 20, alpha=1e-9, beta=1e-9)  # so that the bounds are far away
    frequencies = (10, 30, 50, 40, 12)
    estimate = estimate_elo(test, frequencies)
    mean, variance = mean_and_variance(np.array(frequencies, float))
    error = math.sqrt(variance / sum(frequencies))
    slope = 400 / math.log(10) / (mean * (1 - mean))
    assert estimate.uncorrected == pytest.approx(-400 * math.log10(1 / mean - 1))
    assert estimate.elo == pytest.approx(estimate.uncorrected, abs=0.05)
    assert estimate.high - estimate.low == pytest.approx(2 * 1.96 * error * slope, rel=0.02)


def test_estimate_after_a_stop_corrects_the_mean_toward_the_middle():
    test = Sprt(0, 20)
    accepted = (4, 30, 90, 52, 20)
    assert test.verdict(test.llr(accepted)) == "H1"
    estimate = estimate_elo(test, accepted)
    assert estimate.low < estimate.elo < estimate.uncorrected
    rejected = (12, 50, 90, 46, 5)
    assert test.verdict(test.llr(rejected)) == "H0"
    estimate = estimate_elo(test, rejected)
    assert estimate.uncorrected < estimate.elo < estimate.high


@pytest.mark.parametrize("frequencies", [(0, 0, 0), (0, 7, 0), (0, 0, 0, 0, 3)])
def test_equal_results_have_no_estimate(frequencies):
    assert estimate_elo(Sprt(0, 20), frequencies) is None


def simulate(test, elo, draws, advantage, tests, seed):
    """Return simulated tests at a logistic Elo difference."""
    rng = np.random.default_rng(seed)
    return simulate_tests(test, expected_score(elo), draws, advantage, tests, rng)


@pytest.mark.slow
@pytest.mark.parametrize("model", [LOGISTIC, NORMALIZED])
@pytest.mark.parametrize(("draws", "advantage"), [(0.0, 0.0), (0.5, 0.0), (0.3, 0.25)])
def test_error_rates_and_lengths_match_theory_over_many_tests(model, draws, advantage):
    """Simulate many tests; the theory, Brownian motion, ignores that the last step overshoots."""
    elo1 = 40.0
    # Normalized ratios are computed test by test.
    tests, tolerance = (1000, 0.12) if model == LOGISTIC else (250, 0.2)
    largest = 0.05 + 3 * math.sqrt(0.05 * 0.95 / tests)
    test = Sprt(0, elo1, alpha=0.05, beta=0.05, model=model)
    elo = elo1
    if model == NORMALIZED:  # the logistic difference that corresponds to elo1
        deviation = math.sqrt(score_variance(elo1, draws, NORMALIZED))
        s = 0.5 + elo1 / (800 / math.log(10)) * deviation
        elo = -400 * math.log10(1 / s - 1)
    simulated = simulate(test, 0, draws, advantage, tests, seed=2)
    assert simulated.accepted.mean() < largest
    if advantage == 0:
        assert simulated.games.mean() == pytest.approx(test.expected_games(0, draws), rel=tolerance)
        simulated = simulate(test, elo, draws, 0, tests, seed=3)
        assert (~simulated.accepted).mean() < largest
        assert simulated.games.mean() == pytest.approx(
            test.expected_games(elo1, draws), rel=tolerance
        )
    elif model == LOGISTIC:
        correlation = -(advantage**2) / score_variance(0, draws)
        expected = test.expected_games(0, draws, correlation)
        assert simulated.games.mean() == pytest.approx(expected, rel=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("elo", [0.0, 10.0, 25.0])
def test_intervals_of_the_median_unbiased_estimate_have_their_coverage(elo):
    test = Sprt(0, 25)
    frequencies = simulate(test, elo, 0.3, 0, 600, seed=5).frequencies
    estimates = [estimate_elo(test, counts) for counts in frequencies]
    too_high = np.mean([estimate.elo > elo for estimate in estimates])
    covered = np.mean([estimate.low <= elo <= estimate.high for estimate in estimates])
    assert too_high == pytest.approx(0.5, abs=0.075)
    assert covered == pytest.approx(0.95, abs=0.03)


def test_error_rate_of_simulated_tests_is_at_most_the_nominal_rate():
    test = Sprt(0, 60, alpha=0.1, beta=0.1)
    simulated = simulate(test, 0, 0.3, 0, tests=150, seed=1)
    # 150 tests with a rate of 0.1: 26 or more errors happen once in 300 times.
    assert simulated.accepted.sum() < 26
    assert simulated.games.mean() == pytest.approx(test.expected_games(0, 0.3), rel=0.25)
