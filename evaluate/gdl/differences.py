"""Comparison of a rule sheet with a trace of another program."""

from collections.abc import Iterable
from dataclasses import dataclass

from ludoteca.evaluate.gdl.machine import StateMachine
from ludoteca.evaluate.gdl.traces import TracePosition

MAX_SHOWN = 300  # maximum number of characters of a list of terms


@dataclass(frozen=True)
class TraceComparison:
    """Result of a comparison with a trace.

    Attributes:
        games: number of games in the trace.
        finished: number of games that were compared to their end.
        positions: number of positions that were compared.
        differences: description of each difference; the first of a game ends its comparison.
    """

    games: int
    finished: int
    positions: int
    differences: tuple[str, ...]


def compare_trace(machine: StateMachine, trace: Iterable[TracePosition]) -> TraceComparison:
    """Play the games of a trace again, and compare states, legal moves, ends and goals."""
    games = finished = positions = 0
    differences: list[str] = []
    differs = True  # until the first position of a game
    for position in trace:
        if position.ply == 0:
            machine.reset()
            games += 1
            differs = False
        if differs:
            continue
        positions += 1
        problem = describe_difference(machine, position)
        if problem:
            differs = True
            differences.append(f"game {position.game}, ply {position.ply}: {problem}")
        elif position.moves:
            machine.step(position.moves)
        else:
            finished += 1
    return TraceComparison(games, finished, positions, tuple(differences))


def describe_difference(machine: StateMachine, position: TracePosition) -> str:
    """Return the difference of a machine's state from a position, or an empty string."""
    if problem := _set_difference(machine.fluents(), position.state):
        return f"state: {problem}"
    if machine.is_terminal() != position.terminal:
        return f"terminal is {machine.is_terminal()}, expected {position.terminal}"
    if position.terminal:
        goals = tuple(goals[0] if len(goals) == 1 else None for goals in machine.goals())
        return "" if goals == position.goals else f"goals are {goals}, expected {position.goals}"
    for role, legal, expected_moves in zip(
        machine.roles, machine.legal(), position.legal, strict=True
    ):
        if problem := _set_difference(legal, expected_moves):
            return f"legal moves of {role}: {problem}"
    return ""


def _set_difference(terms: Iterable[str], expected: Iterable[str]) -> str:
    """Return the missing and the extra terms as text, or an empty string."""
    missing, extra = set(expected) - set(terms), set(terms) - set(expected)
    parts = [
        f"{name}: {' '.join(sorted(differing)):.{MAX_SHOWN}}"
        for name, differing in (("missing", missing), ("extra", extra))
        if differing
    ]
    return "; ".join(parts)
