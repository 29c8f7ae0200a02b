"""Rules of a sheet in disjunctive normal form: each body is a conjunction of literals.

In the private functions, `where` is the name of the sheet, line and column, for messages.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import islice

from ludoteca.envs.gdl.errors import GDLError, GDLLimitError, counted
from ludoteca.envs.gdl.graph import reachable
from ludoteca.envs.gdl.parse import Statement, Term, show

Atom = tuple[Term, ...]

RANDOM = "random"  # the role that stands for chance; it is not a player
MAX_CONJUNCTIONS = 20_000  # in the disjunctive normal form of one rule
# Relations that the language defines, with the number of their arguments.
ARITIES = {
    "role": 1, "init": 1, "true": 1, "does": 2, "next": 1, "legal": 2, "goal": 2, "terminal": 0,
    "base": 1, "input": 2, "sees": 2, "distinct": 2,
}  # fmt: skip
# Relations that list all fluents and moves for programs that do not find them; games do not need
# them, unless the rules of other relations use them.
LISTINGS = ("base", "input")


@dataclass(slots=True)
class Rule:
    """Rule whose body is a conjunction; a fact has an empty body.

    Attributes:
        head: the conclusion.
        positive: atoms that must hold.
        negative: atoms that must not hold.
        distinct: pairs of terms that must differ.
        equal: pairs of terms that must be the same.
        line: line of the rule in the sheet; 0 for a rule that is not in the sheet.
        column: column of the rule in this line.
    """

    head: Atom
    positive: list[Atom] = field(default_factory=list)
    negative: list[Atom] = field(default_factory=list)
    distinct: list[tuple[Term, Term]] = field(default_factory=list)
    equal: list[tuple[Term, Term]] = field(default_factory=list)
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        body = [show(atom) for atom in self.positive]
        body += [f"(not {show(atom)})" for atom in self.negative]
        body += [f"(distinct {show(a)} {show(b)})" for a, b in self.distinct]
        body += [f"(not (distinct {show(a)} {show(b)}))" for a, b in self.equal]
        return f"(<= {' '.join([show(self.head), *body])})" if body else show(self.head)


def dependencies(rules: Iterable[Rule]) -> dict[str, set[str]]:
    """Return for each relation the relations in the bodies of its rules."""
    graph: dict[str, set[str]] = {}
    for rule in rules:
        names = graph.setdefault(str(rule.head[0]), set())
        names.update(str(atom[0]) for atom in rule.positive + rule.negative)
    return graph


def read_rules(statements: list[Statement], name: str = "sheet") -> list[Rule]:
    """Return the rules of a sheet.

    Rules of `base` and `input` are left out unless rules of other relations depend on them.
    `or`, and `not` before anything but an atom, are expanded, so one statement may become several
    rules.

    Raises:
        GDLError: if a statement is not a rule, or if a keyword has a wrong number of arguments.
        GDLLimitError: if a rule has more than `MAX_CONJUNCTIONS` alternatives.
    """
    rules = _read(statements, name, LISTINGS)
    if not _used_listings(rules):
        return rules
    rules = _read(statements, name, ())
    unused = set(LISTINGS) - _used_listings(rules)
    return [rule for rule in rules if rule.head[0] not in unused]


def _read(statements: list[Statement], name: str, left_out: Collection[str]) -> list[Rule]:
    """Return the rules of a sheet without those of the relations `left_out`."""
    rules = []
    for statement in statements:
        where = f"{name}, line {statement.line}, column {statement.column}"
        term = statement.term
        head_term: Term = term
        body: tuple[Term, ...] = ()
        if term == "<=" or term == ("<=",):
            raise GDLError(f"{where}: '<=' needs a head")
        if isinstance(term, tuple) and term[0] == "<=":
            head_term, body = term[1], term[2:]
        head = _atom(head_term, where)
        if head[0] in ("true", "does", "distinct", "not", "or", "and", "<="):
            raise GDLError(f"{where}: {head[0]!r} cannot be the head of a rule")
        if head[0] in left_out:
            continue
        for conjunction in _conjunctions(body, where):
            rule = Rule(head, line=statement.line, column=statement.column)
            for holds, atom in conjunction:
                if atom[0] == "distinct":
                    (rule.distinct if holds else rule.equal).append((atom[1], atom[2]))
                elif atom not in (literals := rule.positive if holds else rule.negative):
                    literals.append(atom)
            rules.append(rule)
    return rules


def _used_listings(rules: list[Rule]) -> set[str]:
    """Return those of `LISTINGS` on which other relations depend."""
    graph = dependencies(rules)
    used = reachable(graph.keys() - set(LISTINGS), lambda name: graph.get(name, ()))
    return used & set(LISTINGS)


def _atom(term: Term, where: str) -> Atom:
    """Return a term as an atom: a relation with arguments.

    Raises:
        GDLError: if it is not an atom.
    """
    atom = (term,) if isinstance(term, str) else term
    name = atom[0]
    if not isinstance(name, str) or name[0] == "?":
        raise GDLError(f"{where}: expected a relation, got {show(term):.80}")
    if name in ARITIES and len(atom) != ARITIES[name] + 1:
        raise GDLError(
            f"{where}: {name} takes {counted(ARITIES[name], 'argument')}, got {len(atom) - 1} in "
            f"{show(term):.80}"
        )
    if name == "distinct" or not any(_has_logic(argument) for argument in atom[1:]):
        return atom
    raise GDLError(f"{where}: 'not', 'or' and '<=' cannot stand inside a term: {show(term):.80}")


def _has_logic(term: Term) -> bool:
    """Return whether a term contains `not`, `or` or `<=`."""
    if isinstance(term, str):
        return False
    return term[0] in ("not", "or", "<=") or any(_has_logic(item) for item in term[1:])


def _conjunctions(body: tuple[Term, ...], where: str) -> list[list[tuple[bool, Atom]]]:
    """Return the disjunctive normal form of a body: pairs of (whether it must hold, atom)."""
    return _product([_alternatives(literal, True, where) for literal in body], where)


def _alternatives(literal: Term, holds: bool, where: str) -> list[list[tuple[bool, Atom]]]:
    """Return the disjunctive normal form of a literal if `holds`, else of its negation."""
    name = literal[0] if isinstance(literal, tuple) else literal
    if name == "not":
        if len(literal) != 2 or isinstance(literal, str):
            raise GDLError(f"{where}: 'not' takes one literal, got {show(literal):.80}")
        return _alternatives(literal[1], not holds, where)
    if name in ("or", "and") and isinstance(literal, tuple):
        parts = [_alternatives(part, holds, where) for part in literal[1:]]
        if (name == "or") == holds:
            return [conjunction for part in parts for conjunction in part]
        return _product(parts, where)
    return [[(holds, _atom(literal, where))]]


def _product(
    parts: list[list[list[tuple[bool, Atom]]]], where: str
) -> list[list[tuple[bool, Atom]]]:
    """Return the disjunctive normal form of a conjunction of disjunctive normal forms."""
    conjunctions: list[list[tuple[bool, Atom]]] = [[]]
    for part in parts:
        longer = (left + right for left in conjunctions for right in part)
        conjunctions = list(islice(longer, MAX_CONJUNCTIONS + 1))
        if len(conjunctions) > MAX_CONJUNCTIONS:
            raise GDLLimitError(
                f"{where}: the rule has more than {MAX_CONJUNCTIONS:,} alternatives"
            )
    return conjunctions
