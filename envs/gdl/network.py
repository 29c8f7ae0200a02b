"""Network of a sheet: its gates as arrays, in three phases.

Phase 1 computes legal moves, goals and `terminal` from the fluents; phase 2 computes the next
fluents from fluents and moves; phase 3 computes the percepts of the players (`sees`) from fluents
and moves. A node of the and-inverter graph (`gates`) has a slot: an index of
the array that holds the values while gates are evaluated in order. Slots of values that are no
longer needed are reused, so the array is small. A literal is 2 * slot + inverted; slot 0 is
constant false, and the inputs of a phase have the slots after it.
"""

import heapq
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.gdl.errors import GDLError
from ludoteca.envs.gdl.gates import Gates, Operation
from ludoteca.envs.gdl.graph import reachable
from ludoteca.envs.gdl.ground import Grounder
from ludoteca.envs.gdl.parse import Term, show
from ludoteca.envs.gdl.persistence import Functor, functor_of
from ludoteca.envs.gdl.rules import RANDOM


@dataclass(frozen=True, eq=False)
class Program:
    """Gates of one phase, in order.

    Attributes:
        gates: slot, two literals, and whether the gate is the feedback of a loop, 0 or 1. A gate
            sets its slot to the AND of the literals. Shape `[number of gates, 4]`.
        segments: begin and end of consecutive gates, and whether they are a loop, 0 or 1. In a
            loop, feedback starts false, and the gates are evaluated until no feedback changes.
            Shape `[S, 3]`.
        outputs: literals of the results. Shape `[O]`.
        num_slots: number of slots, including slot 0 and the inputs.
    """

    gates: NDArray[np.int32]
    segments: NDArray[np.int32]
    outputs: NDArray[np.int32]
    num_slots: int

    @property
    def has_loops(self) -> bool:
        """Whether a segment is a loop."""
        return bool(self.segments[:, 2].any())


@dataclass(frozen=True, eq=False)
class Network:
    """Compiled rules of a sheet, with F fluents, R roles and M moves of all roles.

    The roles are the players and, in a game with chance, the role `random`.

    Attributes:
        roles: names of the roles.
        fluents: the terms that can be true, as text, such as `"(cell 1 1 x)"`. Length F.
        moves: the moves as text, such as `"(mark 1 2)"`, those of role 0 first. Length M.
        move_start: the moves of role r are `move_start[r]` to `move_start[r + 1] - 1`. Length
            R + 1.
        initial: whether each fluent is true in the initial state. Shape `[F]`.
        persistent: whether the compiled rules assume that each fluent keeps its initial value.
            Shape `[F]`.
        goal_roles: role of each goal. Shape `[G]`.
        goal_values: value of each goal, 0 to 100. Shape `[G]`.
        percepts: the percepts of the players as text, those of the first player first. Length P.
        percept_roles: role of each percept. Shape `[P]`.
        has_hidden_information: whether the sheet has rules for `sees`.
        phase1: inputs: the fluents; outputs: whether each move is legal `[M]`, each goal holds
            `[G]`, the state is terminal `[1]`.
        phase2: inputs: the fluents and the moves that are made; outputs: the next fluents `[F]`.
        phase3: inputs: as phase 2; outputs: whether each percept is received `[P]`.
        instances: number of ground instances of rules.
        counted_instances: number of ground instances and facts that the compilation counted, at
            most its `max_instances`; in interpreted rules 0.
        problems: warnings of `ludoteca.envs.gdl.checks.check_rules`.
    """

    roles: tuple[str, ...]
    fluents: tuple[str, ...]
    moves: tuple[str, ...]
    move_start: NDArray[np.int32]
    initial: NDArray[np.bool_]
    persistent: NDArray[np.bool_]
    goal_roles: NDArray[np.int32]
    goal_values: NDArray[np.int32]
    percepts: tuple[str, ...]
    percept_roles: NDArray[np.int32]
    has_hidden_information: bool
    phase1: Program
    phase2: Program
    phase3: Program
    instances: int = 0
    counted_instances: int = 0
    problems: tuple[str, ...] = ()

    @property
    def num_gates(self) -> int:
        """Gates of all phases."""
        return len(self.phase1.gates) + len(self.phase2.gates) + len(self.phase3.gates)

    @property
    def random_role(self) -> int:
        """Number of the role `random`, or -1 in a game without chance."""
        return self.roles.index(RANDOM) if RANDOM in self.roles else -1

    @property
    def players(self) -> tuple[int, ...]:
        """Numbers of the roles that are players: all but `random`."""
        return tuple(r for r, role in enumerate(self.roles) if role != RANDOM)

    def role_of(self, move: int) -> int:
        """Return the role of a move."""
        return int(np.searchsorted(self.move_start, move, side="right")) - 1


