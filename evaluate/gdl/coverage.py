"""Coverage of a collection of rule sheets: loading, speed, and comparison with GGP-Base.

A rule sheet is a game in the Game Description Language (GDL), and GGP-Base the reference
implementation of it; traces are recorded games of GGP-Base, see `traces`.

Each sheet is compiled and played in a separate process with limits on CPU time and memory, and its
conformance is checked in another one.
"""

import random
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.gdl.dynamics import Dynamics, analyze
from ludoteca.envs.gdl.errors import GDLLimitError
from ludoteca.envs.gdl.game import make_network_game
from ludoteca.envs.gdl.interpreter import read_interpreter
from ludoteca.envs.gdl.network import Network
from ludoteca.envs.gdl.network_cache import network_digest, save_network
from ludoteca.envs.gdl.parse import read_sheet
from ludoteca.envs.gdl.rules import RANDOM
from ludoteca.envs.gdl.symmetries import find_sheet_board
from ludoteca.evaluate.gdl.conformance import check_conformance
from ludoteca.evaluate.gdl.differences import compare_trace
from ludoteca.evaluate.gdl.interpreted_machine import InterpretedMachine
from ludoteca.evaluate.gdl.limited_process import ProcessError, run_in_limits
from ludoteca.evaluate.gdl.machine import RuleMachine, StateMachine, make_machine
from ludoteca.evaluate.gdl.sheet_files import sheet_files, trace_file
from ludoteca.evaluate.gdl.traces import read_trace

if TYPE_CHECKING:
    from ludoteca.envs.gdl.batch import BatchSimulator

INTERPRETED_SECONDS = 5.0  # of random games of a sheet that is interpreted
MAX_REASON = 160  # maximum number of characters of a reason in the table
# CPU seconds of a comparison with GGP-Base, and of the conformance checks without the compilation:
# more than they should take, unless they are endless.
COMPARISON_SECONDS, CONFORMANCE_SECONDS = 600.0, 600.0
CHECKED_STEPS = 100  # number of steps of 512 random games in which states are checked


@dataclass(frozen=True)
class SheetCoverage:
    """Result of one sheet; numbers that were not measured are 0.

    Attributes:
        name: path of the sheet in the collection, without suffix.
        failure: reason why the sheet cannot be loaded or measured, or an empty string.
        limit: reason why the sheet is interpreted instead of compiled, or an empty string.
        roles: number of roles.
        dynamics: `"one player"`, `"sequential"` (in no state of the random games did two players
            have more than one legal move) or `"simultaneous"`.
        fluents: number of fluents.
        moves: number of moves of all roles.
        gates: number of gates of the compiled network.
        board: rows and columns of the board, such as `"6 x 7"`, or an empty string if there is none
            or the sheet is interpreted.
        symmetries: number of verified symmetries of the board, the identity included.
        load_seconds: CPU seconds of parsing and compiling, or of the attempt.
        steps_per_second: joint moves per CPU second in random games: 512 games at once if the
            sheet is compiled, one game if it is interpreted.
        games: number of finished random games.
        mean_plies: joint moves per finished game; 0 without games. If the sheet is compiled, moves
            of unfinished games count, too.
        faults: faults of the sheet that occurred in random games.
        conformance: `"passed"`, the first violation in `check_conformance`, or an empty string if
            it was not checked.
        compared: number of positions that were compared with GGP-Base.
        compared_games: number of games among them that were compared to their end.
        differences: differences from GGP-Base.
        oracle_error: reason why the games of GGP-Base are missing or incomplete.
    """

    name: str
    failure: str = ""
    limit: str = ""
    roles: int = 0
    dynamics: str = ""
    fluents: int = 0
    moves: int = 0
    gates: int = 0
    board: str = ""
    symmetries: int = 0
    load_seconds: float = 0.0
    steps_per_second: float = 0.0
    games: int = 0
    mean_plies: float = 0.0
    faults: str = ""
    conformance: str = ""
    compared: int = 0
    compared_games: int = 0
    differences: tuple[str, ...] = ()
    oracle_error: str = ""


