"""Regrets of constants of UCB1 relative to those of other constants, in the same problems."""

from collections.abc import Mapping, Sequence

from ludoteca.evaluate.bandits.comparisons import regret_ratio
from ludoteca.evaluate.bandits.findings import Findings
from ludoteca.evaluate.studies.data import Row

OURS = "intervals"  # our best constant of both grids
# Constants that are compared, and with which: columns of `alpha_rows`, or numbers.
PAIRS = (
    ("thesis_intervals", OURS), ("thesis_annealing", OURS), ("annealing", OURS),
    ("1/K", OURS), ("e/(2K)", OURS), ("0.5", OURS), ("1/K", "2"), ("e/(2K)", "2"),
)  # fmt: skip


def ratio_rows(findings: Findings, alphas: Sequence[Row]) -> list[Row]:
    """Return a row for each K and pair of constants: the ratio of their regrets, with an interval.

    The 95 % intervals hold together (Bonferroni). Pairs of equal constants, and those with a
    constant that was not evaluated, are omitted.

    Args:
        findings: results of the experiment.
        alphas: rows with the constants, see `ludoteca.evaluate.studies.bandits.report.alpha_rows`.
    """
    pairs = [
        {"arms": row["arms"], "constant": name, "against": against, "alphas": (first, second)}
        for row in alphas
        for name, against in PAIRS
        for first, second in ((constant(row, name), constant(row, against)),)
        if first != second and findings.regrets[row["arms"]].keys() >= {first, second}
    ]
    rows = []
    for pair in pairs:
        first, second = (findings.regrets[pair["arms"]][alpha] for alpha in pair["alphas"])
        ratio, low, high = regret_ratio(first, second, len(pairs))
        rows.append(pair | {"ratio": ratio, "low": low, "high": high})
    return rows


def constant(row: Mapping[str, float | None], name: str) -> float | None:
    """Return the constant with a name, a column of `row` or a number."""
    return row[name] if name in row else float(name)
