"""The event-driven evaluation of rule networks equals the evaluation of all gates."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from ludoteca.envs.gdl import event_evaluation, event_tables, scratch
from ludoteca.envs.gdl.compile import compile_sheet
from ludoteca.envs.gdl.evaluate import make_evaluation
from ludoteca.envs.gdl.event_evaluation import (
    count_changed,
    is_near,
    make_update,
    update,
)
from ludoteca.envs.gdl.event_scratch import scratch_words, view_scratch
from ludoteca.envs.gdl.event_tables import make_event_tables
from ludoteca.envs.gdl.full_evaluation import make_walk, walk_gates
from ludoteca.envs.gdl.network import Program
from ludoteca.envs.gdl.own_sheets import find_sheet
from ludoteca.envs.jit import compiled, factory

NUM_FLUENTS, MOVE_START = 70, np.array([0, 5, 12], np.int32)  # of random programs


def random_program(seed: int, num_gates: int, num_loops: int) -> Program:
    """Return a program of random gates and loops that increase with their feedback."""
    rng = np.random.default_rng(seed)
    next_slot = first = 1 + NUM_FLUENTS + int(MOVE_START[-1])
    gates: list[tuple[int, int, int, int]] = []
    segments: list[tuple[int, int, int]] = []
    for part in range(2 * num_loops + 1):
        begin = len(gates)
        outside = next_slot  # the number of slots written so far
        if part % 2 == 0:
            for _ in range(num_gates):
                low = 1 if rng.random() < 0.5 else max(1, next_slot - 40)
                a, b = (2 * int(rng.integers(low, next_slot)) + int(rng.integers(2)) for _ in "ab")
                gates.append((next_slot, a, b, 0))
                next_slot += 1
        else:
            feedback = list(range(next_slot, next_slot + 8))
            next_slot += len(feedback)
            rising = [2 * slot for slot in feedback]  # literals that increase with the feedback
            for _ in range(3 * num_gates):  # more than the nodes of a word
                a = int(rng.choice(rising))
                b = (
                    int(rng.choice(rising))
                    if rng.random() < 0.6
                    else int(rng.integers(2, 2 * outside))
                )
                is_or = int(rng.integers(2))
                gates.append((next_slot, a ^ is_or, b ^ is_or, 0))
                rising.append(2 * next_slot + is_or)
                next_slot += 1
            for slot in feedback:
                literal = int(rng.choice(rising[len(feedback) :]))
                gates.append((slot, literal, literal, 1))
        segments.append((begin, len(gates), part % 2))
    outputs = [2 * int(rng.integers(1, next_slot)) + int(rng.integers(2)) for _ in range(75)]
    outputs += range(2 * (next_slot - 5), 2 * next_slot)
    assert next_slot > first
    return Program(
        np.array(gates, np.int32),
        np.array(segments, np.int32),
        np.array(outputs, np.int32),
        next_slot,
    )


def random_inputs(seed: int, length: int, num_fluents: int, move_start: Any) -> tuple[Any, Any]:
    """Return fluents and joint moves that change little from one to the next, with jumps."""
    rng = np.random.default_rng(seed)
    bits = np.zeros((length, -(-num_fluents // 64) * 64), np.uint8)
    joint = np.full((length, len(move_start) - 1), -1, np.int32)
    for i in range(length):
        if i % 6 == 5:  # a jump: back to an earlier state, or to any state
            bits[i] = bits[rng.integers(i)]
            if i % 12 == 11:
                bits[i, :num_fluents] = rng.random(num_fluents) < rng.random()
        elif i:
            bits[i] = bits[i - 1]
            bits[i, rng.integers(num_fluents, size=rng.integers(4))] ^= 1
        if i % 5:
            joint[i] = rng.integers(move_start[:-1], move_start[1:])
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64), joint


def evaluate_fully(
    program: Program, num_fluents: int, num_moves: int, fluents: Any, joint: Any
) -> Any:
    """Return the outputs in each state, by the evaluation of all gates."""
    walk = walk_gates if len(program.gates) < 1000 else make_walk()
    out = np.zeros((len(fluents), -(-len(program.outputs) // 64)), np.uint64)
    values = np.zeros(program.num_slots, np.uint8)
    arrays = program.gates, program.segments, program.outputs
    for i in range(len(fluents)):
        walk(*arrays, num_fluents, num_moves, fluents[i], joint[i], out[i], values)
    return out


def evaluate_by_events(
    program: Program, num_fluents: int, num_moves: int, fluents: Any, joint: Any
) -> Any:
    """Return the outputs in each state, by the kernel in Python."""
    tables = make_event_tables(program, num_fluents + num_moves)
    words = scratch_words(tables, num_fluents, joint.shape[1], program.num_slots)
    memory = view_scratch(np.zeros(sum(words), np.int64), 0, words)
    out = np.zeros((len(fluents), len(tables.outputs)), np.uint64)
    with np.errstate(all="ignore"):  # as in compiled code
        for i in range(len(fluents)):
            num_changed = count_changed(fluents[i], memory.fluents)
            update(tables, memory, num_fluents, num_changed, fluents[i], joint[i], out[i])
    assert not memory.pending.any()
    return out


@pytest.mark.parametrize("num_loops", [0, 1, 2])
@pytest.mark.parametrize("max_changed", [0.0, 1.0])
@pytest.mark.parametrize("min_hub_uses", [4, 1000])
def test_events_equal_the_evaluation_of_all_gates(
    monkeypatch, num_loops, max_changed, min_hub_uses
):
    monkeypatch.setattr(event_evaluation, "MAX_CHANGED", max_changed)
    monkeypatch.setattr(event_tables, "MIN_HUB_USES", min_hub_uses)
    num_moves = int(MOVE_START[-1])
    for seed in range(2):
        program = random_program(seed, 40, num_loops)
        assert program.has_loops == (num_loops > 0)
        tables = make_event_tables(program, NUM_FLUENTS + num_moves)
        assert (len(tables.hub_gates) > 0) == (min_hub_uses == 4)
        inputs = random_inputs(seed, 24, NUM_FLUENTS, MOVE_START)
        expected = evaluate_fully(program, NUM_FLUENTS, num_moves, *inputs)
        assert len(np.unique(expected, axis=0)) > 10
        found = evaluate_by_events(program, NUM_FLUENTS, num_moves, *inputs)
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("sheet", ["tictactoe_large", "connect4", "kriegspiel_tictactoe"])
def test_events_equal_the_evaluation_of_all_gates_of_sheets(sheet):
    network = compile_sheet(find_sheet(sheet))
    num_fluents, num_moves = len(network.fluents), len(network.moves)
    fluents, joint = random_inputs(0, 40, num_fluents, network.move_start)
    for program, moves in (
        (network.phase1, 0),
        (network.phase2, num_moves),
        (network.phase3, num_moves),
    ):
        arguments = program, num_fluents, moves, fluents, joint
        assert np.array_equal(evaluate_by_events(*arguments), evaluate_fully(*arguments))


def test_bits_beyond_the_fluents_have_no_effect():
    program = random_program(0, 40, 0)
    fluents, joint = random_inputs(0, 20, NUM_FLUENTS, MOVE_START)
    expected = evaluate_fully(program, NUM_FLUENTS, int(MOVE_START[-1]), fluents, joint)
    fluents[::3, -1] |= ~np.uint64(0) << np.uint64(NUM_FLUENTS % 64)
    found = evaluate_by_events(program, NUM_FLUENTS, int(MOVE_START[-1]), fluents, joint)
    assert np.array_equal(found, expected)


def test_states_far_from_the_last_two_are_evaluated_fully():
    program, num_inputs = random_program(0, 40, 0), NUM_FLUENTS + int(MOVE_START[-1])
    words = scratch_words(make_event_tables(program, num_inputs), NUM_FLUENTS, 2, program.num_slots)
    memory = view_scratch(np.zeros(sum(words), np.int64), 0, words)
    near, far, next_far = (np.array([word, 0], np.uint64) for word in (1, 2**20 - 1, 2**21 - 1))

    def is_event(state: Any) -> bool:
        with np.errstate(all="ignore"):
            return is_near(memory, 100, count_changed(state, memory.fluents), state)

    assert is_event(far)  # nothing is known about the work yet
    memory.totals[:] = 1, 10  # of a changed fluent: 10, so that 10 changes take a work of 100
    states = near, far, next_far, near, far, near
    assert [is_event(state) for state in states] == [True, False, True, True, False, True]


def make_compiled_evaluation(evaluate: Any) -> Any:
    """Return a compiled function that evaluates states in an order, some of them repeatedly."""

    @factory()
    def make() -> Any:
        @compiled
        def evaluate_states(fluents: Any, joint: Any, order: Any, out: Any) -> None:
            for k in range(len(order)):
                evaluate(fluents[order[k]], joint[order[k]], out[k])

        return evaluate_states

    return make()


@pytest.mark.slow
@pytest.mark.parametrize("sheet", ["hex", "atari_go", "othello", "tron", "free_for_all"])
def test_compiled_events_equal_the_evaluation_of_all_gates_of_large_sheets(sheet):
    network = compile_sheet(find_sheet(sheet))
    num_fluents, num_moves = len(network.fluents), len(network.moves)
    fluents, joint = random_inputs(0, 200, num_fluents, network.move_start)
    for program, moves in ((network.phase1, 0), (network.phase2, num_moves)):
        expected = evaluate_fully(program, num_fluents, moves, fluents, joint)
        move_start = network.move_start if moves else None
        run = make_compiled_evaluation(make_evaluation(program, num_fluents, move_start))
        found = np.zeros_like(expected)
        run(fluents, joint, np.arange(len(fluents)), found)
        assert np.array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize("num_slots", [1, 2, 64])
def test_threads_evaluate_the_same_program(monkeypatch, num_slots):
    # With fewer slots of scratch memory than threads, threads wait, and take over slots.
    monkeypatch.setattr(scratch, "MIN_SLOTS", num_slots)
    monkeypatch.setattr(scratch, "MAX_SLOTS", num_slots)
    program, num_moves, roles = random_program(7, 300, 1), int(MOVE_START[-1]), len(MOVE_START) - 1
    fluents, joint = random_inputs(7, 100, NUM_FLUENTS, MOVE_START)
    expected = evaluate_fully(program, NUM_FLUENTS, num_moves, fluents, joint)
    run = make_compiled_evaluation(make_update(program, NUM_FLUENTS, num_moves, roles))

    def play(seed: int) -> bool:
        order = np.random.default_rng(seed).integers(len(fluents), size=5000)
        found = np.zeros((len(order), expected.shape[1]), np.uint64)
        run(fluents, joint, order, found)
        return np.array_equal(found, expected[order])

    assert play(0)  # compiles
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(play, range(1, 9)))
