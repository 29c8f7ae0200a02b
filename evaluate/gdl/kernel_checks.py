"""Check of the compiled kernels of rule sheets, which environments, searches and agents run.

Random games are compared with an independent evaluation of the same network, and games of GGP-Base,
the reference implementation of General Game Playing, are replayed. Each sheet is checked in a
process with limits on CPU time and memory.
"""

import time
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.engine.playouts import actions_per_ply
from ludoteca.envs.engine.trajectory import RANDOM
from ludoteca.envs.game import Game
from ludoteca.envs.gdl.compile import compile_sheet
from ludoteca.envs.gdl.errors import GDLLimitError, GDLWarning
from ludoteca.envs.gdl.evaluate import is_straight
from ludoteca.envs.gdl.game import gdl
from ludoteca.envs.gdl.network import Network
from ludoteca.envs.gdl.own_sheets import find_sheet
from ludoteca.evaluate.gdl.kernel_differences import KernelComparison
from ludoteca.evaluate.gdl.kernel_games import play_by_kernels
from ludoteca.evaluate.gdl.kernel_replays import replay_trace
from ludoteca.evaluate.gdl.limited_process import ProcessError, run_in_limits
from ludoteca.evaluate.gdl.machine import make_machine
from ludoteca.evaluate.gdl.sheet_files import sheet_files, trace_file

NUM_GAMES = 64, 512  # of the two parts of a check; `Game.many` steps up to 512 at once
FIRST_PLIES = 4  # of the first call; each further one plays twice as many, if they fit into memory
MAX_BYTES = 1 << 27  # of the positions of a call
CHECK_SECONDS = 600.0  # CPU seconds of a check, beyond loading and random games, unless endless


@dataclass(frozen=True)
class KernelCheck:
    """Check of the kernels of a sheet.

    Attributes:
        name: path of the sheet in the collection, without suffix.
        failure: reason why the check has no result, or an empty string.
        limit: reason why the sheet is interpreted instead of compiled, or an empty string.
        gates: number of gates of the compiled network.
        evaluation: evaluation of phases 1 and 2 for one state: `"straight"` (machine code without
            loops), `"events"` (a loop over gates or events), or `"straight, events"`.
        has_many: whether the game has `Game.many`.
        compile_seconds: CPU seconds of the compilation to machine code; in the disk cache it takes
            less.
        positions: number of positions of random games that were compared.
        games: number of these games that were compared to their end.
        difference: the first difference, or an empty string.
        replayed: number of positions of GGP-Base's games that were replayed and compared.
        replayed_games: number of these games that were compared to their end.
        replay_differences: differences from GGP-Base.
    """

    name: str
    failure: str = ""
    limit: str = ""
    gates: int = 0
    evaluation: str = ""
    has_many: bool = False
    compile_seconds: float = 0.0
    positions: int = 0
    games: int = 0
    difference: str = ""
    replayed: int = 0
    replayed_games: int = 0
    replay_differences: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the kernels were compared without a difference."""
        return self.positions > 0 and not (self.difference or self.replay_differences)


def check_all_kernels(
    folder: Path,
    traces: Path | None,
    max_seconds: float,
    seconds: float,
    names: tuple[str, ...],
    skip: Collection[str] = (),
) -> Iterator[KernelCheck]:
    """Yield the check of each sheet of a folder.

    Args:
        folder: folder of the sheets, or one sheet.
        traces: folder of GGP-Base's games, or None.
        max_seconds: maximum CPU seconds for loading a sheet.
        seconds: CPU seconds of random games of a sheet.
        names: prefixes of the names of the sheets; all if empty.
        skip: names of sheets to skip.
    """
    make_machine(find_sheet("tictactoe")).legal()  # compiles what the forked processes share
    for name, path in sheet_files(folder):
        if name in skip or not name.startswith(names or ""):
            continue
        trace = None if traces is None else trace_file(traces, folder, path)
        check = partial(check_kernels_of, name, path, trace, max_seconds, seconds)
        try:
            yield run_in_limits(check, 4 * max_seconds + 10 * seconds + CHECK_SECONDS)
        except ProcessError as error:
            yield KernelCheck(name, failure=str(error))


def check_kernels_of(
    name: str, path: Path, trace: Path | None, max_seconds: float, seconds: float
) -> KernelCheck:
    """Compile the kernels of a sheet, compare random games, and replay a trace of GGP-Base.

    See `check_all_kernels` for the arguments.
    """
    try:
        network = compile_sheet(path, max_seconds=max_seconds)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GDLWarning)  # faults of the sheet
            game = gdl(str(path), max_seconds=max_seconds)
    except GDLLimitError as error:
        return KernelCheck(name, limit=str(error))
    except ValueError as error:
        return KernelCheck(name, failure=str(error))
    start = time.process_time()
    play_by_kernels(game, 1, random_actions(game, 1, 1))
    check = KernelCheck(
        name,
        gates=network.num_gates,
        evaluation=_evaluation(network),
        has_many=game.many is not None,
        compile_seconds=round(time.process_time() - start, 2),
    )
    comparison = KernelComparison(game, network)
    for num_games in NUM_GAMES:
        part = compare_random_games(game, comparison, num_games, seconds / len(NUM_GAMES))
        check = replace(
            check,
            positions=check.positions + part.positions,
            games=check.games + part.games,
            difference=part.difference,
        )
        if check.difference:
            break
    if trace is None or not trace.exists() or network.random_role >= 0:  # which draws its moves
        return check
    with trace.open("rb") as lines:
        replay = replay_trace(game, lines)
    return replace(
        check,
        replayed=replay.positions,
        replayed_games=replay.finished,
        replay_differences=replay.differences,
    )


def random_actions(game: Game, num_games: int, plies: int) -> NDArray[Any]:
    """Return actions that `play_by_kernels` replaces by random ones. Shape `[B, T, S]`."""
    return np.full((num_games, plies, actions_per_ply(game)), RANDOM, game.action_dtype)


def compare_random_games(
    game: Game, comparison: KernelComparison, num_games: int, seconds: float
) -> KernelCheck:
    """Play random games to their end, or for some CPU seconds, and compare all positions.

    Args:
        game: the game.
        comparison: the comparison with the network of its sheet.
        num_games: number of games; it is also the seed of the first one.
        seconds: CPU seconds after which no further plies are played.

    Returns:
        The fields `positions`, `games` and `difference`.
    """
    width, words = actions_per_ply(game), -(-game.num_actions // 64)
    bytes_per_ply = num_games * (2 * game.state.itemsize + 8 * width * words)
    most_plies = max(1, MAX_BYTES // bytes_per_ply)
    check = KernelCheck("", positions=num_games)
    end, start, plies = time.process_time() + seconds, 0, min(FIRST_PLIES, most_plies)
    positions: NDArray[np.void] | int = num_games
    while True:
        actions = random_actions(game, num_games, plies)
        played = play_by_kernels(game, positions, actions, seed=num_games, start=start)
        check = replace(
            check,
            positions=check.positions + int(played.plies.sum()),
            games=int(played.over[np.arange(num_games), played.plies].sum()),
            difference=comparison.difference(played),
        )
        if check.difference or check.games == num_games or time.process_time() > end:
            return check
        positions, start = played.last_positions, start + plies
        plies = min(2 * plies, most_plies)


def _evaluation(network: Network) -> str:
    """Return `KernelCheck.evaluation`."""
    kinds = {is_straight(network.phase1), is_straight(network.phase2)}
    names = [name for name, kind in (("straight", True), ("events", False)) if kind in kinds]
    return ", ".join(names)
