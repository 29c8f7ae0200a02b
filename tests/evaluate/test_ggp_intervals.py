"""Tests of the intervals beside the results of a thesis (`uaemex2021`)."""

import csv
import io

import numpy as np
import pytest

from ludoteca.evaluate.statistics.differences import shares_differ, shares_difference
from ludoteca.evaluate.studies.ggp import uaemex2021
from ludoteca.evaluate.studies.ggp.conclusions import conclusions
from ludoteca.evaluate.studies.ggp.intervals import half_widths, intervals_csv, mean_score
from ludoteca.evaluate.studies.ggp.report import elo_differences
from ludoteca.evaluate.tournament.plan import Tournament
from ludoteca.evaluate.tournament.results import Results


def test_interval_of_a_difference_of_shares_by_hand() -> None:
    """The variance is 0.6 * 0.4 / 100 + 0.5 * 0.5 / 400 = 0.003025, the deviation 0.055."""
    low, high = shares_difference(np.array([0.6]), 100, np.array([0.5]), 400)
    assert (low[0], high[0]) == pytest.approx((0.1 - 1.96 * 0.055, 0.1 + 1.96 * 0.055), abs=1e-4)


def test_intervals_of_differences_of_shares_cover_them() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.binomial(1200, 0.5, 10_000) / 1200, rng.binomial(300, 0.4, 10_000) / 300
    low, high = shares_difference(first, 1200, second, 300)
    assert ((low <= 0.1) & (high >= 0.1)).mean() == pytest.approx(0.95, abs=0.01)


def test_half_widths_of_sums_add_up_as_variances() -> None:
    wins = np.full((8, 5), 600.0)
    half = half_widths(wins, 1200, wins)
    assert half.shape == (9, 5)
    assert half[0, 0] == pytest.approx(1.96 * np.sqrt(2 * 1200 / 4), abs=0.01)
    np.testing.assert_allclose(half[8], half[0, 0] * np.sqrt(8))


def test_csv_has_every_share_with_its_intervals() -> None:
    wins, pairs = uaemex2021.WINS[100], uaemex2021.PAIR_WINS[100]
    ours = wins + 0.0
    ours[0, 0] += 60
    entries = [
        (uaemex2021.POLICY_NAMES, ours, 1200, wins, 1200),
        (uaemex2021.PAIR_NAMES, pairs, 300, pairs, 300),
    ]
    rows = list(csv.DictReader(io.StringIO(intervals_csv({100: entries}))))
    assert len(rows) == 8 * 5 + 8 * 14
    first, second = rows[:2]
    assert (first["game"], first["wins_of"], first["significant"]) == ("Atari Go", "UCB", "True")
    assert first["here"] == f"{(497 + 60) / 12:.2f}"
    assert float(first["here_low"]) < float(first["here"]) < float(first["here_high"])
    assert float(first["difference"]) == pytest.approx(5, abs=0.01)
    assert float(first["difference_low"]) > 0
    assert (second["difference"], second["significant"]) == ("0.00", "False")
    assert {row["significant"] for row in rows[1:]} == {"False"}
    assert not shares_differ(ours[1:] / 1200, 1200, wins[1:] / 1200, 1200).any()


def test_differences_are_those_from_the_plain_policy() -> None:
    names = ("alpha2 plain", "UCB MAST", "alpha2 MAST", "UCB plain")
    specs = tuple(f"mcts:simulations={10 + a}" for a in range(4))
    tournament = Tournament(("tictactoe",), specs, 100, 1, names=names)
    outcomes = np.ones((1, 6, 1, 100), np.int8)
    losses = {(0, 1): 50, (0, 2): 75, (0, 3): 25, (1, 2): 50, (1, 3): 50, (2, 3): 25}
    for k, pair in enumerate(tournament.pairs):
        outcomes[0, k, 0, : losses[pair]] = -1
    results = Results(tournament, outcomes, np.ones((1, 6), np.int64), np.ones(1))
    elo = results.ratings.elo
    for policy, first, plain in (("alpha2", 2, 0), ("UCB", 1, 3)):
        differences = elo_differences(results, policy)
        assert list(differences) == ["MAST"]
        value, low, high = differences["MAST"]
        assert value == pytest.approx(elo[first] - elo[plain])
        assert low < value < high
    assert elo_differences(results, "alpha2")["MAST"][0] > 50


def test_mean_score_counts_draws_as_half_a_point() -> None:
    tournament = Tournament(("tictactoe", "breakthrough"), ("random", "mcts:simulations=1"), 6, 3)
    outcomes = np.array([1, 1, 0, 0, -1, 0, 1, 1, 1, -1, -1, -1], np.int8).reshape(2, 1, 3, 2)
    results = Results(tournament, outcomes, np.ones((2, 1), np.int64), np.ones((2, 1)))
    assert mean_score(results, 0, 1).score == pytest.approx((3.5 / 6 + 3 / 6) / 2)
    assert mean_score(results, 1, 0).score == pytest.approx((2.5 / 6 + 3 / 6) / 2)


def test_rank_sums_are_for_and_against_the_claim_as_it_is_worded() -> None:
    """In the thesis alpha1 wins more than ETC in 8 games, and more than UCB in all but two."""
    wins = {simulations: table.astype(float) for simulations, table in uaemex2021.WINS.items()}
    evidence = {
        (one.simulations, one.claim): one.evidence.partition("sums of ranks ")[2]
        for one in conclusions(wins)
    }
    better = evidence["100", "alpha1 is significantly better than ETC (Wilcoxon)"]
    assert better == "36 for and 0 against the claim"
    # Of the eight differences, those of Tic-Tac-Toe Large and Suicide are negative: 1 + 3 = 4.
    no_better = evidence["100", "alpha1 is not significantly better than UCB (Wilcoxon)"]
    assert no_better == "4 for and 32 against the claim"
