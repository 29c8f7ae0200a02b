"""Speed of rule sheets in single states and environments: `ludoteca bench gdl --kernels`.

Kernels are the compiled functions of a game, such as `step`, which searches and single environments
call. Vector environments step their games together, one bit per game, unless they are few. The
batches of 512 random games in `ludoteca bench gdl` use no kernels.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from ludoteca.envs.gdl.game import gdl, rules
from ludoteca.evaluate.bench.gdl import format_rate
from ludoteca.evaluate.bench.gdl_peers import SingleWorkload
from ludoteca.evaluate.bench.own_workloads import VectorWorkload
from ludoteca.evaluate.bench.rounds import ROUNDS, noise
from ludoteca.evaluate.bench.search_workload import SearchWorkload
from ludoteca.evaluate.bench.sheet_speeds import SpeedTable, measure_speeds
from ludoteca.evaluate.markdown import table

SIMULATIONS = 200  # per move of the search
AGENT = f"mcts:simulations={SIMULATIONS}"
NUM_ENVS = 512  # of the vector environments
HEADINGS = (
    "sheet", "gates", "largest phase", "compile, s", "steps/s", "mcts, simulations/s",
    "environment: together, steps/s", "one by one, steps/s", "together / one by one",
    "flat: together, simulations/s", "one by one, simulations/s", "together / one by one",
)  # fmt: skip
FLAT_SIMULATIONS = 2000  # per move of flat Monte Carlo
FLAT_AGENT = f"flat:simulations={FLAT_SIMULATIONS}"


@dataclass(frozen=True)
class KernelSpeed:
    """Rates of the kernels of a sheet.

    Attributes:
        name: name of the sheet.
        gates: number of gates of the propositional network; 0 if the sheet is interpreted.
        largest_phase: number of gates of the largest phase.
        compile_seconds: CPU seconds from the file to compiled random games and search; networks and
            machine code in the disk caches are used.
        steps: joint moves per CPU second in random games, in each round.
        simulations: simulations of `AGENT` per CPU second in the first move, in each round.
        together: steps per second in a vector environment of `NUM_ENVS` games, in each round; empty
            if its games are not stepped together.
        one_by_one: the same if they are stepped one after the other.
        flat_together: simulations of `FLAT_AGENT` per CPU second in the first move, in each round;
            empty if they are not played together.
        flat_one_by_one: the same if they are played one after the other.
    """

    name: str
    gates: int
    largest_phase: int
    compile_seconds: float
    steps: tuple[float, ...]
    simulations: tuple[float, ...]
    together: tuple[float, ...]
    one_by_one: tuple[float, ...]
    flat_together: tuple[float, ...]
    flat_one_by_one: tuple[float, ...]


def bench_gdl_kernels(
    sheets: Path | None = None,
    json: Path | None = None,
    page: Path | None = None,
    seconds: float = 2.0,
    only: tuple[str, ...] = (),
) -> list[KernelSpeed]:
    """Measure random games and searches of single states of rule sheets; print the rates.

    The files are written after each sheet, so that an interrupted run leaves its results.

    Args:
        sheets: folder of sheets, or one sheet; by default those of this package.
        json: file for all numbers; None: no file.
        page: file for the table in Markdown; None: no file.
        seconds: CPU seconds of each workload, all rounds together.
        only: names of sheets, exact, in the order of the table; by default all.

    Raises:
        ValueError: if a sheet is missing or invalid, or `seconds` is not positive.
        OSError: if a file cannot be written.
    """
    speed_table = SpeedTable(measure_kernels, HEADINGS, table_row, markdown_page, {"agent": AGENT})
    return measure_speeds(speed_table, sheets, json, page, seconds, only)


def measure_kernels(name: str, path: Path, seconds: float) -> KernelSpeed:
    """Measure the kernels of a sheet in `ROUNDS` rounds.

    Args:
        name: name of the sheet.
        path: file of the sheet.
        seconds: CPU seconds of each workload, all rounds together.

    Raises:
        ValueError: if it is not a valid rule sheet.
    """
    start = process_time()
    game = gdl(str(path))
    random_games = SingleWorkload(game)
    search = SearchWorkload(game.spec, AGENT, SIMULATIONS, process_time)
    compile_seconds = process_time() - start
    games = (replace(game, many=None), game)[: 1 if game.many is None else 2]
    environments = [VectorWorkload(each, NUM_ENVS) for each in games]
    flats = [SearchWorkload(each, FLAT_AGENT, FLAT_SIMULATIONS, process_time) for each in games]
    steps: list[float] = []
    simulations: list[float] = []
    environment_rates: tuple[list[float], list[float]] = [], []  # one by one, together
    flat_rates: tuple[list[float], list[float]] = [], []
    for _ in range(ROUNDS):
        for run, rates in ((random_games, steps), (search, simulations)):
            measure: Callable[[float], Any] = run
            sample = measure(seconds / ROUNDS)
            rates.append(round(sample.steps / sample.seconds, 1))
        for environment, rates in zip(environments, environment_rates, strict=False):
            result = environment(seconds / ROUNDS)
            rates.append(round(result.steps / (result.inside or result.seconds), 1))
        for flat, rates in zip(flats, flat_rates, strict=False):
            result = flat(seconds / ROUNDS)
            rates.append(round(result.steps / result.seconds, 1))
    network = rules(game)
    phases = network.phase1, network.phase2, network.phase3
    return KernelSpeed(
        name=name,
        gates=network.num_gates,
        largest_phase=max(len(phase.gates) for phase in phases),
        compile_seconds=round(compile_seconds, 2),
        steps=tuple(steps),
        simulations=tuple(simulations),
        together=tuple(environment_rates[1]),
        one_by_one=tuple(environment_rates[0]),
        flat_together=tuple(flat_rates[1]),
        flat_one_by_one=tuple(flat_rates[0]),
    )


def table_row(speed: KernelSpeed) -> tuple[str, ...]:
    """Return the cells of a sheet in the table, as many as `HEADINGS`."""
    return (
        speed.name,
        f"{speed.gates:,}",
        f"{speed.largest_phase:,}",
        f"{speed.compile_seconds:.1f}",
        *(rate_cell(rates) for rates in (speed.steps, speed.simulations)),
        *_comparison(speed.together, speed.one_by_one),
        *_comparison(speed.flat_together, speed.flat_one_by_one),
    )


def _comparison(together: Sequence[float], one_by_one: Sequence[float]) -> tuple[str, str, str]:
    """Return the cells of two rates and their ratio; those of `together` are empty without it."""
    if not together:
        return "", rate_cell(one_by_one), ""
    return (
        rate_cell(together),
        rate_cell(one_by_one),
        f"{median(together) / median(one_by_one):.1f}",
    )


def rate_cell(rates: Sequence[float]) -> str:
    """Return the median of some rates and their noise, such as `"12.3 k ± 4 %"`."""
    return f"{format_rate(median(rates))} ± {100 * noise(list(rates)):.0f} %"


def markdown_page(speeds: Sequence[KernelSpeed], about: dict[str, Any]) -> str:
    """Return the page with the table of all sheets."""
    return "\n".join(
        [
            "# Rule sheets: speed of kernels and environments",
            "",
            f"Written by `{about['command']}` on {about['date'][:10]}, {about['cpu']}.",
            "",
            "Rates per CPU second of one thread, one state at a time: the median of rounds, and "
            "their noise. *gates*: size of the propositional network, the logic circuit into which "
            "the sheet is compiled, and of its *largest phase*. *compile*: CPU seconds from the "
            "file to compiled random games and search, with the disk caches as they were. "
            f"*steps/s*: joint moves in random games. *mcts*: simulations of `{AGENT}` in the "
            f"first move. *environment*: vector environment of {NUM_ENVS} games in self-play with "
            "random legal actions, steps per second spent in `step`, observations and masks "
            "included: all games *together*, one bit per game, or *one by one*. *flat*: "
            f"simulations of `{FLAT_AGENT}` in the first move, in the same two ways.",
            "",
            table(HEADINGS, [table_row(speed) for speed in speeds]),
            "",
        ]
    )
