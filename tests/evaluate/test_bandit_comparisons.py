"""Tests of comparisons in bandits: ratios of regrets, the thesis' constants, findings, cooling."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ludoteca.evaluate.bandits.comparisons import correlation_with_arms, regret_ratio
from ludoteca.evaluate.bandits.experiment import BanditExperiment
from ludoteca.evaluate.bandits.findings import Findings
from ludoteca.evaluate.studies.bandit_policies import cooling, findings
from ludoteca.evaluate.studies.bandits.ratios import OURS, ratio_rows
from ludoteca.evaluate.studies.bandits.report import alpha_rows
from ludoteca.evaluate.studies.bandits.thesis import (
    BEST,
    REGRETS,
    SECOND_GRIDS,
    differing_regrets,
    thesis_constants,
)

ROOT = Path(__file__).resolve().parents[2]


def test_ratios_of_regrets_have_the_interval_of_paired_problems() -> None:
    rng = np.random.default_rng(1)
    second = rng.uniform(50, 150, 400)
    first = 1.1 * second + rng.normal(0, 1, 400)
    ratio, low, high = regret_ratio(first, second)
    assert ratio == pytest.approx(1.1, abs=0.005)
    # Residuals have a standard deviation of 1 about: 1.96 / (100 sqrt(400)), though the regrets
    # differ by 30 between problems.
    assert high - low == pytest.approx(2 * 1.96 / (100 * 20), rel=0.1)
    _, lower, higher = regret_ratio(first, second, comparisons=10)
    assert (higher - lower) / (high - low) == pytest.approx(2.807 / 1.96, rel=1e-3)  # 0.25 %


def test_intervals_of_ratios_cover_the_true_ratio() -> None:
    rng, covered = np.random.default_rng(2), 0
    for _ in range(400):
        second = rng.exponential(100, 200)
        first = second * rng.uniform(0.8, 1.6, 200)
        _, low, high = regret_ratio(first, second)
        covered += low < 1.2 < high
    assert 0.95 * 400 - 4 * math.sqrt(0.95 * 0.05 * 400) < covered < 400


def make_findings(noise: float) -> Findings:
    """Return findings of three numbers of arms, whose best alpha falls: 0.5, 0.25 and 0.125."""
    experiment = BanditExperiment(arms=(2, 4, 8), problems=100, alphas=4, annealing_problems=100)
    rng, regrets = np.random.default_rng(3), {}
    for k, center in ((2, 0.5), (4, 0.25), (8, 0.125)):
        alphas = {*experiment.grid, 1 / k, math.e / (2 * k), 2.0}
        common = rng.uniform(90, 110, 100)
        regrets[k] = {
            alpha: common + 20 * abs(alpha - center) + rng.normal(0, noise, 100)
            for alpha in sorted(alphas)
        }
    best = {2: 0.5, 4: 0.25, 8: 0.125}
    annealed = {k: [(alpha, 90.0)] for k, alpha in best.items()}
    return Findings(experiment, regrets, dict(best), dict(best), annealed, [10], {})


def test_correlation_of_arms_and_best_alpha_has_a_bootstrap_interval(monkeypatch: Any) -> None:
    grid = [0.5, 0.25, 0.125, 0.0]
    monkeypatch.setattr(Findings, "candidates", lambda findings, arms: grid)
    assert correlation_with_arms(make_findings(0.1)) == (-1, -1, -1)
    value, low, high = correlation_with_arms(make_findings(30.0))
    assert low <= value <= high
    assert high > 0  # with so much noise the trend cannot be seen


def test_ratio_rows_omit_equal_and_unknown_constants() -> None:
    found = make_findings(0.1)
    rows = ratio_rows(found, alpha_rows(found))
    pairs = {(row["arms"], row["constant"], row["against"]) for row in rows}
    # 1/K is our best alpha for each K, and the thesis' constants were not evaluated.
    assert {name for _, name, against in pairs if against == OURS} == {"e/(2K)", "0.5"}
    assert (2, "0.5", OURS) not in pairs
    assert {(k, name, "2") for k in (2, 4, 8) for name in ("1/K", "e/(2K)")} <= pairs
    row = next(row for row in rows if (row["arms"], row["constant"]) == (8, "0.5"))
    values = found.regrets[8]
    expected = regret_ratio(values[0.5], values[0.125], len(rows))
    assert (row["ratio"], row["low"], row["high"]) == expected
    assert row["low"] > 1


def test_the_constants_are_all_those_of_the_thesis() -> None:
    constants = thesis_constants()
    assert set(constants) == set(BEST)
    for k, alphas in constants.items():
        assert {BEST[k]["intervals"], BEST[k]["annealing"], *REGRETS} <= set(alphas)
        assert {SECOND_GRIDS[k]["high"], SECOND_GRIDS[k]["low"]} <= set(alphas)
        assert alphas == sorted(set(alphas))
    assert 0.1484375 in constants[10]


def test_regrets_that_differ_from_the_thesis_are_counted() -> None:
    def row(regret: float, thesis: float | None, error: float = 1.0) -> dict[str, Any]:
        return {"regret": regret, "standard_error": error, "thesis": thesis}

    # Differences of 1, 3 and 10 with standard errors of sqrt(2): p = 0.48, 0.034 and 1e-12.
    rows = [row(100, 101), row(100, 103), row(110, 100), row(100, None)]
    assert differing_regrets(rows) == (3, 2, 1)


def cooling_records(shift: float) -> dict[str, dict[str, Any]]:
    """Return records of two schedules, the second with regrets that are `shift` higher."""
    base = np.random.default_rng(4).uniform(100, 200, 30)
    return {
        name: {
            "cooling": name,
            "settings": {"rounds": 1000},
            "found": {"2": [{"alpha": 0.1, "regret": x + k} for x in base]},
        }
        for name, k in (("geometric", 0.0), ("linear", shift))
    }


@pytest.mark.parametrize(
    ("shift", "word"), [(5.0, "worse"), (-5.0, "better"), (0.0, "inconclusive")]
)
def test_cooling_schedules_are_compared_search_by_search(shift: float, word: str) -> None:
    default, other = cooling.cooling_rows(cooling_records(shift))
    assert default["against"] is None
    # The difference is 5 in all searches, though the regrets vary by 100.
    mean, low, high = other["against"]
    assert mean == pytest.approx(low) == pytest.approx(high)
    assert cooling.verdict(other) == word
    text = cooling.finding([default, other])
    assert f"1 {word}" in text
    assert ("(1,000 rounds: K = 2: linear)" in text) == (word != "inconclusive")


def test_findings_of_policies_name_the_best_and_whether_it_is_apart() -> None:
    def record(*regrets: tuple[float, float]) -> dict[str, Any]:
        problems = [*(f"auer-{name}" for name in findings.AUER), "random-2"]
        each = zip(problems, regrets * len(problems), strict=False)
        return {
            "problems": {name: {"regret": {"mean": [m], "error": [e]}} for name, (m, e) in each}
        }

    records = {"policy-a": record((10, 1), (20, 1)), "policy-b": record((20, 1), (19, 1))}
    text = findings.lowest_text(records, ("a", "b"), {"1": "auer-1", "2": "auer-2"})
    assert text.startswith("a in 1; b in (2) ")
