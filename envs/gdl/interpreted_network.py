"""Network and dynamics of a sheet that is interpreted: numbered fluents and moves, but no gates."""

import hashlib
import random

import numpy as np

from ludoteca.envs.gdl.batch import BatchResult
from ludoteca.envs.gdl.dynamics import (
    LARGEST_LIMIT,
    LIMIT_FACTOR,
    SMALLEST_LIMIT,
    Dynamics,
    choose_control,
    control_candidates,
    describe_faults,
)
from ludoteca.envs.gdl.errors import GDLError
from ludoteca.envs.gdl.interpreter import Interpreter, State, make_interpreter
from ludoteca.envs.gdl.limits import MAX_INSTANCES, MAX_SECONDS
from ludoteca.envs.gdl.network import Network, natural_key
from ludoteca.envs.gdl.parse import Term, parse, show
from ludoteca.envs.gdl.rule_calls import RuleEvaluation
from ludoteca.envs.gdl.rules import RANDOM
from ludoteca.envs.gdl.vocabulary import find_vocabulary

MAX_GAMES, MAX_POSITIONS = 20, 300  # of the random games of the analysis


def interpret_text(text: str, name: str = "sheet") -> tuple[Network, Dynamics]:
    """Return the network and the dynamics of the text of a rule sheet, without compiling it.

    The network has no gates; its phases are evaluated by the interpreter. The dynamics are those of
    random games: nothing is proved.

    Raises:
        GDLError: if it is not a valid rule sheet, or a role has no moves.
        GDLLimitError: if the fluents and moves cannot be found within the limits, or there are too
            many.
    """
    interpreter = make_interpreter(text, name)
    fluents, moves, percepts = find_vocabulary(interpreter, MAX_SECONDS, MAX_INSTANCES)
    fluents.sort(key=natural_key)
    for role, role_percepts in zip(interpreter.roles, percepts, strict=True):
        role_percepts.sort(key=natural_key)
        if role == RANDOM:
            role_percepts.clear()
    for role, role_moves in zip(interpreter.roles, moves, strict=True):
        role_moves.sort(key=natural_key)
        if not role_moves:
            raise GDLError(f"the role {show(role)} never has a legal move")
    values = _goal_values(interpreter)
    goal_roles = np.repeat(np.arange(len(interpreter.roles), dtype=np.int32), len(values))
    goal_values = np.tile(np.array(values, np.int32), len(interpreter.roles))
    evaluation = RuleEvaluation(interpreter, fluents, moves, goal_roles, goal_values, percepts)
    phase1, phase2, phase3 = evaluation.programs(
        hashlib.sha256(text.encode(errors="replace")).hexdigest()
    )
    network = Network(
        roles=tuple(map(show, interpreter.roles)),
        fluents=tuple(map(show, fluents)),
        moves=tuple(show(move) for role_moves in moves for move in role_moves),
        move_start=np.cumsum([0, *map(len, moves)]).astype(np.int32),
        initial=np.array([fluent in interpreter.initial for fluent in fluents], np.bool_),
        persistent=np.zeros(len(fluents), np.bool_),
        goal_roles=goal_roles,
        goal_values=goal_values,
        percepts=tuple(show(percept) for role_percepts in percepts for percept in role_percepts),
        percept_roles=np.repeat(np.arange(len(percepts), dtype=np.int32), [*map(len, percepts)]),
        has_hidden_information=any(rule.head[0] == "sees" for rule in interpreter.rules),
        phase1=phase1,
        phase2=phase2,
        phase3=phase3,
        problems=interpreter.problems,
    )
    return network, observe_dynamics(interpreter, network)


def observe_dynamics(interpreter: Interpreter, network: Network, seed: int = 0) -> Dynamics:
    """Return the dynamics that random games show: at most 20 games and 300 positions."""
    candidates = control_candidates(network)
    terms = {fluent: parse(fluent)[0].term for fluent in network.fluents}
    groups = [
        [terms[network.fluents[f]] if f >= 0 else "" for f in group]
        for group in candidates.tolist()
    ]
    result = _play_random_games(interpreter, network, groups, random.Random(seed))
    limit = np.clip(LIMIT_FACTOR * max(result.longest, 1), SMALLEST_LIMIT, LARGEST_LIMIT)
    if not result.games:
        limit = np.clip(LIMIT_FACTOR * MAX_POSITIONS, SMALLEST_LIMIT, LARGEST_LIMIT)
    return Dynamics(
        sequential=len(network.players) == 1 or result.two_choosers == 0,
        proved=len(network.players) == 1,
        moves_proved=len(network.players) == 1,
        control=choose_control(network, candidates, result),
        waits=np.zeros(len(network.moves), np.bool_),
        max_plies=int(limit),
        max_plies_proved=False,
        # One game: if it did not end, it filled all positions (unless it was stuck).
        warnings=describe_faults(network, result, 1, MAX_POSITIONS),
        random_games=result,
    )


def _play_random_games(
    interpreter: Interpreter, network: Network, groups: list[list[Term]], rng: random.Random
) -> BatchResult:
    """Return statistics of random games, without `waits`.

    `groups` are the candidates for fluents that name the role to move, one term per role; `""`
    stands for none.
    """
    roles = len(network.roles)
    goal_numbers = {
        (int(role), int(value)): number
        for number, (role, value) in enumerate(
            zip(network.goal_roles, network.goal_values, strict=True)
        )
    }
    goal_counts = np.zeros(len(network.goal_roles), np.int64)
    bad_goals, errors = np.zeros(roles, np.int64), np.zeros(len(groups), np.int64)
    games = steps = longest = stuck = other_sums = two_choosers = plies = 0
    state: State = interpreter.initial
    for _ in range(MAX_POSITIONS):
        if games == MAX_GAMES:
            break
        if interpreter.is_terminal(state):
            goals = interpreter.goals(state)
            other_sums += sum(sum(goals[player]) for player in network.players) != 100
            for role, values in enumerate(goals):
                bad_goals[role] += len(values) != 1 and role in network.players
                for value in values:
                    goal_counts[goal_numbers[role, value]] += 1
            games, longest, plies = games + 1, max(longest, plies), 0
            state = interpreter.initial
            continue
        legal = interpreter.legal(state)
        choosers = [role for role in network.players if len(legal[role]) > 1]
        two_choosers += len(choosers) > 1
        for number, group in enumerate(groups):
            holding = [role for role, fluent in enumerate(group) if fluent in state]
            errors[number] += len(holding) != 1 or (choosers != [] and choosers != holding)
        if not all(legal):
            stuck, plies, state = stuck + 1, 0, interpreter.initial
            continue
        joint = [rng.choice(sorted(moves, key=natural_key)) for moves in legal]
        state, steps, plies = interpreter.next(state, joint), steps + 1, plies + 1
    waits = np.zeros(len(network.moves), np.int64)
    return BatchResult(
        games,
        steps,
        goal_counts,
        longest,
        stuck,
        bad_goals,
        other_sums,
        two_choosers,
        waits,
        errors,
    )


def _goal_values(interpreter: Interpreter) -> list[int]:
    """Return the goals that the rules name, or all from 0 to 100 if they compute one."""
    terms = {rule.head[2] for rule in interpreter.rules if rule.head[0] == "goal"}
    if all(isinstance(term, str) and term.isdecimal() and int(term) <= 100 for term in terms):
        return sorted({int(str(term)) for term in terms})
    return list(range(101))
