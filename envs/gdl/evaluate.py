"""Evaluation of the phases of a rule sheet's network of gates, for one state, as kernels.

Small programs become straight-line machine code, one instruction per gate, with all values in
registers. Their LLVM code is generated directly: Numba would take minutes to compile thousands of
lines of Python. For larger programs, and programs with loops, compiled code evaluates only the
gates whose inputs differ from the last state of the thread, or walks through the array of gates,
see `event_evaluation`. Interpreted mode always walks.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from ludoteca.envs.gdl.event_evaluation import event_sources, make_update
from ludoteca.envs.gdl.full_evaluation import CompiledInterpreter, make_interpreter
from ludoteca.envs.gdl.network import Program
from ludoteca.envs.gdl.rule_calls import InterpretedProgram, make_interpreted_evaluation

# In one phase; with more gates, LLVM takes many seconds for each function that contains them.
MAX_STRAIGHT_GATES = 1500
# In interpreted mode, Python evaluates up to this number of gates of a phase, about 1 us each.
MAX_PYTHON_GATES = 200
Evaluation = Callable[[Any, Any, Any], None]  # `evaluate` of `make_evaluation`


def make_evaluation(
    program: Program, num_fluents: int, move_start: NDArray[np.int32] | None
) -> Evaluation:
    """Return `evaluate(fluents, joint, out)` for one phase.

    Both in compiled code and in Python, it reads `fluents`, bits in uint64 words, and `joint`, the
    move of each role (index of `Network.moves`, -1 for none; int32 `[R]`), and writes the bits of
    the outputs to the words `out`, which may be the same array as `fluents`. Bit i is bit `i % 64`
    of word `i // 64`, where bit 0 is the lowest. In Python, compiled code walks through the gates
    of a program with more than `MAX_PYTHON_GATES`.

    Args:
        program: the gates.
        num_fluents: number of fluents, the first inputs.
        move_start: the first move of each role, and the number of moves, which are the inputs after
            the fluents; None if the program has no moves. Shape `[R + 1]`.
    """
    if isinstance(program, InterpretedProgram):
        return make_interpreted_evaluation(program)
    num_moves = 0 if move_start is None else int(move_start[-1])
    interpret, num_slots = make_interpreter(program, num_fluents, num_moves), program.num_slots
    interpret_fast = None
    if len(program.gates) > MAX_PYTHON_GATES:
        interpret_fast = CompiledInterpreter(program, num_fluents, num_moves)
    straight = is_straight(program)
    kind = "straight" if straight else f"events {event_sources()}"

    def evaluate(fluents: Any, joint: Any, out: Any) -> None:
        # Always true. The digest in the name of cached machine code covers the variables of this
        # function, but not its overloads: by `kind` it depends on the overload.
        if kind:
            run = interpret if interpret_fast is None else interpret_fast
            run(fluents, joint, out, np.zeros(num_slots, np.uint8))

    if straight:
        run_straight = _make_straight(program, num_fluents, move_start)

        @overload(evaluate)
        def compile_straight(fluents: Any, joint: Any, out: Any) -> Any:
            def evaluate_straight(fluents: Any, joint: Any, out: Any) -> None:
                run_straight(fluents, joint, out)

            return evaluate_straight

    else:
        num_roles = 1 if move_start is None else len(move_start) - 1
        find_update = cache(partial(make_update, program, num_fluents, num_moves, num_roles))

        @overload(evaluate)
        def compile_update(fluents: Any, joint: Any, out: Any) -> Any:
            run_update = find_update()

            def evaluate_events(fluents: Any, joint: Any, out: Any) -> None:
                run_update(fluents, joint, out)

            return evaluate_events

    return evaluate


def is_straight(program: Program) -> bool:
    """Return whether a program becomes straight-line machine code."""
    return len(program.gates) <= MAX_STRAIGHT_GATES and not program.has_loops


def _make_straight(program: Program, num_fluents: int, move_start: Any) -> Any:
    """Return `evaluate` (see `make_evaluation`) as an intrinsic of straight-line code."""

    @intrinsic
    def run_straight(context: Any, fluents: Any, joint: Any, out: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointers = [
                context.make_array(kind)(context, builder, value).data
                for kind, value in zip(signature.args, arguments, strict=True)
            ]
            _Emitter(builder, program, num_fluents, move_start, pointers).emit()
            return context.get_dummy_value()

        return types.void(fluents, joint, out), generate

    return run_straight


class _Emitter:
    """Generator of straight-line LLVM code for a program.

    Args:
        builder: the LLVM builder that the code is written to.
        program: the gates.
        num_fluents: number of fluents.
        move_start: see `make_evaluation`.
        pointers: LLVM pointers to the data of `fluents`, `joint` and `out`; see `make_evaluation`.
    """

    def __init__(
        self, builder: Any, program: Program, num_fluents: int, move_start: Any, pointers: list[Any]
    ):
        self._builder, self._program = builder, program
        self._num_fluents, self._move_start = num_fluents, move_start
        self._fluents, self._joint, self._out = pointers
        # LLVM values that have been emitted: words of fluents, moves of roles, values of slots.
        self._words: dict[int, Any] = {}
        self._moves: dict[int, Any] = {}
        self._values: dict[int, Any] = {0: ir.Constant(ir.IntType(1), 0)}

    def emit(self) -> None:
        """Write the code: all inputs are read before outputs are written."""
        builder = self._builder
        for slot, a, b, _ in self._program.gates.tolist():
            self._values[slot] = builder.and_(self._literal(a), self._literal(b))
        outputs: NDArray[np.int32] = self._program.outputs
        int64, words = ir.IntType(64), []
        for start in range(0, len(outputs), 64):
            word = ir.Constant(int64, 0)
            for k, literal in enumerate(outputs[start : start + 64].tolist()):
                bit = builder.zext(self._literal(literal), int64)
                word = builder.or_(word, builder.shl(bit, ir.Constant(int64, k)))
            words.append(word)
        for w, word in enumerate(words):
            builder.store(word, self._at(self._out, w))

    def _at(self, pointer: Any, index: int) -> Any:
        """Return the pointer to an element of an array."""
        return self._builder.gep(pointer, [ir.Constant(ir.IntType(64), index)])

    def _literal(self, literal: int) -> Any:
        """Return the value of a literal, one bit."""
        slot = literal >> 1
        value = self._values.get(slot)
        if value is None:
            value = self._values[slot] = self._input(slot - 1)
        return self._builder.not_(value) if literal & 1 else value

    def _input(self, index: int) -> Any:
        """Return the value of an input: a fluent, or whether a move is made."""
        builder, int64 = self._builder, ir.IntType(64)
        if index < self._num_fluents:
            word = self._words.get(index >> 6)
            if word is None:
                word = self._words[index >> 6] = builder.load(self._at(self._fluents, index >> 6))
            shifted = builder.lshr(word, ir.Constant(int64, index & 63))
            return builder.trunc(shifted, ir.IntType(1))
        move = index - self._num_fluents
        role = int(np.searchsorted(self._move_start, move, side="right")) - 1
        if role not in self._moves:
            self._moves[role] = builder.load(self._at(self._joint, role))
        return builder.icmp_signed("==", self._moves[role], ir.Constant(ir.IntType(32), move))
