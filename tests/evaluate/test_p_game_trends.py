"""Tests of comparisons in P-games: paired differences, trends over the branching factor, depth."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ludoteca.evaluate.studies.p_game import depth, trends
from ludoteca.evaluate.studies.p_game.comparisons import difference, resampled_failures
from ludoteca.evaluate.studies.p_game.failures import measure

TREES = ("2x4", "4x4", "8x4", "16x4", "32x4")


def make_cell(tree: str, failed: np.ndarray, simulations: int = 100) -> dict[str, Any]:
    """Return a cell of a record with some failures, `[trees]`."""
    branching, _, plies = tree.partition("x")
    return {
        "branching": int(branching), "depth": int(plies), "simulations": simulations,
        "count": len(failed), "failures": int(failed.sum()),
        "failed": np.packbits(failed).tobytes().hex(),
    }  # fmt: skip


def make_record(policy: str, failures: dict[str, int], count: int = 400) -> dict[str, Any]:
    """Return the record of a policy that fails in the first trees of each size."""
    cells = [make_cell(tree, np.arange(count) < number) for tree, number in failures.items()]
    return {"policy": policy, "cells": cells}


def test_differences_are_those_of_the_same_trees() -> None:
    hard = np.arange(400) < 200
    first, second = (x.astype(float) for x in (hard, hard & (np.arange(400) >= 12)))
    found = difference(first, second)
    assert found.value == pytest.approx(0.03)
    # 12 trees of 400 differ: standard deviation sqrt(0.03 * 0.97), though each rate is about 0.5.
    half_width = 1.96 * (0.03 * 0.97 / 399) ** 0.5
    assert (found.low, found.high) == pytest.approx((0.03 - half_width, 0.03 + half_width), 1e-3)
    assert found.p == pytest.approx(2 / 2**12)  # 12 of 12 in the same direction
    assert difference(first, first).p == 1
    assert difference(first, second, comparisons=20).low < found.low


def test_resampled_failures_vary_as_binomial_numbers() -> None:
    failures = np.stack([np.arange(100) < 30, np.arange(100) < 0], axis=1).astype(float)
    numbers = resampled_failures(failures, 4000, np.random.default_rng(1))
    assert numbers[:, 0].mean() == pytest.approx(30, abs=4 * (21 / 4000) ** 0.5)
    assert numbers[:, 0].var() == pytest.approx(21, rel=0.1)
    assert not numbers[:, 1].any()


def constant_records() -> dict[str, dict[str, Any]]:
    """Return records of four constants, of which the best falls with the branching factor."""
    best = {"2x4": 2.0, "4x4": 0.5, "8x4": 0.25, "16x4": 0.125}
    names = {"ucb1": 2.0} | {f"ucb1:alpha={alpha:g}": alpha for alpha in (0.5, 0.25, 0.125)}
    records = {}
    for name, alpha in names.items():
        failures = {tree: 20 if alpha == center else 120 for tree, center in best.items()}
        records[name] = make_record(name, failures | {"32x4": 390})
    return records


def test_the_trend_of_the_best_constant_leaves_out_sizes_without_one() -> None:
    used, best = trends.best_constants(constant_records(), TREES, 100)
    assert used == ["2x4", "4x4", "8x4", "16x4"]  # in 32x4 all constants fail equally often
    assert best.values.tolist() == pytest.approx([2, 0.5, 0.25, 0.125])
    (_, _, trend, corrected), _ = trends.constant_trends(constant_records(), TREES, (100, 100))
    assert (trend.correlation, trend.low, trend.high) == (-1, -1, -1)
    assert trend.p == pytest.approx(2 / 24)
    assert corrected == pytest.approx(4 / 24)


def test_equally_good_constants_count_as_their_geometric_mean() -> None:
    records = {
        name: make_record(name, {"2x4": failures})
        for name, failures in (("ucb1", 10), ("ucb1:alpha=0.5", 10), ("ucb1:alpha=0.25", 11))
    }
    assert trends.best_constants(records, ("2x4",), 100)[1].values == pytest.approx([1.0])
    # The highest of them is 2 in all sizes, so there is no trend.
    assert trends.highest_constant_correlation(records, ("2x4",), 100) == 0


def test_places_share_ties_and_chances() -> None:
    failures = {"a": 0, "b": 0, "c": 40}
    records = {name: make_record(name, {"2x4": number}) for name, number in failures.items()}
    places, chances = trends.places(records, ("a", "b", "c"), ("2x4",), 100)
    assert places.values.tolist() == [[1.5, 1.5, 3]]
    assert chances.tolist() == [[0.5, 0.5, 0]]
    assert trends.best_text(records, ("a", "b", "c"), ("2x4",), 100) == "2x4: 2 policies tie"
    assert trends.best_text(records, ("a", "c"), ("2x4",), 100) == "2x4: a (100 %)"


def test_trends_of_places_are_corrected_for_all_of_them() -> None:
    failures = {"a": (10, 20, 30, 40, 50), "b": (50, 40, 35, 20, 10)}
    records = {
        name: make_record(name, dict(zip(TREES, numbers, strict=True)))
        for name, numbers in failures.items()
    }
    first, second = trends.place_trends(records, ("a", "b"), TREES, (100,))
    assert [first[0], second[0]] == ["b", "a"]  # b gains places with the branching factor
    assert first[3] == pytest.approx(min(1.0, 2 * first[2].p))
    leads = trends.leads(records, ("b",), "a", TREES, (100,))
    found, corrected = leads["b", 100, "2x4"]
    assert found.value == pytest.approx(0.1)
    assert corrected < 0.001
    assert leads["b", 100, "8x4"][1] == pytest.approx(5 / 80)  # p = 2 / 2^5, twice as many remain


def depth_records(count: int = 200) -> dict[str, dict[str, Any]]:
    """Return records in which UCB-alpha2 with the factor 1.25 fails least in trees of depth 8."""
    records = {}
    for policy in depth.POLICIES:
        for factor in depth.FACTORS:
            cells = []
            for tree in depth.TREES:
                is_best = policy == "ucb_alpha2" and factor == 1.25 and tree.endswith("x8")
                number = 20 if is_best else 60 if factor == 1 else 80
                cells += [
                    make_cell(tree, np.arange(count) < number, simulations)
                    for simulations in depth.SIMULATIONS
                ]
            settings = {"policy": policy, "depth_decay": factor}
            records[f"{policy}-{factor}"] = {"settings": settings, "cells": cells}
    return records


def test_factors_are_compared_with_the_plain_policy_over_all_trees() -> None:
    rows = depth.pooled_differences(depth_records())
    assert len(rows) == len(depth.POLICIES) * len(depth.SIMULATIONS)
    for policy, _, differences in rows:
        assert [factor for factor, _ in differences] == [0.64, 0.8, 1.25, 1.5625]
        for factor, found in differences:
            # In 3 of 11 sizes 40 of 200 trees fewer, in the others 20 more.
            is_best = (policy, factor) == ("ucb_alpha2", 1.25)
            expected = (8 * 20 - 3 * 40) / 2200 if is_best else 0.1
            assert found.value == pytest.approx(expected)


def test_constants_are_chosen_in_other_trees_than_they_are_tested_in() -> None:
    even = np.arange(100) % 2 == 0
    costs = {
        ("lucky", 1.0): np.where(even, 0.0, 1.0),  # never fails in one half, always in the other
        ("plain", 1.0): np.full(100, 0.4),
        ("scaled", 0.8): np.full(100, 0.4),
    }
    chosen, tested = depth.cross_validated(costs, lambda each: True)
    assert chosen == [("lucky", 1.0), ("plain", 1.0)]  # of equal ones that with the factor 1
    np.testing.assert_array_equal(tested, np.where(even, 0.4, 1.0))


def test_families_are_compared_in_each_size_and_in_all() -> None:
    rows = depth.family_rows(depth_records())
    assert [row["tree"] for row in rows] == [*depth.TREES, "all"] * 2
    by_tree = {row["tree"]: row for row in rows}
    assert by_tree["8x8"]["by_depth"] == [("ucb_alpha2", 1.25)] * 2
    assert by_tree["8x8"]["failures"] == (60, 20, 200)
    assert by_tree["8x8"]["difference"].high < 0
    assert by_tree["8x4"]["difference"].value == 0
    assert by_tree["all"]["difference"].value == pytest.approx(-3 * 40 / 2200)


def test_common_variants_are_good_in_all_depths() -> None:
    records = depth_records()
    # The factor 1.25 is the best of trees of depth 8, and worse than 1 in the others.
    assert depth.common(records, depth.SCALED, ("8x4", "8x6", "8x8"), 100) == []
    assert depth.common(records, depth.SCALED, ("8x4", "8x6"), 100) == [("ucb_alpha2", 1.0)]


@pytest.mark.interpreted
def test_a_factor_for_each_ply_changes_the_search(tmp_path: Path) -> None:
    def cells(factor: float) -> list[dict[str, Any]]:
        out = tmp_path / f"{factor}.json"
        return measure(out, ("4x6",), (40,), depth_decay=factor, count=24, seed=1)["cells"]

    assert cells(1.0) == cells(1.0)
    assert cells(0.0) != cells(1.0)  # without exploration below the root
