"""Tests of the comparison of runs: aggregate scores, bootstrap intervals, and the command."""

import json

import numpy as np
import pytest
from command_line import run
from scipy import stats

from ludoteca.evaluate.compare_runs import compare_runs
from ludoteca.evaluate.statistics.bootstrap import (
    AGGREGATES,
    bootstrap,
    interquartile_mean,
    mean,
    median,
    optimality_gap,
    probability_of_improvement,
)
from ludoteca.evaluate.studies.statistics.libraries import compare_estimates, recorded

pytestmark = pytest.mark.interpreted

RNG = np.random.default_rng(0)
SCORES = RNG.uniform(0, 1.3, (7, 5))  # [runs, tasks]; some above 1, where the optimality gap ends


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    """Make the terminal so wide that no output is wrapped."""
    monkeypatch.setenv("COLUMNS", "200")


def test_aggregates_by_hand():
    scores = np.array([[0.0, 0.4], [0.2, 0.6], [0.1, 1.0], [0.9, 1.4]])
    # Sorted: 0, .1, .2, .4, .6, .9, 1, 1.4; the middle half is .2, .4, .6, .9.
    assert interquartile_mean(scores) == pytest.approx(0.525)
    assert mean(scores) == pytest.approx(4.6 / 8)
    assert median(scores) == pytest.approx((0.3 + 0.85) / 2)
    assert optimality_gap(scores) == pytest.approx(1 - 4.2 / 8)


def test_interquartile_mean_is_the_trimmed_mean():
    for runs in range(1, 9):
        expected = stats.trim_mean(SCORES[:runs], 0.25, axis=None)
        assert interquartile_mean(SCORES[:runs]) == pytest.approx(expected)


def test_probability_of_improvement_is_the_mann_whitney_statistic():
    first, second = np.round(SCORES, 1), np.round(RNG.uniform(0, 1, (4, 5)), 1)
    expected = [stats.mannwhitneyu(first[:, k], second[:, k]).statistic / (7 * 4) for k in range(5)]
    assert probability_of_improvement(first, second) == pytest.approx(np.mean(expected))
    assert probability_of_improvement(second, first) == pytest.approx(1 - np.mean(expected))


def test_estimates_equal_those_of_rliable_and_arch():
    cells = compare_estimates(recorded())
    assert {cell["library"] for cell in cells} == {"rliable", "arch"}
    assert {cell["aggregate"] for cell in cells} == {*AGGREGATES, "probability of improvement"}
    for cell in cells:
        (value, *ends), (expected, low, high) = cell["ours"], cell["theirs"]
        assert value == pytest.approx(expected)
        # Both ends are random: 0.13 widths are some standard errors of 1,000 resamples.
        assert ends == pytest.approx([low, high], abs=0.13 * (high - low)), cell


def test_interval_of_one_task_equals_that_of_scipy():
    scores = SCORES[:, :1]
    ours = bootstrap(mean, scores, resamples=40_000)
    theirs = stats.bootstrap(
        (scores[:, 0],), np.mean, method="percentile", n_resamples=40_000, vectorized=True, rng=1
    ).confidence_interval
    assert ours.value == pytest.approx(scores.mean())
    # Both bounds are random; the tolerance is some standard errors of 40,000 resamples.
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs), abs=0.006)


@pytest.mark.parametrize("aggregate", AGGREGATES.values(), ids=AGGREGATES)
def test_stratified_intervals_equal_those_of_scipy(aggregate):
    def statistic(*tasks, axis):
        return aggregate(np.stack([np.moveaxis(task, axis, -1) for task in tasks], -1))

    ours = bootstrap(aggregate, SCORES, resamples=20_000)
    theirs = stats.bootstrap(
        tuple(SCORES.T), statistic, method="percentile", n_resamples=20_000, rng=1
    ).confidence_interval
    # The tolerance is some standard errors of 20,000 resamples.
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs), abs=0.012)


def test_strata_are_the_tasks():
    """Check that tasks of different difficulty do not widen the interval: each is resampled."""
    scores = np.tile([0.1, 0.9], (5, 1))
    estimate = bootstrap(mean, scores, resamples=200)
    assert (estimate.low, estimate.high) == pytest.approx((0.5, 0.5))
    # With two runs of scores 0 and 1, the mean of a bootstrap sample is 0, 1/2 or 1, with
    # probabilities 1/4, 1/2 and 1/4.
    interval = bootstrap(mean, [[0.0], [1.0]], confidence=0.4, resamples=4000)
    assert (interval.low, interval.high) == (0.5, 0.5)
    interval = bootstrap(mean, [[0.0], [1.0]], confidence=0.6, resamples=4000)
    assert (interval.low, interval.high) == (0.0, 1.0)


