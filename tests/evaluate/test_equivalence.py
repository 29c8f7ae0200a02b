"""Tests of the tests of equivalence."""

from math import sqrt

import pytest

from ludoteca.evaluate.statistics.equivalence import MeanScore, stratified_score


def test_p_values_equal_those_computed_by_hand() -> None:
    mean = MeanScore(0.53, 0.01)
    # The score is 2 standard errors below the upper bound 0.55, and 8 above 0.45; 3 above 0.5.
    assert mean.p_equivalent(0.05) == pytest.approx(0.022750, abs=1e-6)
    assert mean.p_different() == pytest.approx(0.002700, abs=1e-6)
    assert mean.interval() == pytest.approx((0.5104, 0.5496), abs=1e-4)
    assert MeanScore(0.47, 0.01).p_equivalent(0.05) == pytest.approx(0.022750, abs=1e-6)
    assert MeanScore(0.56, 0.01).p_equivalent(0.05) == pytest.approx(0.841345, abs=1e-6)
    assert MeanScore(0.5, 0.01).p_different() == 1


@pytest.mark.parametrize("score", [0.44, 0.4664, 0.4665, 0.5, 0.5335, 0.5336, 0.56])
def test_scores_are_equivalent_if_the_90_percent_interval_lies_within_the_margin(
    score: float,
) -> None:
    low, high = MeanScore(score, 0.01).interval(0.9)
    assert (MeanScore(score, 0.01).p_equivalent(0.05) < 0.05) == (low > 0.45 and high < 0.55)


def test_few_games_are_no_evidence_of_equivalence() -> None:
    few, many = stratified_score([(5, 0, 10)] * 8), stratified_score([(100, 0, 200)] * 8)
    assert few.score == many.score == 0.5
    assert few.p_equivalent(0.05) > 0.15
    assert many.p_equivalent(0.05) < 0.0001


def test_the_standard_error_is_that_within_the_matches() -> None:
    mean = stratified_score([(3, 0, 4), (0, 2, 4)])
    assert mean.score == pytest.approx((0.75 + 0.25) / 2)
    # Sample variances: of 1, 1, 1, 0 it is 1/4; of 1/2, 1/2, 0, 0 it is 1/12.
    assert mean.standard_error == pytest.approx(sqrt((1 / 4 + 1 / 12) / 4) / 2)


def test_without_variance_the_sign_decides() -> None:
    won, drawn = stratified_score([(4, 0, 4)]), stratified_score([(0, 4, 4)])
    assert (won.p_different(), won.p_equivalent(0.05)) == (0, 1)
    assert (drawn.p_different(), drawn.p_equivalent(0.05)) == (1, 0)
    assert won.interval() == (1, 1)


@pytest.mark.parametrize("matches", [[], [(1, 0, 1), (2, 0, 4)]])
def test_matches_need_two_games(matches: list[tuple[int, int, int]]) -> None:
    with pytest.raises(ValueError, match="at least 2 games"):
        stratified_score(matches)
