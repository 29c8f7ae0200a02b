"""The command `ludoteca gdl info`."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ludoteca.evaluate.cli.gdl.options import Sheet

if TYPE_CHECKING:
    from ludoteca.evaluate.gdl.interpreted_machine import InterpretedMachine
    from ludoteca.evaluate.gdl.machine import RuleMachine

MAX_TERMS = 4  # number of fluents, moves and goals shown as examples


def info(sheet: Sheet, seconds: float = 1.0, max_seconds: float = 60.0) -> None:
    """Compile a rule sheet, play random games, and describe it.

    Shows roles, goals, fluents, moves, percepts, gates, whether the game is sequential, the length
    of random games, speed, faults in these games (a role without a legal move, or a player with no
    or several goals), and the board with its symmetries. A sheet that exceeds a limit of the
    compilation is interpreted; then fluents, moves, percepts, gates and board are not known.

    Args:
        sheet: file of the rule sheet, or a sheet of this package, such as breakthrough.
        seconds: CPU time of the random games.
        max_seconds: limit on the CPU time of the compilation.
    """
    from ludoteca.envs.gdl.own_sheets import find_sheet
    from ludoteca.envs.params import check_real
    from ludoteca.evaluate.gdl.interpreted_machine import InterpretedMachine, load_machine

    seconds = check_real("seconds", seconds, 0.001, 3600)
    path = find_sheet(sheet)
    machine = load_machine(path, max_seconds=max_seconds)
    rows = {"sheet": str(path), "roles": ", ".join(machine.roles)}
    if isinstance(machine, InterpretedMachine):
        rows |= _interpreted_rows(machine, seconds)
        problems = machine.interpreter.problems
    else:
        rows |= _rows(machine, seconds) | {"board": _board(path, machine)}
        problems = machine.network.problems
    for name, text in rows.items():
        print(f"{name:13} {text}")
    for problem in problems:
        print(f"warning: {problem}")


def _rows(machine: "RuleMachine", seconds: float) -> dict[str, str]:
    """Return the rows of a compiled sheet."""
    from ludoteca.evaluate.bench.gdl import format_rate
    from ludoteca.evaluate.gdl.coverage import measure_speed

    network = machine.network
    random_games = measure_speed(machine, seconds)
    goals_by_role = [
        sorted(
            {
                int(value)
                for value, owner in zip(network.goal_values, network.goal_roles, strict=True)
                if owner == role
            }
        )
        for role in range(len(network.roles))
    ]
    has_loops = network.phase1.has_loops or network.phase2.has_loops  # of gates: recursive rules
    return {
        "goals": "; ".join(_shortened(map(str, goals)) or "none" for goals in goals_by_role),
        "dynamics": random_games.dynamics,
        "fluents": f"{len(network.fluents):,}: {_shortened(network.fluents)}",
        "moves": f"{len(network.moves):,}: {_shortened(network.moves)}",
        "percepts": (
            f"{len(network.percepts):,}: {_shortened(network.percepts)}"
            if network.has_hidden_information
            else "none: players see the state"
        ),
        "gates": f"{network.num_gates:,} of {network.instances:,} ground rules",
        "loops": "iterated in each state" if has_loops else "none",
        "random games": f"{random_games.games:,}, {random_games.mean_plies:g} plies on average",
        "speed": f"{format_rate(random_games.steps_per_second)} steps/s, in batches of 512 games",
        "faults": random_games.faults or "none found",
    }


def _board(path: Path, machine: "RuleMachine") -> str:
    """Return the size of the board of a compiled sheet, and its number of symmetries."""
    from ludoteca.evaluate.gdl.coverage import describe_board

    found = describe_board(path, machine.network)
    return f"{found['board']}, symmetries: {found['symmetries']}" if found else "none"


def _interpreted_rows(machine: "InterpretedMachine", seconds: float) -> dict[str, str]:
    """Return the rows of an interpreted sheet."""
    from ludoteca.evaluate.bench.gdl import format_rate
    from ludoteca.evaluate.gdl.coverage import measure_interpreted_speed

    random_games = measure_interpreted_speed(machine, seconds)
    return {
        "rules": f"{len(machine.interpreter.rules):,}, interpreted",
        "dynamics": random_games.dynamics,
        "random games": f"{random_games.games:,}, {random_games.mean_plies:g} plies on average",
        "speed": f"{format_rate(random_games.steps_per_second)} steps/s",
        "faults": random_games.faults or "none found",
    }


def _shortened(terms: Iterable[str]) -> str:
    """Return the first `MAX_TERMS` terms as text."""
    all_terms = list(terms)
    ellipsis = " ..." if len(all_terms) > MAX_TERMS else ""
    return " ".join(all_terms[:MAX_TERMS]) + ellipsis