def make_network(
    grounder: Grounder,
    gates: Gates,
    problems: tuple[str, ...] = (),
    has_hidden_information: bool = False,
    persistent: Collection[Functor] = (),
    counted_instances: int = 0,
) -> Network:
    """Return the network of a sheet.

    Args:
        grounder: its ground rules.
        gates: their graph.
        problems: warnings about the rules.
        has_hidden_information: whether there are rules for `sees`.
        persistent: kinds of fluents whose initial values the rules assume.
        counted_instances: see `Network`.

    Raises:
        GDLError: if a goal is not an integer from 0 to 100, if a role has no legal move, or if a
            player has no goal.
    """
    moves_of: dict[Term, list[Any]] = {role: [] for role in grounder.roles}
    for atom in gates.moves:
        moves_of[atom[1]].append(atom)
    # Sorted once: mostly all roles have the same moves.
    ranks = {term: i for i, term in enumerate(sorted({a[2] for a in gates.moves}, key=natural_key))}
    for role, moves in moves_of.items():
        if not moves:
            raise GDLError(f"the role {show(role)} never has a legal move")
        moves.sort(key=lambda atom: ranks[atom[2]])
    moves = [atom for role in grounder.roles for atom in moves_of[role]]
    goals = _goals(grounder)
    fluents = [("true", term) for term in gates.fluents]
    fluents.sort(key=lambda atom: natural_key(atom[1]))
    legal = [gates.literal(("legal", *atom[1:])) for atom in moves]
    goal = [gates.literal(("goal", grounder.roles[role], text)) for role, _, text in goals]
    next_fluents = [gates.literal(("next", atom[1])) for atom in fluents]
    fluent_nodes = [gates.literal(atom) >> 1 for atom in fluents]
    move_nodes = [gates.literal(atom) >> 1 for atom in moves]
    counts = [len(moves_of[role]) for role in grounder.roles]
    initial = set(grounder.initial)
    percepts = _percepts(grounder)
    sees = [gates.literal(("sees", grounder.roles[role], term)) for role, term in percepts]
    return Network(
        roles=tuple(show(role) for role in grounder.roles),
        fluents=tuple(show(atom[1]) for atom in fluents),
        moves=tuple(show(atom[2]) for atom in moves),
        move_start=np.cumsum([0, *counts]).astype(np.int32),
        initial=np.array([atom[1] in initial for atom in fluents], np.bool_),
        persistent=np.array([functor_of(atom[1]) in persistent for atom in fluents], np.bool_),
        goal_roles=np.array([role for role, _, _ in goals], np.int32),
        goal_values=np.array([value for _, value, _ in goals], np.int32),
        percepts=tuple(show(term) for _, term in percepts),
        percept_roles=np.array([role for role, _ in percepts], np.int32),
        has_hidden_information=has_hidden_information,
        phase1=make_program(gates, fluent_nodes, [*legal, *goal, gates.literal(("terminal",))]),
        phase2=make_program(gates, fluent_nodes + move_nodes, next_fluents),
        phase3=make_program(gates, fluent_nodes + move_nodes, sees),
        instances=len(grounder.instances),
        counted_instances=counted_instances,
        problems=problems,
    )


def natural_key(term: Term) -> Any:
    """Return a sort key of a term: numbers by value, names, compound terms by length and parts."""
    if isinstance(term, str):
        return _constant_key(term)
    return (2, len(term), tuple([natural_key(item) for item in term]))


@lru_cache(10_000)
def _constant_key(name: str) -> tuple[int, int, str]:
    """Return `natural_key` of a constant."""
    return (0, int(name), name) if name.isdecimal() else (1, 0, name)


def _goals(grounder: Grounder) -> list[tuple[int, int, Term]]:
    """Return the index of the role, the value and the term of the value of each goal."""
    goals = []
    for atom in grounder.possible("goal"):
        if atom[1] not in grounder.roles:
            continue
        text = atom[2]
        if not (isinstance(text, str) and text.isdecimal() and int(text) <= 100):
            raise GDLError(f"a goal must be an integer from 0 to 100, got {show(atom)}")
        goals.append((grounder.roles.index(atom[1]), int(text), text))
    for role, term in enumerate(grounder.roles):
        if term != RANDOM and all(goal[0] != role for goal in goals):
            raise GDLError(f"the role {show(term)} has no goal that can be reached")
    return sorted(goals, key=lambda goal: goal[:2])