def survey(
    folder: Path,
    traces: Path | None,
    max_seconds: float,
    seconds: float,
    names: tuple[str, ...],
    conformance: str = "",
    skip: Collection[str] = (),
) -> Iterator[SheetCoverage]:
    """Yield the coverage of each sheet of a folder.

    Args:
        folder: folder of the sheets, or one sheet.
        traces: folder of GGP-Base's games, or None.
        max_seconds: maximum CPU seconds for loading a sheet.
        seconds: CPU seconds of random games of a compiled sheet; for an interpreted one,
            `INTERPRETED_SECONDS`.
        names: prefixes of the names of the sheets; all if empty.
        conformance: `"interpreted"` or `"compiled"`: the mode in which the conformance of each
            sheet is checked; an empty string: it is not checked.
        skip: names of sheets to skip.
    """
    from ludoteca.envs.gdl.own_sheets import find_sheet

    # Compiles functions that the forked processes share.
    measure_speed(make_machine(find_sheet("tictactoe")), 0.01)
    if conformance == "interpreted":
        check_conformance(find_sheet("breakthrough"), max_seconds)
    for name, path in sheet_files(folder):
        if name in skip or not name.startswith(names or ""):
            continue
        trace = None if traces is None else trace_file(traces, folder, path)
        measure = partial(
            measure_coverage, name, path, trace, max_seconds, seconds, bool(conformance)
        )
        try:
            coverage = run_in_limits(measure, 4 * max_seconds + 10 * seconds + COMPARISON_SECONDS)
        except ProcessError as error:
            coverage = SheetCoverage(name, failure=str(error))
        if conformance and not coverage.failure:
            passed = conformance_of(path, max_seconds, conformance == "compiled")
            coverage = replace(coverage, conformance=passed)
        yield coverage


def conformance_of(path: Path, max_seconds: float, compiled: bool) -> str:
    """Return `"passed"`, or the first violation in `check_conformance` in a limited process."""
    check = partial(check_conformance, path, max_seconds, compiled)
    try:
        run_in_limits(check, max_seconds + CONFORMANCE_SECONDS)
    except ProcessError as error:
        return str(error)
    return "passed"


def measure_coverage(
    name: str,
    path: Path,
    trace: Path | None,
    max_seconds: float,
    seconds: float,
    keep_network: bool = False,
) -> SheetCoverage:
    """Load a sheet, play random games, and compare the sheet with a trace of GGP-Base.

    See `survey` for the time limits. With `keep_network` the network is written to the disk cache,
    for the conformance checks, which run in another process.
    """
    start = time.process_time()
    try:
        machine = make_machine(path, max_seconds=max_seconds)
    except GDLLimitError as error:
        load_seconds = round(time.process_time() - start, 2)
        return _measure_interpreted(name, path, trace, str(error), load_seconds)
    except ValueError as error:
        return SheetCoverage(
            name, failure=str(error), load_seconds=round(time.process_time() - start, 2)
        )
    load_seconds = time.process_time() - start
    network = machine.network
    if keep_network:
        save_network(network_digest(read_sheet(path)), network)
    coverage = replace(
        measure_speed(machine, seconds),
        name=name,
        roles=len(network.roles),
        fluents=len(network.fluents),
        moves=len(network.moves),
        gates=network.num_gates,
        load_seconds=round(load_seconds, 2),
        **describe_board(path, network, analyze(network)),
    )
    if trace is None:
        return coverage
    return replace(coverage, **_compare_with_oracle(machine, trace))


def describe_board(path: Path, network: Network, dynamics: Dynamics) -> dict[str, Any]:
    """Return the fields `board` and `symmetries` of `SheetCoverage`."""
    found = find_sheet_board(read_sheet(path), network, dynamics)
    if found is None:
        return {}
    game = make_network_game(network, dynamics, path.stem, {}, found=found)
    return {
        "board": f"{found.board.rows} x {found.board.columns}",
        "symmetries": len(game.symmetries()),
    }


def _measure_interpreted(
    name: str, path: Path, trace: Path | None, limit: str, load_seconds: float
) -> SheetCoverage:
    """Return the coverage of a sheet that cannot be compiled within the limits."""
    machine = InterpretedMachine(read_interpreter(path))
    coverage = replace(
        measure_interpreted_speed(machine, INTERPRETED_SECONDS),
        name=name,
        limit=limit,
        roles=len(machine.roles),
        load_seconds=load_seconds,
    )
    if trace is None:
        return coverage
    return replace(coverage, **_compare_with_oracle(machine, trace))