def test_intervals_cover_the_true_mean():
    rng = np.random.default_rng(3)
    covered = 0
    for k in range(200):
        estimate = bootstrap(mean, rng.normal(0.5, 0.1, (20, 3)), resamples=500, seed=k)
        covered += estimate.low <= 0.5 <= estimate.high
    # Of 95 % nominally; with 20 runs the bootstrap covers somewhat less.
    assert 0.88 <= covered / 200 <= 0.99


@pytest.mark.parametrize("scores", [[], [0.5], [[np.nan]], [[[0.5]]]])
def test_invalid_scores_are_rejected(scores):
    with pytest.raises(ValueError, match="scores"):
        bootstrap(mean, scores)


def write_run(folder, seed, wins, opponents=("random", "greedy"), **config):
    """Write the results of a run: of 10 games per seat, `wins` as first, one fewer as second."""
    seats = [
        {"seat": seat, "games": 10, "wins": wins - k, "draws": 2, "losses": 8 - wins + k}
        for k, seat in enumerate(("first", "second"))
    ]
    content = {
        "game": config.pop("game", "tictactoe:board_size=3,line=3"),
        "config": {"seed": seed, "run_dir": str(folder), "learning_rate": 0.1} | config,
        "evaluation": [{"opponent": name, "seats": seats} for name in opponents],
    }
    folder.mkdir(parents=True)
    (folder / "results.json").write_text(json.dumps(content))


def test_command_compares_groups_of_seeds(capsys, tmp_path):
    for seed, wins in enumerate((3, 5, 7)):
        write_run(tmp_path / "a" / str(seed), seed, wins)
        write_run(tmp_path / f"b-{seed}", seed, 2, opponents=("random",))
    pattern, file = str(tmp_path / "b-*"), tmp_path / "out.json"
    status, out, err = run(
        capsys, "compare-runs", str(tmp_path / "a"), pattern, "--json", str(file)
    )
    assert (status, err) == (0, "")
    read = json.loads(file.read_text())
    assert read["opponents"] == ["random"]
    # A run with 3 wins scores (3 + 1) / 10 in the first seat and (2 + 1) / 10 in the second.
    assert [row[0] for row in read["groups"][0]["scores"]] == pytest.approx([0.35, 0.55, 0.75])
    assert read["groups"][0]["aggregates"]["mean"]["value"] == pytest.approx(0.55)
    assert read["groups"][1]["aggregates"]["optimality gap"]["value"] == pytest.approx(0.75)
    assert read["probabilities_of_improvement"][0]["value"] == 1.0
    assert set(read["groups"][0]["aggregates"]) == set(AGGREGATES)
    assert "interquartile mean" in out
    assert "0.550 (" in out
    assert "with 3 seeds the intervals are too narrow" in out


def test_invalid_groups_give_clear_errors(capsys, tmp_path):
    write_run(tmp_path / "same" / "1", 1, 3)
    write_run(tmp_path / "same" / "2", 1, 4)
    write_run(tmp_path / "settings" / "1", 1, 3)
    write_run(tmp_path / "settings" / "2", 2, 3, learning_rate=0.2)
    write_run(tmp_path / "games" / "1", 1, 3, game="hex:board_size=5")
    write_run(tmp_path / "others" / "1", 1, 3, opponents=("mcts",))
    (tmp_path / "broken" / "1").mkdir(parents=True)
    (tmp_path / "broken" / "1" / "results.json").write_text('{"game": "hex"}')
    for names, error in (
        (["same"], "have the same seed, 1"),
        (["settings"], "have learning_rate 0.1 and 0.2"),
        (["others", "games"], "the groups have different games"),
        (["nothing"], "expected a folder of run folders"),
        (["broken"], "expected the results of a training with game, config and evaluation"),
    ):
        status, _, err = run(capsys, "compare-runs", *(str(tmp_path / name) for name in names))
        assert status == 2
        assert error in err
    write_run(tmp_path / "one" / "1", 1, 3)
    with pytest.raises(ValueError, match="no common opponent"):
        compare_runs([str(tmp_path / "one"), str(tmp_path / "others")])