def _percepts(grounder: Grounder) -> list[tuple[int, Term]]:
    """Return the index of the player and the term of each percept."""
    percepts = [
        (grounder.roles.index(atom[1]), atom[2])
        for atom in grounder.possible("sees")
        if atom[1] in grounder.roles and atom[1] != RANDOM
    ]
    return sorted(percepts, key=lambda percept: (percept[0], natural_key(percept[1])))


def make_program(gates: Gates, inputs: list[int], outputs: list[int]) -> Program:
    """Return the gates on which the outputs depend, with slots assigned.

    Args:
        gates: the graph.
        inputs: nodes of the inputs, which get slots 1, 2, ...
        outputs: literals of the outputs.
    """
    operations, loop_of = _needed(gates, outputs)
    last_use = _last_uses(operations, loop_of, outputs)
    slots = dict(zip([0, *inputs], range(1 + len(inputs)), strict=True))
    num_reserved = num_slots = len(slots)  # slots of inputs are never reused
    free: list[int] = []
    expiring: dict[int, list[int]] = {}  # nodes by the index of the last operation that needs them
    for node, last in last_use.items():
        expiring.setdefault(last, []).append(node)
    rows = []
    for i, (node, a, b, kind) in enumerate(operations):
        # All slots of a loop are assigned at its first gate: earlier gates read later ones.
        first_of_loop = loop_of[i] and (i == 0 or loop_of[i - 1] != loop_of[i])
        written = [operations[j][0] for j in _loop_range(loop_of, i)] if first_of_loop else (node,)
        for new in written:
            if new not in slots:
                if free:
                    slots[new] = heapq.heappop(free)
                else:
                    slots[new] = num_slots
                    num_slots += 1
        rows.append((slots[node], 2 * slots[a >> 1] + (a & 1), 2 * slots[b >> 1] + (b & 1), kind))
        for old in expiring.pop(i, ()):
            if slots[old] >= num_reserved:
                heapq.heappush(free, slots[old])
    return Program(
        gates=np.array(rows, np.int32).reshape(-1, 4),
        segments=_segments(loop_of),
        outputs=np.array([2 * slots[x >> 1] + (x & 1) for x in outputs], np.int32),
        num_slots=num_slots,
    )


def _needed(gates: Gates, outputs: list[int]) -> tuple[list[Operation], list[int]]:
    """Return the operations on which the outputs depend, and the loop of each (1, ...; 0: none)."""
    operations = gates.operations
    loop_at = [0] * len(operations)
    needed = {literal >> 1 for literal in outputs}
    end = len(operations)
    # Operations depend on earlier ones only, except in loops.
    for number, (start, stop) in reversed([(0, (0, 0)), *enumerate(gates.loops, 1)]):
        for node, a, b, _ in reversed(operations[stop:end]):
            if node in needed:
                needed.add(a >> 1)
                needed.add(b >> 1)
        needed |= _sources(operations[start:stop], needed)
        loop_at[start:stop] = [number] * (stop - start)
        end = start
    indices = [i for i, operation in enumerate(operations) if operation[0] in needed]
    return [operations[i] for i in indices], [loop_at[i] for i in indices]


def _sources(loop: list[Operation], needed: set[int]) -> set[int]:
    """Return the nodes on which the needed nodes of a loop depend, themselves included."""
    sources = {node: (a >> 1, b >> 1) for node, a, b, _ in loop}
    return reachable(needed & sources.keys(), lambda node: sources.get(node, ()))


def _loop_range(loop_of: list[int], start: int) -> range:
    """Return the indices of the operations from `start` on that are in the same loop."""
    end = start
    while end < len(loop_of) and loop_of[end] == loop_of[start]:
        end += 1
    return range(start, end)


def _last_uses(
    operations: list[Operation], loop_of: list[int], outputs: list[int]
) -> dict[int, int]:
    """Return the index of the last operation that needs each node.

    A loop needs its nodes until its last operation; outputs are needed after all operations.
    """
    last: dict[int, int] = {}
    end = 0
    for i, (node, a, b, _) in enumerate(operations):
        use = i
        if loop_of[i]:
            if i >= end:
                end = _loop_range(loop_of, i).stop
            use = end - 1
        last[node] = last[a >> 1] = last[b >> 1] = use
    for literal in outputs:
        last[literal >> 1] = len(operations)
    return last


def _segments(loop_of: list[int]) -> NDArray[np.int32]:
    """Return `Program.segments`, given the loop of each operation."""
    segments = []
    start = 0
    for i in range(1, len(loop_of) + 1):
        if i == len(loop_of) or loop_of[i] != loop_of[start]:
            segments.append((start, i, int(loop_of[start] > 0)))
            start = i
    return np.array(segments, np.int32).reshape(-1, 3)
