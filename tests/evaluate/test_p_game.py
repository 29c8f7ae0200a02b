"""Tests of P-games: values against exhaustive minimax, and failure rates of searches.

A P-game is a tree of random moves; the sign of their sum decides (Kocsis and Szepesvari, 2006).
"""

import inspect
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import tyro

from ludoteca.agents.search.policies import POLICIES
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.studies.p_game import analysis
from ludoteca.evaluate.studies.p_game.failures import draw_trees, measure, parse_size
from ludoteca.evaluate.studies.p_game.solve import root_values
from ludoteca.evaluate.studies.p_game.study import POLICIES as COMPARED
from ludoteca.evaluate.studies.p_game.study import make_study
from ludoteca.evaluate.studies.p_game.tree import HIGHEST, new_trees, p_game

GAME = p_game()


def leaf_total(s: np.void, path: tuple[int, ...]) -> int:
    """Return the sum of the moves of a path, played by the rules."""
    position = np.array([s]).view(np.recarray)[0]
    for action in path:
        GAME.step(position, action)
    assert GAME.is_terminal(position)
    return int(position.total)


def minimax(totals: np.ndarray) -> np.ndarray:
    """Return the results for MAX at the root, from the totals of all leaves, `[B, B, ...]`."""
    results = np.sign(totals)
    for level in reversed(range(1, totals.ndim)):
        results = results.min(axis=-1) if level % 2 else results.max(axis=-1)
    return results


@pytest.mark.interpreted
@pytest.mark.parametrize(("branching", "depth"), [(2, 5), (3, 4), (5, 2), (4, 1)])
def test_root_values_match_exhaustive_minimax(branching: int, depth: int) -> None:
    seeds = np.arange(1, 7, dtype=np.uint64) << np.uint64(40)
    states = new_trees(branching, depth, seeds)
    values = root_values(states)
    with np.errstate(over="ignore"):
        for s, found in zip(states, values, strict=True):
            paths = itertools.product(range(branching), repeat=depth)
            totals = np.array([leaf_total(s, path) for path in paths])
            np.testing.assert_array_equal(found, minimax(totals.reshape((branching,) * depth)))


@pytest.mark.interpreted
def test_moves_have_the_values_of_the_paper() -> None:
    """Check that moves of MAX are uniform in [0, 127], those of MIN in [-127, 0], and independent.

    Tolerances are four standard errors of 30 * 64 = 1920 moves.
    """
    states = new_trees(64, 2, np.arange(30, dtype=np.uint64))
    with np.errstate(over="ignore"):
        first = np.array([[move_total(s, (a,)) for a in range(64)] for s in states])
        second = np.array([[move_total(s, (0, a)) for a in range(64)] for s in states])
    second -= first[:, :1]
    for values in (first, -second):
        assert values.min() >= 0
        assert HIGHEST - 3 <= values.max() <= HIGHEST
        assert values.mean() == pytest.approx(HIGHEST / 2, abs=4 * HIGHEST / (12 * 1920) ** 0.5)
    assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 4 / 1920**0.5


def move_total(s: np.void, path: tuple[int, ...]) -> int:
    """Return the sum of the moves of a path that need not reach a leaf."""
    position = np.array([s]).view(np.recarray)[0]
    for action in path:
        GAME.step(position, action)
    return int(position.total)


@pytest.mark.interpreted
def test_uct_finds_a_best_move_of_small_trees(tmp_path: Path) -> None:
    out = tmp_path / "results.json"
    first = measure(out, ("2x3",), (2, 60), count=6, seed=3)
    assert [cell["simulations"] for cell in first["cells"]] == [2, 60]
    assert first["cells"][1]["failures"] == 0
    assert first["cells"][0]["random"] == 0.5  # one of two moves is better
    for cell in first["cells"]:
        assert analysis.failed(cell).sum() == cell["failures"]
    again = measure(out, ("2x3",), (2, 60), count=6, seed=3)
    assert again["cells"] == first["cells"] == json.loads(out.read_text())["cells"]


@pytest.mark.interpreted
def test_drawn_trees_have_moves_of_different_value() -> None:
    states, values, drawn = draw_trees(3, 3, 40, seed=2)
    assert len(states) == len(values) == 40 < drawn
    assert np.all(values.min(axis=1) < values.max(axis=1))
    assert len(np.unique(states["node"])) == 40
    np.testing.assert_array_equal(root_values(states), values)


def test_required_simulations_are_interpolated() -> None:
    def cells(*failures: int) -> list[dict[str, int]]:
        return [
            {"simulations": 10**k, "failures": count, "count": 100}
            for k, count in enumerate(failures, 1)
        ]

    assert analysis.required(cells(60, 20, 0)) == pytest.approx(10**2.5)
    assert analysis.required(cells(30, 10, 0)) == pytest.approx(100)
    assert analysis.required(cells(5, 20, 0)) == pytest.approx(10**2.5)  # the last above it counts
    assert analysis.required(cells(9, 1, 0)) == 10
    assert analysis.required(cells(60, 20, 11)) is None
    low, high = (analysis.required(cells(60, 20, 0), bound) for bound in (0, 1))
    assert low < 10**2.5 < high
    assert wilson(0, 100)[1] < 0.1


def test_policies_are_compared_tree_by_tree() -> None:
    def record(policy: str, failed: np.ndarray) -> dict:
        cell = {
            "branching": 2, "depth": 8, "simulations": 100, "count": len(failed),
            "failures": int(failed.sum()), "failed": np.packbits(failed).tobytes().hex(),
        }  # fmt: skip
        return {"policy": policy, "cells": [cell]}

    hard = np.arange(100) < 40
    failures = {"a": hard, "b": np.arange(100) < 45, "c": hard ^ (np.arange(100) % 20 == 0)}
    records = {name: record(name, failed) for name, failed in failures.items()}
    best, others = analysis.best_policies(records, "abc", "2x8", 100)
    assert best == "a"
    assert others == ["c"]  # b has five more failures, c three more and two fewer


def options_of(**options: object) -> dict[str, object]:
    """Return the options of a command; `tyro` reads them by the signature of `measure`."""
    return options


def test_every_policy_is_compared() -> None:
    later = {"etc_log", "etc_elimination"}  # added after the study
    assert set(COMPARED) == set(POLICIES) - later
    options_of.__signature__ = inspect.signature(measure)
    options_of.__annotations__ = measure.__annotations__
    for task in make_study().tasks.values():
        command = task.arguments(Path("runs"))
        assert command[:3] == ["-P", "-m", "ludoteca.evaluate.studies.p_game.failures"]
        options = tyro.cli(options_of, args=command[3:])
        assert options["policy"] == task.label
        assert all(parse_size(tree) for tree in options["trees"])


@pytest.mark.parametrize("text", ["8", "x8", "8x", "axb", "8x8x8"])
def test_invalid_sizes_raise(text: str) -> None:
    with pytest.raises(ValueError, match="trees must be BRANCHINGxDEPTH"):
        parse_size(text)


def test_invalid_trees_raise() -> None:
    for branching, depth in ((1, 8), (65, 8), (8, 0), (8, 21)):
        with pytest.raises(ValueError, match="must be an integer from"):
            new_trees(branching, depth, np.zeros(1, np.uint64))
