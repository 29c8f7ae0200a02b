"""Automorphisms of a network: permutations of fluents, moves and roles that preserve the rules.

A permutation is tested in states of random games, 512 games in a batch: the image of a state has
the images of its legal moves, goals and next states. Moreover, each output is proved if possible:
it is hashed by the structure of its gates, with the inputs under their own names, and under those
of their images. If the hashes agree, both compute the same function. An output that is not proved
must have been true in some states of the test and false in others.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.bits import ALL, ZERO
from ludoteca.envs.gdl.batch import GAMES, WORDS, BatchSimulator, run
from ludoteca.envs.gdl.network import Network, Program
from ludoteca.envs.jit import compiled, factory, kernel

TESTED_STATES = 40 * GAMES
TESTED_GATES = 100_000_000  # limit of the gates evaluated for random games and for each candidate
MIN_BATCHES = 4
MAX_GAP = 8  # rounds between two batches
MIN_SEEN = 16  # states in which an output was true, and false, if its structure proves nothing
HASHED_GATES = 20_000_000  # limit of the gates hashed for a proof, where a loop counts repeatedly
ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio (Knuth)
FALSE = np.uint64(0xD1B54A32D192ED03)  # hash of the constant: any number that is not 0
Words = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Automorphism:
    """Permutation of the F fluents, M moves and R roles of a network.

    Attributes:
        fluents: image of each fluent. Shape `[F]`.
        moves: image of each move. Shape `[M]`.
        roles: image of each role. Shape `[R]`.
        proved: whether it is proved to preserve the rules, not only observed in random games.
    """

    fluents: NDArray[np.int64]
    moves: NDArray[np.int64]
    roles: NDArray[np.int64]
    proved: bool = False

    def outputs(self, network: Network) -> NDArray[np.int64] | None:
        """Return the image of each output of phase 1; None if a goal has no image."""
        goals = list(zip(network.goal_roles.tolist(), network.goal_values.tolist(), strict=True))
        try:
            images = [goals.index((self.roles[role], value)) for role, value in goals]
        except ValueError:
            return None
        first = len(self.moves)
        return np.concatenate(
            [self.moves, first + np.array(images, np.int64), [first + len(goals)]]
        )


class SymmetryTest:
    """Test of automorphisms of a network in the states of random games.

    Args:
        network: the network.
        longest: joint moves of a long random game, over which the states are spread.
        seed: seed of the random games.

    Attributes:
        network: the network.
        fluents: fluents of the states, one bit per game. Shape `[B, F, WORDS]`.
    """

    def __init__(self, network: Network, longest: int = 0, seed: int = 1):
        self.network, self._programs = network, (network.phase1, network.phase2)
        gates = max(network.num_gates * WORDS, 1)
        most = TESTED_STATES // GAMES
        batches = int(np.clip(TESTED_GATES // gates, MIN_BATCHES, most))
        rounds = min(3 * longest // 2, TESTED_GATES // gates)
        gap = int(np.clip(-(-rounds // batches), 1, MAX_GAP))
        simulator, fluents, moves = BatchSimulator(network, seed, analyze=True), [], []
        for _ in range(batches):
            fluents.append(simulator.fluents)
            simulator.play(1)
            moves.append(simulator.moves)
            if gap > 1:
                simulator.play(gap - 1)
        self.fluents, self._joint = np.array(fluents), moves
        self._results: list[tuple[Words, Words, Words, Words]] = []

    def states(self) -> NDArray[np.bool_]:
        """Return which fluents are true in the states of a few batches. Shape `[F, S]`."""
        batches = np.unique(np.linspace(0, len(self.fluents) - 1, 6).astype(int))
        words = np.concatenate(self.fluents[batches], axis=1)
        bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little")
        return bits.astype(np.bool_)

    def check(self, candidate: Automorphism) -> Automorphism | None:
        """Return the automorphism, with `proved` set, or None if a state contradicts it."""
        outputs = candidate.outputs(self.network)
        if outputs is None or not all(
            self._holds(candidate, outputs, batch) for batch in range(len(self.fluents))
        ):
            return None
        unproved = find_unproved(self.network, candidate, outputs)
        for numbers, seen in zip(unproved, self._seen, strict=True):
            if not seen[numbers].all():
                return None
        return replace(candidate, proved=not any(map(len, unproved)))

    @cached_property
    def _seen(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether each output of a phase was true and false in `MIN_SEEN` states each.

        A goal between the lowest and the highest one of its role, such as that of a draw, may also
        have been false in all games.
        """
        num_moves = len(self.network.moves)
        counts = [np.zeros((2, len(p.outputs)), np.int64) for p in self._programs]
        for batch in range(len(self.fluents)):
            _, results, live, following = self._expected(batch)
            relevant = np.repeat(results[-1:], len(results), axis=0)
            relevant[:num_moves], relevant[-1] = ~results[-1], ALL
            for k, (values, mask) in enumerate(((results, relevant), (following, live))):
                counts[k] += [_count(values & mask), _count(~values & mask)]
        for goal, (role, value) in enumerate(
            zip(self.network.goal_roles, self.network.goal_values, strict=True)
        ):
            values = self.network.goal_values[self.network.goal_roles == role]
            if values.min() < value < values.max() and not counts[0][0, num_moves + goal]:
                counts[0][0, num_moves + goal] = MIN_SEEN
        seen1, seen2 = (np.logical_and.reduce(count >= MIN_SEEN) for count in counts)
        return seen1, seen2

    def _holds(self, candidate: Automorphism, outputs: NDArray[np.int64], batch: int) -> bool:
        """Return whether the images of the states of a batch have the images of their results."""
        moves, results, live, following = self._expected(batch)
        terminal = results[-1]
        images = np.empty_like(self.fluents[batch])
        images[candidate.fluents] = self.fluents[batch]
        found = evaluate(self.network.phase1, images)[outputs]
        num_moves = len(self.network.moves)
        legal, found_legal = results[:num_moves], found[:num_moves]
        goals, found_goals = results[num_moves:-1], found[num_moves:-1]
        if not (
            np.array_equal(found[-1], terminal)
            and np.array_equal(legal & ~terminal, found_legal & ~terminal)
            and np.array_equal(goals & terminal, found_goals & terminal)
        ):
            return False
        made = np.empty_like(moves)
        made[candidate.moves] = moves
        next_images = evaluate(self.network.phase2, np.concatenate([images, made]))
        return np.array_equal(next_images[candidate.fluents] & live, following & live)

    def _expected(self, batch: int) -> tuple[Words, Words, Words, Words]:
        """Return the moves made, the outputs of phase 1, the games that continue, the next fluents.

        A game does not continue if it is over, or a role has no move.
        """
        while len(self._results) <= batch:
            k = len(self._results)
            results = evaluate(self.network.phase1, self.fluents[k])
            made = np.zeros((len(self.network.moves) + 1, GAMES), np.uint8)
            for joint in self._joint[k]:
                made[joint, np.arange(GAMES)] = 1  # -1, no move, is the last row
            moves = np.packbits(made[:-1], axis=1, bitorder="little").view("<u8").astype(np.uint64)
            following = evaluate(self.network.phase2, np.concatenate([self.fluents[k], moves]))
            stuck = np.packbits((self._joint[k] < 0).any(0), bitorder="little").view("<u8")
            self._results.append((moves, results, ~results[-1] & ~stuck, following))
        return self._results[batch]


