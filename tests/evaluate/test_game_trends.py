"""Tests of trends over the games of a tournament: rank correlation, bootstrap, branching factor."""

import numpy as np
import pytest
from scipy import stats

from ludoteca.envs.engine.branching import branching_factor
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.statistics.rank_correlation import exact_p, rank_correlation
from ludoteca.evaluate.tournament.plan import Tournament
from ludoteca.evaluate.tournament.resampling import resampled_points
from ludoteca.evaluate.tournament.results import Results
from ludoteca.evaluate.tournament.trends import ResampledResults

pytestmark = pytest.mark.interpreted

GAMES = tuple(f"hex:board_size={size}" for size in (2, 3, 4, 5, 6))
FACTORS = (1, 2, 3, 4, 5)


def results_of(shares, draws="half"):
    """Return random results; one game in ten is drawn.

    Args:
        shares: strengths of the agents: an agent wins a decisive game with the probability 0.5 plus
            half the difference of the strengths. Shape `[games, agents]`.
        draws: as for `Tournament`.
    """
    names = tuple(f"agent {a}" for a in range(shares.shape[1]))
    specs = tuple(f"flat:simulations={10 + a}" for a in range(len(names)))
    tournament = Tournament(GAMES, specs, 200, 1, 0, draws, names)
    rng, shape = np.random.default_rng(0), (len(GAMES), len(tournament.pairs), 1, 200)
    outcomes = np.zeros(shape, np.int8)
    for k, (a, b) in enumerate(tournament.pairs):
        p = (0.5 + (shares[:, a] - shares[:, b]) / 2)[:, None, None]
        won = np.where(rng.random(outcomes[:, k].shape) < p, 1, -1)
        outcomes[:, k] = np.where(rng.random(won.shape) < 0.1, 0, won)
    return Results(tournament, outcomes, np.ones(shape[:2], np.int64), np.ones(1))


def test_rank_correlation_equals_that_of_scipy():
    rng = np.random.default_rng(0)
    for ties in (False, True):
        x, y = rng.normal(size=(2, 5))
        if ties:
            x, y = x.round(), y.round()
        expected = stats.spearmanr(x, y).statistic
        assert rank_correlation(x, y) == pytest.approx(expected)
        if not ties:  # SciPy doubles the smaller tail; without ties the tails are equal
            reference = stats.permutation_test(
                (y,), lambda y, x=x: stats.spearmanr(x, y).statistic, permutation_type="pairings",
                n_resamples=np.inf, vectorized=False,
            )  # fmt: skip
            assert exact_p(x, y) == pytest.approx(reference.pvalue)


def test_exact_p_by_hand():
    assert exact_p([1, 2, 3, 4], [5, 6, 7, 8]) == pytest.approx(2 / 24)  # and the reverse order
    assert exact_p([1, 2, 3], [2, 2, 2]) == 1
    assert rank_correlation([1, 2, 3], [2, 2, 2]) == 0
    batch = rank_correlation([1, 2, 3], [[1, 2, 3], [3, 2, 1]])
    assert batch == pytest.approx([1, -1])
    with pytest.raises(ValueError, match="expected two arrays of 2 to 9 values"):
        exact_p(range(10), range(10))


@pytest.mark.parametrize("draws", ["half", "loss"])
def test_bootstrap_samples_have_the_points_of_the_results_on_average(draws):
    results = results_of(np.linspace(0.4, 0.6, 15).reshape(5, 3), draws)
    sampled = resampled_points(results, 2_000)
    assert sampled.mean(0) == pytest.approx(results.points(), abs=1)
    # Two matches of 200 games: at most 400 / 4, the variance of the number of wins if p = 0.5.
    assert (sampled.var(0) < 105).all()
    assert (sampled.var(0) > 60).all()


def test_trends_have_the_sign_of_the_relation():
    grow = np.array([[0.5, 0.5, 0.5]] * 5)
    grow[:, 0] += np.linspace(-0.4, 0.4, 5)  # agent 0 is better in later games
    resampled = ResampledResults(results_of(grow))
    lead = resampled.lead("agent 0", "agent 1").trend(FACTORS)
    assert lead.correlation == pytest.approx(1)
    assert lead.p == pytest.approx(2 / 120)
    assert 0.8 < lead.low <= lead.high <= 1
    best = resampled.best_parameter({"agent 0": 7.0, "agent 1": 3.0})
    assert best.values.tolist()[0] == 3
    assert best.values.tolist()[-1] == 7
    assert best.bounds[:, 0].tolist() == [3, 3]
    chances = resampled.chances_of_best()
    assert chances.sum(1) == pytest.approx(np.ones(5))
    assert chances[-1, 0] == pytest.approx(1)
    assert chances[0, 0] == pytest.approx(0)
    places = resampled.places()
    assert places["agent 0"].values[[0, -1]].tolist() == [1, 3]
    assert places["agent 0"].trend(FACTORS).correlation > 0.7


def test_branching_factor_equals_that_of_all_lines_of_play():
    """Compare random games of Tic-Tac-Toe with the expectation over its tree."""
    game = make_game("tictactoe")
    legal = np.zeros(game.num_actions, game.action_dtype)

    def expectation(s):
        """Return the expected sum of legal actions, and the expected number of plies."""
        if game.is_terminal(s):
            return np.zeros(2)
        n = game.legal_actions(s, legal)
        children = []
        for action in legal[:n].tolist():
            child = s.copy()
            game.step(child, action)
            children.append(expectation(child))
        return np.array([n, 1]) + np.mean(children, axis=0)

    s = game.new()
    for action in (0, 4, 8, 2):  # a smaller tree
        game.step(s, action)
    actions, plies = expectation(s)
    mean, error = branching_factor(game, 400, from_state=s)
    assert error < 0.1
    assert abs(mean - actions / plies) < 4 * error
    with pytest.raises(ValueError, match="games must be an integer from 2"):
        branching_factor(game, 1)
