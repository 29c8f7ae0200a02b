"""Event-driven evaluation of a program: only gates whose inputs differ from the last state.

Scratch memory keeps the values of all gates in the state that was evaluated last. From the inputs
that differ, changes spread through the levels of the gates: a gate whose value changes enters each
gate that uses it into the queue of that gate's level. Every gate is evaluated at most once, except
in loops. If many inputs differ, all gates are evaluated instead. Either way, the scratch memory is
a function of the state, so that any order of states gives the same results.

A loop has the least fixpoint of its feedback gates. If its inputs only change such that the
feedback increases, evaluation continues from the last fixpoint. Otherwise, all feedback gates
become false first. Feedback never decreases in between.
"""

import hashlib
from functools import cache
from typing import Any

import numpy as np

from ludoteca.envs.gdl.bits import ONE, ZERO, lowest, popcount
from ludoteca.envs.gdl.event_tables import NO_LOOP, EventTables, make_event_tables
from ludoteca.envs.gdl.network import Program
from ludoteca.envs.gdl.scratch import claim, make_slots, release
from ludoteca.envs.jit import kernel, source_digest

VALUE, QUEUED = 1, 2  # bits of `values`
# Fraction of the inputs in which states may differ without an evaluation of all gates.
MAX_CHANGED = 0.25


