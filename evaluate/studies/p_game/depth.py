"""Exploration constants that depend on the depth, in P-games with equal branching factors.

The exploration term is multiplied by a factor for each ply, so its constant is a function of the
depth. The branching factor comes in by UCB-alpha2. Records are those of the tasks `"depth-..."`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.statistics.differences import not_worse
from ludoteca.evaluate.studies.p_game.analysis import Cell, failed, size
from ludoteca.evaluate.studies.p_game.comparisons import Difference, difference
from ludoteca.evaluate.studies.study import Records

Array = NDArray[np.float64]
Variant = tuple[str, float]  # policy, and factor of its exploration term for each ply
POLICIES = (*(f"ucb1:alpha={alpha:g}" for alpha in (2.0, 0.5, 0.125, 0.03125)), "ucb_alpha2")
FACTORS = (0.64, 0.8, 1.0, 1.25, 1.5625)
# Trees by branching factor, each with several depths.
TREES_BY_BRANCHING = {
    2: ("2x8", "2x12", "2x16", "2x20"),
    4: ("4x4", "4x6", "4x8", "4x10"),
    8: ("8x4", "8x6", "8x8"),
}
TREES = tuple(tree for trees in TREES_BY_BRANCHING.values() for tree in trees)
SIMULATIONS = (100, 1000)
CONSTANTS = tuple((policy, 1.0) for policy in POLICIES if policy.startswith("ucb1"))
SCALED = tuple(("ucb_alpha2", factor) for factor in FACTORS)


def cell(records: Records, variant: Variant, tree: str, simulations: int) -> Cell:
    """Return the cell of a variant in the trees of one size."""
    policy, factor = variant
    settings = {"policy": policy, "depth_decay": factor}
    return next(
        each
        for record in records.values()
        if record["settings"].items() >= settings.items()
        for each in record["cells"]
        if (size(each), each["simulations"]) == (tree, simulations)
    )


def failures(
    records: Records, variants: Sequence[Variant], tree: str, simulations: int
) -> dict[Variant, Array]:
    """Return the failures of some variants in the trees of one size, by variant."""
    return {each: failed(cell(records, each, tree, simulations)) for each in variants}


def not_worse_variants(
    records: Records, variants: Sequence[Variant], tree: str, simulations: int
) -> tuple[Variant, list[Variant]]:
    """Return the variant with the fewest failures, and all that are not significantly worse."""
    costs = failures(records, variants, tree, simulations)
    best = min(costs, key=lambda variant: costs[variant].sum())
    return best, not_worse(costs, best)


def common(
    records: Records, variants: Sequence[Variant], trees: Sequence[str], simulations: int
) -> list[Variant]:
    """Return the variants that are not significantly worse than the best in any of the sizes."""
    sets = [set(not_worse_variants(records, variants, tree, simulations)[1]) for tree in trees]
    return [each for each in variants if each in set.intersection(*sets)]


def pooled_differences(records: Records) -> list[tuple[str, int, list[tuple[float, Difference]]]]:
    """Return the differences between each factor and the factor 1, over all trees.

    The intervals hold together (Bonferroni).

    Returns:
        For each number of simulations and policy: the policy, the number, and for each factor
        other than 1 the factor and the difference of the failure rates.
    """
    others = [factor for factor in FACTORS if factor != 1]
    comparisons = len(others) * len(POLICIES) * len(SIMULATIONS)

    def all_trees(policy: str, factor: float, number: int) -> Array:
        return np.concatenate(
            [failed(cell(records, (policy, factor), tree, number)) for tree in TREES]
        )

    return [
        (policy, number, [
            (factor, difference(
                all_trees(policy, factor, number), all_trees(policy, 1.0, number), comparisons
            ))
            for factor in others
        ])
        for number in SIMULATIONS
        for policy in POLICIES
    ]  # fmt: skip


def choose(costs: dict[Variant, Array], part: NDArray[np.bool_]) -> Variant:
    """Return the variant with the fewest failures in a part of the trees.

    Of equal ones it is that with the factor nearest to 1, and then the first.
    """
    return min(costs, key=lambda each: (costs[each][part].sum(), abs(np.log(each[1]))))


def cross_validated(
    costs: dict[Variant, Array], is_candidate: Callable[[Variant], bool]
) -> tuple[list[Variant], Array]:
    """Return the failures of the best variant, chosen in the other half of the trees.

    The trees with even and with odd numbers are the halves.

    Args:
        costs: failures by variant, each of shape `[trees]`.
        is_candidate: function that returns whether a variant is among those to choose from.

    Returns:
        The variants that were chosen in the two halves, and the failures, `[trees]`.
    """
    candidates = {each: cost for each, cost in costs.items() if is_candidate(each)}
    even = np.arange(len(next(iter(costs.values())))) % 2 == 0
    chosen = [choose(candidates, part) for part in (even, ~even)]
    return chosen, np.where(even, costs[chosen[1]], costs[chosen[0]])


def family_rows(records: Records) -> list[dict[str, Any]]:
    """Return the comparison of constants that depend on the depth with those that do not.

    There is a row for each number of simulations and size, and one for all sizes together. In each
    half of the trees the best constant is chosen, once of those with the factor 1 and once of all;
    the failures are counted in the other half. The intervals hold together (Bonferroni).
    """
    variants = [(policy, factor) for policy in POLICIES for factor in FACTORS]
    comparisons = len(SIMULATIONS) * (len(TREES) + 1)
    rows = []
    for number in SIMULATIONS:
        chosen: dict[str, tuple[list[Variant], list[Variant]]] = {}
        failed_in: dict[str, tuple[Array, Array]] = {}
        for tree in TREES:
            costs = failures(records, variants, tree, number)
            constant, without = cross_validated(costs, lambda each: each[1] == 1)
            scaled, by_depth = cross_validated(costs, lambda each: True)
            chosen[tree], failed_in[tree] = (constant, scaled), (without, by_depth)
        everywhere = (np.concatenate([pair[k] for pair in failed_in.values()]) for k in (0, 1))
        for tree, pair in (failed_in | {"all": tuple(everywhere)}).items():
            constant, scaled = chosen.get(tree, ([], []))
            rows.append(
                {
                    "simulations": number,
                    "tree": tree,
                    "constant": constant,
                    "by_depth": scaled,
                    "failures": (int(pair[0].sum()), int(pair[1].sum()), len(pair[0])),
                    "difference": difference(pair[1], pair[0], comparisons),
                }
            )
    return rows
