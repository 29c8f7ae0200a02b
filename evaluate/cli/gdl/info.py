"""The command `ludoteca gdl info`."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ludoteca.envs.gdl.limits import MAX_INSTANCES, MAX_SECONDS
from ludoteca.evaluate.cli.gdl.options import Sheet

if TYPE_CHECKING:
    from ludoteca.envs.gdl.dynamics import Dynamics
    from ludoteca.envs.gdl.network import Network
    from ludoteca.evaluate.gdl.coverage import SheetCoverage
    from ludoteca.evaluate.gdl.interpreted_machine import InterpretedMachine
    from ludoteca.evaluate.gdl.machine import RuleMachine

MAX_TERMS = 4  # number of fluents, moves and goals shown as examples


def info(
    sheet: Sheet,
    seconds: float = 1.0,
    max_seconds: float = MAX_SECONDS,
    max_instances: int = MAX_INSTANCES,
) -> None:
    """Compile a rule sheet, play random games, and describe it.

    Shows roles, goals, whether the game is sequential, and whether that and the limit of its length
    are proved, fluents, groups of fluents of which exactly one or at most one is true in each
    state, moves of all roles, actions of each player, percepts, gates, the length of random games,
    speed, faults in these games (a role without a legal move, a player with no or several goals, or
    games that do not end), and the board with its symmetries. A sheet that
    exceeds a limit of the compilation is interpreted; then only roles, random games, speed and
    faults are known.

    Args:
        sheet: file of the rule sheet, or a sheet of this package, such as breakthrough.
        seconds: CPU time of the random games.
        max_seconds: limit on the CPU seconds of the compilation; beyond it, the sheet is
            interpreted.
        max_instances: limit on the ground instances of rules; beyond it, the sheet is interpreted.
    """
    from ludoteca.envs.gdl.own_sheets import find_sheet
    from ludoteca.envs.params import check_real
    from ludoteca.evaluate.gdl.interpreted_machine import InterpretedMachine, load_machine

    seconds = check_real("seconds", seconds, 0.001, 3600)
    path = find_sheet(sheet)
    machine = load_machine(path, max_seconds=max_seconds, max_instances=max_instances)
    rows = {"sheet": str(path), "roles": ", ".join(machine.roles)}
    if isinstance(machine, InterpretedMachine):
        rows |= _interpreted_rows(machine, seconds)
        problems = machine.interpreter.problems
    else:
        rows |= _rows(path, machine, seconds)
        problems = machine.network.problems
    for name, text in rows.items():
        print(f"{name:13} {text}")
    for problem in problems:
        print(f"warning: {problem}")


def _rows(path: Path, machine: "RuleMachine", seconds: float) -> dict[str, str]:
    """Return the rows of a compiled sheet."""
    from ludoteca.envs.gdl.dynamics import analyze
    from ludoteca.evaluate.bench.gdl import format_rate
    from ludoteca.evaluate.gdl.coverage import measure_speed

    network, dynamics = machine.network, analyze(machine.network)
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
        "dynamics": _dynamics(network, dynamics),
        "max_plies": f"{dynamics.max_plies:,}, "
        + ("proved" if dynamics.max_plies_proved else "a limit, as no bound is proved"),
        "fluents": f"{len(network.fluents):,}: {_shortened(network.fluents)}",
        "groups": _groups(network, dynamics),
        "moves": f"{len(network.moves):,}: {_shortened(network.moves)}",
        "actions": _actions(network, dynamics),
        "percepts": (
            f"{len(network.percepts):,}: {_shortened(network.percepts)}"
            if network.has_hidden_information
            else "none: players see the state"
        ),
        "gates": f"{network.num_gates:,} of {network.instances:,} ground rules",
        "loops": "iterated in each state" if has_loops else "none",
        "random games": _random_games(random_games),
        "speed": f"{format_rate(random_games.steps_per_second)} steps/s, in batches of 512 games",
        "faults": "; ".join(dynamics.warnings) or _faults(random_games),
        "board": _board(path, network, dynamics),
    }


def _dynamics(network: "Network", dynamics: "Dynamics") -> str:
    """Return whether a compiled sheet is sequential, and whether that is proved."""
    if len(network.players) == 1:
        return "one player"
    if not dynamics.sequential:
        return "simultaneous"
    if not dynamics.proved:
        return "sequential, guarded: not proved, each step verifies it"
    if not dynamics.moves_proved:
        return "sequential, proved; guarded: each step verifies that roles have legal moves"
    return "sequential, proved"


def _groups(network: "Network", dynamics: "Dynamics") -> str:
    """Return the numbers of groups of fluents, and whether they are proved."""
    from ludoteca.envs.gdl.one_hot import find_groups

    patterns: dict[str, list[str]] = {}
    for group in sorted(find_groups(network, dynamics), key=lambda g: (-g.proved, -g.exactly_one)):
        count = "exactly one" if group.exactly_one else "at most one"
        source = "proved" if group.proved else "observed in random games"
        patterns.setdefault(f"of {count}, {source}", []).append(group.pattern)
    return (
        "; ".join(f"{len(terms):,} {kind}: {_shortened(terms)}" for kind, terms in patterns.items())
        or "none found"
    )


def _actions(network: "Network", dynamics: "Dynamics") -> str:
    """Return the numbers of actions of a compiled sheet and of each player."""
    from ludoteca.envs.gdl.actions import NONE, action_terms, number_actions
    from ludoteca.envs.gdl.errors import GDLLimitError

    try:
        terms = action_terms(network, dynamics)
    except GDLLimitError as error:
        return f"too many: {error}"
    of_role = (number_actions(network, dynamics, terms).move_of_action != NONE).sum(1).tolist()
    of_player = ", ".join(f"{network.roles[p]} {of_role[p]:,}" for p in network.players)
    return f"{len(terms):,}: {of_player}"


def _random_games(games: "SheetCoverage") -> str:
    """Return the number and length of random games."""
    if not games.games:
        return "none ended within the time"
    return f"{games.games:,}, {games.mean_plies:g} plies on average"


def _faults(games: "SheetCoverage") -> str:
    """Return the faults in random games."""
    if games.faults or games.games:
        return games.faults or "none found"
    return "no random game ended within the time, so goals were not checked"


def _board(path: Path, network: "Network", dynamics: "Dynamics") -> str:
    """Return the size of the board of a compiled sheet, and its number of symmetries."""
    from ludoteca.evaluate.gdl.coverage import describe_board

    found = describe_board(path, network, dynamics)
    return f"{found['board']}, symmetries: {found['symmetries']}" if found else "none"


def _interpreted_rows(machine: "InterpretedMachine", seconds: float) -> dict[str, str]:
    """Return the rows of an interpreted sheet."""
    from ludoteca.evaluate.bench.gdl import format_rate
    from ludoteca.evaluate.gdl.coverage import measure_interpreted_speed

    random_games = measure_interpreted_speed(machine, seconds)
    return {
        "rules": f"{len(machine.interpreter.rules):,}, interpreted",
        "dynamics": random_games.dynamics
        + (", guarded: not proved" if random_games.dynamics == "sequential" else ""),
        "random games": _random_games(random_games),
        "speed": f"{format_rate(random_games.steps_per_second)} steps/s",
        "faults": _faults(random_games),
    }


def _shortened(terms: Iterable[str]) -> str:
    """Return the first `MAX_TERMS` terms as text."""
    all_terms = list(terms)
    ellipsis = " ..." if len(all_terms) > MAX_TERMS else ""
    return " ".join(all_terms[:MAX_TERMS]) + ellipsis
