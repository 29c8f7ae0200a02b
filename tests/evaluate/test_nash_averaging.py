"""Tests of alpha-rank and Nash averaging against OpenSpiel and equilibria computed by hand."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize

from ludoteca.evaluate.statistics.alpha_rank import alpha_rank, stationary
from ludoteca.evaluate.statistics.nash_averaging import nash_average
from ludoteca.evaluate.studies.statistics.libraries import compare_rankings, recorded
from ludoteca.evaluate.tournament.saved_results import read_results

pytestmark = pytest.mark.interpreted

ROOT = Path(__file__).parents[2]
CYCLE = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])  # rock, paper, scissors


def copies(advantages, numbers):
    """Return the advantages of `numbers[a]` copies of each agent a."""
    rows = np.repeat(np.arange(len(advantages)), numbers)
    return advantages[np.ix_(rows, rows)]


def random_advantages(seed, agents):
    """Return random advantages of agents over each other, antisymmetric, `[agents, agents]`."""
    upper = np.triu(np.random.default_rng(seed).uniform(-1, 1, (agents, agents)), 1)
    return upper - upper.T


def test_equilibrium_of_rock_paper_scissors_is_uniform():
    average = nash_average(CYCLE)
    assert average.probabilities == pytest.approx([1 / 3] * 3, abs=1e-6)
    assert average.ratings == pytest.approx([0, 0, 0], abs=1e-6)


def test_redundant_copies_share_the_probability_of_their_agent():
    average = nash_average(copies(CYCLE, [1, 2, 3]))
    expected = [1 / 3, 1 / 6, 1 / 6, 1 / 9, 1 / 9, 1 / 9]
    assert average.probabilities == pytest.approx(expected, abs=1e-6)
    assert average.ratings == pytest.approx([0] * 6, abs=1e-6)


def test_unequal_cycle_by_hand():
    # a beats b by 1, b beats c by 2, c beats a by 3: the probability of each agent is proportional
    # to the advantage between the other two, so (2, 3, 1) / 6.
    advantages = np.array([[0.0, 1, -3], [-1, 0, 2], [3, -2, 0]])
    average = nash_average(advantages)
    assert average.probabilities == pytest.approx([2 / 6, 3 / 6, 1 / 6], abs=1e-6)


def test_agent_that_loses_to_all_has_no_probability_and_a_negative_rating():
    advantages = np.zeros((4, 4))
    advantages[:3, :3] = CYCLE
    advantages[:3, 3], advantages[3, :3] = (0.2, 0.4, 0.9), (-0.2, -0.4, -0.9)
    average = nash_average(advantages)
    assert average.probabilities == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0], abs=1e-6)
    assert average.ratings[3] == pytest.approx(-0.5, abs=1e-6)  # minus the mean of 0.2, 0.4, 0.9


def test_best_agent_has_all_probability():
    average = nash_average(np.array([[0, 0.4, 0.2], [-0.4, 0, 0.9], [-0.2, -0.9, 0]]))
    assert average.probabilities.tolist() == [1, 0, 0]
    assert average.ratings == pytest.approx([0, -0.4, -0.2])


def test_equal_agents_share_the_probability():
    assert nash_average(np.zeros((4, 4))).probabilities == pytest.approx([0.25] * 4)


@pytest.mark.parametrize("seed", range(6))
def test_equilibrium_has_the_most_entropy(seed):
    """Check that SLSQP, another optimizer, finds no equilibrium with more entropy."""
    advantages = np.round(random_advantages(seed, 5) * 2) / 2  # ties make several equilibria
    average = nash_average(advantages)
    p = average.probabilities
    assert average.ratings.max() < 1e-5

    def negative_entropy(q):
        return float((q * np.log(np.maximum(q, 1e-12))).sum())

    best = optimize.minimize(
        negative_entropy,
        p * 0.9 + 0.1 / 5,
        bounds=[(0, 1)] * 5,
        constraints=[
            {"type": "eq", "fun": lambda q: q.sum() - 1},
            {"type": "ineq", "fun": lambda q: -advantages @ q},
        ],
    )
    assert negative_entropy(p) <= best.fun + 1e-4


def test_nash_average_and_alpha_rank_equal_those_of_open_spiel():
    rankings = compare_rankings(recorded())
    assert len(rankings) >= 12
    for ranking in rankings:
        for name, expected in ranking["theirs"].items():
            # OpenSpiel's Nash averaging is a numerical optimization: where two agents share all
            # probability equally, it returns 0.50012 and 0.49988.
            tolerance = 1e-8 if "alpha_rank" in name else 3e-4
            assert ranking["ours"][name] == pytest.approx(expected, abs=tolerance), ranking["name"]


def test_recorded_tournament_is_the_committed_one():
    ranking = recorded()["rankings"][-1]
    results = read_results(ROOT / ranking["name"])
    assert list(results.tournament.names) == ranking["agents"]
    assert results.advantages() == pytest.approx(np.array(ranking["advantages"]))
    # The report of the tournament has these numbers, too.
    report = json.loads((ROOT / ranking["name"] / "results.json").read_text())
    assert report["alpha_rank"] == pytest.approx(ranking["alpha_rank"], abs=1e-8)
    probabilities = report["nash_averaging"]["probabilities"]
    assert probabilities == pytest.approx(ranking["probabilities"], abs=1e-4)


def test_alpha_rank_is_uniform_in_a_cycle_and_favors_the_best_agent():
    assert alpha_rank(CYCLE) == pytest.approx([1 / 3] * 3)
    assert alpha_rank(CYCLE, alpha=100) == pytest.approx([1 / 3] * 3)
    order = np.array([[0, 1.0, 1], [-1, 0, 1], [-1, -1, 0]])
    mass = alpha_rank(order)
    assert mass[0] > 0.97 > mass[1] > mass[2] > 0
    assert alpha_rank(order, alpha=1000)[0] == pytest.approx(1)


def test_stationary_distribution_by_hand():
    # With two states the mass of a state is proportional to the probability of entering it.
    assert stationary(np.array([[0, 0.1], [0.3, 0]])) == pytest.approx([0.75, 0.25])


def test_invalid_payoffs_are_rejected():
    with pytest.raises(ValueError, match="expected antisymmetric advantages"):
        nash_average([[0, 1], [1, 0]])
    for function in (nash_average, alpha_rank):
        with pytest.raises(ValueError, match=r"shape \[agents, agents\], got shape \[2\]"):
            function([0, 1])
        with pytest.raises(ValueError, match="finite"):
            function([[0, np.nan], [0, 0]])
    with pytest.raises(ValueError, match="alpha must be a number"):
        alpha_rank(CYCLE, alpha=-1)
