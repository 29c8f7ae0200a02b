"""Worked example of the heuristic of the paper (`tanaka2018`), figure 3.2, in several readings.

`python -m ludoteca.evaluate.studies.hex.worked_example` compares them. The figure has a position
and the value of each cell for white, which is to move. The values are available, but the colors of
the stones are not. So each reading is tried with all colorings of the stones: as white moved first
and is to move, six of the twelve stones are white.
"""

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tyro.conf import arg

from ludoteca.evaluate.cli.commands import Command, run_command
from ludoteca.evaluate.markdown import table
from ludoteca.evaluate.studies.hex.conductance import LINKS, Circuit, solve
from ludoteca.evaluate.studies.hex.tanaka2018 import FIGURE_3_2
from ludoteca.evaluate.studies.report import render
from ludoteca.files import write_atomically
from ludoteca.provenance import run_provenance

VALUES = np.array(FIGURE_3_2)
OCCUPIED = VALUES == -1
ROUNDING = 1e-9  # smaller differences are numerical errors
Array = NDArray[np.float64]


class Conductances(NamedTuple):
    """Conductances of both players' circuits in a position with k empty cells.

    Attributes:
        white: conductance of white's circuit.
        black: conductance of black's circuit.
        white_after: white's conductance after a white stone on each empty cell. Shape `[k]`.
        black_after: black's conductance after a white stone on each empty cell. Shape `[k]`.
    """

    white: float
    black: float
    white_after: Array
    black_after: Array


# Formulas for the values of the empty cells, in [-1, 1]: w and b are the conductances of white and
# black, w' and b' those after a white stone on the cell.
SCORES: dict[str, Callable[[Conductances], Array]] = {
    "1 - b'/w', or w'/b' - 1": lambda c: np.where(
        c.white_after > c.black_after,
        1 - c.black_after / c.white_after,
        c.white_after / c.black_after - 1,
    ),
    "(w' - b') / (w' + b')": lambda c: relative(c.black_after / c.white_after),
    "(q' - q) / (q' + q), q = w/b": lambda c: relative(
        c.black_after / c.white_after * c.white / c.black
    ),
    "1 - w/w'": lambda c: 1 - c.white / c.white_after,
    "the mean of 1 - w/w' and 1 - b'/b": lambda c: (
        (2 - c.white / c.white_after - c.black_after / c.black) / 2
    ),
    "1 - w/w', the largest scaled to 1": lambda c: to_one(1 - c.white / c.white_after),
}  # fmt: skip


def relative(ratio: Array) -> Array:
    """Return `(1 - x) / (1 + x)`, the relative difference of two numbers with the ratio x."""
    return np.asarray((1 - ratio) / (1 + ratio))


def to_one(values: Array) -> Array:
    """Return values divided by the largest."""
    return np.asarray(values / values.max())


@np.errstate(divide="ignore", invalid="ignore")  # undefined values become NaN
def cell_values(score: str, conductances: Conductances) -> Array:
    """Return the values of the empty cells by one of `SCORES`; NaN if undefined. Shape `[k]`."""
    return SCORES[score](conductances).clip(-1, 1)


def solved(white: NDArray[np.bool_], black: NDArray[np.bool_], links: str) -> Conductances:
    """Return the conductances; those after a stone are solved again.

    The arguments are those of `estimated`.
    """
    after = []
    for cell in np.argwhere(~OCCUPIED):
        stone = np.zeros_like(white)
        stone[tuple(cell)] = True
        after.append([circuit.conductance for circuit in both(white | stone, black, links)])
    own, other = (circuit.conductance for circuit in both(white, black, links))
    return Conductances(own, other, *np.array(after).T)


@np.errstate(divide="ignore", invalid="ignore")  # undefined values become NaN
def estimated(
    white: NDArray[np.bool_], black: NDArray[np.bool_], links: str, counted: bool = False
) -> Conductances:
    """Return the conductances; those after a stone are estimated by the current through its cell.

    NeuroHex (see `conductance`) does it this way. If the current I of white's circuit flows through
    the cell, a stone there adds `I^2 / (3 (1 - I))` to white's conductance; black's conductance
    loses the current of black's circuit through the cell.

    Args:
        white: white's stones. Shape `[n, n]`.
        black: black's stones. Shape `[n, n]`.
        links: one of `LINKS`.
        counted: whether conductances are those that NeuroHex counts, see `Circuit`.
    """
    circuits = both(white, black, links)
    own, other = (one.counted if counted else one.conductance for one in circuits)
    current, other_current = (one.currents[~OCCUPIED] for one in circuits)
    # If the whole current flows through the cell, a stone there makes the conductance infinite.
    missing = np.where(1 - current < ROUNDING, 0.0, 1 - current)
    more = current**2 / (3 * missing)
    return Conductances(own, other, own + more, np.maximum(other - other_current, 0))


def both(white: NDArray[np.bool_], black: NDArray[np.bool_], links: str) -> tuple[Circuit, Circuit]:
    """Return white's circuit, from west to east, and black's, from north to south."""
    across = solve(white.T, black.T, links)
    return across._replace(currents=across.currents.T), solve(black, white, links)


