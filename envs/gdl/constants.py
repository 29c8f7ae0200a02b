"""Check that each constant of a sheet has one meaning, and one number of arguments.

The specification (Love et al., LG-2006-01, section 4) distinguishes constants of objects, functions
and relations, the last two with a number of arguments each. Different numbers of arguments of a
relation are an error. A function with different numbers of arguments, and an object that is also a
function or a relation, are warnings: such sheets can be played. Functions and relations often have
the same names.
"""

from collections import defaultdict
from collections.abc import Iterator

from ludoteca.envs.gdl.errors import counted
from ludoteca.envs.gdl.parse import Term, show
from ludoteca.envs.gdl.problems import Problem, problem_of_rule
from ludoteca.envs.gdl.rules import ARITIES, Rule

Place = tuple[Rule, Term]  # where a constant occurs first with a meaning


def check_constants(rules: list[Rule]) -> list[Problem]:
    """Return the problems of constants with several meanings."""
    relations: dict[str, tuple[int, Rule]] = {}  # number of arguments, and first rule
    functions: dict[str, dict[int, Place]] = defaultdict(dict)  # by this number; 0: an object
    problems = []
    for rule in rules:
        for atom in (rule.head, *rule.positive, *rule.negative):
            name, arity = str(atom[0]), len(atom) - 1
            expected, first = relations.setdefault(name, (arity, rule))
            if arity != expected:
                text = (
                    f"{name} has {counted(arity, 'argument')} in {show(atom):.60}, and {expected} "
                    f"in line {first.line}"
                )
                problems.append(problem_of_rule(rule, text))
        for term in _terms(rule):
            named = (term,) if isinstance(term, str) else term
            functions[str(named[0])].setdefault(len(named) - 1, (rule, term))
    for name, by_arity in functions.items():
        (arity, (first, term)), *others_of_name = by_arity.items()
        for other, (rule, other_term) in others_of_name:
            text = (
                f"{name} is {_kind(other)} in {show(other_term):.60}, and {_kind(arity)} in "
                f"{show(term):.60} in line {first.line}: each constant should have one meaning"
            )
            problems.append(problem_of_rule(rule, text, "warning"))
        if 0 in by_arity and name in relations and name not in ARITIES:
            rule, _ = by_arity[0]
            text = (
                f"{name} is an object in line {rule.line}, and a relation in line "
                f"{relations[name][1].line}: each constant should have one meaning"
            )
            problems.append(problem_of_rule(rule, text, "warning"))
    return problems


def _kind(arity: int) -> str:
    """Return the description of a constant of a term with this number of arguments."""
    return f"a function of {counted(arity, 'argument')}" if arity else "an object"


def _terms(rule: Rule) -> Iterator[Term]:
    """Yield the terms in a rule, except variables, and the terms inside them."""
    atoms = (rule.head, *rule.positive, *rule.negative)
    stack: list[Term] = [term for pair in rule.distinct + rule.equal for term in pair]
    stack += [term for atom in reversed(atoms) for term in reversed(atom[1:])]
    while stack:
        term = stack.pop()
        if not isinstance(term, str):
            stack += reversed(term[1:])
        elif term[0] == "?":
            continue
        yield term
