"""Tests of RAVE and GRAVE against UCB1 with its best constant, game by game."""

from collections.abc import Mapping
from math import sqrt
from statistics import NormalDist
from typing import Any

from ludoteca.evaluate.statistics.equivalence import MeanScore, stratified_score
from ludoteca.evaluate.statistics.intervals import Z_95
from ludoteca.evaluate.statistics.verdicts import LEVEL
from ludoteca.evaluate.statistics.wilcoxon import holm


def compare_with_ucb1(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the best cell of UCB1 in a grid, and how the best cell of RAVE or GRAVE compares.

    Each cell with AMAF statistics is compared by a z test of the difference of two mean scores,
    with Holm's correction over these cells. That UCB1's cell is its best one favors UCB1.

    Args:
        record: record of a task, with the cells of one game.

    Returns:
        `"ucb1"` and `"best"`: the cells; `"difference"`: the difference of their scores with its
        95 % interval; `"p"` and `"corrected"`: p-values of its test; `"better"`: number of cells
        that are significantly better than UCB1 after the correction; `"cells"`: number of cells
        that were compared.
    """
    plain = [cell for cell in record["cells"] if cell["amaf"] == "none"]
    others = [cell for cell in record["cells"] if cell["amaf"] != "none"]
    ucb1 = max(plain, key=lambda cell: mean_of(cell).score)
    tests = [difference(mean_of(cell), mean_of(ucb1)) for cell in others]
    corrected = holm([p for _, _, p in tests])
    best = max(range(len(others)), key=lambda k: tests[k][0])
    value, half_width, p = tests[best]
    return {
        "ucb1": ucb1,
        "best": others[best],
        "difference": (value, value - half_width, value + half_width),
        "p": p,
        "corrected": corrected[best],
        "better": sum(test[0] > 0 and p < LEVEL for test, p in zip(tests, corrected, strict=True)),
        "cells": len(others),
    }


def mean_of(cell: Mapping[str, Any]) -> MeanScore:
    """Return the mean score of a cell."""
    return stratified_score([(cell["wins"], cell["draws"], cell["games"])])


def difference(first: MeanScore, second: MeanScore) -> tuple[float, float, float]:
    """Return the difference of two mean scores, half its 95 % interval, and a two-sided p-value."""
    value = first.score - second.score
    deviation = sqrt(first.standard_error**2 + second.standard_error**2)
    if deviation == 0:
        return value, 0.0, float(value == 0)
    return value, Z_95 * deviation, 2 * (1 - NormalDist().cdf(abs(value) / deviation))
