"""Dynamics of a sheet: sequential or simultaneous, waiting moves, and the maximum game length.

A game is sequential if in no reachable state two players have a choice, that is, more than one
legal move. This can be proved if a fluent of each role, such as `(control white)`, names the player
to move. Otherwise it is assumed unless random games show the contrary, and each step verifies it.

The role `random` is not a player. A fluent such as `(control random)` may name the states in which
all players wait for its move; without one it may have a choice in each state.

Proofs use three-valued evaluation (`ternary`): arrays `may` and `must` say which values may be true
and which must be true.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.gdl.batch import GAMES, BatchResult, BatchSimulator
from ludoteca.envs.gdl.chance import chance_may_end_first
from ludoteca.envs.gdl.network import Network
from ludoteca.envs.gdl.parse import Term, parse
from ludoteca.envs.gdl.ternary import Bits, evaluate_phase1, evaluate_phase2

ANALYSIS_GATES = 300_000_000  # gates evaluated in the random games of the analysis
MAX_CASES = 4096  # maximum number of cases of one proof
LIMIT_FACTOR = 4  # a limit that is not proved is this multiple of the longest random game
MIN_GAMES = 10  # finished random games that are needed to find a sheet zero-sum
SMALLEST_LIMIT, LARGEST_LIMIT = 200, 32_000  # range of such a limit, in joint moves


@dataclass(frozen=True, eq=False)
class Dynamics:
    """Dynamics of a network.

    Attributes:
        sequential: whether at most one player has a choice in each state.
        proved: whether `sequential` is proved, not only observed in random games.
        moves_proved: whether `proved`, and it is also proved that a player has a legal move while
            another role is to move.
        control: for each role the fluent that is true when the role is to move, or -1 for the role
            `random` if it has none; empty if no such fluents are known.
        waits: for each move, whether it is proved to be a waiting move: its role makes it only
            while another role is to move. Shape `[M]`.
        max_plies: bound on the joint moves of a game.
        max_plies_proved: whether the bound follows from the rules; if not, longer games are
            truncated there.
        warnings: faults of the rules that random games showed.
        random_games: statistics of the random games.
    """

    sequential: bool
    proved: bool
    moves_proved: bool
    control: tuple[int, ...]
    waits: NDArray[np.bool_]
    max_plies: int
    max_plies_proved: bool
    warnings: tuple[str, ...]
    random_games: BatchResult


def analyze(network: Network, seed: int = 0) -> Dynamics:
    """Return the dynamics of a network, from proofs and random games."""
    candidates = control_candidates(network)
    gates = max(network.num_gates, 1) * 8  # per round: 512 games in words of 64
    rounds = int(np.clip(ANALYSIS_GATES // gates, 50, 2000))
    result = BatchSimulator(network, seed, candidates, analyze=True).play(rounds)
    control = choose_control(network, candidates, result)
    proved = moves_proved = len(network.players) == 1
    waits = np.zeros(len(network.moves), np.bool_)
    if control:
        is_proven, have_moves, waits = _prove_control(network, np.array(control))
        proved |= is_proven
        moves_proved |= is_proven and have_moves
    if waits.any() and chance_may_end_first(network, waits):
        waits = np.zeros(len(network.moves), np.bool_)
    bound = prove_max_plies(network)
    limit = np.clip(LIMIT_FACTOR * max(result.longest, 1), SMALLEST_LIMIT, LARGEST_LIMIT)
    if not result.games:
        limit = np.clip(LIMIT_FACTOR * rounds, SMALLEST_LIMIT, LARGEST_LIMIT)
    return Dynamics(
        sequential=proved or result.two_choosers == 0,
        proved=proved,
        moves_proved=moves_proved,
        control=control,
        waits=waits,
        max_plies=bound or int(limit),
        max_plies_proved=bound > 0,
        warnings=describe_faults(network, result, GAMES, rounds),
        random_games=result,
    )


def is_zero_sum(network: Network, random_games: BatchResult) -> bool:
    """Return whether the goals of two players added up to 100 at the end of all random games.

    Sheets with other numbers of players count as not zero-sum, and so do those in which a player
    had no goal or several at the end, or fewer than `MIN_GAMES` random games ended.
    """
    return (
        len(network.players) == 2
        and random_games.games >= MIN_GAMES
        and random_games.other_sums == 0
        and not random_games.bad_goals.any()
    )


def control_candidates(network: Network) -> NDArray[np.int32]:
    """Return the groups of fluents that differ only in the name of a role, one fluent per role.

    Groups that have no fluent for the role `random` come last.

    Returns:
        Numbers of the fluents, by group and role; -1 for none. Shape `[C, R]`.
    """
    roles = [_term(role) for role in network.roles]
    groups: dict[Term, dict[int, int]] = defaultdict(dict)
    for number, text in enumerate(network.fluents):
        term = _term(text)
        if isinstance(term, tuple):
            for i, item in enumerate(term[1:], 1):
                if item in roles:
                    pattern = (*term[:i], "?", *term[i + 1 :])
                    groups[pattern][roles.index(item)] = number
    full = [
        group
        for group in groups.values()
        if len(group) > 1 or len(roles) == 1
        if all(player in group for player in network.players)
    ]
    full.sort(key=lambda group: -len(group))
    rows = [[group.get(r, -1) for r in range(len(roles))] for group in full]
    return np.array(rows, np.int32).reshape(-1, len(roles))


def _term(text: str) -> Term:
    return parse(text)[0].term


def choose_control(
    network: Network, candidates: NDArray[np.int32], result: BatchResult
) -> tuple[int, ...]:
    """Return the first candidate that random games never contradicted, or `()` if there is none.

    Exactly one of its fluents is true initially. Also return `()` if there is only one role, or if
    two players had a choice at once.
    """
    if len(network.roles) == 1 or result.two_choosers:
        return ()
    for group, errors in zip(candidates.tolist(), result.control_errors, strict=True):
        if not errors and sum(network.initial[f] for f in group if f >= 0) == 1:
            return tuple(group)
    return ()


def _unknown(network: Network, cases: int) -> tuple[Bits, Bits]:
    """Return `may` and `must` of states in which every fluent is unknown. Shape `[cases, F]`."""
    shape = cases, len(network.fluents)
    return np.ones(shape, np.bool_), np.zeros(shape, np.bool_)


def _prove_control(
    network: Network, control: NDArray[np.int64]
) -> tuple[bool, bool, NDArray[np.bool_]]:
    """Prove that exactly one role is in control, and that no other player has a choice.

    Case k is any state in which the k-th of the roles with a fluent in `control` is in control. The
    role `random` may have a choice in each case.

    Returns:
        Whether both are proved, whether each player has a legal move in the cases of other roles,
        and for each move whether it is a waiting move, which its role never has when in control.
        Shape `[M]`.
    """
    owners = np.flatnonzero(control >= 0)
    control = control[owners]
    moves = len(network.moves)
    may, must = _unknown(network, len(owners))
    may[:, control] = must[:, control] = np.eye(len(owners), dtype=np.bool_)
    legal, legal_must = (outputs[:, :moves] for outputs in evaluate_phase1(network, may, must))
    start = network.move_start
    waits = np.zeros(moves, np.bool_)
    moves_may, moves_must = legal.copy(), np.zeros((len(owners), moves), np.bool_)
    others_choose, have_moves = False, True
    for r in range(len(network.roles)):
        mine = slice(start[r], start[r + 1])
        for k, owner in enumerate(owners):
            if owner == r:
                waits[mine] = ~legal[k, mine] & legal[:, mine].any(0)
            else:
                others = legal[k, mine]
                others_choose |= int(others.sum()) > 1 and r != network.random_role
                have_moves &= bool(legal_must[k, mine].any()) or r == network.random_role
                moves_must[k, mine] = others if others.sum() == 1 else False
    if others_choose:
        return False, have_moves, waits
    next_may, next_must = evaluate_phase2(network, may, must, moves_may, moves_must)
    next_may, next_must = next_may[:, control], next_must[:, control]
    is_proven = bool((next_may == next_must).all() and (next_must.sum(1) == 1).all())
    is_proven = is_proven or _prove_by_moves(network, owners, control, legal, moves_must)
    return is_proven, have_moves, waits


def _prove_by_moves(
    network: Network,
    owners: NDArray[np.int64],
    control: NDArray[np.int64],
    legal: Bits,
    forced: Bits,
) -> bool:
    """Prove for each move of the role in control that exactly one role is in control after it.

    Args:
        network: the network.
        owners: roles that can be in control. Shape `[K]`.
        control: fluents that name them. Shape `[K]`.
        legal: which moves may be legal when each of them is in control. Shape `[K, M]`.
        forced: the only moves of the other roles then. Shape `[K, M]`.
    """
    cases = []
    for k, r in enumerate(owners):
        mine = np.arange(network.move_start[r], network.move_start[r + 1])
        cases += [(k, int(m)) for m in mine[legal[k, mine]]]
    if len(cases) > MAX_CASES:
        return False
    may, must = _unknown(network, len(cases))
    moves_must = np.zeros((len(cases), len(network.moves)), np.bool_)
    moves_may = moves_must.copy()
    chance = network.random_role
    by_chance = slice(*network.move_start[chance : chance + 2]) if chance >= 0 else slice(0)
    for i, (k, m) in enumerate(cases):
        may[i, control] = must[i, control] = np.arange(len(control)) == k
        moves_must[i] = forced[k]
        moves_must[i, m] = True
        moves_may[i] = moves_must[i]
        if owners[k] != chance:
            moves_may[i, by_chance] = legal[k, by_chance]
    next_may, next_must = evaluate_phase2(network, may, must, moves_may, moves_must)
    next_may, next_must = next_may[:, control], next_must[:, control]
    return bool((next_may == next_must).all() and (next_must.sum(1) == 1).all())


def prove_max_plies(network: Network) -> int:
    """Return a bound on the length of games that a step counter proves, or 0.

    A step counter is a group of fluents that differ in one argument, such as `(step 1)`,
    `(step 2)`. Exactly one of them is true, the next one depends on nothing else, and one of them
    ends the game.
    """
    bounds = [_count_steps(network, group) for group in _counter_groups(network)]
    return min((bound for bound in bounds if bound), default=0)


def _counter_groups(network: Network) -> list[list[int]]:
    """Return groups of fluents that differ in one argument, of which one is initially true."""
    groups: dict[Term, list[int]] = defaultdict(list)
    for number, text in enumerate(network.fluents):
        term = _term(text)
        if isinstance(term, tuple):
            for i in range(1, len(term)):
                groups[(*term[:i], "?", *term[i + 1 :])].append(number)
    return [
        group
        for group in groups.values()
        if 1 < len(group) <= MAX_CASES and network.initial[group].sum() == 1
    ]


def _count_steps(network: Network, group: list[int]) -> int:
    """Return the number of steps until a counter ends the game, or 0 if it is not a counter."""
    size = len(group)
    may, must = _unknown(network, size)
    may[:, group] = must[:, group] = np.eye(size, dtype=np.bool_)
    moves = len(network.moves)
    any_move = np.ones((size, moves), np.bool_)
    no_move = np.zeros((size, moves), np.bool_)
    value = int(np.flatnonzero(network.initial[group])[0])
    probe = slice(value, value + 1)
    first = evaluate_phase2(network, may[probe], must[probe], any_move[probe], no_move[probe])
    if not (first[0][:, group] == first[1][:, group]).all():
        return 0  # most groups are not counters
    ends = evaluate_phase1(network, may, must)[1][:, -1]
    next_may, next_must = evaluate_phase2(network, may, must, any_move, no_move)
    next_may, next_must = next_may[:, group], next_must[:, group]
    for steps in range(size + 1):
        if ends[value]:
            return max(steps, 1)
        row = next_must[value]
        if row.sum() != 1 or not np.array_equal(row, next_may[value]):
            return 0
        value = int(np.flatnonzero(row)[0])
    return 0


def describe_faults(
    network: Network, result: BatchResult, games: int, rounds: int
) -> tuple[str, ...]:
    """Return the faults that random games showed, given the number of games and of their moves."""
    warnings = []
    if not result.games:
        warnings.append(
            f"none of {games} random games ended within {rounds} moves: perhaps no game ever ends"
        )
    if result.stuck:
        warnings.append(
            f"in {result.stuck:,} of {result.steps:,} states of random games that are not terminal "
            "a role has no legal move: games end there"
        )
    for role, count in zip(network.roles, result.bad_goals, strict=True):
        if count:
            warnings.append(
                f"at the end of {count:,} of {result.games:,} random games {role} does not have "
                "exactly one goal"
            )
    return tuple(warnings)
