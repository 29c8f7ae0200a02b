"""Tables of the event-driven evaluation of a program: gates with fan-out.

A node is an input, constant false or a gate. Gates have any number of inputs here: an AND gate that
has a single use, as an input of another AND gate, becomes a part of that gate. A gate counts its
inputs that are false, and is true if there are none. So a change of an input takes one addition.
A node that many gates use, such as the fluent that names the player to move, is a hub. It is not
counted by its gates: they are candidates while their other inputs are true, and a change of the hub
concerns only candidates.

Gates have higher numbers than their inputs, except in loops (see `Program`), where feedback gates
are read by earlier gates.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.gdl.network import Program

MAX_INPUTS = 30_000  # of a gate, so that their number is an int16
MIN_HUB_USES = 512  # number of gates that use a hub
NO_LOOP = NO_HUB = -1
Literals = list[int]  # 2 * node + inverted


class EventTables(NamedTuple):
    """Nodes of a program, with N nodes, E uses, S segments, O outputs and H hubs.

    Nodes 0, 1, ... are the inputs, the next one is constant false, and then follow the gates.
    Segments are ranges of nodes that begin at multiples of 64, with unused nodes between them. A
    loop is a segment of its own.

    Attributes:
        first_uses: the uses of node v are `uses[first_uses[v]:first_uses[v + 1]]`. Shape `[N + 1]`.
        uses: 2 * user + inverted, where the user is a gate, or output i as N + i, or hub i as
            N + O + i: the node is this hub. Shape `[E]`.
        false_inputs: number of inputs of each gate that are false if all nodes are false, without
            its hub; 1 for nodes that are no gates. Shape `[N]`.
        outputs: words of the outputs if all nodes are false.
        segments: words of each segment, begin and end: word w has nodes `64 * w` to
            `64 * w + 63`. Shape `[S, 2]`.
        loops: segment of each gate of a loop, else `NO_LOOP`. Shape `[N]`, or `[0]` if there are no
            loops.
        signs: for a gate of a loop, 1 if the feedback of the loop increases with it, -1 if it
            decreases, 0 if neither is known. Shape as `loops`.
        first_feedback: the feedback gates of segment k are
            `feedback[first_feedback[k]:first_feedback[k + 1]]`. Shape `[S + 1]`.
        feedback: numbers of feedback gates.
        hub_literals: 2 * node + inverted for the input of each gate that is a hub, else `NO_HUB`.
            Shape `[N]`, or `[0]` if there are no hubs.
        hub_bits: bit of each gate that has a hub among the candidates. Shape as `hub_literals`.
        hub_words: the bits of hub i are in the words `hub_words[i]` to `hub_words[i + 1] - 1`.
            Shape `[H + 1]`.
        hub_gates: gates by their bits.
        num_outputs: O.
        num_inputs: number of inputs.
    """

    first_uses: NDArray[np.int32]
    uses: NDArray[np.int32]
    false_inputs: NDArray[np.int16]
    outputs: NDArray[np.uint64]
    segments: NDArray[np.int32]
    loops: NDArray[np.int32]
    signs: NDArray[np.int8]
    first_feedback: NDArray[np.int32]
    feedback: NDArray[np.int32]
    hub_literals: NDArray[np.int32]
    hub_bits: NDArray[np.int32]
    hub_words: NDArray[np.int32]
    hub_gates: NDArray[np.int32]
    num_outputs: int
    num_inputs: int


def make_event_tables(program: Program, num_inputs: int) -> EventTables:
    """Return the tables of a program with a number of inputs."""
    graph = ProgramGraph(program, num_inputs)
    graph.join_gates()
    signs = _find_signs(graph)
    nodes, segments = _arrange(graph, num_inputs)
    number = {v: i for i, v in enumerate(nodes) if v is not None}
    inputs = [[] if v is None else [2 * number[literal >> 1] + (literal & 1)
              for literal in graph.inputs[v]] for v in nodes]  # fmt: skip
    size, num_outputs = len(nodes), len(graph.outputs)
    loops, sign_of = np.full(size, NO_LOOP, np.int32), np.zeros(size, np.int8)
    feedback: list[list[int]] = [[] for _ in segments]
    for i, v in enumerate(nodes):
        if v is not None and graph.loops[v] != NO_LOOP:
            loops[i] = next(k for k, (_, end) in enumerate(segments) if i < 64 * end)
            sign_of[i] = signs[v]
            if v in graph.feedback:
                feedback[loops[i]].append(i)
    hubs, hub_literals = _find_hubs(inputs, loops)
    uses: list[Literals] = [[] for _ in nodes]
    false_inputs = np.ones(size, np.int16)
    for i, literals in enumerate(inputs):
        counted = [literal for literal in literals if literal != hub_literals[i]]
        if literals:
            false_inputs[i] = sum(1 - (literal & 1) for literal in counted)
        for literal in counted:
            uses[literal >> 1].append(2 * i + (literal & 1))
    is_true = np.zeros(-(-num_outputs // 64) * 64, np.uint8)
    for i, literal in enumerate(graph.outputs):
        uses[number[literal >> 1]].append(2 * (size + i) + (literal & 1))
        is_true[i] = literal & 1
    hub_bits, hub_words = np.zeros(size if hubs else 0, np.int32), [0]
    hub_gates: list[int] = []
    for i, (hub, gates) in enumerate(hubs.items()):
        uses[hub].append(2 * (size + num_outputs + i))
        hub_bits[gates] = len(hub_gates) + np.arange(len(gates))
        hub_gates += gates + [0] * (-len(gates) % 64)
        hub_words.append(len(hub_gates) // 64)
    return EventTables(
        first_uses=np.cumsum([0, *map(len, uses)]).astype(np.int32),
        uses=np.array([use for node_uses in uses for use in node_uses], np.int32),
        false_inputs=false_inputs,
        outputs=np.packbits(is_true, bitorder="little").view("<u8").astype(np.uint64),
        segments=np.array(segments, np.int32),
        loops=loops if graph.feedback else loops[:0],
        signs=sign_of if graph.feedback else sign_of[:0],
        first_feedback=np.cumsum([0, *map(len, feedback)]).astype(np.int32),
        feedback=np.array([i for gates in feedback for i in gates], np.int32),
        hub_literals=np.array(hub_literals if hubs else [], np.int32),
        hub_bits=hub_bits,
        hub_words=np.array(hub_words, np.int32),
        hub_gates=np.array(hub_gates, np.int32),
        num_outputs=num_outputs,
        num_inputs=num_inputs,
    )


def _find_hubs(
    inputs: list[Literals], loops: NDArray[np.int32]
) -> tuple[dict[int, list[int]], list[int]]:
    """Return the gates of each hub, and the hub of each gate: a literal, or `NO_HUB`.

    The hub of a gate is the input that most gates use. Gates of loops have none.

    Args:
        inputs: literals by node.
        loops: segment of each gate of a loop, else `NO_LOOP`.
    """
    num_uses, hub_literals = [0] * len(inputs), [NO_HUB] * len(inputs)
    gates = [i for i, literals in enumerate(inputs) if len(literals) > 1 and loops[i] == NO_LOOP]
    for i in gates:
        for literal in inputs[i]:
            num_uses[literal >> 1] += 1
    hubs: dict[int, list[int]] = {}
    for i in gates:
        literal = max(inputs[i], key=lambda literal: num_uses[literal >> 1])
        if num_uses[literal >> 1] >= MIN_HUB_USES:
            hub_literals[i] = literal
            hubs.setdefault(literal >> 1, []).append(i)
    return hubs, hub_literals


class ProgramGraph:
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


def _arrange(
    graph: ProgramGraph, num_inputs: int
) -> tuple[list[int | None], list[tuple[int, int]]]:
    """Return the nodes by their numbers in `EventTables`, None for unused ones, and the segments.

    The node of constant false, 0 in `graph`, comes after the inputs. The order is that of the
    program.
    """
    nodes: list[int | None] = [*range(1, num_inputs + 1), 0]
    segments, begin, loop = [], 0, NO_LOOP
    for v in range(num_inputs + 1, graph.num_nodes):
        if not graph.inputs[v]:
            continue
        if graph.loops[v] != loop:
            nodes += [None] * (-len(nodes) % 64)
            segments.append((begin, len(nodes) // 64))
            begin, loop = len(nodes) // 64, graph.loops[v]
        nodes.append(v)
    segments.append((begin, -(-len(nodes) // 64)))
    return nodes, segments


def _find_signs(graph: ProgramGraph) -> list[int]:
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
