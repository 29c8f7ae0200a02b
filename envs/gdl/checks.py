"""Checks of rule sheets against the specification of GDL, before anything is compiled.

Section numbers are those of Love et al., "General Game Playing: Game Description Language
Specification" (Stanford Logic Group, LG-2006-01), sections 4 and 5. `sees` and the role `random`
are those of GDL-II: Thielscher, "A general game description language for incomplete information
games" (AAAI 2010).
"""

from dataclasses import dataclass
from typing import Literal

from ludoteca.envs.gdl.errors import GDLError
from ludoteca.envs.gdl.graph import components, reachable
from ludoteca.envs.gdl.parse import Term, show, variables
from ludoteca.envs.gdl.rules import ARITIES, RANDOM, Rule, dependencies

Severity = Literal["error", "warning"]
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


@dataclass(frozen=True, slots=True)
class Problem:
    """Violation of the specification by a sheet.

    Attributes:
        line: its line, or 0 if it concerns the whole sheet.
        text: description.
        severity: `"error"`: the sheet cannot be compiled; `"warning"`: it can be compiled, unless
            that exceeds a limit.
    """

    line: int
    text: str
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


def check_rules(rules: list[Rule]) -> list[Problem]:
    """Return all problems of a sheet, errors first."""
    graph = dependencies(rules)
    problems = [
        *_check_relations(rules),
        *_check_arities(rules),
        *_check_safety(rules),
        *_check_dependencies(rules, graph),
        *_check_cycles(rules, graph),
    ]
    unique = dict.fromkeys(problems)
    return sorted(unique, key=lambda problem: (problem.severity, problem.line))


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
                problems.append(Problem(rule.line, f"a role must be a fact, got {rule}"))
            else:
                roles.append(rule.head[1])
    if not roles and not problems:
        problems.append(Problem(0, "the sheet has no role, such as (role white)"))
    players = set(roles) - {RANDOM}
    if roles and not players:
        problems.append(Problem(0, "the sheet has no player: its only role is random, chance"))
    if len(players) > MAX_PLAYERS:
        text = f"the sheet has {len(players)} players, at most {MAX_PLAYERS} are supported"
        problems.append(Problem(0, text))
    for name, example in (
        ("legal", "(<= (legal white noop) ...)"),
        ("goal", "(<= (goal white 100) ...)"),
        ("terminal", "(<= terminal ...)"),
    ):
        if name not in heads:
            problems.append(Problem(0, f"the sheet has no rule for {name}, such as {example}"))
    for name in ("init", "next"):
        if name not in heads:
            problems.append(Problem(0, f"the sheet has no rule for {name}", "warning"))
    for rule in rules:
        role = rule.head[1] if rule.head[0] == "sees" else None
        if isinstance(role, str) and not role.startswith("?") and role not in roles:
            text = f"sees is for {role}, which is not a role: nobody has this percept"
            problems.append(Problem(rule.line, text, "warning"))
    defined = heads | set(ARITIES)
    for rule in rules:
        for atom in rule.positive + rule.negative:
            if atom[0] not in defined:
                text = f"nothing defines {_name(atom)}, in the rule for {show(rule.head):.60}"
                problems.append(Problem(rule.line, text, "warning"))
    return problems


def _check_arities(rules: list[Rule]) -> list[Problem]:
    """Check that each relation always has the same number of arguments (section 4.6)."""
    first: dict[str, tuple[int, int]] = {}
    problems = []
    for rule in rules:
        for atom in (rule.head, *rule.positive, *rule.negative):
            name, arity = _name(atom), len(atom) - 1
            expected, line = first.setdefault(name, (arity, rule.line))
            if arity != expected:
                text = (
                    f"{name} has {arity} arguments in {show(atom):.60}, and {expected} in line "
                    f"{line}"
                )
                problems.append(Problem(rule.line, text))
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
                    problems.append(Problem(rule.line, text))
                    bound.add(name)  # one problem per variable
    return problems


def _check_dependencies(rules: list[Rule], graph: dict[str, set[str]]) -> list[Problem]:
    """Check that no relation depends on one in `FORBIDDEN` (sections 4.2 to 4.5)."""
    problems = []
    lines = {_name(rule.head): rule.line for rule in reversed(rules)}
    for head, forbidden in FORBIDDEN.items():
        reached = reachable(graph.get(head, ()), lambda name: graph.get(name, ()))
        for name in forbidden:
            if name in reached:
                problems.append(Problem(lines.get(head, 0), f"{head} must not depend on {name}"))
    for rule in rules:
        for atom in rule.positive + rule.negative:
            if atom[0] in FORBIDDEN_IN_BODY:
                text = f"{atom[0]} must not occur in a body: {rule!s:.120}"
                problems.append(Problem(rule.line, text))
    return problems


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
                problems.append(Problem(rule.line, text, severity))
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
                    problems.append(Problem(rule.line, text, "warning"))
    return problems
