"""One-hot groups of a network: fluents of which at most one, or exactly one, is true in each state.

The fluents of a group differ in one to three arguments, such as `(cell 1 1 x)`, `(cell 1 1 o)` and
`(cell 1 1 b)`, or the cells of a king. Groups that no state of random games contradicts are proved
by induction, if possible: the initial state fulfills them, and if a state fulfills all of them,
then so does each next state. Groups for which this cannot be shown are left out, and the others are
tried again, until all that remain are shown (as in van Eijk, "Sequential equivalence checking based
on structural similarities", 2000, section IV).
"""

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.gdl.automorphisms import SymmetryTest
from ludoteca.envs.gdl.dynamics import Dynamics
from ludoteca.envs.gdl.induction import StepProof
from ludoteca.envs.gdl.network import Network
from ludoteca.envs.gdl.parse import parse, show
from ludoteca.envs.interpreted import interpreting

MAX_VARIED = 3  # arguments in which the fluents of a group differ
MAX_FLUENTS = 256  # of a group
MAX_ROUNDS = 20  # of checks, after which nothing is proved
MAX_GATES = 200_000  # of a network for which proofs are sought


@dataclass(frozen=True, eq=False)
class FluentGroup:
    """Fluents of which at most one is true in each reachable state.

    Attributes:
        pattern: their common term, with `?` for the arguments in which they differ.
        fluents: their numbers.
        exactly_one: whether one of them is true in each reachable state.
        proved: whether this is proved, not only observed in random games.
    """

    pattern: str
    fluents: tuple[int, ...]
    exactly_one: bool
    proved: bool = False


def find_groups(network: Network, dynamics: Dynamics) -> tuple[FluentGroup, ...]:
    """Return the groups of a compiled network.

    Args:
        network: the network.
        dynamics: its dynamics.
    """
    with interpreting(False):  # thousands of games and proofs are too slow in Python
        states = SymmetryTest(network, dynamics.random_games.longest).fluents
        groups = observed_groups(network, states)
        if network.num_gates <= MAX_GATES:
            groups = prove_groups(network, groups, dynamics.control)
        return tuple(groups)


def observed_groups(network: Network, states: NDArray[np.uint64]) -> list[FluentGroup]:
    """Return the groups that no state contradicts, without those that follow from others.

    Args:
        network: the network.
        states: the fluents of states, one bit per game. Shape `[B, F, WORDS]`.
    """
    patterns: dict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(network.fluents):
        term = parse(text)[0].term
        for count in range(1, MAX_VARIED + 1) if isinstance(term, tuple) else ():
            for varied in combinations(range(1, len(term)), count):
                pattern = ["?" if i in varied else item for i, item in enumerate(term)]
                patterns[show(tuple(pattern))].append(number)
    groups: dict[tuple[int, ...], FluentGroup] = {}
    for text, numbers in patterns.items():
        if 1 < len(numbers) <= MAX_FLUENTS and tuple(numbers) not in groups:
            words = states[:, numbers]
            any_true = np.bitwise_or.reduce(words, axis=1)
            # Bits are disjoint if, and only if, their union has as many as all of them together.
            if np.bitwise_count(words).sum() == np.bitwise_count(any_true).sum():
                exactly_one = bool((~any_true == 0).all())
                groups[tuple(numbers)] = FluentGroup(text, tuple(numbers), exactly_one)
    # Small groups first, as they are proved in that order until a limit is reached.
    return _without_parts(sorted(groups.values(), key=lambda group: len(group.fluents)))


def prove_groups(
    network: Network, groups: list[FluentGroup], control: tuple[int, ...] = ()
) -> list[FluentGroup]:
    """Return groups with `proved` set where a proof was found.

    If at most one fluent of a group is proved to be true, but not that there is one, the group
    that is returned has `exactly_one` false.

    Args:
        network: the network.
        groups: the groups.
        control: fluents that name the role to move, see `Dynamics`.
    """
    counts = np.array([network.initial[list(group.fluents)].sum() for group in groups], np.int64)
    exactly_one = np.array([group.exactly_one for group in groups], np.bool_) & (counts == 1)
    at_most_one = counts <= 1
    sets = [set(group.fluents) for group in groups]
    movers = {fluent for fluent in control if fluent >= 0}
    control_group = sets.index(movers) if movers in sets else -1
    proof = StepProof(network, [group.fluents for group in groups], control_group)
    for _ in range(MAX_ROUNDS):
        kept, kept_exactly = proof.check(at_most_one, exactly_one)
        if np.array_equal(kept, at_most_one) and np.array_equal(kept_exactly, exactly_one):
            return [
                replace(group, proved=True, exactly_one=bool(exactly))
                if is_proved
                else replace(group, proved=False)
                for group, is_proved, exactly in zip(groups, kept, kept_exactly, strict=True)
            ]
        at_most_one, exactly_one = kept, kept_exactly
    return [replace(group, proved=False) for group in groups]


def _without_parts(groups: list[FluentGroup]) -> list[FluentGroup]:
    """Return groups without those of at most one fluent that are parts of others."""
    containing: dict[int, set[int]] = defaultdict(set)
    for i, group in enumerate(groups):
        for fluent in group.fluents:
            containing[fluent].add(i)
    return [
        group
        for group in groups
        if group.exactly_one
        or len(set.intersection(*(containing[fluent] for fluent in group.fluents))) == 1
    ]
