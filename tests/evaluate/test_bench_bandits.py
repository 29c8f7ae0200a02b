"""Tests of the benchmark of UCB1 in bandits."""

import json

import numpy as np
import pytest

from ludoteca.evaluate.bandits.play import random_problems
from ludoteca.evaluate.bench.bandits import PROBLEMS, BanditWorkload, arms_group, bench_bandits


def test_both_loops_play_the_same_runs():
    problems = random_problems(PROBLEMS, 10, seed=0)
    fast, general = (BanditWorkload(10, 0.5, lazy, rounds=1000) for lazy in (True, False))
    regrets = fast.play(problems, runs=2)
    assert regrets.shape == (PROBLEMS, 1)
    assert regrets.min() > 0
    np.testing.assert_allclose(regrets, general.play(problems, runs=2), rtol=1e-12)


def test_a_sample_counts_the_pulls():
    sample = BanditWorkload(2, 2.0, lazy=False, rounds=50)(0.0)
    assert sample.steps == 50 * PROBLEMS  # one run of each problem
    assert sample.seconds > 0
    assert BanditWorkload(2, 2.0, lazy=True, rounds=50)(0.0).steps == 10 * sample.steps


def test_each_comparison_has_its_workloads():
    group = arms_group(10)
    assert {name for row in group.comparisons for name in (row.ours, row.peer)} == set(group.ours)


def test_report_has_the_ratios(tmp_path, capsys):
    file = tmp_path / "bandits.json"
    report = bench_bandits(file, seconds=0.01, only=("arms_2",))
    assert [row.measure for row in report.rows] == [
        f"UCB1, 2 arms, alpha = {alpha}" for alpha in (2, 0.5, 0.016)
    ]
    assert all(row.ratio == pytest.approx(row.ours / row.peer) for row in report.rows)
    assert json.loads(file.read_text())["about"]["seconds_per_side"] == 0.01
    assert "2 arms" in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"unknown measure 'arms_3'.*arms_2, arms_10, arms_100"):
        bench_bandits(None, only=("arms_3",))
