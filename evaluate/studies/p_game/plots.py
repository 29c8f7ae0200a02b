"""Plots of the study of P-games, as PNG files.

The failure rate is the fraction of random trees in which a search does not find a best move. A cell
has the failures in trees of one size with one number of simulations, see `analysis`.
"""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from ludoteca.evaluate.figures import figure_png
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.studies.p_game.analysis import cell_of, rate, size
from ludoteca.evaluate.studies.study import Records

# Policies in the figure of `draw_policies`.
SHOWN = ("ucb1", "ucb_tuned", "ucb_alpha1", "ucb_alpha2", "moss", "thompson", "puct", "kl_ucb")


def draw(records: Records, folder: Path) -> dict[str, bytes]:
    """Return the figures whose records exist, by file name.

    Args:
        records: records of the tasks: `"curve-SIZE"` for UCT in trees of one size, such as 8x8, and
            `"policy-NAME"` for a selection policy in trees of several sizes.
        folder: folder of all tasks, which is not used.
    """
    curves = {name: record for name, record in records.items() if name.startswith("curve-")}
    policies = {name: record for name, record in records.items() if name.startswith("policy-")}
    figures = {"curves.png": draw_curves(curves)} if curves else {}
    if all(f"policy-{name}" in policies for name in SHOWN):
        figures["policies.png"] = draw_policies(policies)
    return figures


def draw_curves(records: Records) -> bytes:
    """Draw the failure rate of UCT by the number of simulations, a line for each tree size."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for record in records.values():
        draw_line(axes, record["cells"], "simulations", size(record["cells"][0]))
    axes.set(
        xscale="log", xlabel="simulations", ylabel="failure rate", ylim=(0, None),
        title="UCT in P-games, branching factor x depth (bars: 95 % intervals)",
    )  # fmt: skip
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return figure_png(figure)


def draw_policies(records: Records) -> bytes:
    """Draw the failure rates of `SHOWN` by branching factor, in trees of depth 4.

    Each number of simulations has axes of its own.
    """
    all_cells = records["policy-ucb1"]["cells"]
    budgets = sorted({cell["simulations"] for cell in all_cells})
    figure = Figure(figsize=(10, 5), layout="constrained")
    for axes, budget in zip(figure.subplots(1, len(budgets), squeeze=False)[0], budgets,
                            strict=True):  # fmt: skip
        trees = [size(c) for c in all_cells if c["depth"] == 4 and c["simulations"] == budget]
        for name in SHOWN:
            cells = [cell_of(records, name, tree, budget) for tree in trees]
            draw_line(axes, cells, "branching", name)
        axes.set(
            xscale="log", xlabel="branching factor", ylabel="failure rate", ylim=(0, 1),
            title=f"depth 4, {budget} simulations",
        )  # fmt: skip
        factors = [int(tree.partition("x")[0]) for tree in trees]
        axes.set_xticks(factors, list(map(str, factors)))
        axes.set_xticks([], minor=True)
        axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return figure_png(figure)


def draw_line(axes: Any, cells: list[dict[str, Any]], key: str, label: str) -> None:
    """Draw failure rates with their intervals over `key`, such as `"simulations"`.

    Args:
        axes: Matplotlib's axes.
        cells: the cells, one point each.
        key: item of a cell with the x value.
        label: label of the line.
    """
    rates = [rate(cell) for cell in cells]
    bounds = [wilson(cell["failures"], cell["count"]) for cell in cells]
    bars = [
        [value - low for value, (low, _) in zip(rates, bounds, strict=True)],
        [high - value for value, (_, high) in zip(rates, bounds, strict=True)],
    ]
    axes.errorbar(
        [cell[key] for cell in cells], rates, bars, fmt=".-", lw=1, capsize=2, label=label
    )
