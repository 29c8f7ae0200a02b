"""Event-driven evaluation of a program: only gates whose inputs differ from the last state.

Scratch memory keeps the values of all gates in the state that was evaluated last. Changes spread
from the inputs that differ: a gate that gets its first false input, or loses its last one, is
pending, and pending gates are evaluated in order of their numbers, each at most once, except in
loops. If many inputs differ, all gates are evaluated instead. Either way, the scratch memory is a
function of the state, so that any order of states gives the same results.

A vector environment evaluates states of different games in turn. If that takes longer than the full
evaluation, and the state is not near the one before either, it is evaluated by `full_evaluation`,
and the scratch memory stays as it is.

A loop has the least fixpoint of its feedback gates. If its inputs only change such that the
feedback increases, evaluation continues from the last fixpoint. Otherwise, all feedback gates
become false first. Feedback never decreases in between.
"""

from functools import cache
from typing import Any

import numpy as np

from ludoteca.envs.bits import ONE, ZERO, lowest, popcount, test_bit
from ludoteca.envs.gdl.event_scratch import scratch_words, view_scratch
from ludoteca.envs.gdl.event_tables import NO_HUB, NO_LOOP, make_event_tables
from ludoteca.envs.gdl.full_evaluation import gate_arrays, walk_gates
from ludoteca.envs.gdl.network import Program
from ludoteca.envs.gdl.scratch import HEADER, claim, make_slots, name_slots, release
from ludoteca.envs.jit import kernel, source_digest

# Programs with at most this number of gates and no loops are evaluated fully: events are no faster.
MAX_FULL_GATES = 1800
# Fraction of the fluents in which states may differ without an evaluation of all gates. Where 30 to
# 40 % differ, changes take 0.5 to 1.3 times as long as all gates (Othello, Hex, Reversi).
MAX_CHANGED = 0.5
# Work of a pending gate, in addition to its uses; work of a gate in the full evaluation, and in a
# loop, which is repeated. The unit is a use, about 3 to 4 ns (AMD EPYC, November 2026).
GATE_WORK, FULL_GATE_WORK, FULL_LOOP_WORK = 4, 0.4, 3
MAX_TOTAL = 1 << 20  # of changed fluents in the statistics; then both totals are halved


def make_update(program: Program, num_fluents: int, num_moves: int, num_roles: int) -> Any:
    """Return the kernel `run_update(fluents, joint, out)` of a program, only for compiled code.

    For the arguments see `ludoteca.envs.gdl.evaluate.make_evaluation`.
    """
    tables = make_event_tables(program, num_fluents + num_moves)
    digest = name_slots(repr((num_fluents, num_moves, num_roles)), program)
    words = scratch_words(tables, num_fluents, num_roles, program.num_slots)
    gates, segments, outputs = gate_arrays(program)
    is_repeated = np.repeat(segments[:, 2], segments[:, 1] - segments[:, 0]).sum()
    work = int(FULL_GATE_WORK * len(gates) + (FULL_LOOP_WORK - FULL_GATE_WORK) * is_repeated)
    by_events = program.has_loops or len(program.gates) > MAX_FULL_GATES
    slots, num_slots, slot_words = make_slots(sum(words), digest)

    @kernel
    def run_update(fluents: Any, joint: Any, out: Any) -> None:
        memory = slots()
        k = claim(memory, num_slots, slot_words)
        scratch = view_scratch(memory, k * slot_words + HEADER, words)
        num_changed = count_changed(fluents, scratch.fluents)
        if by_events and is_near(scratch, work, num_changed, fluents):
            update(tables, scratch, num_fluents, num_changed, fluents, joint, out)
        else:
            walk_gates(
                gates,
                segments,
                outputs,
                num_fluents,
                num_moves,
                fluents,
                joint,
                out,
                scratch.slots,
            )
        release(memory, k, slot_words)

    return run_update


@cache
def event_sources() -> str:
    """Return the digest of the sources on which the machine code of `make_update` depends."""
    functions = update, walk_gates, view_scratch, make_event_tables, claim
    return " ".join(source_digest(function) for function in functions)


