"""Three-valued evaluation of a network: facts that hold in every state, without search.

Each value is a pair of bits: whether it may be true, and whether it must be true. The pair (1, 0)
is unknown. A result that is not unknown holds for all values of the unknown inputs. 64 cases
(assignments of inputs) are evaluated at once, one per bit of a word.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.gdl.network import Network, Program
from ludoteca.envs.interpreted import interpreting
from ludoteca.envs.jit import compiled, factory

CASES = 64  # cases per evaluation
# Programs with at most as many gates are interpreted: in milliseconds, while compilation takes
# seconds.
FEW_GATES = 200
ZERO, ALL = np.uint64(0), ~np.uint64(0)
Bits = NDArray[np.bool_]


def evaluate_phase1(network: Network, may: Bits, must: Bits) -> tuple[Bits, Bits]:
    """Return which outputs of phase 1 may and must be true.

    Args:
        network: the network.
        may: which fluents may be true. Shape `[cases, F]`.
        must: which fluents must be true. Shape `[cases, F]`.

    Returns:
        Two arrays of shape `[cases, M + G + 1]`.
    """
    return _evaluate(network.phase1, may, must)


def evaluate_phase2(
    network: Network, may: Bits, must: Bits, moves_may: Bits, moves_must: Bits
) -> tuple[Bits, Bits]:
    """Return which next fluents may and must be true.

    Args:
        network: the network.
        may: which fluents may be true. Shape `[cases, F]`.
        must: which fluents must be true. Shape `[cases, F]`.
        moves_may: which moves may be made. Shape `[cases, M]`.
        moves_must: which moves must be made. Shape `[cases, M]`.

    Returns:
        Two arrays of shape `[cases, F]`.
    """
    return _evaluate(network.phase2, np.hstack([may, moves_may]), np.hstack([must, moves_must]))


def _evaluate(program: Program, may: Bits, must: Bits) -> tuple[Bits, Bits]:
    """Return which outputs may and must be true, given the inputs, in any number of cases."""
    parts = [
        _evaluate_cases(program, may[i : i + CASES], must[i : i + CASES])
        for i in range(0, len(may), CASES)
    ]
    return np.vstack([part[0] for part in parts]), np.vstack([part[1] for part in parts])


def _evaluate_cases(program: Program, may: Bits, must: Bits) -> tuple[Bits, Bits]:
    """Return which outputs may and must be true, in at most `CASES` cases."""
    values = np.zeros((program.num_slots, 2), np.uint64)
    values[1 : 1 + may.shape[1], 0] = _pack(may)
    values[1 : 1 + may.shape[1], 1] = _pack(must)
    outputs = np.zeros((len(program.outputs), 2), np.uint64)
    with interpreting(len(program.gates) <= FEW_GATES):
        ternary = make_ternary()
    ternary(values, program.gates, program.segments, program.outputs, outputs)
    return _unpack(outputs[:, 0], len(may)), _unpack(outputs[:, 1], len(may))


def _pack(cases: Bits) -> NDArray[np.uint64]:
    """Return one word per column, with bit i from row i."""
    rows = np.zeros((cases.shape[1], CASES), np.uint8)
    rows[:, : len(cases)] = cases.T
    return np.packbits(rows, axis=1, bitorder="little").view("<u8").astype(np.uint64).reshape(-1)


def _unpack(words: NDArray[np.uint64], cases: int) -> Bits:
    """Return one column per word, with row i from bit i; inverse of `_pack`."""
    rows = np.unpackbits(words.astype("<u8").view(np.uint8).reshape(-1, 8), 1, bitorder="little")
    return rows[:, :cases].T.astype(np.bool_)


@factory("proofs about rules")
def make_ternary() -> Any:
    """Return `ternary(values, gates, segments, outputs, results)`.

    `values` [num_slots, 2] holds the inputs, words of may and must; `results` [O, 2] is written.
    The other arrays are those of a `Program`.
    """

    @compiled
    def ternary(values: Any, gates: Any, segments: Any, outputs: Any, results: Any) -> None:
        for k in range(len(segments)):
            begin, end, loop = segments[k, 0], segments[k, 1], segments[k, 2]
            if loop:
                for i in range(begin, end):
                    if gates[i, 3]:
                        values[gates[i, 0], 0] = ZERO
                        values[gates[i, 0], 1] = ZERO
            changed = True
            while changed:
                changed = False
                for i in range(begin, end):
                    o, a, b = gates[i, 0], gates[i, 1], gates[i, 2]
                    for bound in range(2):  # 0: may be true, 1: must be true
                        # The complement of "may be true" is "must be false".
                        x = ~values[a >> 1, 1 - bound] if a & 1 else values[a >> 1, bound]
                        y = ~values[b >> 1, 1 - bound] if b & 1 else values[b >> 1, bound]
                        if bound == 0:
                            may = x & y
                        else:
                            must = x & y
                    if loop and gates[i, 3]:
                        changed |= values[o, 0] != may or values[o, 1] != must
                    values[o, 0] = may
                    values[o, 1] = must
        for k in range(len(outputs)):
            a = outputs[k]
            for bound in range(2):
                negated = ~values[a >> 1, 1 - bound]
                results[k, bound] = negated if a & 1 else values[a >> 1, bound]

    return ternary