def scratch_dtype(tables: EventTables, num_fluents: int, num_roles: int) -> np.dtype[np.void]:
    """Return the dtype of the scratch memory of a thread; zeros are its initial value.

    Fields:
        claim: whether a thread uses it, and the thread that used it last; see `scratch`. They have
            a cache line of their own.
        is_valid: whether a state has been evaluated.
        fluents, joint: inputs of the last state.
        outputs: words of its outputs.
        false_inputs: number of false inputs of each gate.
        values: `VALUE` of each node, and whether a gate is `QUEUED`.
        queue: queues of all levels, see `EventTables.queue_starts`.
        queue_sizes: their numbers of gates, 0 between evaluations.
        is_lowered: for each loop, whether its feedback had to become false.
    """
    size = len(tables.levels)
    return np.dtype(
        [
            ("claim", np.int64, (8,)),
            ("fluents", np.uint64, (-(-num_fluents // 64) or 1,)),
            ("outputs", np.uint64, (len(tables.outputs) or 1,)),
            ("is_valid", np.int64),
            ("joint", np.int32, (num_roles,)),
            ("queue", np.int32, (int(tables.queue_starts[-1]),)),
            ("queue_sizes", np.int32, (len(tables.is_reset),)),
            ("false_inputs", np.int16, (size,)),
            ("values", np.uint8, (size,)),
            ("is_lowered", np.uint8, (len(tables.reset_levels) or 1,)),
        ],
        align=True,
    )


def make_update(program: Program, num_fluents: int, num_moves: int, num_roles: int) -> Any:
    """Return the kernel `run_update(fluents, joint, out)` of a program, only for compiled code.

    For the arguments see `ludoteca.envs.gdl.evaluate.make_evaluation`.
    """
    tables = make_event_tables(program, num_fluents + num_moves)
    content = hashlib.sha256(repr((num_fluents, num_moves, num_roles)).encode())
    for array in (program.gates, program.segments, program.outputs):
        content.update(array.tobytes())
    digest = int.from_bytes(content.digest()[:7], "little")  # 7 bytes: a positive int64
    slots, num_slots = make_slots(scratch_dtype(tables, num_fluents, num_roles), digest)

    @kernel
    def run_update(fluents: Any, joint: Any, out: Any) -> None:
        memory = slots()
        k = claim(memory, num_slots)
        update(tables, memory[k], num_fluents, fluents, joint, out)
        release(memory, k)

    return run_update


@cache
def event_sources() -> str:
    """Return the digest of the sources on which the machine code of `make_update` depends."""
    return " ".join(map(source_digest, (update, make_event_tables, claim)))


@kernel
def update(t: Any, s: Any, num_fluents: int, fluents: Any, joint: Any, out: Any) -> None:
    """Evaluate a program for the inputs `fluents` and `joint`; write the words of the outputs.

    `t` are the tables, `s` is the scratch memory, a record of `scratch_dtype`. For the other
    arguments see `ludoteca.envs.gdl.evaluate.make_evaluation`.
    """
    num_changed = 0
    for w in range((num_fluents + 63) >> 6):
        num_changed += popcount(fluents[w] ^ s.fluents[w])
    if s.is_valid == 0 or num_changed > MAX_CHANGED * t.num_inputs:
        evaluate_all(t, s, num_fluents, fluents, joint)
    else:
        enter_changes(t, s, num_fluents, fluents, joint)
    propagate(t, s)
    for w in range(len(out)):
        out[w] = s.outputs[w]


@kernel
def enter_changes(t: Any, s: Any, num_fluents: int, fluents: Any, joint: Any) -> None:
    """Enter the inputs that differ from those of the last state into the queue of level 0."""
    n = 0
    for w in range((num_fluents + 63) >> 6):
        changed = fluents[w] ^ s.fluents[w]
        s.fluents[w] = fluents[w]
        while changed != ZERO:
            s.queue[n] = 1 + 64 * w + lowest(changed)
            n += 1
            changed &= changed - ONE
    if t.num_inputs > num_fluents:  # the program has moves
        for r in range(len(s.joint)):
            if joint[r] != s.joint[r]:
                for move in (s.joint[r], joint[r]):
                    if move >= 0:
                        s.queue[n] = 1 + num_fluents + move
                        n += 1
                s.joint[r] = joint[r]
    s.queue_sizes[0] = n


@kernel
def evaluate_all(t: Any, s: Any, num_fluents: int, fluents: Any, joint: Any) -> None:
    """Evaluate all nodes for these inputs, in order of their levels, with false feedback.

    Feedback gates that become true are queued.
    """
    num_nodes = len(t.levels)
    s.is_valid = 1
    for w in range(len(t.outputs)):
        s.outputs[w] = t.outputs[w]
    for v in range(num_nodes):
        s.values[v] = 0
        s.false_inputs[v] = t.false_inputs[v]
    for i in range(num_fluents):
        s.values[1 + i] = (fluents[i >> 6] >> np.uint64(i & 63)) & ONE
    for w in range((num_fluents + 63) >> 6):
        s.fluents[w] = fluents[w]
    if t.num_inputs > num_fluents:
        for r in range(len(s.joint)):
            s.joint[r] = joint[r]
            if joint[r] >= 0:
                s.values[1 + num_fluents + joint[r]] = VALUE
    for i in range(len(t.feedback)):
        s.values[t.feedback[i]] = QUEUED
    for v in range(num_nodes):
        if v > t.num_inputs and s.values[v] == 0 and s.false_inputs[v] == 0:
            s.values[v] = VALUE
        if s.values[v] == VALUE:
            for e in range(t.first_uses[v], t.first_uses[v + 1]):
                user, inverted = t.uses[e] >> 1, t.uses[e] & 1
                if user >= num_nodes:
                    flip_output(s, user - num_nodes)
                else:
                    s.false_inputs[user] += 2 * inverted - 1
    for i in range(len(t.feedback)):
        enter(t, s, t.feedback[i])


@kernel
def propagate(t: Any, s: Any) -> None:
    """Evaluate the queued gates by their levels, and those that use changed ones."""
    num_nodes, num_levels, has_loops = len(t.levels), len(t.is_reset), len(t.feedback) > 0
    level = 0
    while level < num_levels:
        start, next_level = t.queue_starts[level], level + 1
        flips = level == 0 or t.is_reset[level]
        while s.queue_sizes[level] > 0:
            s.queue_sizes[level] -= 1
            v = s.queue[start + s.queue_sizes[level]]
            if flips:
                s.values[v] ^= VALUE
                value = s.values[v] & VALUE
            else:
                value = int(s.false_inputs[v] == 0)
                old = s.values[v] & VALUE
                s.values[v] = value
                if value == old:
                    continue
            for e in range(t.first_uses[v], t.first_uses[v + 1]):
                user, inverted = t.uses[e] >> 1, t.uses[e] & 1
                if user >= num_nodes:
                    flip_output(s, user - num_nodes)
                    continue
                step = 1 - 2 * (value ^ inverted)  # 1 if the input becomes false
                before = s.false_inputs[user]
                s.false_inputs[user] = before + step
                if (before == 0 or before + step == 0) and s.values[user] & QUEUED == 0:
                    s.values[user] |= QUEUED
                    enter(t, s, user)
                    next_level = min(next_level, t.levels[user])
                if (
                    has_loops
                    and t.loops[user] != NO_LOOP
                    and t.loops[user] != t.loops[v]
                    and t.signs[user] * step >= 0
                ):
                    reset_feedback(t, s, t.loops[user])
        level = next_level
    for k in range(len(t.reset_levels)):
        s.is_lowered[k] = 0


@kernel
def enter(t: Any, s: Any, gate: int) -> None:
    """Enter a gate into the queue of its level."""
    level = t.levels[gate]
    s.queue[t.queue_starts[level] + s.queue_sizes[level]] = gate
    s.queue_sizes[level] += 1


@kernel
def reset_feedback(t: Any, s: Any, loop: int) -> None:
    """Queue the true feedback gates of a loop, at first to become false, then for evaluation."""
    if s.is_lowered[loop]:
        return
    s.is_lowered[loop] = 1
    level = t.reset_levels[loop]
    for i in range(t.first_feedback[loop], t.first_feedback[loop + 1]):
        gate = t.feedback[i]
        if s.values[gate] & VALUE:
            s.queue[t.queue_starts[level] + s.queue_sizes[level]] = gate
            s.queue_sizes[level] += 1
            if s.values[gate] & QUEUED == 0:
                s.values[gate] |= QUEUED
                enter(t, s, gate)


@kernel
def flip_output(s: Any, i: int) -> None:
    """Invert the bit of output `i`."""
    s.outputs[i >> 6] ^= ONE << np.uint64(i & 63)
