"""Checks of rule sheets against the specification of GDL, before anything is compiled.

Section numbers are those of Love et al., "General Game Playing: Game Description Language
Specification" (Stanford Logic Group, LG-2006-01), sections 4 and 5. `sees` and the role `random`
are those of GDL-II: Thielscher, "A general game description language for incomplete information
games" (AAAI 2010).
"""

from collections import deque

from ludoteca.envs.gdl.constants import check_constants
from ludoteca.envs.gdl.errors import GDLError
from ludoteca.envs.gdl.graph import components, reachable, reversed_edges
from ludoteca.envs.gdl.growth import growing_rules
from ludoteca.envs.gdl.parse import Term, is_variable, show, variables
from ludoteca.envs.gdl.problems import Problem, Severity, problem_of_rule, problem_of_sheet
from ludoteca.envs.gdl.rules import ARITIES, LISTINGS, RANDOM, Rule, dependencies

MAX_GOAL = 100
MAX_PATH = 20  # relations of a path in a message
MAX_PLAYERS = 8  # `game.py` has letters and colors for 8 players
# For each relation, those on which it must not depend, directly or through others. `legal`, `goal`
# and `terminal` are computed before moves are made (`does`); `init` and `role` before any state.
FORBIDDEN = {
    "legal": ("does",),
    "goal": ("does",),
    "terminal": ("does",),
    "init": ("true", "does", "next", "legal", "goal", "terminal"),
    "role": ("true", "does", "next", "legal", "goal", "terminal", "init"),
}
FORBIDDEN_IN_BODY = ("init", "next", "sees")  # relations that must not occur in a body


def check_rules(rules: list[Rule]) -> list[Problem]:
    """Return all problems of a sheet, errors first."""
    graph = dependencies(rules)
    problems = [
        *_check_relations(rules),
        *_check_roles(rules),
        *check_constants(rules),
        *_check_safety(rules),
        *_check_dependencies(rules, graph),
        *_check_cycles(rules, graph),
        *_check_growth(rules),
    ]
    unique = dict.fromkeys(problems)
    return sorted(unique, key=lambda problem: (problem.severity, problem.line, problem.column))


def require_valid(rules: list[Rule], name: str) -> list[Problem]:
    """Return the warnings about a sheet; `name` is its name in the error message.

    Raises:
        GDLError: if there are errors; the message has the first five.
    """
    problems = check_rules(rules)
    errors = [problem for problem in problems if problem.severity == "error"]
    if not errors:
        return problems
    shown = "; ".join(map(str, errors[:5]))
    others = f"; and {len(errors) - 5} more" if len(errors) > 5 else ""
    raise GDLError(f"{name}: {shown}{others}")


def _name(atom: tuple[Term, ...]) -> str:
    """Return the relation of an atom."""
    return str(atom[0])


def _check_relations(rules: list[Rule]) -> list[Problem]:
    """Check that roles, legal moves, goals and a terminal state exist (sections 4.1 to 4.5)."""
    problems = []
    heads = {_name(rule.head) for rule in rules}
    roles = []
    for rule in rules:
        if rule.head[0] == "role":
            if rule.positive or rule.negative or any(True for _ in variables(rule.head)):
                problems.append(problem_of_rule(rule, f"a role must be a fact, got {rule}"))
            else:
                roles.append(rule.head[1])
    if not roles and not problems:
        problems.append(problem_of_sheet("the sheet has no role, such as (role white)"))
    players = set(roles) - {RANDOM}
    if roles and not players:
        problems.append(
            problem_of_sheet("the sheet has no player: its only role is random, chance")
        )
    if len(players) > MAX_PLAYERS:
        text = f"the sheet has {len(players)} players, at most {MAX_PLAYERS} are supported"
        problems.append(problem_of_sheet(text))
    for name, example in (
        ("legal", "(<= (legal white noop) ...)"),
        ("goal", "(<= (goal white 100) ...)"),
        ("terminal", "(<= terminal ...)"),
    ):
        if name not in heads:
            problems.append(
                problem_of_sheet(f"the sheet has no rule for {name}, such as {example}")
            )
    for name in ("init", "next"):
        if name not in heads:
            problems.append(problem_of_sheet(f"the sheet has no rule for {name}", "warning"))
    for rule in rules:
        role = rule.head[1] if rule.head[0] == "sees" else None
        if isinstance(role, str) and not role.startswith("?") and role not in roles:
            text = f"sees is for {role}, which is not a role: nobody has this percept"
            problems.append(problem_of_rule(rule, text, "warning"))
    defined = heads | set(ARITIES) - set(LISTINGS)
    for rule in rules:
        for atom in rule.positive + rule.negative:
            if atom[0] not in defined:
                text = f"nothing defines {_name(atom)}, in the rule for {show(rule.head):.60}"
                problems.append(problem_of_rule(rule, text, "warning"))
    return problems


