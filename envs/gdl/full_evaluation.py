"""Full evaluation of a program: a loop over the array of its gates."""

from typing import Any

import numpy as np

from ludoteca.envs.bits import ONE
from ludoteca.envs.gdl.network import Program
from ludoteca.envs.interpreted import interpreting
from ludoteca.envs.jit import compiled, factory, kernel


@kernel
def walk_gates(
    gates: Any,
    segments: Any,
    outputs: Any,
    num_fluents: int,
    num_moves: int,
    fluents: Any,
    joint: Any,
    out: Any,
    values: Any,
) -> None:
    """Evaluate a program gate by gate.

    For the arrays see `Program` and `ludoteca.envs.gdl.evaluate.make_evaluation`.
    `values` has a byte of scratch memory per slot.
    """
    values[0] = 0
    for i in range(num_fluents):
        values[1 + i] = (fluents[i >> 6] >> np.uint64(i & 63)) & ONE
    if num_moves > 0:
        for i in range(num_moves):
            values[1 + num_fluents + i] = 0
        for r in range(len(joint)):
            if joint[r] >= 0:
                values[1 + num_fluents + joint[r]] = 1
    for k in range(len(segments)):
        begin, end, loop = segments[k, 0], segments[k, 1], segments[k, 2]
        if loop:
            for i in range(begin, end):
                if gates[i, 3]:
                    values[gates[i, 0]] = 0
        changed = True
        while changed:
            changed = False
            for i in range(begin, end):
                a, b = gates[i, 1], gates[i, 2]
                value = (values[a >> 1] ^ (a & 1)) & (values[b >> 1] ^ (b & 1))
                if loop and gates[i, 3] and values[gates[i, 0]] != value:
                    changed = True
                values[gates[i, 0]] = value
    for w in range(len(out)):
        word = np.uint64(0)
        for i in range(64 * w, min(64 * w + 64, len(outputs))):
            literal = outputs[i]
            bit = np.uint64(values[literal >> 1] ^ (literal & 1))
            word |= bit << np.uint64(i & 63)
        out[w] = word


@factory()
def make_walk() -> Any:
    """Return `walk_gates` as a compiled function."""

    @compiled
    def walk(
        gates: Any,
        segments: Any,
        outputs: Any,
        num_fluents: int,
        num_moves: int,
        fluents: Any,
        joint: Any,
        out: Any,
        values: Any,
    ) -> None:
        walk_gates(gates, segments, outputs, num_fluents, num_moves, fluents, joint, out, values)

    return walk


def gate_arrays(program: Program) -> tuple[Any, Any, Any]:
    """Return the arrays of a program for `walk_gates`, in the smallest dtype."""
    # The largest number in `gates` is a literal, 2 * num_slots - 1.
    gate_dtype: Any = np.uint16 if program.num_slots < 2**15 else np.int32
    gates = np.ascontiguousarray(program.gates.astype(gate_dtype))
    return gates, program.segments, program.outputs


def make_interpreter(program: Program, num_fluents: int, num_moves: int) -> Any:
    """Return `interpret(fluents, joint, out, values)`, with a byte of scratch memory per slot."""
    gates, segments, outputs = gate_arrays(program)

    @kernel
    def interpret(fluents: Any, joint: Any, out: Any, values: Any) -> None:
        walk_gates(gates, segments, outputs, num_fluents, num_moves, fluents, joint, out, values)

    return interpret


class CompiledInterpreter:
    """Compiled `interpret`, see `make_interpreter`, for Python; all sheets share its code.

    Args:
        program: the gates.
        num_fluents: number of fluents.
        num_moves: number of moves that are inputs.
    """

    def __init__(self, program: Program, num_fluents: int, num_moves: int):
        gates = np.ascontiguousarray(program.gates.astype(np.int32))
        self._program = gates, program.segments, program.outputs, num_fluents, num_moves
        self._walk: Any = None  # made on first use

    def __call__(self, fluents: Any, joint: Any, out: Any, values: Any) -> None:
        """Evaluate the program, see `walk_gates`."""
        if self._walk is None:
            with interpreting(False):  # a setting of the whole process, not for each call
                self._walk = make_walk()
        self._walk(*self._program, fluents, joint, out, values)

    def __repr__(self) -> str:
        return "compiled interpreter"  # the same in each process, for digests of sources
