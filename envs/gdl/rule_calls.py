"""Calls of the interpreter from compiled code: evaluation of the rules of one state.

Compiled code calls one C function with the digest of a sheet's vocabulary, which finds the
interpreter of the sheet in this process. So compiled code can be cached on disk, and search,
playouts and vector environments run interpreted sheets, too; each call holds Python's lock.
"""

import ctypes
import hashlib
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from ludoteca.envs.gdl.errors import GDLError, GDLWarning
from ludoteca.envs.gdl.interpreter import Interpreter, State
from ludoteca.envs.gdl.network import Program
from ludoteca.envs.gdl.parse import Term

SYMBOL = "ludoteca_gdl_evaluate_rules"  # name of the C function, `_called`
Words = NDArray[np.uint64]
Evaluate = Callable[[Any, Any, Any], None]


@dataclass(frozen=True, eq=False)
class InterpretedProgram(Program):
    """Phase of a network without gates, which an interpreter evaluates.

    Attributes:
        evaluate: `evaluate(fluents, joint, out)`, see `ludoteca.envs.gdl.evaluate.make_evaluation`.
        digest: name of the phase in compiled code, the same in each process.
        num_words: lengths of `fluents`, `joint` and `out`.
    """

    evaluate: Evaluate
    digest: int
    num_words: tuple[int, int, int]


class _Programs(dict[int, InterpretedProgram]):
    """Programs of this process by digest; their `repr`, a part of code digests, never changes."""

    def __repr__(self) -> str:
        return "interpreted programs"


_programs = _Programs()