@kernel
def count_changed(fluents: Any, others: Any) -> int:
    """Return the number of bits in which the words of two states differ."""
    n = 0
    for w in range(len(others)):
        if fluents[w] != others[w]:
            n += popcount(fluents[w] ^ others[w])
    return n


@kernel
def is_near(s: Any, full_work: int, num_changed: int, fluents: Any) -> bool:
    """Return whether a state should be evaluated by events; otherwise note it as the recent state.

    That is so if it is near the last state that was evaluated by events: by the work of a changed
    fluent so far, its changes take less work than `full_work`, that of the full evaluation. It is
    also so if the state is near the recent one, just evaluated fully: the next ones probably are.
    """
    limit = full_work * s.totals[0]
    near = num_changed * s.totals[1] <= limit
    if not near and s.has_recent[0]:
        near = count_changed(fluents, s.recent) * s.totals[1] <= limit
    s.has_recent[0] = int(not near)
    if not near:
        for w in range(len(s.recent)):
            s.recent[w] = fluents[w]
    return bool(near)


@kernel
def update(
    t: Any, s: Any, num_fluents: int, num_changed: int, fluents: Any, joint: Any, out: Any
) -> None:
    """Evaluate a program for the inputs `fluents` and `joint`; write the words of the outputs.

    `t` are the tables, `s` is the scratch memory, and `num_changed` the number of fluents that
    differ from `s.fluents`. For the other arguments see
    `ludoteca.envs.gdl.evaluate.make_evaluation`.
    """
    if s.is_valid[0] == 0 or num_changed > MAX_CHANGED * num_fluents:
        evaluate_all(t, s, num_fluents, fluents, joint)
        propagate(t, s)
    else:
        enter_changes(t, s, num_fluents, fluents, joint)
        s.totals[0] += max(num_changed, 1)
        s.totals[1] += propagate(t, s)
        if s.totals[0] > MAX_TOTAL:
            s.totals[0] >>= 1
            s.totals[1] >>= 1
    for w in range(len(s.outputs)):
        out[w] = s.outputs[w]


@kernel
def enter_changes(t: Any, s: Any, num_fluents: int, fluents: Any, joint: Any) -> None:
    """Make the inputs pending that differ from those of the last state."""
    for w in range(len(s.fluents)):
        changed = fluents[w] ^ s.fluents[w]
        if w == num_fluents >> 6:  # other bits of the last word are no fluents
            changed &= (ONE << np.uint64(num_fluents & 63)) - ONE
        s.pending[w] = changed
        s.fluents[w] ^= changed
    if t.num_inputs > num_fluents:  # the program has moves
        for r in range(len(s.joint)):
            if joint[r] != s.joint[r]:
                for move in (s.joint[r], np.int64(joint[r])):
                    if move >= 0:
                        make_pending(s, num_fluents + move)
                s.joint[r] = joint[r]


@kernel
def evaluate_all(t: Any, s: Any, num_fluents: int, fluents: Any, joint: Any) -> None:
    """Evaluate all nodes for these inputs, with false feedback; feedback gates are pending."""
    num_nodes, has_loops, has_hubs = len(t.false_inputs), len(t.feedback) > 0, len(t.hub_bits) > 0
    s.is_valid[0] = 1
    for w in range(len(t.outputs)):
        s.outputs[w] = t.outputs[w]
    for v in range(num_nodes):
        s.values[v] = 0
        s.false_inputs[v] = t.false_inputs[v]
    for w in range(len(s.fluents)):
        s.fluents[w] = fluents[w]
    for v in range(num_fluents):
        s.values[v] = int(test_bit(fluents, v))
    if t.num_inputs > num_fluents:
        for r in range(len(s.joint)):
            s.joint[r] = joint[r]
            if joint[r] >= 0:
                s.values[num_fluents + joint[r]] = 1
    for i in range(len(t.feedback)):
        make_pending(s, t.feedback[i])
    for v in range(num_nodes):
        if s.false_inputs[v] == 0 and not (has_loops and test_bit(s.pending, v)):
            s.values[v] = 1
        if has_hubs and t.hub_literals[v] != NO_HUB:
            s.values[v] = note_candidate(t, s, v, s.values[v])
        if s.values[v]:
            for e in range(t.first_uses[v], t.first_uses[v + 1]):
                user, inverted = t.uses[e] >> 1, t.uses[e] & 1
                if user < num_nodes:
                    s.false_inputs[user] += 2 * inverted - 1
                elif user < num_nodes + t.num_outputs:
                    flip_output(s, user - num_nodes)


