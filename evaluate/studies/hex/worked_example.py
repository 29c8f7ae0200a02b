"""Worked example of Tanaka's heuristic (2018), figure 3.2, in several readings of the paper.

`python -m ludoteca.evaluate.studies.hex.worked_example` compares them. The figure has a position
and the value of each cell for white, which is to move. The values are available, but the colors of
the stones are not. So each reading is tried with all colorings of the stones: as white moved first
and is to move, six of the twelve stones are white.
"""

import json
import sys
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tyro.conf import arg

from ludoteca.agents.games.hex.conductance import LINKS
from ludoteca.agents.games.hex.stone_values import (
    AFTER,
    ROUNDING,
    SCORES,
    Array,
    both,
    stone_values,
)
from ludoteca.evaluate.cli.commands import Command, run_command
from ludoteca.evaluate.markdown import table
from ludoteca.evaluate.studies.data import read_data
from ludoteca.evaluate.studies.report import render
from ludoteca.files import write_atomically
from ludoteca.provenance import run_provenance

VALUES = np.array(read_data("hex/tanaka2018.toml")["figure_3_2"])
OCCUPIED = VALUES == -1


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
            values = np.array([stone_values(score, one) for one in conductances])
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
