"""Proof that each step of a game preserves groups of fluents of which at most one is true.

See `implications` for the search, and `one_hot` for the groups.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.gdl.event_tables import Literals, ProgramGraph
from ludoteca.envs.gdl.implications import (
    MAX_DEPTH,
    TRAIL,
    UNKNOWN,
    WORK,
    Search,
    assign,
    is_impossible,
    propagate,
    undo,
    value_of,
)
from ludoteca.envs.gdl.network import Network
from ludoteca.envs.jit import compiled, factory, kernel

MAX_WORK = 10_000_000  # implications in a check of all groups; each takes about 0.2 us
GROUP_FRACTION = 5  # 1 / 5 of these implications for one group
MAX_DECISIONS = 2000  # of a search
Flags = NDArray[np.bool_]


class StepProof:
    """Proof that a step preserves groups of fluents.

    A step leads from a state that is not terminal to the next one; each role makes exactly one of
    its legal moves.

    Args:
        network: the network.
        groups: numbers of the fluents of each of G groups.
        control: number of the group that names the role to move, or -1. The step is checked for
            each role to move.
    """

    def __init__(self, network: Network, groups: Sequence[Sequence[int]], control: int = -1):
        num_fluents, num_moves = len(network.fluents), len(network.moves)
        first_move = 1 + num_fluents
        circuit = _Circuit(1 + num_fluents + num_moves)
        results = circuit.add(ProgramGraph(network.phase1, num_fluents), num_fluents)
        following = circuit.add(
            ProgramGraph(network.phase2, num_fluents + num_moves), num_fluents + num_moves
        )
        # Constant false, the end, and for each move that it is made although it is not legal.
        false = [0, results[-1]]
        false += [2 * circuit.add_gate([2 * (first_move + m), results[m] ^ 1])
                  for m in range(num_moves)]  # fmt: skip
        starts = first_move + network.move_start
        members = [[1 + fluent for fluent in group] for group in groups]
        members += [list(range(a, b)) for a, b in pairwise(starts.tolist())]
        self._num_groups, self._control = len(groups), control
        self._false = np.array(false, np.int64)
        self._following = np.array([0, *following], np.int64)
        self._search = _make_search(circuit.inputs, 1 + num_fluents + num_moves, members)

    def check(self, at_most_one: Flags, exactly_one: Flags) -> tuple[Flags, Flags]:
        """Return for which groups a step is proved to preserve that at most or exactly one is true.

        Args:
            at_most_one: whether at most one fluent of each group is true before the step. Only
                these groups are checked. Shape `[G]`.
            exactly_one: whether exactly one is. Shape `[G]`.
        """
        search, groups = self._search, self._num_groups
        search.at_most_one[:groups], search.exactly_one[:groups] = at_most_one, exactly_one
        results = np.array([at_most_one, exactly_one])
        cases = [1]  # literals of which one is true before the step
        if self._control >= 0 and exactly_one[self._control]:
            first, last = search.first_members[self._control : self._control + 2]
            cases = [2 * int(node) for node in search.members[first:last]]
        for case in cases:
            search.counts[WORK] = 0
            false, max_work = np.append(self._false, case ^ 1), MAX_WORK // len(cases)
            make_step_check()(search, groups, false, self._following, max_work, results)
        return results[0], results[1]


class _Circuit:
    """Gates of several programs as one graph.

    Attributes:
        inputs: literals of each node, none for inputs and for the feedback of loops, whose values
            are unknown.
    """

    def __init__(self, num_nodes: int):
        self.inputs: list[Literals] = [[] for _ in range(num_nodes)]
        self._known: dict[tuple[int, ...], int] = {}

    def add(self, graph: ProgramGraph, num_inputs: int) -> Literals:
        """Add the gates of a program whose inputs are the first nodes, and return its outputs."""
        nodes = list(range(graph.num_nodes))
        for v in range(1 + num_inputs, graph.num_nodes):
            if graph.loops[v] >= 0:
                nodes[v] = len(self.inputs)
                self.inputs.append([])
        for v in range(1 + num_inputs, graph.num_nodes):
            literals = [2 * nodes[x >> 1] + (x & 1) for x in graph.inputs[v]]
            if graph.loops[v] < 0:
                nodes[v] = self.add_gate(literals)
            elif v not in graph.feedback:
                self.inputs[nodes[v]] = literals
        return [2 * nodes[x >> 1] + (x & 1) for x in graph.outputs]

    def add_gate(self, literals: Literals) -> int:
        """Return the node of a gate, an existing one if it has the same inputs."""
        key = tuple(sorted(literals))
        if key not in self._known:
            self._known[key] = len(self.inputs)
            self.inputs.append(literals)
        return self._known[key]


def _make_search(inputs: list[Literals], num_inputs: int, members: list[list[int]]) -> Search:
    """Return a search without values, given the literals of each node and the groups of inputs."""
    users: list[list[int]] = [[] for _ in inputs]
    groups: list[list[int]] = [[] for _ in range(num_inputs)]
    for gate, literals in enumerate(inputs):
        for literal in literals:
            users[literal >> 1].append(gate)
    for group, nodes in enumerate(members):
        for node in nodes:
            groups[node].append(group)
    pairs = [(x[0], x[-1]) if x else (-1, -1) for x in inputs]
    return Search(
        np.array(pairs, np.int32),
        *_flat(users),
        *_flat(members),
        *_flat(groups),
        at_most_one=np.ones(len(members), np.bool_),
        exactly_one=np.ones(len(members), np.bool_),
        num_false=np.zeros(len(members), np.int32),
        values=np.full(len(inputs), UNKNOWN, np.int8),
        trail=np.zeros(len(inputs), np.int32),
        counts=np.zeros(2, np.int64),
    )


def _flat(lists: list[list[int]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return where each list begins in their concatenation, with its length, and the latter."""
    starts = np.cumsum([0, *map(len, lists)]).astype(np.int32)
    return starts, np.array([item for items in lists for item in items], np.int32)