# Methods for the conductances after a stone.
AFTER: dict[str, Callable[..., Conductances]] = {
    "solved again": solved,
    "estimated": estimated,
    "estimated, conductance as counted by NeuroHex": partial(estimated, counted=True),
}


class Reading(NamedTuple):
    """A reading of the heuristic with the coloring whose values are nearest to the figure's.

    Attributes:
        links: one of `LINKS`.
        after: one of `AFTER`.
        score: one of `SCORES`.
        distance: largest difference from the figure over all cells.
        mean_distance: mean absolute difference over the empty cells.
        truncated: number of cells, of all 25, whose value equals the figure's if it is truncated to
            two decimals; occupied cells count.
        rounded: the same number if values are rounded to two decimals.
        white: cells of white's stones in the first of the nearest colorings, such as `"a1"`.
        positions: number of colorings that are equally near.
        certain: occupied cells that have the same color in all of these, such as `"d3"`.
        values: values of the cells, -1 if occupied.
    """

    links: str
    after: str
    score: str
    distance: float
    mean_distance: float
    truncated: int
    rounded: int
    white: list[str]
    positions: int
    certain: list[str]
    values: list[list[float]]


def colorings() -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Yield all colorings of the stones in which nobody has won, as white's and black's stones."""
    stones = np.argwhere(OCCUPIED)
    for chosen in combinations(range(len(stones)), len(stones) // 2):
        white = np.zeros_like(OCCUPIED)
        white[tuple(stones[list(chosen)].T)] = True
        black = OCCUPIED & ~white
        if all(circuit.conductance < np.inf for circuit in both(white, black, "unit")):
            yield white, black


def readings() -> list[Reading]:
    """Return all readings, the nearest to the figure first."""
    positions = list(colorings())
    found = []
    for links, after in product(LINKS, AFTER):
        conductances = [AFTER[after](white, black, links) for white, black in positions]
        for score in SCORES:
            values = np.array([cell_values(score, one) for one in conductances])
            found.append(nearest(links, after, score, values, positions))
    return sorted(found, key=lambda reading: (reading.distance, reading.mean_distance))


def nearest(links: str, after: str, score: str, values: Array, positions: list[Any]) -> Reading:
    """Return a reading with the coloring whose values are nearest to the figure's.

    Args:
        links: one of `LINKS`.
        after: one of `AFTER`.
        score: one of `SCORES`.
        values: values of the empty cells in each position; NaN if undefined. Shape `[k, cells]`.
        positions: the positions, as `colorings` returns them.
    """
    target = VALUES[~OCCUPIED]
    differences = np.abs(np.where(np.isnan(values), np.inf, values) - target)
    distances = differences.max(axis=1)
    best = int(distances.argmin())
    found = values[best]
    full = np.full(VALUES.shape, -1.0)
    full[~OCCUPIED] = found
    cut = np.trunc(found * 100 + np.sign(found) * ROUNDING) / 100
    same = [int(np.isclose(shown, target).sum()) for shown in (cut, found.round(2))]
    occupied = int(OCCUPIED.sum())
    nearest_ones = np.flatnonzero(distances < distances[best] + ROUNDING)
    whites = np.array([positions[k][0] for k in nearest_ones])
    return Reading(
        links, after, score,
        float(distances[best]), float(differences[best].mean()),
        occupied + same[0], occupied + same[1],
        cells(whites[0]), len(whites), cells(OCCUPIED & (whites == whites[0]).all(axis=0)),
        full.tolist(),
    )  # fmt: skip


def cells(stones: NDArray[np.bool_]) -> list[str]:
    """Return the names of the cells with stones, such as `"a1"`."""
    return [f"{'abcde'[column]}{row + 1}" for row, column in np.argwhere(stones)]


def compare(
    out: Annotated[Path | None, arg(metavar="FOLDER", help_behavior_hint="")] = None,
) -> list[Reading]:
    """Compare readings of the paper's heuristic with its figure 3.2.

    Args:
        out: also write `figure_3_2.md` and `figure_3_2.json` to this folder.
    """
    found = readings()
    headings = ("links", "after a stone", "value", "largest difference", "equal of 25")
    print(
        table(
            headings,
            [(*one[:3], f"{one.distance:.3f}", one.truncated) for one in found],
            text_columns=3,
        )
    )
    if out is not None:
        names = {"readings": found, "figure": VALUES, "occupied": OCCUPIED, "cells": cells}
        write_atomically(out / "figure_3_2.md", render("hex/figure_3_2.md.j2", names))
        content = {"readings": [one._asdict() for one in found]} | run_provenance()
        write_atomically(out / "figure_3_2.json", json.dumps(content, indent=1) + "\n")
    return found


def main() -> int:
    """Run the command line; return its exit status."""
    name = "ludoteca.evaluate.studies.hex.worked_example"
    return run_command(Command(f"{name}:compare", ""), sys.argv[1:], f"python -m {name}")


if __name__ == "__main__":
    sys.exit(main())
