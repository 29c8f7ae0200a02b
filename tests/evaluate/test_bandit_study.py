"""Tests of the bandit study: grids, shards, report and command.

The study repeats a thesis (`uaemex2021`): it chooses the exploration parameter alpha of UCB1 for K
arms, first by a grid (intervals), then by simulated annealing. A cell is the smallest result that
is saved: the regrets of one policy, K and alpha in one block of problems.
"""

import csv
import itertools
import json
import math
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ludoteca.evaluate.bandits import play_bandits, random_problems
from ludoteca.evaluate.bandits.computation import (
    NOTHING,
    CellMissingError,
    Shard,
    compute_all,
    run_experiment,
)
from ludoteca.evaluate.bandits.experiment import (
    BanditExperiment,
    Cells,
    between_neighbors,
    intervals,
    log_spaced,
)
from ludoteca.evaluate.bandits.findings import Findings
from ludoteca.evaluate.bandits.plan import make_plan
from ludoteca.evaluate.statistics.differences import not_worse
from ludoteca.evaluate.studies.__main__ import main
from ludoteca.evaluate.studies.bandits import study
from ludoteca.evaluate.studies.bandits.report import alpha_rows, to_markdown, write_report
from ludoteca.evaluate.studies.bandits.study import FULL
from ludoteca.evaluate.studies.bandits.thesis import BEST, REGRETS, SECOND_GRIDS, THESIS
from ludoteca.evaluate.studies.data import PUBLISHED_POLICIES
from ludoteca.local_executor import InlineExecutor

TINY = BanditExperiment(
    arms=(2, 5),
    problems=20,
    rounds=300,
    alphas=4,
    annealing_steps=4,
    annealing_problems=10,
    curve_arms=(3,),
    curve_problems=4,
    curve_rounds=50,
    block=10,
)


CONSTANTS = {5: (0.3, 0.5)}  # constants besides those of the grids: a new one, and one of the grid


# Each policy is compiled: a few by default, all of them in the slow tests.
SOME_POLICIES = ("ucb1", "moss", "exp3")


@pytest.fixture(
    scope="module",
    autouse=True,
    params=[
        pytest.param(SOME_POLICIES, id="some"),
        pytest.param(PUBLISHED_POLICIES, marks=pytest.mark.slow, id="all"),
    ],
)
def policies(request: pytest.FixtureRequest) -> Iterator[tuple[str, ...]]:
    """Restrict the study to some of its policies."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "PUBLISHED_POLICIES", request.param)
        yield request.param


@pytest.fixture(scope="module")
def whole(
    policies: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Findings]:
    """Return the folder and the findings of the whole study, computed without shards."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, run_experiment(TINY, folder, policies, constants=CONSTANTS)


def test_grids_match_the_thesis() -> None:
    """Check both grids of alpha with tables 4.18 and 4.19 of the thesis."""
    grid = intervals(0.5, 0.0, 10)
    assert grid == list(REGRETS)
    finer_grid = between_neighbors(grid, 0.25)  # around the best alpha of K = 2
    assert finer_grid[:3] == [0.5, 0.3125, 0.21875]
    assert finer_grid[-2:] == pytest.approx([0.126464844, 0.125])
    assert between_neighbors(grid, 0.015625)[:3] == [0.03125, 0.01953125, 0.013671875]  # K=100
    # At either end of the grid, the best alpha has one neighbor only.
    assert between_neighbors(grid, 0.5)[0] == 0.5
    assert between_neighbors(grid, 0.0)[-1] == 0.0


