"""`ludoteca bench endgame`: how fast endgames of Othello are solved, on one core."""

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
from ludoteca.files import write_whole
from ludoteca.provenance import load_average, package_versions, run_info
from ludoteca.terminal_table import TerminalTable

USUAL = (40, 41, 42, 43, 44)  # 20 to 23 empty squares


@dataclass(frozen=True)
class EndgameTiming:
    """One position, solved again and again.

    Attributes:
        name: such as `"ffo-40"`.
        empty: how many squares are empty.
        move: the move that was found, and `score` its score in discs for the player to move.
        right: whether that is the known best score, and the move one of the known best.
        nodes: how many positions were looked at, each time.
        seconds: how long it took each time, principal variation included.
        principal_variation: names of best moves of both players, until the game is over.
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
        json: where to write; None: nowhere.
        seconds: per position; each is solved at least once, and again until they have passed.
        only: names of positions, `"ffo-1"` to `"ffo-59"`, or their beginnings; by default those
            with 20 to 23 empty squares.

    Raises:
        ValueError: if there is no such position, or the time is not positive.
    """
    if not seconds > 0:
        raise ValueError(f"seconds must be positive, got {seconds}")
    numbers = {f"ffo-{number}": number for number in ffo_positions()}
    usual = [f"ffo-{number}" for number in USUAL]
    chosen = select_names(list(numbers), only) if only else usual
    console = Console(highlight=False)
    about = run_info(seconds_per_position=seconds)
    make_endgame_solver(make_game("othello")).prepare()
    found = []
    for name in chosen:
        with console.status(f"solving {name}"):
            found.append(time_position(numbers[name], seconds))
    console.print(results_table(found), soft_wrap=True)
    if json is not None:
        about["load_average_at_end"] = load_average()
        content: dict[str, Any] = {"about": about, "versions": package_versions()}
        content["positions"] = [asdict(one) for one in found]
        write_whole(json, dumps(content, indent=2) + "\n")
        console.print(f"all numbers: {json}", soft_wrap=True)
    return found


def time_position(number: int, seconds: float) -> EndgameTiming:
    """Solve a position until so many seconds have passed."""
    game, known = make_game("othello"), ffo_positions()[number]
    s, start = known.state(game), clock()
    times: list[float] = []
    while not times or clock() - start < seconds:
        solution = solve_endgame(game, s)
        times.append(solution.seconds)
    best, moves = known.best
    return EndgameTiming(
        name=f"ffo-{number}",
        empty=solution.empty,
        move=solution.name,
        score=solution.score,
        right=solution.score == best and solution.name in moves,
        nodes=solution.nodes,
        seconds=tuple(times),
        principal_variation=solution.principal_variation,
    )


def results_table(found: list[EndgameTiming]) -> TerminalTable:
    """Return the positions as a table for the terminal, with the median of the times."""
    table = TerminalTable(
        ("position", "empty", "move", "score", "nodes", "seconds", "nodes/s", "verdict"),
        title="exact endgames of Othello, one core",
    )
    for one in found:
        usual = median(one.seconds)
        table.add(
            one.name,
            str(one.empty),
            one.move,
            f"{one.score:+d}",
            f"{one.nodes:,}",
            f"{usual:.3f}",
            f"{one.nodes / usual / 1e6:.1f} M",
            "right" if one.right else "WRONG",
        )
    return table
