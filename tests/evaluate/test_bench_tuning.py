"""Tests of the benchmark of parameter optimizers, and of its page."""

import json

import pytest
from command_line import run

from ludoteca.evaluate.bench import tuning
from ludoteca.evaluate.bench.tuning import Problem, bench_tuning
from ludoteca.evaluate.bench.tuning_page import (
    joint_interval,
    markdown_page,
    variance_test,
    verdict_against,
)

GAME, AGENT = "tictactoe:board_size=3,line=3", "skilled_agent:SkilledAgent"
PROVENANCE = {
    "about": {
        "command": "ludoteca bench tuning", "date": "2026-11-29T00:00:00", "cpu": "Z80", "cores": 2,
        "games": 4000, "match_games": 100,
    },
    "versions": {"python": "3.11.7"},
}  # fmt: skip


def results(**scores):
    """Return results of one problem: wins of 100 games against both opponents by optimizer."""
    runs = [
        {
            "optimizer": optimizer,
            "seed": seed,
            "values": {"a": "0.123", "b": "2"},
            "against_start": [wins, 0, 100 - wins],
            "against_reference": [wins - 10, 10, 100 - wins],
        }
        for optimizer, own in scores.items()
        for seed, wins in enumerate(own)
    ]
    problem = Problem("g", "x", ("a=0:1", "b=1:3"), "grid:levels=2")
    return {
        "two_parameters": {
            **vars(problem), "start": {"a": "1", "b": "1"}, "reference": {"a": "0.5", "b": "3"},
            "grid_games": 20_000, "runs": runs, **PROVENANCE,
        }
    }  # fmt: skip


@pytest.mark.parametrize(
    ("wins", "start", "reference"),  # wins of 1,000 games for each seed
    [
        ([600, 610, 620], "better", "better"),
        ([400, 410, 390], "worse", "worse"),
        ([400, 600, 500], "inconclusive", "inconclusive"),
        ([490, 500, 510], "inconclusive", "equal within 5 points"),
        ([450, 500, 550], "inconclusive", "inconclusive"),  # 90 % interval of 41.6 to 58.4
        ([490, 491, 492], "inconclusive", "equal within 5 points"),  # over the games, 47.3 to 50.9
    ],
)
def test_verdicts_need_both_intervals(wins, start, reference):
    records = [(count, 0, 1000 - count) for count in wins]
    assert verdict_against("against_start", records) == start
    assert verdict_against("against_reference", records) == reference


def test_joint_interval_is_the_wider_one_on_each_side():
    # Three equal scores have no interval over the seeds; three different ones a wide one.
    assert joint_interval([(50, 0, 50)] * 3, 0.95) == pytest.approx((44.37, 55.63), abs=0.01)
    assert joint_interval([(40, 0, 60), (50, 0, 50), (60, 0, 40)], 0.95) == pytest.approx(
        (50 - 24.84, 50 + 24.84), abs=0.01
    )


def test_variance_test_is_the_f_test():
    # F = 3 / 1 with 1 and 4 degrees of freedom, whose p-value is that of t = sqrt(3) with 4.
    assert variance_test([[1, 2, 3], [1 + 2**0.5, 2 + 2**0.5, 3 + 2**0.5]]) == pytest.approx(
        0.1583, abs=1e-4
    )


def test_page_has_both_intervals_and_the_corrected_tests():
    text = markdown_page(results(spsa=[60, 61, 62], grid=[70, 71, 72]), "results.json")
    # Wilson's interval of 183 in 300 games, narrower with draws, and Student's of 60, 61 and 62.
    row = "| `spsa` | 0.12 / 2, 0.12 / 2, 0.12 / 2 | starting values | 60.0, 61.0, 62.0 | 61.0 "
    assert row + "(55.4 to 66.3) | (58.5 to 63.5) | better |" in text
    assert "| reference | 55.0, 56.0, 57.0 | 56.0 (50.6 to 61.2) | (53.5 to 58.5) |" in text
    # F = 150 with 1 and 4 degrees of freedom; Holm doubles the smaller p of two.
    assert "| two parameters | starting values | p = 0.0003 | p = 0.0005 |" in text
    assert "differ significantly in: two parameters." in text
    equal = markdown_page(results(spsa=[60, 61, 62], grid=[60, 62, 61]), "results.json")
    assert "inconclusive which optimizer\nis best" in equal


@pytest.mark.compiled
def test_benchmark_tunes_with_all_seeds_and_keeps_results(tmp_path, monkeypatch, capsys):
    problem = Problem(GAME, f"{AGENT}:epsilon=0.8", ("epsilon=0:1",), "grid:levels=4")
    monkeypatch.setattr(tuning, "PROBLEMS", {"one": problem, "other": problem})
    monkeypatch.setattr(tuning, "OPTIMIZERS", ["spsa", "ntbea"])
    monkeypatch.setattr(tuning, "MATCH_GAMES", 20)
    files = tmp_path / "r.json", 40, tmp_path / "runs"
    bench_tuning(*files, only=("one",))
    saved = json.loads(files[0].read_text())["problems"]
    assert list(saved) == ["one"]
    runs = saved["one"]["runs"]
    assert [(run["optimizer"], run["seed"]) for run in runs] == [
        (optimizer, seed) for optimizer in ("spsa", "ntbea") for seed in (0, 1, 2)
    ]
    for each in runs:
        assert sum(each["against_start"]) == sum(each["against_reference"]) == 20
    assert saved["one"]["start"] == {"epsilon": "0.8"}
    both = bench_tuning(*files, page=tmp_path / "p.md", keep=True)
    assert both["one"] == saved["one"]
    assert list(both) == ["one", "other"]
    # Equal values play different games with different seeds.
    agent = f"{AGENT}:epsilon=0.8"
    assert len({tuple(tuning._play(GAME, agent, agent, seed)) for seed in range(6)}) > 1
    page = (tmp_path / "p.md").read_text()
    assert page.count("## ") == 3
    monkeypatch.setattr(tuning, "tune_agent", None)  # tunes nothing
    (tmp_path / "p.md").unlink()
    assert bench_tuning(*files, page=tmp_path / "p.md", keep=True) == both
    assert (tmp_path / "p.md").read_text() == page
    assert "over the seeds" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tuning", "--page", "p.md"], "--page and --keep need --json"),
        (["arrays", "--page", "p.md"], "the page needs --json"),
        (["arrays", "--keep"], "it needs --page and --json"),
        (["envs", "--page", "p.md"], "takes no --page or --keep; gdl, tuning, arrays have pages"),
        (["tuning", "--only", "chess"], "unknown measure 'chess'"),
    ],
)
def test_pages_need_numbers_and_a_benchmark_that_has_one(arguments, message, capsys):
    status, _, err = run(capsys, "bench", *arguments)
    assert status == 2
    assert message in err
