"""The command `ludoteca gdl trace`."""

import sys

from ludoteca.envs.gdl.limits import MAX_INSTANCES, MAX_SECONDS
from ludoteca.evaluate.cli.gdl.options import Sheet
from ludoteca.evaluate.cli.options import OptionalFile


def trace(
    sheet: Sheet,
    games: int = 1,
    seed: int = 0,
    max_plies: int = 1000,
    out: OptionalFile = None,
    max_seconds: float = MAX_SECONDS,
    max_instances: int = MAX_INSTANCES,
) -> None:
    """Play random games by a rule sheet, and write their positions as JSON lines.

    Each line has the true fluents and, by role, the legal moves and the chosen move or, at the end
    of a game, the goals. Other GDL programs can be compared with these traces.

    Args:
        sheet: file of the rule sheet, or a sheet of this package, such as breakthrough.
        games: number of games.
        seed: seed of the games; the same seed gives the same games.
        max_plies: maximum number of plies of a game; longer games are cut off.
        out: file to write; by default, standard output.
        max_seconds: limit on the CPU seconds of the compilation; beyond it, the sheet is
            interpreted.
        max_instances: limit on the ground instances of rules; beyond it, the sheet is interpreted.
    """
    from ludoteca.envs.gdl.own_sheets import find_sheet
    from ludoteca.envs.params import check_integer
    from ludoteca.evaluate.gdl.interpreted_machine import load_machine
    from ludoteca.evaluate.gdl.machine import play_random_games
    from ludoteca.files import atomic_writer

    check_integer("games", games, 1, 10**9)
    check_integer("max_plies", max_plies, 0, 10**9)
    machine = load_machine(find_sheet(sheet), max_seconds=max_seconds, max_instances=max_instances)
    positions = play_random_games(machine, games, seed, max_plies)
    if out is None:
        for position in positions:
            sys.stdout.write(position.line() + "\n")
        return
    count = 0
    with atomic_writer(out) as file:
        for position in positions:
            file.write((position.line() + "\n").encode())
            count += 1
    print(f"{count:,} positions: {out}")
