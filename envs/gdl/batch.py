"""Bit-sliced evaluation of a network: 64 * WORDS random games in a batch, one bit per game.

A slot holds one value of the network for all games: WORDS words of 64 bits, bit b of word w for
game 64 * w + b. A gate is a few vector instructions for all games. Legal moves are transposed in
blocks of 64 x 64 bits, so that each game gets its own bit set, from which a move is sampled. A game
that ends is reset, so all bits are always in use; the goals are those of the finished games.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.bits import ALL, ONE, ZERO, popcount, select_bit, transpose
from ludoteca.envs.gdl.errors import GDLError
from ludoteca.envs.gdl.network import Network, Program
from ludoteca.envs.jit import compiled, factory, kernel
from ludoteca.envs.params import check_integer
from ludoteca.envs.rng import below

WORDS = 8  # fixed, because `gate` writes it out, from which LLVM makes vector instructions
GAMES = 64 * WORDS


@dataclass(frozen=True, eq=False)
class BatchResult:
    """Statistics of random games, of a network with R roles, M moves and G goals.

    Attributes:
        games: number of finished games.
        steps: number of joint moves (one move of each role).
        goal_counts: how often each goal of the network held at the end of a game. Shape `[G]`.
        longest: joint moves of the longest finished game; 0 if none was finished.
        stuck: number of states, not terminal, in which a role had no legal move.
        bad_goals: for each role, the number of finished games in which it had no goal, or several;
            0 for the role `random`, which needs none. Shape `[R]`.
        other_sums: number of finished games in which the goals of the players did not add up to
            100.
        two_choosers: number of states in which two or more players had more than one legal move.
        waits: how often each move was the only one of its player while exactly one other player had
            a choice. Shape `[M]`.
        control_errors: for each of the C candidates `control` of the simulator, the number of
            states in which not exactly one of its fluents held, or a player had a choice whose
            fluent did not hold. Shape `[C]`.
    """

    games: int
    steps: int
    goal_counts: NDArray[np.int64]
    longest: int
    stuck: int
    bad_goals: NDArray[np.int64]
    other_sums: int
    two_choosers: int
    waits: NDArray[np.int64]
    control_errors: NDArray[np.int64]

    def mean_goals(self, network: Network) -> NDArray[np.float64]:
        """Return the mean goal of each role over the finished games. Shape `[R]`."""
        sums = np.zeros(len(network.roles))
        np.add.at(sums, network.goal_roles, self.goal_counts * network.goal_values)
        return sums / max(self.games, 1)


class BatchSimulator:
    """Simulator of random games of one network, in a batch of `GAMES` games.

    A second call of `play` continues the games of the first. The role `random` moves like the
    players, uniformly at random; statistics of choices leave it out.

    Args:
        network: the network.
        seed: seed of the random moves.
        control: candidates for the fluents that name the role to move: for each, the number of a
            fluent per role, or -1 for the role `random` if it has none. Shape `[C, R]`.
        analyze: whether to collect all statistics. If not, only games, steps, goals and stuck
            states are counted, which takes about half the time in small games.

    Raises:
        GDLError: if the sheet is interpreted, so that the network has no gates.
    """

    def __init__(
        self,
        network: Network,
        seed: int = 0,
        control: NDArray[np.int32] | None = None,
        analyze: bool = False,
    ):
        if not network.phase1.num_slots:
            raise GDLError("the sheet is interpreted: it has no gates to evaluate in a batch")
        self.network, self._analyze = network, analyze
        self._control = np.zeros((0, len(network.roles)), np.int32) if control is None else control
        self._values1 = np.zeros((network.phase1.num_slots, WORDS), np.uint64)
        self._values2 = np.zeros((network.phase2.num_slots, WORDS), np.uint64)
        self._rng = np.array([seed], np.uint64)
        self._plies = np.zeros(GAMES, np.int64)
        self._moves = np.full((len(network.roles), GAMES), -1, np.int32)
        fluents = slice(1, 1 + len(network.initial))
        self._values1[fluents] = np.where(network.initial[:, None], ALL, ZERO)
        self._values2[fluents] = self._values1[fluents]

    def play(self, rounds: int) -> BatchResult:
        """Make `rounds` random joint moves in all games, and return statistics of these moves.

        Returns:
            The statistics. Each round counts `GAMES` steps, less one for each game that ended.
        """
        check_integer("rounds", rounds, 1, 2**40)
        network, roles = self.network, len(self.network.roles)
        counts = np.zeros(6, np.int64)  # games, steps, longest, stuck, two_choosers, other_sums
        goals = np.zeros(len(network.goal_values), np.int64)
        bad_goals = np.zeros(roles, np.int64)
        waits = np.zeros(len(network.moves), np.int64)
        errors = np.zeros(len(self._control), np.int64)
        make_batch_play(self._analyze)(
            BatchArrays(
                *_program_arrays(network.phase1),
                *_program_arrays(network.phase2),
                network.move_start,
                network.goal_roles,
                network.goal_values,
                network.initial,
                self._control,
                network.random_role,
            ),
            (self._values1, self._values2),
            (self._moves, self._plies, self._rng),
            (counts, goals, bad_goals, waits, errors),
            rounds,
        )
        games, steps, longest, stuck, two, other_sums = counts.tolist()
        return BatchResult(
            games, steps, goals, longest, stuck, bad_goals, other_sums, two, waits, errors
        )

    @property
    def fluents(self) -> NDArray[np.uint64]:
        """Copy of the fluents of all games, one bit per game. Shape `[F, WORDS]`."""
        return self._values1[1 : 1 + len(self.network.initial)].copy()

    @property
    def moves(self) -> NDArray[np.int32]:
        """Copy of the last move of each role in each game, or -1. Shape `[R, GAMES]`."""
        return self._moves.copy()


class BatchArrays(NamedTuple):
    """Arrays of a network for compiled code; see `Network`, `Program` and `BatchSimulator`."""

    gates1: Any
    segments1: Any
    outputs1: Any
    gates2: Any
    segments2: Any
    outputs2: Any
    move_start: Any
    goal_roles: Any
    goal_values: Any
    initial: Any
    control: Any
    random_role: Any


def _program_arrays(program: Program) -> tuple[Any, Any, Any]:
    """Return the gates, segments and outputs of a program."""
    return program.gates, program.segments, program.outputs


@kernel
def gate(v: Any, o: int, a: int, b: int) -> None:
    """Set slot `o` of `v` [slots, WORDS] to the AND of the literals `a` and `b`.

    All words are read before one is written, so that LLVM can use vector instructions.
    """
    ma, mb = ZERO - np.uint64(a & 1), ZERO - np.uint64(b & 1)
    a >>= 1
    b >>= 1
    x0 = (v[a, 0] ^ ma) & (v[b, 0] ^ mb)
    x1 = (v[a, 1] ^ ma) & (v[b, 1] ^ mb)
    x2 = (v[a, 2] ^ ma) & (v[b, 2] ^ mb)
    x3 = (v[a, 3] ^ ma) & (v[b, 3] ^ mb)
    x4 = (v[a, 4] ^ ma) & (v[b, 4] ^ mb)
    x5 = (v[a, 5] ^ ma) & (v[b, 5] ^ mb)
    x6 = (v[a, 6] ^ ma) & (v[b, 6] ^ mb)
    x7 = (v[a, 7] ^ ma) & (v[b, 7] ^ mb)
    v[o, 0] = x0
    v[o, 1] = x1
    v[o, 2] = x2
    v[o, 3] = x3
    v[o, 4] = x4
    v[o, 5] = x5
    v[o, 6] = x6
    v[o, 7] = x7


@kernel
def run_loop(v: Any, gates: Any, begin: int, end: int) -> None:
    """Evaluate gates begin to end - 1, a loop, until no feedback changes; feedback starts false."""
    for i in range(begin, end):
        if gates[i, 3]:
            v[gates[i, 0]] = ZERO
    changed = True
    while changed:
        changed = False
        for i in range(begin, end):
            o, a, b = gates[i, 0], gates[i, 1], gates[i, 2]
            ma, mb = ZERO - np.uint64(a & 1), ZERO - np.uint64(b & 1)
            for w in range(v.shape[1]):
                x = (v[a >> 1, w] ^ ma) & (v[b >> 1, w] ^ mb)
                if gates[i, 3] and x != v[o, w]:
                    changed = True
                v[o, w] = x


@kernel
def run(v: Any, gates: Any, segments: Any) -> None:
    """Evaluate a program whose inputs are in `v` [slots, WORDS]."""
    for k in range(len(segments)):
        begin, end = segments[k, 0], segments[k, 1]
        if segments[k, 2]:
            run_loop(v, gates, begin, end)
        else:
            for i in range(begin, end):
                gate(v, gates[i, 0], gates[i, 1], gates[i, 2])


@kernel
def run_word(v: Any, gates: Any, segments: Any) -> None:
    """Evaluate a program for 64 games, whose inputs are in `v` [slots, 1]."""
    for k in range(len(segments)):
        begin, end = segments[k, 0], segments[k, 1]
        if segments[k, 2]:
            run_loop(v, gates, begin, end)
        else:
            for i in range(begin, end):
                v[gates[i, 0], 0] = word_of(v, gates[i, 1], 0) & word_of(v, gates[i, 2], 0)


@kernel
def word_of(v: Any, literal: int, w: int) -> Any:
    """Return word `w` of a literal."""
    return v[literal >> 1, w] ^ (ZERO - np.uint64(literal & 1))


@factory("games in a batch")
def make_batch_play(analyze: bool) -> Any:
    """Return `play(network, values, state, results, rounds)`; see `BatchSimulator.play`.

    `network` is a `BatchArrays`; the three tuples are those that `BatchSimulator.play` passes.

    Args:
        analyze: whether to collect all statistics.
    """

    @kernel
    def transpose_legal(v: Any, outputs: Any, first: int, last: int, bits: Any) -> None:
        """Write which of the moves first to last - 1 are legal in each game to `bits`.

        `bits` is [64, K, WORDS]: element [i, k, w] holds moves 64 * k to 64 * k + 63 of game
        64 * w + i.
        """
        for k in range((last - first + 63) // 64):
            union = ZERO
            for i in range(64):
                m = first + 64 * k + i
                literal = outputs[m] if m < last else 0  # slot 0 is false
                for w in range(WORDS):
                    bits[i, k, w] = word_of(v, literal, w)
                    union |= bits[i, k, w]
            if union != ZERO:
                transpose(bits, k)

    @compiled
    def play(network: Any, values: Any, state: Any, results: Any, rounds: int) -> None:
        v1, v2 = values
        moves, plies, rng = state
        counts, goal_counts, bad_goals, waits, errors = results
        move_start, goal_roles, initial = network.move_start, network.goal_roles, network.initial
        goal_values = network.goal_values
        outputs, roles, num_fluents = network.outputs1, len(move_start) - 1, len(initial)
        num_moves, num_goals, random_role = move_start[roles], len(goal_roles), network.random_role
        terminal = outputs[num_moves + num_goals]
        max_words = 0
        for r in range(roles):
            max_words = max(max_words, (move_start[r + 1] - move_start[r] + 63) // 64)
        # An odd number of words, so that the rows do not compete for the same sets of a cache.
        bits = np.zeros((64, max_words | 1, WORDS), np.uint64)
        next_fluents = np.zeros((num_fluents, WORDS), np.uint64)
        totals = np.zeros((roles, GAMES), np.int64)
        held = np.zeros(roles, np.int64)
        over = np.zeros(GAMES, np.bool_)
        for _ in range(rounds):
            run(v1, network.gates1, network.segments1)
            for w in range(WORDS):
                ended = word_of(v1, terminal, w)
                if analyze:
                    for b in range(64):
                        over[64 * w + b] = (ended >> np.uint64(b)) & ONE
                counts[0] += popcount(ended)
                counts[1] += 64 - popcount(ended)
                if ended != ZERO:
                    for g in range(num_goals):
                        literal = outputs[num_moves + g]
                        goal_counts[g] += popcount(word_of(v1, literal, w) & ended)
            for game in range(GAMES if analyze else 0):
                if over[game]:
                    counts[2] = max(counts[2], plies[game])
                    plies[game] = 0
                    w, shift = game >> 6, np.uint64(game & 63)
                    held[:] = 0
                    goal_sum = 0
                    for g in range(num_goals):
                        literal = outputs[num_moves + g]
                        holds = int((word_of(v1, literal, w) >> shift) & ONE)
                        held[goal_roles[g]] += holds
                        if goal_roles[g] != random_role:
                            goal_sum += holds * goal_values[g]
                    counts[5] += int(goal_sum != 100)
                    for r in range(roles):
                        bad_goals[r] += int(held[r] != 1 and r != random_role)
                else:
                    plies[game] += 1
            for r in range(roles):
                transpose_legal(v1, outputs, move_start[r], move_start[r + 1], bits)
                words = (move_start[r + 1] - move_start[r] + 63) // 64
                first_input = 1 + num_fluents + move_start[r]
                v2[first_input : first_input + move_start[r + 1] - move_start[r]] = ZERO
                for i in range(64):
                    for w in range(WORDS):
                        game, total = 64 * w + i, 0
                        for k in range(words):
                            total += popcount(bits[i, k, w])
                        if analyze:
                            totals[r, game] = total
                        if total == 0:
                            moves[r, game] = -1
                            ended = word_of(v1, terminal, w) >> np.uint64(i)
                            counts[3] += 1 - int(ended & ONE)
                            continue
                        n, k = below(rng, total), 0
                        count = popcount(bits[i, 0, w])
                        while n >= count:
                            n, k = n - count, k + 1
                            count = popcount(bits[i, k, w])
                        m = 64 * k + select_bit(bits[i, k, w], n)
                        if analyze:
                            moves[r, game] = move_start[r] + m
                        v2[first_input + m, w] |= ONE << np.uint64(i)
            for game in range(GAMES if analyze else 0):
                if over[game]:
                    continue
                choosers, mover = 0, -1
                for r in range(roles):
                    if totals[r, game] > 1 and r != random_role:
                        choosers += 1
                        mover = r
                counts[4] += int(choosers > 1)
                if choosers == 1:
                    for r in range(roles):
                        if r != mover and r != random_role and totals[r, game] == 1:
                            waits[moves[r, game]] += 1
                for c in range(len(errors)):
                    held_by, owner = 0, -1
                    for r in range(roles):
                        word = v1[1 + network.control[c, r], game >> 6]  # slot 0 is false
                        if (word >> np.uint64(game & 63)) & ONE:
                            held_by += 1
                            owner = r
                    errors[c] += int(held_by != 1 or (choosers > 0 and owner != mover))
            run(v2, network.gates2, network.segments2)
            for f in range(num_fluents):
                start = ALL if initial[f] else ZERO
                for w in range(WORDS):
                    ended = word_of(v1, terminal, w)
                    x = word_of(v2, network.outputs2[f], w)
                    next_fluents[f, w] = (x & ~ended) | (start & ended)
            for f in range(num_fluents):
                for w in range(WORDS):
                    v1[1 + f, w] = next_fluents[f, w]
                    v2[1 + f, w] = next_fluents[f, w]

    return play
