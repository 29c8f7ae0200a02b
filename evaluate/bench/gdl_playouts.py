"""Speed of leaf parallelization in rule sheets: `ludoteca bench gdl --playouts`.

Each leaf of tree search is evaluated by several playouts, which are played together, one bit per
game; see `ludoteca.agents.search.leaf_parallel`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from ludoteca.envs.gdl.game import gdl
from ludoteca.evaluate.bench.gdl import format_rate
from ludoteca.evaluate.bench.gdl_kernels import rate_cell
from ludoteca.evaluate.bench.rounds import ROUNDS
from ludoteca.evaluate.bench.search_workload import SearchWorkload
from ludoteca.evaluate.bench.sheet_speeds import SpeedTable, measure_speeds
from ludoteca.evaluate.markdown import table

COUNTS = (1, 8, 64, 512)  # playouts of a leaf
PLAYOUTS = 2048  # per move, in searches of at least `MIN_SIMULATIONS`
MIN_SIMULATIONS = 8
HEADINGS = (
    "sheet",
    *(f"N = {count}, playouts/s" for count in COUNTS),
    *(f"N = {count}, simulations/s" for count in COUNTS),
    f"playouts/s, {COUNTS[-1]} / 1",
)


@dataclass(frozen=True)
class PlayoutSpeed:
    """Rates of tree search with several playouts of each leaf.

    Attributes:
        name: name of the sheet.
        together: whether the playouts of a leaf are played together, if they are enough.
        playouts: playouts per CPU second in the first move, in each round, by the number of
            playouts of a leaf. Simulations are as many, divided by that number.
    """

    name: str
    together: bool
    playouts: dict[int, tuple[float, ...]]


def bench_gdl_playouts(
    sheets: Path | None = None,
    json: Path | None = None,
    page: Path | None = None,
    seconds: float = 2.0,
    only: tuple[str, ...] = (),
) -> list[PlayoutSpeed]:
    """Measure tree search with several playouts of each leaf; print the rates.

    The files are written after each sheet, so that an interrupted run leaves its results.

    Args:
        sheets: folder of sheets, or one sheet; by default those of this package.
        json: file for all numbers; None: no file.
        page: file for the table in Markdown; None: no file.
        seconds: CPU seconds of each number of playouts, all rounds together.
        only: names of sheets, exact, in the order of the table; by default all.

    Raises:
        ValueError: if a sheet is missing or invalid, or `seconds` is not positive.
        OSError: if a file cannot be written.
    """
    speed_table = SpeedTable(measure_playouts, HEADINGS, table_row, markdown_page)
    return measure_speeds(speed_table, sheets, json, page, seconds, only)


def measure_playouts(name: str, path: Path, seconds: float) -> PlayoutSpeed:
    """Measure the searches of a sheet in `ROUNDS` rounds; the numbers of playouts alternate.

    Args:
        name: name of the sheet.
        path: file of the sheet.
        seconds: CPU seconds of each number of playouts, all rounds together.

    Raises:
        ValueError: if it is not a valid rule sheet.
    """
    game = gdl(str(path))
    searches = {}
    for count in COUNTS:
        simulations = max(MIN_SIMULATIONS, PLAYOUTS // count)
        spec = f"mcts:simulations={simulations},playout.count={count}"
        searches[count] = SearchWorkload(game, spec, simulations * count, process_time)
    rates: dict[int, list[float]] = {count: [] for count in COUNTS}
    for _ in range(ROUNDS):
        for count, search in searches.items():
            sample = search(seconds / ROUNDS)
            rates[count].append(round(sample.steps / sample.seconds, 1))
    playouts = {count: tuple(samples) for count, samples in rates.items()}
    return PlayoutSpeed(name, game.many is not None, playouts)


def table_row(speed: PlayoutSpeed) -> tuple[str, ...]:
    """Return the cells of a sheet in the table, as many as `HEADINGS`."""
    medians = {count: median(rates) for count, rates in speed.playouts.items()}
    return (
        speed.name,
        *(rate_cell(speed.playouts[count]) for count in COUNTS),
        *(format_rate(medians[count] / count) for count in COUNTS),
        f"{medians[COUNTS[-1]] / medians[1]:.1f}",
    )


def markdown_page(speeds: Sequence[PlayoutSpeed], about: dict[str, Any]) -> str:
    """Return the page with the table of all sheets."""
    load = ", ".join(f"{value:.1f}" for value in about["load_average_at_end"] or ())
    return "\n".join(
        [
            "# Rule sheets: speed of leaf parallelization",
            "",
            f"Written by `{about['command']}` on {about['date'][:10]}, {about['cpu']}, beside "
            f"other programs (load average at the end: {load or 'unknown'}).",
            "",
            "Tree search in which each leaf is evaluated by the mean of N playouts "
            "(`mcts:playout.count=N`), in the first move, one thread. Playouts and simulations per "
            "CPU second: the median of rounds in which all N alternate, and their noise. From 32 "
            "playouts on they are played together, one bit per game.",
            "",
            table(HEADINGS, [table_row(speed) for speed in speeds]),
            "",
        ]
    )
