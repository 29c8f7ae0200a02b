"""Tables of the event-driven evaluation of a program: gates with fan-out, by level.

A node is constant false, an input or a gate. Gates have any number of inputs here: an AND gate that
has a single use, as an input of another AND gate, becomes a part of that gate. A gate counts its
inputs that are false, and is true if there are none. So a change of an input takes one addition.

The level of a gate is greater than those of its inputs. The gates of a loop (see `Program`) have
levels of their own, between those of its inputs and those of the gates that use it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.gdl.network import Program

MAX_INPUTS = 30_000  # of a gate, so that their number is an int16
NO_LOOP = -1
Literals = list[int]  # 2 * node + inverted


class EventTables(NamedTuple):
    """Nodes of a program in the order of their levels, with N nodes, E uses and L levels.

    Node 0 is constant false, nodes 1, 2, ... are the inputs, and then follow the gates.

    Attributes:
        first_uses: the uses of node v are `uses[first_uses[v]:first_uses[v + 1]]`. Shape `[N + 1]`.
        uses: 2 * user + inverted, where the user is a gate, or output i as N + i. Shape `[E]`.
        false_inputs: number of inputs of each gate that are false if all nodes are false. `[N]`.
        outputs: words of the outputs if all nodes are false.
        levels: level of each node; inputs have level 0. Shape `[N]`.
        queue_starts: where the queue of each level begins, in one array for all. Shape `[L + 1]`.
        is_reset: whether a level is the first one of a loop, whose queue has the feedback gates
            that become false before the loop is evaluated again. Shape `[L]`.
        loops: loop of each gate, or `NO_LOOP`. Shape `[N]`.
        signs: for a gate of a loop, 1 if the feedback of the loop increases with it, -1 if it
            decreases, 0 if neither is known. Shape `[N]`.
        first_feedback: the feedback gates of loop k are
            `feedback[first_feedback[k]:first_feedback[k + 1]]`. Shape `[number of loops + 1]`.
        feedback: numbers of feedback gates.
        reset_levels: the level of each loop that `is_reset`. Shape `[number of loops]`.
        num_inputs: number of inputs, without node 0.
    """

    first_uses: NDArray[np.int32]
    uses: NDArray[np.int32]
    false_inputs: NDArray[np.int16]
    outputs: NDArray[np.uint64]
    levels: NDArray[np.int32]
    queue_starts: NDArray[np.int32]
    is_reset: NDArray[np.bool_]
    loops: NDArray[np.int32]
    signs: NDArray[np.int8]
    first_feedback: NDArray[np.int32]
    feedback: NDArray[np.int32]
    reset_levels: NDArray[np.int32]
    num_inputs: int


def make_event_tables(program: Program, num_inputs: int) -> EventTables:
    """Return the tables of a program with a number of inputs."""
    graph = _Graph(program, num_inputs)
    graph.join_gates()
    levels, reset_levels = _assign_levels(graph)
    signs = _find_signs(graph)
    first_gate = 1 + num_inputs
    kept = [v for v in range(first_gate, graph.num_nodes) if graph.inputs[v]]
    order = [*range(first_gate), *sorted(kept, key=lambda v: (levels[v], v))]
    number = {v: i for i, v in enumerate(order)}
    size, num_outputs = len(order), len(graph.outputs)
    uses: list[Literals] = [[] for _ in order]
    false_inputs = np.zeros(size, np.int16)
    for i, v in enumerate(order):
        for literal in graph.inputs[v]:
            uses[number[literal >> 1]].append(2 * i + (literal & 1))
            false_inputs[i] += 1 - (literal & 1)
    is_true = np.zeros(-(-num_outputs // 64) * 64, np.uint8)
    for i, literal in enumerate(graph.outputs):
        uses[number[literal >> 1]].append(2 * (size + i) + (literal & 1))
        is_true[i] = literal & 1
    feedback = [v for v in order if v in graph.feedback]
    num_levels = 1 + max([0, *(levels[v] for v in order), *reset_levels])
    in_level = np.bincount([levels[v] for v in order], minlength=num_levels)
    by_loop = [[v for v in feedback if graph.loops[v] == k] for k in range(graph.num_loops)]
    for level, gates in zip(reset_levels, by_loop, strict=True):
        in_level[level] += len(gates)
    is_reset = np.zeros(num_levels, np.bool_)
    is_reset[reset_levels] = True
    return EventTables(
        first_uses=np.cumsum([0, *map(len, uses)]).astype(np.int32),
        uses=np.array([use for node_uses in uses for use in node_uses], np.int32),
        false_inputs=false_inputs,
        outputs=np.packbits(is_true, bitorder="little").view("<u8").astype(np.uint64),
        levels=np.array([levels[v] for v in order], np.int32),
        queue_starts=np.cumsum([0, *in_level]).astype(np.int32),
        is_reset=is_reset,
        loops=np.array([graph.loops[v] for v in order], np.int32),
        signs=np.array([signs[v] for v in order], np.int8),
        first_feedback=np.cumsum([0, *map(len, by_loop)]).astype(np.int32),
        feedback=np.array([number[v] for gates in by_loop for v in gates], np.int32),
        reset_levels=np.array(reset_levels, np.int32),
        num_inputs=num_inputs,
    )


class _Graph:
    """Gates of a program as nodes that are written once; nodes of joined gates have no inputs.

    Attributes:
        num_nodes: number of nodes.
        inputs: literals of each node, without duplicates; none for inputs of the program.
        outputs: literals of the outputs.
        loops: loop of each node, or `NO_LOOP`.
        num_loops: number of loops.
        feedback: the nodes that are feedback gates.
    """

    def __init__(self, program: Program, num_inputs: int):
        first_gate = 1 + num_inputs
        self.num_nodes = first_gate + len(program.gates)
        self.inputs: list[Literals] = [[] for _ in range(self.num_nodes)]
        self.loops, self.num_loops = [NO_LOOP] * self.num_nodes, 0
        self.feedback: set[int] = set()
        written = list(range(first_gate)) + [0] * (program.num_slots - first_gate)  # by slot
        gates = program.gates.tolist()
        for begin, end, _ in program.segments.tolist():
            is_loop = any(gate[3] for gate in gates[begin:end])
            if is_loop:  # its gates read slots that are written later
                for i in range(begin, end):
                    written[gates[i][0]] = first_gate + i
                    self.loops[first_gate + i] = self.num_loops
                self.num_loops += 1
            for i in range(begin, end):
                slot, a, b, is_feedback = gates[i]
                literals = {2 * written[x >> 1] + (x & 1): None for x in (a, b)}
                self.inputs[first_gate + i] = list(literals)
                written[slot] = first_gate + i
                if is_feedback:
                    self.feedback.add(first_gate + i)
        self.outputs = [2 * written[x >> 1] + (x & 1) for x in program.outputs.tolist()]

    def join_gates(self) -> None:
        """Make each gate with a single use, not inverted, a part of the gate that uses it."""
        num_uses = [0] * self.num_nodes
        for literals in [*self.inputs, self.outputs]:
            for literal in literals:
                num_uses[literal >> 1] += 1
        for literal in self.outputs:
            num_uses[literal >> 1] += 1  # outputs are not joined
        for v, literals in enumerate(self.inputs):
            joined: dict[int, None] = {}
            for literal in literals:
                u = literal >> 1
                parts = self.inputs[u]
                if (
                    parts
                    and not literal & 1
                    and num_uses[u] == 1
                    and u < v
                    and u not in self.feedback
                    and len(joined) + len(parts) < MAX_INPUTS
                ):
                    joined.update(dict.fromkeys(parts))
                    self.inputs[u] = []
                else:
                    joined[literal] = None
            self.inputs[v] = list(joined)


def _assign_levels(graph: _Graph) -> tuple[list[int], list[int]]:
    """Return the level of each node, and the level of each loop at which it is reset.

    Inputs have level 0. No other node is on a level at which a loop is reset.
    """
    levels, reset_levels = [0] * graph.num_nodes, [0] * graph.num_loops
    last_levels = [0] * graph.num_loops  # of the gates of each loop

    def last_level(literals: Literals, loop: int) -> int:
        """Return the last level of some literals, of which those of `loop` do not count."""
        level = 0
        for literal in literals:
            other = graph.loops[literal >> 1]
            if other == NO_LOOP:
                level = max(level, levels[literal >> 1])
            elif other != loop:
                level = max(level, last_levels[other])
        return level

    members: list[list[int]] = [[] for _ in range(graph.num_loops)]
    for v, loop in enumerate(graph.loops):
        if loop != NO_LOOP and graph.inputs[v]:
            members[loop].append(v)
    for v in range(graph.num_nodes):
        loop = graph.loops[v]
        if not graph.inputs[v]:
            continue
        if loop == NO_LOOP:
            levels[v] = last_level(graph.inputs[v], NO_LOOP) + 2  # gates have even levels
            continue
        if not reset_levels[loop]:
            last = max(last_level(graph.inputs[u], loop) for u in members[loop])
            reset_levels[loop] = last + 1  # odd
        before = [u for u in (literal >> 1 for literal in graph.inputs[v])
                  if graph.loops[u] == loop and u not in graph.feedback]  # fmt: skip
        levels[v] = max([reset_levels[loop] + 1, *(levels[u] + 2 for u in before)])
        last_levels[loop] = max(last_levels[loop], levels[v])
    rank = {level: i for i, level in enumerate(sorted({0, *levels, *reset_levels}))}
    return [rank[level] for level in levels], [rank[level] for level in reset_levels]


def _find_signs(graph: _Graph) -> list[int]:
    """Return `EventTables.signs` by node."""
    signs: list[set[int]] = [set() for _ in range(graph.num_nodes)]
    for v in graph.feedback:
        signs[v].add(1)
    for v in reversed(range(graph.num_nodes)):  # gates read earlier gates, and feedback
        if graph.loops[v] == NO_LOOP:
            continue
        for literal in graph.inputs[v]:
            if graph.loops[literal >> 1] == graph.loops[v]:
                signs[literal >> 1] |= {-sign if literal & 1 else sign for sign in signs[v]}
    return [next(iter(each)) if len(each) == 1 else 0 for each in signs]