@kernel
def check_group(
    search: Any,
    group: int,
    following: Any,
    candidates: Any,
    decisions: Any,
    results: Any,
    max_work: int,
) -> None:
    """Check a group after the steps that fulfill the assumptions on the trail.

    Args:
        search: the search.
        group: number of the group.
        following: literal of each fluent in the next state, by its node.
        candidates: scratch memory for the literals of a group.
        decisions: scratch memory, see `implications.is_impossible`.
        results: whether at most one fluent of each group is true after the step, and whether
            exactly one is. They are set to False where that is not proved. Shape `[2, G]`.
        max_work: number of implications so far at which the proof is given up.
    """
    base, count, num_true = search.counts[TRAIL], 0, 0
    for i in range(search.first_members[group], search.first_members[group + 1]):
        literal = following[search.members[i]]
        value = value_of(search, literal)
        num_true += int(value == 1)
        if value != 0:
            candidates[count] = literal
            count += 1
    if results[1, group] and num_true == 0:
        none_true = True
        for i in range(count):
            none_true = none_true and assign(search, candidates[i] ^ 1)
        if none_true and not is_impossible(search, base, base, decisions, MAX_DECISIONS):
            results[1, group] = False
        undo(search, base)
    for i in range(count - 1):
        if assign(search, candidates[i]) and propagate(search, base):
            length = search.counts[TRAIL]
            for k in range(i + 1, count):
                if assign(search, candidates[k]) and not is_impossible(
                    search, length, base, decisions, MAX_DECISIONS
                ):
                    results[0, group] = False
                undo(search, length)
                if search.counts[WORK] > max_work:
                    results[0, group] = False
                if not results[0, group]:
                    break
        undo(search, base)
        if not results[0, group]:
            break


@factory("proofs about groups of fluents")
def make_step_check() -> Any:
    """Return `check(search, num_groups, false, following, max_work, results)`.

    `false` are literals that are false before the step. After `max_work` implications the groups
    that remain are not proved. See `check_group` for `following` and `results`. A group is checked
    for each fluent that may be the true one before the step, and for none of them.
    """

    @compiled
    def check(
        search: Any, num_groups: int, false: Any, following: Any, max_work: int, results: Any
    ) -> None:
        decisions = np.zeros((MAX_DEPTH, 3), np.int64)
        candidates = np.zeros(len(search.members), np.int64)
        undo(search, 0)
        is_possible = True
        for literal in false:
            is_possible = is_possible and assign(search, literal ^ 1)
        if not (is_possible and propagate(search, 0)):
            return  # there is no step
        base = search.counts[TRAIL]
        for group in range(num_groups):
            begin, end = search.first_members[group], search.first_members[group + 1]
            limit = min(max_work, search.counts[WORK] + max_work // GROUP_FRACTION)
            for i in range(begin, end + 1):
                if not results[0, group]:
                    break
                is_possible = True
                for k in range(begin, end):  # i == end: none is true
                    node = search.members[k]
                    is_possible = is_possible and assign(search, 2 * node + int(k != i))
                if is_possible and propagate(search, base):
                    check_group(search, group, following, candidates, decisions, results, limit)
                undo(search, base)
                if search.counts[WORK] > limit:
                    results[0, group] = False
            results[1, group] = results[1, group] and results[0, group]

    return check