class RuleEvaluation:
    """Evaluation of the phases of an interpreted sheet on bits of fluents; see `network`.

    An error of a rule, such as a limit that is exceeded, leaves a state without legal moves, which
    ends the game, with a `GDLWarning`: kernels cannot raise.

    Args:
        interpreter: the interpreter.
        fluents: the fluents, F terms.
        moves: the moves of each role.
        goal_roles: role of each goal. Shape `[G]`.
        goal_values: value of each goal. Shape `[G]`.
        percepts: the percepts of each role.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        fluents: list[Term],
        moves: list[list[Term]],
        goal_roles: NDArray[np.int32],
        goal_values: NDArray[np.int32],
        percepts: list[list[Term]],
    ):
        self._interpreter, self._fluents = interpreter, fluents
        self._moves = [move for role_moves in moves for move in role_moves]
        self._number_of_fluent = {term: i for i, term in enumerate(fluents)}
        self._number_of_move, self._number_of_percept = _numbers(moves), _numbers(percepts)
        pairs = zip(goal_roles.tolist(), goal_values.tolist(), strict=True)
        self._number_of_goal = {pair: len(self._moves) + i for i, pair in enumerate(pairs)}
        self.num_outputs = len(self._moves) + len(goal_roles) + 1
        self.num_percepts = sum(map(len, percepts))
        self._lock = threading.Lock()

    def programs(self, digest: str) -> tuple[InterpretedProgram, ...]:
        """Return the three phases; `digest` identifies the sheet and its vocabulary."""
        phases = (
            (self.phase1, self.num_outputs),
            (self.phase2, len(self._fluents)),
            (self.phase3, self.num_percepts),
        )
        return tuple(
            self._program(digest, phase, evaluate, outputs)
            for phase, (evaluate, outputs) in enumerate(phases, 1)
        )

    def phase1(self, fluents: Any, joint: Any, out: Any) -> None:
        """Write the bits of a state to `out`: legal moves, or the end and goals."""
        numbers: list[int] = []
        try:
            with self._lock:
                state = self._state(fluents)
                is_terminal = self._interpreter.is_terminal(state)
                goals = self._interpreter.goals(state) if is_terminal else []
                legal = [] if is_terminal else self._interpreter.legal(state)
            # Not strict: `legal` is empty at the end.
            for known, terms in zip(self._number_of_move, legal, strict=False):
                numbers += [known[term] for term in terms]
            for role, values in enumerate(goals):
                numbers += [self._number_of_goal[role, value] for value in values]
            if is_terminal:
                numbers.append(self.num_outputs - 1)
        except (GDLError, KeyError) as error:
            numbers = []
            _warn(error)
        _write_bits(numbers, out)

    def phase2(self, fluents: Any, joint: Any, out: Any) -> None:
        """Write the bits of the next fluents to `out`."""
        numbers: list[int] = []
        try:
            moves = self._joint_move(joint)
            with self._lock:
                state = self._interpreter.next(self._state(fluents), moves)
            numbers = [self._number_of_fluent[term] for term in state]
        except (GDLError, KeyError) as error:
            _warn(error)
        _write_bits(numbers, out)

    def phase3(self, fluents: Any, joint: Any, out: Any) -> None:
        """Write the bits of the percepts after a joint move to `out`."""
        numbers: list[int] = []
        try:
            moves = self._joint_move(joint)
            with self._lock:
                percepts = self._interpreter.percepts(self._state(fluents), moves)
            for known, terms in zip(self._number_of_percept, percepts, strict=True):
                # Percepts of the role `random` have no number.
                numbers += [known[term] for term in terms] if known else []
        except (GDLError, KeyError) as error:
            _warn(error)
        _write_bits(numbers, out)

    def _joint_move(self, joint: Any) -> list[Term]:
        """Return the moves of all roles as terms, or raise a `GDLError` if one has none."""
        if min(joint) < 0:
            raise GDLError("a role has no move")
        return [self._moves[int(move)] for move in joint]

    def _state(self, words: Any) -> State:
        bits = np.unpackbits(np.array(words, "<u8").view(np.uint8), bitorder="little")
        return frozenset(self._fluents[i] for i in np.flatnonzero(bits).tolist())

    def _program(
        self, digest: str, phase: int, evaluate: Evaluate, outputs: int
    ) -> InterpretedProgram:
        """Return phase 1, 2 or 3, with its number of outputs; for `digest` see `programs`."""
        hashed = hashlib.sha256(f"{digest} {phase}".encode()).digest()
        num_words = _words(len(self._fluents)), len(self._number_of_move), _words(outputs)
        return InterpretedProgram(
            gates=np.zeros((0, 4), np.int32),
            segments=np.zeros((0, 3), np.int32),
            outputs=np.zeros(outputs, np.int32),
            num_slots=0,
            evaluate=evaluate,
            digest=_number(hashed),
            num_words=num_words,
        )


def with_legal_order(program: InterpretedProgram, order: NDArray[np.int64]) -> InterpretedProgram:
    """Return phase 1 with the legal moves in another order: move i is the old `order[i]`."""
    size = len(order)

    def evaluate(fluents: Any, joint: Any, out: Any) -> None:
        program.evaluate(fluents, joint, out)
        bits = np.unpackbits(np.array(out, "<u8").view(np.uint8), bitorder="little")
        bits[:size] = bits[:size][order]
        _write_bits(np.flatnonzero(bits).tolist(), out)

    return _renamed(program, evaluate, order)


def with_move_order(program: InterpretedProgram, order: NDArray[np.int64]) -> InterpretedProgram:
    """Return phase 2 or 3 for moves in another order: move i is the old `order[i]`."""

    def evaluate(fluents: Any, joint: Any, out: Any) -> None:
        moves = np.array(joint)
        program.evaluate(fluents, np.where(moves < 0, moves, order[moves]), out)

    return _renamed(program, evaluate, order)


def _renamed(
    program: InterpretedProgram, evaluate: Evaluate, order: NDArray[np.int64]
) -> InterpretedProgram:
    """Return a program with another evaluation, and a digest that depends on the order too."""
    hashed = hashlib.sha256(f"{program.digest} {order.tolist()}".encode()).digest()
    return replace(program, evaluate=evaluate, digest=_number(hashed))


def _number(digest: bytes) -> int:
    return int.from_bytes(digest[:7], "little")  # 7 bytes: a positive int64


def make_interpreted_evaluation(program: InterpretedProgram) -> Evaluate:
    """Return `evaluate(fluents, joint, out)` of a phase.

    It is that of `ludoteca.envs.gdl.evaluate.make_evaluation`, interpreted.
    """
    digest = program.digest
    _programs[digest] = program

    def evaluate(fluents: Any, joint: Any, out: Any) -> None:
        if digest:  # always true: makes `digest` a part of the digest of compiled code
            _interpret(digest, fluents, joint, out)

    @intrinsic
    def call(context: Any, fluents: Any, joint: Any, out: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            int64, pointer = ir.IntType(64), ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.VoidType(), [int64, pointer, pointer, pointer])
            function = cgutils.get_or_insert_function(builder.module, kind, SYMBOL)
            data = [
                context.make_array(array)(context, builder, value).data
                for array, value in zip(signature.args, arguments, strict=True)
            ]
            pointers = [builder.bitcast(each, pointer) for each in data]
            builder.call(function, [ir.Constant(int64, digest), *pointers])
            return context.get_dummy_value()

        return types.void(fluents, joint, out), generate

    emitted: Any = call

    @overload(evaluate)
    def compile_call(fluents: Any, joint: Any, out: Any) -> Any:
        def evaluate_by_call(fluents: Any, joint: Any, out: Any) -> None:
            emitted(fluents, joint, out)

        return evaluate_by_call

    return evaluate


def _interpret(digest: int, fluents: Any, joint: Any, out: Any) -> None:
    """Evaluate the phase with this digest, for Python."""
    _programs[digest].evaluate(fluents, joint, out)


def _called(digest: int, fluents: int, joint: int, out: int) -> None:
    """Evaluate the phase with this digest, for compiled code, which passes addresses of arrays."""
    program = _programs[digest]
    num_fluents, num_roles, num_outputs = program.num_words
    program.evaluate(
        np.ctypeslib.as_array((ctypes.c_uint64 * num_fluents).from_address(fluents)),
        np.ctypeslib.as_array((ctypes.c_int32 * num_roles).from_address(joint)),
        np.ctypeslib.as_array((ctypes.c_uint64 * num_outputs).from_address(out)),
    )


_pointers = (ctypes.c_void_p,) * 3
_function = ctypes.CFUNCTYPE(None, ctypes.c_uint64, *_pointers)(_called)  # kept for its address
llvmlite.binding.add_symbol(SYMBOL, ctypes.cast(_function, ctypes.c_void_p).value)


def _words(bits: int) -> int:
    return (bits + 63) // 64


def _numbers(terms: list[list[Term]]) -> list[dict[Term, int]]:
    """Return the number of each role's terms; they are numbered role after role."""
    numbers, start = [], 0
    for role_terms in terms:
        numbers.append({term: start + i for i, term in enumerate(role_terms)})
        start += len(role_terms)
    return numbers


def _write_bits(numbers: list[int], out: Any) -> None:
    bits = np.zeros(64 * len(out), np.uint8)
    bits[numbers] = 1
    out[:] = np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


def _warn(error: Exception) -> None:
    what = error if isinstance(error, GDLError) else f"{error} is not in the vocabulary"
    warnings.warn(f"the game ends: {what}", GDLWarning, stacklevel=2)
