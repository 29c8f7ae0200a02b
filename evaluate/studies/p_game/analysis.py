"""Failure rates in P-games: cells of the records, simulations needed, and comparisons in pairs."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import linregress

from ludoteca.evaluate.statistics.differences import not_worse
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.studies.study import Records

TARGET = 0.1  # failure rate for which the simulations needed are compared between tree sizes
# Entry of `"cells"` in a record, see `ludoteca.evaluate.studies.p_game.failures.measure`.
Cell = dict[str, Any]


def cell_of(records: Records, policy: str, tree: str, simulations: int) -> Cell:
    """Return the cell of a policy, a size such as "8x8", and a number of simulations.

    Raises:
        KeyError: if no record has it.
    """
    for record in records.values():
        if record["policy"] == policy:
            for cell in record["cells"]:
                if (size(cell), cell["simulations"]) == (tree, simulations):
                    found: Cell = cell
                    return found
    raise KeyError(f"no cell of {policy} in {tree} with {simulations} simulations")


def size(cell: Cell) -> str:
    """Return branching factor and depth of a cell's trees as text, such as "8x8"."""
    return f"{cell['branching']}x{cell['depth']}"


def rate(cell: Cell) -> float:
    """Return the failure rate of a cell."""
    return float(cell["failures"] / cell["count"])


def required(cells: Sequence[Cell], bound: int | None = None) -> float | None:
    """Return the number of simulations with a failure rate of `TARGET`, or None if all are higher.

    The logarithms are interpolated between the last higher and the next lower measurement.

    Args:
        cells: cells of one tree size, by ascending numbers of simulations.
        bound: 0 or 1 to use the lower or upper bound of the 95 % interval instead of the rate.
    """
    rates = [rate(c) if bound is None else wilson(c["failures"], c["count"])[bound] for c in cells]
    above = [k for k, value in enumerate(rates) if value > TARGET]
    if not above:
        return float(cells[0]["simulations"])
    k = above[-1]
    if k + 1 == len(cells):
        return None
    low, high = (math.log(cells[i]["simulations"]) for i in (k, k + 1))
    share = (rates[k] - TARGET) / (rates[k] - rates[k + 1])
    return math.exp(low + share * (high - low))


def scaling(records: Records) -> list[dict[str, Any]]:
    """Return a row for each size of the curves: the simulations needed, with a 95 % interval.

    `"root_of_leaves"` is the square root of the number of leaves.
    """
    rows = []
    for record in records.values():
        cells = record["cells"]
        branching, depth = cells[0]["branching"], cells[0]["depth"]
        needed, low, high = (required(cells, bound) for bound in (None, 0, 1))
        rows.append(
            {
                "tree": size(cells[0]),
                "branching": branching,
                "depth": depth,
                "root_of_leaves": branching ** (depth / 2),
                "needed": needed,
                "low": low,
                "high": high,
                "random": cells[0]["random"],
                "drawn": cells[0]["drawn"],
            }
        )
    return sorted(rows, key=lambda row: (row["root_of_leaves"], row["tree"]))


def exponent(rows: Sequence[dict[str, Any]], key: str, value: int) -> tuple[float, float]:
    """Return x in `needed ~ root_of_leaves ** x`, and its standard error (least squares).

    Args:
        rows: rows of `scaling`.
        key: `"branching"` or `"depth"`; only rows with this `value` are used.
        value: see `key`.
    """
    points = [
        (row["root_of_leaves"], row["needed"])
        for row in rows
        if row[key] == value and row["needed"] is not None
    ]
    fit = linregress(*np.log(points).T)
    return float(fit.slope), float(fit.stderr)


def failed(cell: Cell) -> NDArray[np.float64]:
    """Return 1 for each tree of a cell in which the search failed, else 0; float64 `[count]`."""
    packed = np.frombuffer(bytes.fromhex(cell["failed"]), np.uint8)
    return np.unpackbits(packed, count=cell["count"]).astype(np.float64)


def best_policies(
    records: Records, policies: Sequence[str], tree: str, simulations: int
) -> tuple[str, list[str]]:
    """Return the policy with the fewest failures, and the others that are not worse.

    All policies searched the same trees, see `not_worse`.
    """
    cells = {name: cell_of(records, name, tree, simulations) for name in policies}
    best = min(cells, key=lambda name: cells[name]["failures"])
    equal = not_worse({name: failed(cell) for name, cell in cells.items()}, best)
    return best, [name for name in equal if name != best]


def counts_of_best(
    records: Records, policies: Sequence[str], trees: Sequence[str], simulations: Sequence[int]
) -> list[tuple[str, int]]:
    """Return for each policy in how many cells it is the best or not worse, most cells first."""
    counts = Counter(
        name
        for tree in trees
        for number in simulations
        for best, others in (best_policies(records, policies, tree, number),)
        for name in (best, *others)
    )
    return sorted(((name, counts[name]) for name in policies), key=lambda pair: -pair[1])


def constant_of(policy: str) -> float:
    """Return alpha of a policy such as "ucb1:alpha=0.5"; 2 for "ucb1"."""
    return float(policy.partition("=")[2] or 2)


def constant_values(policies: Sequence[str]) -> list[float]:
    """Return `constant_of` each policy."""
    return [constant_of(policy) for policy in policies]


def constants(records: Records) -> list[str]:
    """Return the policies that are UCB1 with a constant, the highest constant first."""
    names = {r["policy"] for r in records.values() if r["policy"].partition(":")[0] == "ucb1"}
    return sorted(names, key=constant_of, reverse=True)
