"""Tests of the study of the package's statistics, and of its simulations."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tyro

from ludoteca.evaluate.statistics.simulation import (
    count_detections,
    game_probabilities,
    simulate_tests,
)
from ludoteca.evaluate.statistics.sprt import Sprt
from ludoteca.evaluate.studies.report import write_report
from ludoteca.evaluate.studies.statistics import analysis
from ludoteca.evaluate.studies.statistics.coverage import MEANS, count_covered, sample_groups
from ludoteca.evaluate.studies.statistics.measurements import KINDS
from ludoteca.evaluate.studies.statistics.study import make_study

pytestmark = pytest.mark.interpreted


def test_probabilities_have_the_score_and_the_draws() -> None:
    assert game_probabilities(0.6, 0.3) == pytest.approx([0.25, 0.3, 0.45])
    with pytest.raises(ValueError, match=r"impossible with 0\.6 draws"):
        game_probabilities(0.8, 0.6)


@pytest.mark.parametrize("counts", ["trinomial", "pentanomial"])
def test_simulated_tests_end_at_their_first_decision(counts: str) -> None:
    test, rng = Sprt(0, 100, counts=counts), np.random.default_rng(0)
    simulated = simulate_tests(test, 0.6, 0.2, 0.1, 50, rng)
    llrs = test.llrs(simulated.frequencies)
    assert llrs == pytest.approx([test.llr(row) for row in simulated.frequencies])
    assert ((llrs >= test.upper) == simulated.accepted).all()
    assert ((llrs <= test.lower) == ~simulated.accepted).all()
    assert (simulated.frequencies.sum(1) * test.games_per_result == simulated.games).all()


def test_games_of_a_pair_have_opposite_advantages() -> None:
    # The first agent wins all games in which it moves first, and every tenth of the others.
    simulated = simulate_tests(Sprt(0, 100), 0.55, 0.0, 0.45, 20, np.random.default_rng(0))
    assert (simulated.frequencies[:, [0, 1, 3]] == 0).all()  # no pairs with 0, 1/2 or 3/2 points
    assert simulated.frequencies[:, 4].sum() > 0


def test_detections_of_certain_and_of_impossible_differences() -> None:
    rng = np.random.default_rng(0)
    assert count_detections(0.99, 0.0, 100, 0.95, 500, rng) == (500, 0)
    assert count_detections(0.01, 0.0, 100, 0.95, 500, rng) == (0, 500)
    assert count_detections(0.5, 1.0, 100, 0.95, 500, rng) == (0, 0)


def test_scores_of_runs_have_their_means_and_failures() -> None:
    rng = np.random.default_rng(0)
    first, second = sample_groups("beta", 20_000, rng)
    assert first.mean(0) == pytest.approx(MEANS, abs=0.01)
    assert (first - second).mean(0) == pytest.approx(0.05, abs=0.01)
    failing, _ = sample_groups("failures", 20_000, rng)
    assert (failing == 0.1).mean(0) == pytest.approx(0.2, abs=0.02)


def test_intervals_of_many_runs_contain_the_true_values() -> None:
    cells = count_covered("beta", 40, 20, 200, np.random.default_rng(0))
    assert all(cell["covered"] >= 15 for cell in cells)
    assert cells[2]["true"] == pytest.approx(MEANS.mean(), abs=0.001)


def test_expected_numbers_with_an_advantage_of_moving_first() -> None:
    plain, paired = (analysis.theory("elo0=0,elo1=50", 0, 0.0, a) for a in (0.0, 0.25))
    # The variance of a pair's mean is (1/4 - a^2) / 2, so 3/4 as large.
    assert paired == pytest.approx((plain[0], 0.75 * plain[1]))
    # The fixed length by hand: ((1.6449 * (0.5 + 0.49489)) / 0.071463)^2 = 524.4
    assert analysis.fixed_games("elo0=0,elo1=50", 0.0) == 526


def test_verdicts_on_error_rates() -> None:
    cells = [
        {"elo": elo, "accepted": n, "games": 263.0} for elo, n in ((0, 90), (25, 500), (50, 955))
    ]
    settings = {"test": "elo0=0,elo1=50", "draws": 0.0, "advantage": 0.0, "count": 1_000}
    records = {"a": {"settings": settings, "cells": cells}}
    rates = analysis.error_rates(records)
    assert [(row["rate"], row["verdict"]) for row in rates] == [(0.09, "above"), (0.045, "nominal")]
    assert analysis.length_ratios(records)["hypotheses"] == (0.5, 0.5)


def fast_records(study: Any, folder: Path) -> dict[str, dict[str, Any]]:
    """Return records of the shortest task of each kind, used for all tasks of that kind."""
    for name in ("trinomial-0", "power-1", "power-4", "coverage-beta-3", "libraries"):
        arguments = study.tasks[name].arguments(folder)[3:]
        tyro.extras.subcommand_cli_from_dict(KINDS, args=arguments)
    total = {"wins": 300, "draws": 26, "losses": 200, "games": 526, "score": 313 / 526}
    estimate = {"elo": 60.0, "low": 20.0, "high": 90.0}
    match = {"agents": [{"total": total}], "games": 526, "seconds": 1.0}
    match["sprt"] = {"decision": "H1", "elo": estimate}
    records: dict[str, dict[str, Any]] = {}
    for part, tasks in study.parts.items():
        content = match
        if part != "matches":
            name = next(name for name, task in tasks.items() if task.artifact(folder).exists())
            content = json.loads(tasks[name].artifact(folder).read_text())
        about = {"date": "2026-01-01T00:00:00", "cpu": "a processor", "cores": 1}
        records[part] = {
            name: content | {"settings": json.loads(json.dumps(task.settings)), "about": about}
            for name, task in tasks.items()
        }
    return records


@pytest.mark.slow
def test_a_fast_report_has_all_sections(tmp_path: Path) -> None:
    study = make_study(fast=True)
    write_report(study, fast_records(study, tmp_path), tmp_path, tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "A fast run" in text
    for heading in ("Sequential tests", "Power", "Matches", "Other libraries", "Reproduction"):
        assert f"## {heading}" in text
    assert "`mcts:simulations=150`, `mcts:simulations=100` | connect4 | H1 | 526 |" in text