def _check_roles(rules: list[Rule]) -> list[Problem]:
    """Check that each role has moves and each player a goal, from 0 to 100 (sections 4.3, 4.4).

    Only constants in heads are considered: a variable may stand for any role and any goal.
    """
    problems = []
    roles = {rule.head[1]: rule for rule in reversed(rules) if rule.head[0] == "role"}
    of_relation: dict[Term, set[Term]] = {"legal": set(), "goal": set()}  # first arguments
    for rule in rules:
        if rule.head[0] not in of_relation:
            continue
        role, value = rule.head[1:]
        of_relation[rule.head[0]].add(role)
        is_goal = is_variable(value) or (
            isinstance(value, str) and value.isdecimal() and int(value) <= MAX_GOAL
        )
        if rule.head[0] == "goal" and not is_goal and (role in roles or is_variable(role)):
            text = f"a goal must be an integer from 0 to {MAX_GOAL}, got {show(rule.head):.80}"
            problems.append(problem_of_rule(rule, text))
    for relation, what in (("legal", "legal move"), ("goal", "goal")):
        named = of_relation[relation]
        if not named or any(map(is_variable, named)):
            continue  # no rule at all is another problem
        for role, rule in roles.items():
            if role not in named and not (role == RANDOM and relation == "goal"):
                text = f"the role {show(role)} never has a {what}: no rule for {relation} names it"
                problems.append(problem_of_rule(rule, text))
    return problems


def _check_safety(rules: list[Rule]) -> list[Problem]:
    """Check that each variable occurs in a positive literal of the body (section 4.6, safety)."""
    problems = []
    for rule in rules:
        bound = {name for atom in rule.positive for name in variables(atom)}
        places = [("the head", rule.head)]
        places += [("(not ...)", atom) for atom in rule.negative]
        places += [("(distinct ...)", pair) for pair in rule.distinct + rule.equal]
        for where, term in places:
            for name in dict.fromkeys(variables(term)):
                if name not in bound:
                    text = (
                        f"the variable {name} in {where} is in no positive literal of the body: "
                        f"{rule!s:.160}"
                    )
                    problems.append(problem_of_rule(rule, text))
                    bound.add(name)  # one problem per variable
    return problems


def _check_dependencies(rules: list[Rule], graph: dict[str, set[str]]) -> list[Problem]:
    """Check that no relation depends on one in `FORBIDDEN` (sections 4.2 to 4.5)."""
    problems = []
    reverse = reversed_edges(graph)
    for head, forbidden in FORBIDDEN.items():
        reached = reachable(graph.get(head, ()), lambda name: graph.get(name, ()))
        for name in reached.intersection(forbidden):
            onward = _shortest_paths(name, reverse)
            for rule in rules:
                names = [_name(atom) for atom in rule.positive + rule.negative]
                found = [name] if name in names else [other for other in names if other in onward]
                if rule.head[0] == head and found:
                    text = f"{head} must not depend on {name}"
                    if found[0] != name:
                        text += f", but does: {_path(head, found[0], onward)}"
                    problems.append(problem_of_rule(rule, text))
    for rule in rules:
        for atom in rule.positive + rule.negative:
            if atom[0] in FORBIDDEN_IN_BODY:
                text = f"{atom[0]} must not occur in a body: {rule!s:.120}"
                problems.append(problem_of_rule(rule, text))
    return problems


def _shortest_paths(name: str, reverse: dict[str, set[str]]) -> dict[str, str]:
    """Return the next relation on a shortest path to `name`, for all that depend on it."""
    onward: dict[str, str] = {}
    queue = deque([name])
    while queue:
        reached = queue.popleft()
        for other in sorted(reverse.get(reached, ())):
            if other not in onward and other != name:
                onward[other] = reached
                queue.append(other)
    return onward


def _path(head: str, start: str, onward: dict[str, str]) -> str:
    """Return a path of relations as text, such as `"legal <- moves <- does"`."""
    path = [head, start]
    while path[-1] in onward and len(path) < MAX_PATH:
        path.append(onward[path[-1]])
    return " <- ".join(path + ["..."] * (path[-1] in onward))


def _check_cycles(rules: list[Rule], graph: dict[str, set[str]]) -> list[Problem]:
    """Check stratified negation and restricted recursion (section 4.6, definitions 13 and 15).

    Each argument of a recursive literal must be ground, an argument of the head, or an argument of
    a literal outside the cycle. Rules that violate this restriction can still be compiled if they
    have finitely many instances.
    """
    problems = []
    component_of = {}
    for number, component in enumerate(components(graph, lambda name: graph.get(name, ()))):
        component_of.update(dict.fromkeys(component, number))
    for rule in rules:
        head = component_of[_name(rule.head)]
        for atom in rule.negative:
            if component_of[_name(atom)] == head:
                text = (
                    f"{_name(rule.head)} depends on its own negation by (not {show(atom):.60}): "
                    "negation must be stratified"
                )
                # Some published sheets define one goal by the negation of another.
                severity: Severity = "warning" if rule.head[0] == "goal" else "error"
                problems.append(problem_of_rule(rule, text, severity))
        outside = set[str]()
        for atom in rule.positive:
            if component_of[_name(atom)] != head:
                outside.update(item for item in atom[1:] if isinstance(item, str))
        for atom in rule.positive:
            if component_of[_name(atom)] != head:
                continue
            for argument in atom[1:]:
                ground = next(variables(argument), None) is None
                if not (ground or argument in rule.head[1:] or argument in outside):
                    text = (
                        f"the argument {show(argument):.40} of the recursive literal "
                        f"{show(atom):.60} is neither in the head nor in another literal"
                    )
                    problems.append(problem_of_rule(rule, text, "warning"))
    return problems


def _check_growth(rules: list[Rule]) -> list[Problem]:
    """Check that terms cannot grow without end, as far as the rules show it."""
    return [
        problem_of_rule(rule, f"terms may grow without end: {rule!s:.160}", "warning")
        for rule in growing_rules(rules)
    ]
