"""Bit-sliced steps of many states of a game, which are evaluated at once; see `batch`.

Records of states hold the fluents as bits. For a step of many games they are transposed in blocks
of 64 x 64 bits into slots with one bit per game. The gates of phases 2 and 1 are evaluated for
all games, and the next fluents and the outputs are transposed back into the records.
"""

import inspect
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numba.extending import overload

from ludoteca.envs.bits import ONE, ZERO, transpose, transpose_word
from ludoteca.envs.game import MIN_TOGETHER
from ludoteca.envs.gdl.batch import GAMES, WORDS, run, run_word, word_of
from ludoteca.envs.gdl.network import Network
from ludoteca.envs.gdl.scratch import HEADER, claim, make_slots, name_slots, release
from ludoteca.envs.jit import kernel, source_digest

WORK_WORDS = GAMES + 64 * WORDS  # of the indices of the games, and of a block that is transposed


def make_play_many(
    network: Network, evaluate_phase1: Callable[..., Any], evaluate_phase2: Callable[..., Any]
) -> Callable[..., Any]:
    """Return `play_many(states, flags, lo, hi)`.

    In each of the games lo to hi - 1 whose flag is true or 1, it replaces the fluents of the state
    by those after the joint move `joint`, and the outputs by those of phase 1. All states are
    records of `state_record.state_dtype`.

    Args:
        network: the network, without chance and percepts.
        evaluate_phase1: the evaluation of phase 1 for one state, see `evaluate.make_evaluation`.
        evaluate_phase2: that of phase 2.
    """
    kind = f"together {_sources()}"

    @kernel
    def play_one(s: Any) -> None:
        evaluate_phase2(s.fluents, s.joint, s.fluents)
        evaluate_phase1(s.fluents, s.joint, s.outputs)

    def play_many(states: Any, flags: Any, lo: int, hi: int) -> None:
        # Always true; for the digest of cached machine code, see `evaluate.make_evaluation`.
        if kind:
            for i in range(lo, hi):
                if flags[i]:
                    play_one(states[i])

    find_play = cache(partial(_make_play_together, network, play_one))

    @overload(play_many)
    def compile_play(states: Any, flags: Any, lo: int, hi: int) -> Any:
        play_together = find_play()

        def play_all(states: Any, flags: Any, lo: int, hi: int) -> None:
            play_together(states, flags, lo, hi)

        return play_all

    return play_many


def _make_play_together(network: Network, play_one: Callable[..., None]) -> Any:
    """Return the kernel `play_together(states, flags, lo, hi)`, only for compiled code.

    `play_one(s)` does the same for a single state.
    """
    phase1, phase2 = network.phase1, network.phase2
    slots1, slots2 = phase1.num_slots, phase2.num_slots
    slots, num_slots, slot_words = make_slots(
        WORK_WORDS + (WORDS + 1) * (slots1 + slots2), name_slots("together", phase1, phase2)
    )
    play_games, play_few = _make_play_listed(network, WORDS), _make_play_listed(network, 1)

    @kernel
    def list_games(flags: Any, start: int, hi: int, env_indices: Any) -> tuple[int, int]:
        """Write the next flagged games from `start` on to `env_indices`.

        Returns:
            Their number, at most `GAMES`, and the game at which the next list starts.
        """
        count, i = 0, start
        while i < hi and count < GAMES:
            env_indices[count] = i
            count += int(flags[i])
            i += 1
        return count, i

    @kernel
    def play_together(states: Any, flags: Any, lo: int, hi: int) -> None:
        memory = slots()
        k = claim(memory, num_slots, slot_words)
        a = k * slot_words + HEADER
        b = a + GAMES
        c = b + 64 * WORDS
        d = c + WORDS * (slots1 + slots2)
        env_indices, block = memory[a:b], memory[b:c]
        many, few = memory[c:d], memory[d : d + slots1 + slots2]
        count, start = list_games(flags, lo, hi, env_indices)
        while count > 0:
            if count < MIN_TOGETHER:
                for g in range(count):
                    play_one(states[env_indices[g]])
            elif count <= 64:
                play_few(states, env_indices, count, block, few)
            else:
                play_games(states, env_indices, count, block, many)
            count, start = list_games(flags, start, hi, env_indices)
        release(memory, k, slot_words)

    return play_together


