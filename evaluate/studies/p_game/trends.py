"""Trends over the branching factor in P-games: best constants of UCB1, and places of policies.

Intervals are those of a bootstrap that samples the trees of each size anew.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.statistics.rank_correlation import rank_correlation
from ludoteca.evaluate.statistics.wilcoxon import holm
from ludoteca.evaluate.studies.p_game.analysis import cell_of, constant_of, constants, failed
from ludoteca.evaluate.studies.p_game.comparisons import (
    Difference,
    difference,
    resampled_failures,
)
from ludoteca.evaluate.studies.study import Records
from ludoteca.evaluate.tournament.trends import SAMPLES, Quantity, Trend

Array = NDArray[np.float64]


def branching_of(tree: str) -> int:
    """Return the branching factor of a size such as `"8x4"`."""
    return int(tree.partition("x")[0])


def all_failures(records: Records, policies: Sequence[str], tree: str, simulations: int) -> Array:
    """Return the failures of some policies in the trees of one size, `[trees, policies]`."""
    cells = [cell_of(records, name, tree, simulations) for name in policies]
    return np.stack([failed(cell) for cell in cells], axis=1)


def best_constants(
    records: Records, trees: Sequence[str], simulations: int, seed: int = 0
) -> tuple[list[str], Quantity]:
    """Return the sizes in which the constant of UCB1 matters, and the best constant in them.

    Constants with equally few failures count as their geometric mean. In a size in which all have
    equally many there is no best one; it is omitted.

    Args:
        records: records of the policies, see `ludoteca.evaluate.studies.p_game.study`.
        trees: sizes of the trees.
        simulations: number of simulations.
        seed: seed of the bootstrap.
    """
    names, rng = constants(records), np.random.default_rng(seed)
    logs = np.log([constant_of(name) for name in names])
    used, values, samples = [], list[Array](), list[Array]()
    for tree in trees:
        failures = all_failures(records, names, tree, simulations)
        numbers = failures.sum(axis=0)
        if np.ptp(numbers) > 0:
            used.append(tree)
            values.append(_mean_of_best(numbers, logs))
            samples.append(_mean_of_best(resampled_failures(failures, SAMPLES, rng), logs))
    return used, Quantity(np.exp(values), np.exp(np.stack(samples, axis=1)))


def _mean_of_best(numbers: Array, values: Array) -> Array:
    """Return the mean of the values whose numbers of failures, on the last axis, are the lowest."""
    best = numbers == numbers.min(axis=-1, keepdims=True)
    mean: Array = (best * values).sum(axis=-1) / best.sum(axis=-1)
    return mean


def constant_trends(
    records: Records, trees: Sequence[str], simulations: Sequence[int]
) -> list[tuple[int, list[str], Trend, float]]:
    """Return the trend of the best constant over the branching factor.

    Returns:
        For each number of simulations: this number, the sizes in which the constant matters, the
        trend, and its p value with Holm's correction for the numbers of simulations.
    """
    rows = []
    for number in simulations:
        used, best = best_constants(records, trees, number)
        rows.append((number, used, best.trend([branching_of(tree) for tree in used])))
    corrected = holm([trend.p for _, _, trend in rows])
    return [(*row, p) for row, p in zip(rows, corrected, strict=True)]


def places(
    records: Records, policies: Sequence[str], trees: Sequence[str], simulations: int, seed: int = 0
) -> tuple[Quantity, Array]:
    """Return the places of all policies in each size, and how often each is the best in samples.

    Returns:
        The places, 1 for the fewest failures, of shape `[sizes, policies]`; and the share of the
        bootstrap samples in which a policy fails least, float64 `[sizes, policies]`. Policies with
        equally many failures share a place and a sample.
    """
    from scipy.stats import rankdata

    rng, values, samples, chances = np.random.default_rng(seed), [], [], []
    for tree in trees:
        failures = all_failures(records, policies, tree, simulations)
        numbers = resampled_failures(failures, SAMPLES, rng)
        values.append(rankdata(failures.sum(axis=0)))
        samples.append(rankdata(numbers, axis=-1))
        best = numbers == numbers.min(axis=-1, keepdims=True)
        chances.append((best / best.sum(axis=-1, keepdims=True)).mean(axis=0))
    return Quantity(np.array(values), np.stack(samples, axis=1)), np.array(chances)


def best_text(
    records: Records, policies: Sequence[str], trees: Sequence[str], simulations: int
) -> str:
    """Return which policy fails least in each size as text, such as `"2x8: omc (69 %)"`.

    The percentage is the share of bootstrap samples in which it fails least. Instead of several
    policies with equally few failures the text has their number.
    """
    all_places, chances = places(records, policies, trees, simulations)
    texts = []
    for tree, row, chance in zip(trees, all_places.values, chances, strict=True):
        best = np.flatnonzero(row == row.min())
        name = f"{policies[best[0]]} ({100 * chance[best[0]]:.0f} %)"
        texts.append(f"{tree}: {name if len(best) == 1 else f'{len(best)} policies tie'}")
    return ", ".join(texts)


def place_trends(
    records: Records, policies: Sequence[str], trees: Sequence[str], simulations: Sequence[int]
) -> list[tuple[str, int, Trend, float]]:
    """Return the trend of each policy's place over the branching factor.

    Returns:
        Policy, number of simulations, trend, and its p value with Holm's correction for all of
        them; the policies that gain most places with the branching factor come first.
    """
    branching = [branching_of(tree) for tree in trees]
    rows = []
    for number in simulations:
        all_places, _ = places(records, policies, trees, number)
        for k, name in enumerate(policies):
            one = Quantity(all_places.values[:, k], all_places.samples[..., k])
            rows.append((name, number, one.trend(branching)))
    corrected = holm([trend.p for _, _, trend in rows])
    trends = [(*row, p) for row, p in zip(rows, corrected, strict=True)]
    return sorted(trends, key=lambda row: row[2].correlation)


def leads(
    records: Records,
    policies: Sequence[str],
    baseline: str,
    trees: Sequence[str],
    simulations: Sequence[int],
) -> dict[tuple[str, int, str], tuple[Difference, float]]:
    """Return the differences of failure rates from those of a baseline, tree by tree.

    Returns:
        By policy, number of simulations and size: the difference, and the p value of its sign test
        with Holm's correction for all differences.
    """
    keys = [(name, number, tree) for name in policies for number in simulations for tree in trees]
    differences = []
    for name, number, tree in keys:
        both = all_failures(records, (name, baseline), tree, number)
        differences.append(difference(both[:, 0], both[:, 1]))
    corrected = holm([each.p for each in differences])
    return dict(zip(keys, zip(differences, corrected, strict=True), strict=True))


def highest_constant_correlation(records: Records, trees: Sequence[str], simulations: int) -> float:
    """Return the correlation with the highest of the constants with equally few failures.

    All sizes count, also those in which the constant does not matter.
    """
    names = constants(records)
    best = [
        constant_of(
            names[int(all_failures(records, names, tree, simulations).sum(axis=0).argmin())]
        )
        for tree in trees
    ]
    return float(rank_correlation([branching_of(tree) for tree in trees], best))