@kernel
def propagate(t: Any, s: Any) -> int:
    """Evaluate pending gates, and those that change because of them, until none is pending.

    Returns:
        The work: number of uses of changed gates, and `GATE_WORK` for each pending one.
    """
    work = 0
    num_nodes, has_loops, has_hubs = len(t.false_inputs), len(t.feedback) > 0, len(t.hub_bits) > 0
    for k in range(len(t.segments)):
        begin, end = t.segments[k, 0], t.segments[k, 1]
        next_reset, last_reset = 0, 0
        if s.is_lowered[k]:
            next_reset, last_reset = t.first_feedback[k], t.first_feedback[k + 1]
            s.is_lowered[k] = 0
        w, again = begin, False
        while True:
            if next_reset < last_reset:  # feedback becomes false before the gates are evaluated
                v = t.feedback[next_reset]
                next_reset += 1
                if s.values[v] == 0:
                    continue
                value = 0
                make_pending(s, v)
            else:
                while w < end and s.pending[w] == ZERO:
                    w += 1
                if w == end:
                    if not again:
                        break
                    w, again = begin, False
                    continue
                word = s.pending[w]
                s.pending[w] = word & (word - ONE)
                v = 64 * w + lowest(word)
                work += GATE_WORK
                value = int(s.false_inputs[v] == 0)
                if v < t.num_inputs:
                    value = 1 - s.values[v]
                elif has_hubs and t.hub_literals[v] != NO_HUB:
                    value = note_candidate(t, s, v, value)
                if value == s.values[v]:
                    continue
            s.values[v] = value
            work += t.first_uses[v + 1] - t.first_uses[v]
            for e in range(t.first_uses[v], t.first_uses[v + 1]):
                user, inverted = t.uses[e] >> 1, t.uses[e] & 1
                if user >= num_nodes:
                    if user < num_nodes + t.num_outputs:
                        flip_output(s, user - num_nodes)
                    else:
                        wake_candidates(t, s, user - num_nodes - t.num_outputs)
                    continue
                step = 1 - 2 * (value ^ inverted)  # 1 if the input becomes false
                count = s.false_inputs[user] + step
                s.false_inputs[user] = count
                if count == 0 or count == step:
                    make_pending(s, user)
                    again = again or user <= v
                if (
                    has_loops
                    and t.loops[user] != NO_LOOP
                    and t.loops[user] != t.loops[v]
                    and t.signs[user] * step >= 0
                ):
                    s.is_lowered[t.loops[user]] = 1
    return work


@kernel
def note_candidate(t: Any, s: Any, gate: int, is_candidate: int) -> int:
    """Note whether a gate with a hub is a candidate, and return its value."""
    bit, hub = t.hub_bits[gate], t.hub_literals[gate]
    mask = ONE << np.uint64(bit & 63)
    s.candidates[bit >> 6] &= ~mask
    if is_candidate:
        s.candidates[bit >> 6] |= mask
    return int(is_candidate & (s.values[hub >> 1] ^ (hub & 1)))


@kernel
def wake_candidates(t: Any, s: Any, hub: int) -> None:
    """Make the candidates of a hub pending."""
    for w in range(t.hub_words[hub], t.hub_words[hub + 1]):
        word = s.candidates[w]
        while word != ZERO:
            make_pending(s, t.hub_gates[64 * w + lowest(word)])
            word &= word - ONE


@kernel
def make_pending(s: Any, v: Any) -> None:
    """Make a node pending."""
    s.pending[v >> 6] |= ONE << np.uint64(v & 63)


@kernel
def flip_output(s: Any, i: int) -> None:
    """Invert the bit of output `i`."""
    s.outputs[i >> 6] ^= ONE << np.uint64(i & 63)