def _make_play_listed(network: Network, words: int) -> Any:
    """Return the kernel `play_listed(states, env_indices, count, block, values)`.

    It applies the joint moves of the games `env_indices[:count]`, at most `64 * words`. `block` and
    `values` are memory for a block that is transposed and for the slots of both phases.

    Args:
        network: the network.
        words: number of words of a slot, `WORDS` or 1.
    """
    num_fluents, num_moves = len(network.fluents), len(network.moves)
    phase1, phase2 = network.phase1, network.phase2
    gates1, segments1, outputs1 = phase1.gates, phase1.segments, phase1.outputs
    gates2, segments2, outputs2 = phase2.gates, phase2.segments, phase2.outputs
    slots1, slots2 = phase1.num_slots, phase2.num_slots
    fluent_words, output_words = (num_fluents + 63) // 64, (len(outputs1) + 63) // 64
    run_gates, transpose_block = (run, transpose) if words == WORDS else (run_word, transpose_word)

    @kernel
    def read_states(states: Any, env_indices: Any, count: int, block: Any, v: Any) -> None:
        """Write the fluents and moves of the states to the inputs of phase 2."""
        for f in range(fluent_words):
            for w in range(words):
                for j in range(64):
                    g = 64 * w + j
                    block[j, 0, w] = states[env_indices[g]].fluents[f] if g < count else ZERO
            transpose_block(block, 0)
            for j in range(min(64, num_fluents - 64 * f)):
                for w in range(words):
                    v[1 + 64 * f + j, w] = block[j, 0, w]
        for m in range(num_moves):
            for w in range(words):
                v[1 + num_fluents + m, w] = ZERO
        for g in range(count):
            s = states[env_indices[g]]
            for r in range(len(s.joint)):
                if s.joint[r] >= 0:
                    bit = ONE << np.uint64(g & 63)
                    v[1 + num_fluents + s.joint[r], g >> 6] |= bit

    @kernel
    def write_fluents(states: Any, env_indices: Any, count: int, block: Any, v: Any) -> None:
        """Write the fluents, inputs of phase 1, to the states."""
        for f in range(fluent_words):
            for j in range(64):
                for w in range(words):
                    i = 64 * f + j
                    block[j, 0, w] = v[1 + i, w] if i < num_fluents else ZERO
            transpose_block(block, 0)
            for g in range(count):
                states[env_indices[g]].fluents[f] = block[g & 63, 0, g >> 6]

    @kernel
    def write_outputs(states: Any, env_indices: Any, count: int, block: Any, v: Any) -> None:
        """Write the outputs of phase 1 to the states."""
        for k in range(output_words):
            union = ZERO
            for j in range(64):
                i = 64 * k + j
                for w in range(words):
                    word = word_of(v, outputs1[i], w) if i < len(outputs1) else ZERO
                    block[j, 0, w] = word
                    union |= word
            if union != ZERO:
                transpose_block(block, 0)
            for g in range(count):
                states[env_indices[g]].outputs[k] = block[g & 63, 0, g >> 6]

    @kernel
    def play_listed(
        states: Any, env_indices: Any, count: int, block_memory: Any, values: Any
    ) -> None:
        block = block_memory[: 64 * words].view(np.uint64).reshape((64, 1, words))
        v1 = values[: words * slots1].view(np.uint64).reshape((slots1, words))
        v2 = values[words * slots1 :].view(np.uint64).reshape((slots2, words))
        read_states(states, env_indices, count, block, v2)
        run_gates(v2, gates2, segments2)
        for f in range(num_fluents):
            for w in range(words):
                v1[1 + f, w] = word_of(v2, outputs2[f], w)
        write_fluents(states, env_indices, count, block, v1)
        run_gates(v1, gates1, segments1)
        write_outputs(states, env_indices, count, block, v1)

    return play_listed


@cache
def _sources() -> str:
    """Return the digest of the sources on which the machine code of `play_many` depends."""
    digests = (source_digest(f) for f in (run, run_word, transpose, transpose_word, claim))
    makers = (inspect.getsource(maker) for maker in (_make_play_together, _make_play_listed))
    return " ".join((*makers, *digests))