def test_the_thesis_tables_are_consistent() -> None:
    """Check that table 4.19 refines the best alpha of table 4.18; for K = 10, 30, its neighbor."""
    grid, arms = list(REGRETS), THESIS["arms"]
    for k in arms:
        best = grid.index(min(grid, key=lambda alpha: REGRETS[alpha][k]))
        center = best + {10: -1, 30: 1}.get(k, 0)
        finer_grid = between_neighbors(grid, grid[center])
        assert BEST[k]["intervals"] in finer_grid
        high, low, regrets = (SECOND_GRIDS[k][name] for name in ("high", "low", "regrets"))
        assert intervals(high, low, 10) == finer_grid
        assert finer_grid[regrets.index(min(regrets))] == BEST[k]["intervals"]
    differences = [abs(BEST[k]["intervals"] - BEST[k]["annealing"]) for k in arms]
    assert np.mean(differences) == pytest.approx(0.00553369, abs=1e-8)  # stated in the thesis
    assert (FULL.arms, FULL.problems, FULL.runs, FULL.rounds) == (tuple(arms), 1000, 100, 100_000)
    assert FULL.annealing_problems == FULL.problems


def test_checkpoints_ascend_to_the_last_round() -> None:
    for rounds in (1, 9, 10, 11, 1000, 100_000):
        checkpoints = log_spaced(rounds)
        assert checkpoints == sorted(set(checkpoints))
        assert checkpoints[0] >= 1
        assert checkpoints[-1] == rounds
    assert len(log_spaced(100_000)) == 60


def assert_same(first: Findings, second: Findings) -> None:
    """Assert that two studies have equal findings."""
    for name in ("experiment", "first_best", "best", "annealed", "checkpoints"):
        assert getattr(first, name) == getattr(second, name)
    for k in first.regrets:
        assert first.regrets[k].keys() == second.regrets[k].keys()
        for alpha, regrets in first.regrets[k].items():
            np.testing.assert_array_equal(regrets, second.regrets[k][alpha])
    for k in first.curves:
        for policy, curve in first.curves[k].items():
            np.testing.assert_array_equal(curve, second.curves[k][policy])


@pytest.mark.slow
def test_study_matches_direct_play(whole: tuple[Path, Findings], policies: tuple[str, ...]) -> None:
    _, findings = whole
    for k in TINY.arms:
        problems = random_problems(20, k, TINY.seed)
        for alpha, regrets in findings.regrets[k].items():
            expected = play_bandits("ucb1", problems, 300, params={"alpha": alpha}, seed=TINY.seed)
            np.testing.assert_array_equal(regrets, expected[:, 0])
        means = {alpha: regrets.mean() for alpha, regrets in findings.regrets[k].items()}
        grid = [0.5, 0.25, 0.125, 0.0]
        assert findings.first_best[k] == min(grid, key=means.__getitem__)
        both = [*grid, *between_neighbors(grid, findings.first_best[k])]
        assert findings.best[k] == min(both, key=means.__getitem__)
        assert {1 / k, math.e / (2 * k), 2.0} <= set(means)  # alphas of formulas of the thesis
        assert len(findings.annealed[k]) == 5  # the start and 4 steps
    assert list(findings.curves[3]) == list(policies)


def test_merged_shards_equal_the_whole_study(
    policies: tuple[str, ...], whole: tuple[Path, Findings], tmp_path: Path
) -> None:
    folders = [tmp_path / "0", tmp_path / "1", tmp_path / "2"]
    for _ in range(2):
        for i, folder in enumerate(folders):
            with pytest.raises(CellMissingError, match="cells of other shards"):
                run_experiment(TINY, folder, policies, Shard(i, 3), constants=CONSTANTS)
        for source, target in itertools.permutations(folders, 2):
            shutil.copytree(source, target, dirs_exist_ok=True)
    for i, folder in enumerate(folders):
        assert_same(
            run_experiment(
                TINY, folder, policies, NOTHING if i == 0 else Shard(i, 3), constants=CONSTANTS
            ),
            whole[1],
        )


def test_merge_reuses_computed_cells(
    whole: tuple[Path, Findings], policies: tuple[str, ...], tmp_path: Path
) -> None:
    # Missing cells: for 2 values of K, 4 alphas in 2 blocks each, and the first step of annealing;
    # for each policy, a curve.
    with pytest.raises(CellMissingError, match=f"^{16 + 2 + len(policies)} cells"):
        run_experiment(TINY, tmp_path / "empty", policies, shard=NOTHING)
    copy = tmp_path / "copy"
    shutil.copytree(whole[0], copy)
    lost = copy / "cells" / "ucb1" / "K5" / "0.25-1.json"
    lost.unlink()
    with pytest.raises(CellMissingError, match=r"^1 cells .*K5/0.25-1.json"):
        run_experiment(TINY, copy, policies, shard=NOTHING, constants=CONSTANTS)
    assert not lost.exists()


