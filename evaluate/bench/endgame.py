"""Benchmark of the exact endgame solver of Othello on one core: `ludoteca bench endgame`."""

from dataclasses import asdict, dataclass
from json import dumps
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from ludoteca.agents.games.endgame import make_endgame_solver, solve_endgame
from ludoteca.envs.clock import clock
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.bench.ffo import ffo_positions
from ludoteca.evaluate.bench.rounds import select_names
from ludoteca.files import write_atomically
from ludoteca.provenance import load_average, run_provenance
from ludoteca.terminal_table import TerminalTable

# Numbers in the FFO collection of test positions, see `ffo.py`; 20 to 23 squares are empty.
DEFAULT_POSITIONS = (40, 41, 42, 43, 44)


@dataclass(frozen=True)
class EndgameTiming:
    """Timing of one position that is solved repeatedly.

    Attributes:
        name: name of the position, such as `"ffo-40"`.
        empty: number of empty squares.
        move: name of the move that the solver returns.
        score: final disc difference of that move, for the player to move.
        right: whether `score` and `move` are the best ones of the FFO collection.
        nodes: number of positions that each run searches.
        seconds: time of each run, including the search of the principal variation.
        principal_variation: names of best moves of both players until the end of the game.
    """

    name: str
    empty: int
    move: str
    score: int
    right: bool
    nodes: int
    seconds: tuple[float, ...]
    principal_variation: tuple[str, ...]


def bench_endgame(
    json: Path | None, seconds: float = 2.0, only: tuple[str, ...] = ()
) -> list[EndgameTiming]:
    """Solve positions, print the table, and write all numbers as JSON.

    Args:
        json: file for the results; None: no file.
        seconds: time per position; each is solved at least once, and repeatedly for this time.
        only: names of positions, `"ffo-1"` to `"ffo-59"`, or their prefixes; by default
            `DEFAULT_POSITIONS`.

    Raises:
        ValueError: if there is no such position, or `seconds` is not positive.
    """
    if not seconds > 0:
        raise ValueError(f"seconds must be positive, got {seconds}")
    numbers = {f"ffo-{number}": number for number in ffo_positions()}
    default_names = [f"ffo-{number}" for number in DEFAULT_POSITIONS]
    selected = select_names(list(numbers), only) if only else default_names
    console = Console(highlight=False)
    content: dict[str, Any] = run_provenance(seconds_per_position=seconds)
    make_endgame_solver(make_game("othello")).prepare()
    timings = []
    for name in selected:
        with console.status(f"solving {name}"):
            timings.append(time_position(numbers[name], seconds))
    console.print(results_table(timings), soft_wrap=True)
    if json is not None:
        content["about"]["load_average_at_end"] = load_average()
        content["positions"] = [asdict(timing) for timing in timings]
        write_atomically(json, dumps(content, indent=2) + "\n")
        console.print(f"all numbers: {json}", soft_wrap=True)
    return timings


def time_position(number: int, seconds: float) -> EndgameTiming:
    """Solve a position repeatedly for `seconds`."""
    game, position = make_game("othello"), ffo_positions()[number]
    s, start = position.state(game), clock()
    times: list[float] = []
    while not times or clock() - start < seconds:
        solution = solve_endgame(game, s)
        times.append(solution.seconds)
    best_score, best_moves = position.best
    return EndgameTiming(
        name=f"ffo-{number}",
        empty=solution.empty,
        move=solution.name,
        score=solution.score,
        right=solution.score == best_score and solution.name in best_moves,
        nodes=solution.nodes,
        seconds=tuple(times),
        principal_variation=solution.principal_variation,
    )


def results_table(timings: list[EndgameTiming]) -> TerminalTable:
    """Return the timings as a table for the terminal, with the median time of each position."""
    table = TerminalTable(
        ("position", "empty", "move", "score", "nodes", "seconds", "nodes/s", "verdict"),
        title="exact endgame solver of Othello, one core",
    )
    for timing in timings:
        seconds = median(timing.seconds)
        table.add(
            timing.name,
            str(timing.empty),
            timing.move,
            f"{timing.score:+d}",
            f"{timing.nodes:,}",
            f"{seconds:.3f}",
            f"{timing.nodes / seconds / 1e6:.1f} M",
            "right" if timing.right else "WRONG",
        )
    return table