def _compare_with_oracle(machine: StateMachine, trace: Path) -> dict[str, Any]:
    """Return the fields of `SheetCoverage` that compare a sheet with GGP-Base.

    The recorder of traces writes its errors to a file with the suffix `.error` beside the trace.
    """
    error = trace.with_suffix(".error")
    oracle_error = error.read_text().partition("\n")[0] if error.exists() else ""
    if not trace.exists():
        return {"oracle_error": oracle_error or "not recorded"}
    with trace.open("rb") as lines:
        comparison = compare_trace(machine, read_trace(lines))
    if not comparison.positions and not oracle_error:
        oracle_error = "no position within the time limit"
    return {
        "compared": comparison.positions,
        "compared_games": comparison.finished,
        "differences": comparison.differences,
        "oracle_error": oracle_error,
    }


def measure_speed(machine: RuleMachine, seconds: float) -> SheetCoverage:
    """Return the coverage of random games that take some CPU seconds: speed, dynamics, faults."""
    from ludoteca.envs.gdl.batch import BatchSimulator

    network = machine.network
    simulator = BatchSimulator(network)
    simulator.play(1)  # compiles
    steps, games, _, spent = play_batch(simulator, seconds)
    statistics = BatchSimulator(network, analyze=True).play(CHECKED_STEPS)
    bad_goals = int(statistics.bad_goals.sum())
    dynamics = "simultaneous" if statistics.two_choosers else "sequential"
    return SheetCoverage(
        name="",
        dynamics="one player" if len(network.players) == 1 else dynamics,
        steps_per_second=round(steps / max(spent, 1e-9)),
        games=games,
        mean_plies=round(steps / games, 1) if games else 0.0,
        faults=_faults(statistics.stuck, bad_goals),
    )


def play_batch(
    simulator: "BatchSimulator", seconds: float
) -> tuple[int, int, NDArray[np.int64], float]:
    """Play random games in a batch for some CPU seconds.

    Returns:
        Numbers of joint moves, of finished games and of each goal in them (see `BatchResult`), and
        the exact CPU seconds.
    """
    results, spent, rounds = [], 0.0, 1
    while spent < seconds:
        start = time.process_time()
        results.append(simulator.play(rounds))
        elapsed = time.process_time() - start
        spent += elapsed
        # Calls get longer, up to the remaining time.
        rounds_that_fit = int(rounds * (seconds - spent) / max(elapsed, 1e-6))
        rounds = max(1, min(2 * rounds, rounds_that_fit))
    steps = sum(result.steps for result in results)
    games = sum(result.games for result in results)
    return steps, games, np.sum([result.goal_counts for result in results], axis=0), spent


def measure_interpreted_speed(
    machine: InterpretedMachine, seconds: float, seed: int = 0
) -> SheetCoverage:
    """Return the coverage of random games of an interpreted sheet that take some CPU seconds."""
    rng, start = random.Random(seed), time.process_time()
    players = [number for number, role in enumerate(machine.roles) if role != RANDOM]
    steps = games = finished_steps = plies = choosers = stuck = bad_goals = 0
    machine.reset()
    while (elapsed := time.process_time() - start) < seconds:
        if machine.is_terminal():
            goals = machine.goals()
            bad_goals += sum(len(goals[player]) != 1 for player in players)
            games, finished_steps, plies = games + 1, finished_steps + plies, 0
            machine.reset()
            continue
        legal = machine.legal()
        choosers += sum(len(legal[player]) > 1 for player in players) > 1
        if not all(legal):
            stuck, plies = stuck + 1, 0
            machine.reset()
            continue
        machine.step([rng.choice(moves) for moves in legal])
        steps, plies = steps + 1, plies + 1
    return SheetCoverage(
        name="",
        dynamics=(
            "one player" if len(players) == 1 else "simultaneous" if choosers else "sequential"
        ),
        steps_per_second=round(steps / max(elapsed, 1e-9), 1),
        games=games,
        mean_plies=round(finished_steps / games, 1) if games else 0.0,
        faults=_faults(stuck, bad_goals),
    )


def _faults(stuck: int, bad_goals: int) -> str:
    """Return a description of faults in random games."""
    faults = []
    if stuck:
        faults.append(f"{stuck:,} states without a legal move for a role")
    if bad_goals:
        faults.append(f"{bad_goals:,} goals missing or not unique at the end")
    return "; ".join(faults)