def evaluate(program: Program, inputs: Words) -> Words:
    """Return the outputs of a program for `GAMES` states.

    Args:
        program: the program.
        inputs: the inputs, one bit per state. Shape `[inputs, WORDS]`.

    Returns:
        The outputs. Shape `[O, WORDS]`.
    """
    values = np.zeros((program.num_slots, WORDS), np.uint64)
    values[1 : 1 + len(inputs)] = inputs
    make_batch_evaluation()(values, program.gates, program.segments)
    inverted = np.where(program.outputs & 1, ALL, ZERO)[:, None]
    result: Words = values[program.outputs >> 1] ^ inverted
    return result


def find_unproved(
    network: Network, candidate: Automorphism, outputs: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the outputs of each phase for which the structure of the gates proves nothing.

    Args:
        network: the network.
        candidate: the automorphism.
        outputs: image of each output of phase 1. Shape `[M + G + 1]`.
    """
    inputs = np.concatenate([candidate.fluents, len(candidate.fluents) + candidate.moves])
    return (
        _different_structure(network.phase1, candidate.fluents, outputs),
        _different_structure(network.phase2, inputs, candidate.fluents),
    )


def _different_structure(
    program: Program, inputs: NDArray[np.int64], outputs: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the outputs that, for inputs with the names of their images, are not their images."""
    lengths = program.segments[:, 1] - program.segments[:, 0]
    feedback = [int(program.gates[b:e, 3].sum()) for b, e, _ in program.segments.tolist()]
    if (lengths * (np.array(feedback, np.int64) + 2)).sum() > HASHED_GATES:
        return np.arange(len(outputs))
    hashes = []
    for names in (np.arange(len(inputs)), inputs):
        values = np.zeros(program.num_slots, np.uint64)
        values[1 : 1 + len(names)] = (names + 1).astype(np.uint64)
        results = np.zeros(len(program.outputs), np.uint64)
        make_structure_hash()(values, program.gates, program.segments, program.outputs, results)
        hashes.append(results)
    return np.flatnonzero(hashes[0][outputs] != hashes[1])


def _count(words: Words) -> NDArray[np.int64]:
    """Return the number of set bits of each row."""
    counts: NDArray[np.int64] = np.unpackbits(words.view(np.uint8), axis=1).sum(1, dtype=np.int64)
    return counts


@factory("tests of symmetries")
def make_batch_evaluation() -> Any:
    """Return `evaluate(values, gates, segments)`: `batch.run` as a compiled function."""

    @compiled
    def evaluate(values: Any, gates: Any, segments: Any) -> None:
        run(values, gates, segments)

    return evaluate


@kernel
def mix(x: Any) -> Any:
    """Return a hash of a word (the finalizer of MurmurHash3)."""
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return x ^ (x >> np.uint64(33))


@kernel
def literal_hash(values: Any, literal: int) -> Any:
    """Return the summand of a literal in the sum of a conjunction.

    A conjunction of conjunctions is one conjunction, so it counts with its own sum.
    """
    x = values[literal >> 1]
    return mix(x ^ ODD) if literal & 1 else x


@factory("proofs of symmetries")
def make_structure_hash() -> Any:
    """Return `structure(values, gates, segments, outputs, results)`.

    `values`, uint64 `[num_slots]`, holds the names of the inputs, and `results`, `[O]`, is written:
    a hash of each output. A conjunction is the sum of its literals, so their order does not matter.
    A loop is unrolled: feedback begins false, and is updated after each pass over all gates, as
    often as there are feedback gates and once more. By then a least fixpoint is reached.
    """

    @compiled
    def structure(values: Any, gates: Any, segments: Any, outputs: Any, results: Any) -> None:
        for i in range(len(values)):
            values[i] = mix(values[i])
        values[0] = FALSE
        pending = np.zeros(len(gates), np.uint64)
        for k in range(len(segments)):
            begin, end, loop = segments[k, 0], segments[k, 1], segments[k, 2]
            passes = 1
            if loop:
                for i in range(begin, end):
                    if gates[i, 3]:
                        values[gates[i, 0]] = FALSE
                        passes += 1
            for _ in range(passes):
                for i in range(begin, end):
                    a, b = gates[i, 1], gates[i, 2]
                    if gates[i, 3]:
                        pending[i] = mix(literal_hash(values, a))
                    else:
                        values[gates[i, 0]] = literal_hash(values, a) + literal_hash(values, b)
                for i in range(begin, end):
                    if loop and gates[i, 3]:
                        values[gates[i, 0]] = pending[i]
        for i in range(len(outputs)):
            results[i] = mix(literal_hash(values, outputs[i]))

    return structure