def test_a_stopped_study_resumes(
    policies: tuple[str, ...], whole: tuple[Path, Findings], tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(whole[0], copy)
    files = sorted((copy / "cells").rglob("*.json"))
    lost, kept = files[::3], [file for file in files if file not in files[::3]]
    for file in lost:
        file.unlink()
    before = {file: file.stat().st_mtime_ns for file in kept}
    assert_same(run_experiment(TINY, copy, policies, threads=2, constants=CONSTANTS), whole[1])
    assert all(file.stat().st_mtime_ns == time for file, time in before.items())
    assert sorted((copy / "cells").rglob("*.json")) == files


def test_an_executor_computes_the_same_findings(
    policies: tuple[str, ...], whole: tuple[Path, Findings], tmp_path: Path
) -> None:
    study_cells = Cells(TINY, tmp_path)
    progress = compute_all(study_cells, policies, InlineExecutor(), constants=CONSTANTS)
    for _ in range(7):  # cells until the computation is stopped
        next(progress)
    progress.close()
    before = len(list(tmp_path.rglob("*/K*/*.json")))
    assert before == 7
    done = list(compute_all(study_cells, policies, InlineExecutor(), constants=CONSTANTS))
    assert done[-1] == (len(done), len(done))
    assert len(list(tmp_path.rglob("*/K*/*.json"))) == 7 + len(done)
    assert_same(
        run_experiment(TINY, tmp_path, policies, shard=NOTHING, constants=CONSTANTS), whole[1]
    )
    assert list(compute_all(study_cells, policies, InlineExecutor(), constants=CONSTANTS)) == []
    assert (
        list(compute_all(Cells(TINY, whole[0]), policies, InlineExecutor(), constants=CONSTANTS))
        == []
    )


def test_a_plan_counts_all_cells(whole: tuple[Path, Findings], policies: tuple[str, ...]) -> None:
    study_plan = make_plan(TINY, policies, CONSTANTS)
    blocks = len(list(whole[0].rglob("ucb1/K*/*.json")))
    # The plan counts 1/K, e/(2K) and 2 also if a grid has them; they are computed once.
    assert study_plan.cells["grids"] + study_plan.cells["annealing"] >= blocks
    assert study_plan.cells["curves"] == len(TINY.curve_arms) * len(policies) * 1  # one block each
    text = study.plan_text(study_plan, price=0.1)
    assert f"{study_plan.pulls:.3g} pulls" in text
    assert re.search(r"\n +1,000 +\d.* \$\d", text)


def test_a_study_does_not_resume_one_with_other_settings(
    policies: tuple[str, ...], whole: tuple[Path, Findings]
) -> None:
    with pytest.raises(ValueError, match="has other settings than this study"):
        run_experiment(replace(TINY, seed=2), whole[0], policies)


def test_report_has_all_tables(whole: tuple[Path, Findings], tmp_path: Path) -> None:
    findings = whole[1]
    file = write_report(findings, tmp_path)
    text = file.read_text()
    for row in alpha_rows(findings):
        k, best = row["arms"], row["intervals"]
        near = f"{row['lowest_not_worse']:.4f} to {row['highest_not_worse']:.4f}"
        assert f"| {k} | {best:.4f} | {near} |" in text
        assert row["regret_best"] == findings.regrets[k][best].mean()
        assert row["lowest_not_worse"] <= best <= row["highest_not_worse"]
    last = findings.curves[3]["moss"][:, -1]
    assert f"| moss | {last.mean():.1f} ± {1.959964 * last.std(ddof=1) / 2:.1f} |" in text
    for picture in ("alphas", "regret_by_alpha", "curves"):
        assert f"({picture}.png)" in text
        assert (tmp_path / f"{picture}.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / "regrets.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == sum(len(by_alpha) for by_alpha in findings.regrets.values())
    for row in rows:
        mean = findings.regrets[int(row["arms"])][float(row["alpha"])].mean()
        assert float(row["regret"]) == mean
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["about"]["study"]["rounds"] == 300


@pytest.mark.parametrize("name", ["bandits", "bandits_full"])
def test_committed_report_matches_the_committed_tables(name: str) -> None:
    folder = Path(__file__).resolve().parents[2] / "docs/results" / name
    content = json.loads((folder / "results.json").read_text())
    tables = {name: content[name] for name in ("alphas", "ratios", "correlation")}
    for name in ("regrets", "curves"):
        with (folder / f"{name}.csv").open() as lines:
            column_types = {"arms": int, "rounds": int, "policy": str}
            tables[name] = [
                {key: column_types.get(key, float)(x) for key, x in row.items() if x}
                for row in csv.DictReader(lines)
            ]
    assert to_markdown(content["about"], **tables) == (folder / "report.md").read_text()


def test_alphas_are_compared_by_paired_differences() -> None:
    rng = np.random.default_rng(1)
    best = rng.uniform(0, 1000, 100)  # regrets differ much more by problem than by alpha
    noise = rng.normal(0, 1, 100)
    # Means above the best: 0.1, within the standard error of 0.1; and 5, far beyond it.
    regrets = {0.1: best, 0.05: best + noise - noise.mean() + 0.1, 0.2: best + noise + 5}
    assert sorted(not_worse(regrets, 0.1)) == [0.05, 0.1]


@pytest.mark.parametrize("text", ["1", "2/2", "-1/2", "a/b", "0/0", ""])
def test_invalid_shards_raise(text: str) -> None:
    with pytest.raises(ValueError, match="shard must be i/n"):
        Shard.parse(text)


def test_shards_divide_the_work() -> None:
    shards = [Shard.parse(f"{i}/3") for i in range(3)]
    assert all(sum(shard.has(number) for shard in shards) == 1 for number in range(20))


def test_invalid_settings_raise() -> None:
    for wrong, message in (
        ({"problems": 25}, "problems must be a multiple of block = 10, got 25"),
        ({"annealing_problems": 30}, "annealing_problems must be an integer from 1 to 20"),
        ({"alphas": 2}, "alphas must be an integer from 3"),
        ({"cooling": "slow"}, "cooling must be one of 'geometric', 'logarithmic', 'linear'"),
        ({"arms": (1, 2)}, "each number of arms must be at least 2"),
    ):
        with pytest.raises(ValueError, match=message):
            replace(TINY, **wrong)


@pytest.mark.usefixtures("unrendered_figures")
def test_command_runs_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    tiny = replace(TINY, problems=30, annealing_problems=20)  # `--problems 20` is less than 30
    monkeypatch.setattr(study, "REDUCED", tiny)
    options = ["bandits", "--runs", str(tmp_path), "--problems", "20"]
    assert main([*options, "--shard", "3/2"]) == 2
    assert "shard must be i/n with i from 0 to n - 1, got '3/2'" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="cells of other shards are missing"):
        main([*options, "--shard", "0/2"])
    assert main(options) == 0
    report = tmp_path / "bandits_20" / "report" / "report.md"
    assert capsys.readouterr().out == f"report: {report}\n"
    assert "| here | 20 | 1 | 300 |" in report.read_text()


def test_regret_matches_the_thesis() -> None:
    """Check table 4.18 at K = 100 and alpha = 0.5, with 30 problems, played once each."""
    regret = play_bandits(
        "ucb1", random_problems(30, 100, seed=1), 100_000, params={"alpha": 0.5}, num_threads=2
    )
    error = regret.std() / math.sqrt(30)
    assert regret.mean() == pytest.approx(REGRETS[0.5][100], abs=4 * error)
    assert error < 40  # else the tolerance is too large to mean anything
