"""Rules by which terms may grow without end, such as `(<= (next (n (s ?x))) (true (n ?x)))`.

Terms of a sheet have bounded depth if its rules are argument-restricted: Lierler and Lifschitz,
"One More Decidable Class of Finitely Ground Programs" (ICLP 2009), definition 1. Each argument of a
relation needs a rank, a number from 0 on, such that for each variable X of an argument of a rule's
head, some argument of a positive literal has X, and

    rank(argument of the head) - rank(argument of the literal)
        >= depth of X in the argument of the head - depth of X in the argument of the literal.

Fluents and moves count as relations of their own here, `next` and `init` as `true`, and `legal` as
`does`, since each state follows from the last one.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import inf, prod

from ludoteca.envs.gdl.graph import components
from ludoteca.envs.gdl.parse import Term, is_variable
from ludoteca.envs.gdl.rules import Atom, Rule

Argument = tuple[object, int]  # a relation and the number of an argument, from 1
MAX_RANK = 200  # higher ranks count as infinite; the compiler allows no deeper terms
# Number of evaluated bounds after which each rank that still rises counts as infinite.
MAX_EVALUATIONS = 1_000_000
MAX_KINDS = 10_000  # of terms of the variables in one rule
STATE = {"true": "true", "init": "true", "next": "true", "does": "does", "legal": "does"}


@dataclass(frozen=True, slots=True)
class _Bound:
    """Bound on the rank of an argument of a head, by one variable.

    Attributes:
        argument: the argument of the head.
        others: arguments of positive literals that have the variable; by each, how much deeper the
            variable is nested in the head.
        rule: the rule.
    """

    argument: Argument
    others: dict[Argument, int]
    rule: Rule


def growing_rules(rules: list[Rule]) -> list[Rule]:
    """Return rules that nest terms deeper each time they are applied, with nothing to end it.

    There is at least one if the rules are not argument-restricted. Such a sheet may still have
    finitely many terms.
    """
    bounds = [bound for rule in _with_known_terms(rules) for bound in _bounds(rule)]
    of_argument: dict[Argument, list[_Bound]] = defaultdict(list)
    graph: dict[Argument, set[Argument]] = defaultdict(set)
    for bound in bounds:
        of_argument[bound.argument].append(bound)
        graph[bound.argument] |= bound.others.keys()
    ranks: dict[Argument, float] = defaultdict(float)
    growing: dict[tuple[int, int], Rule] = {}
    for component in components(list(graph), lambda argument: graph.get(argument, ())):
        own = [bound for argument in component for bound in of_argument.get(argument, ())]
        _rank(own, set(component), ranks)
        for bound in own:
            deeper = max(bound.others.values()) > 0
            if deeper and _least(bound, ranks) == inf and bound.others.keys() & set(component):
                growing.setdefault((bound.rule.line, bound.rule.column), bound.rule)
    return list(growing.values())


def _least(bound: _Bound, ranks: dict[Argument, float]) -> float:
    """Return the least rank of the argument of a head that satisfies a bound."""
    return max(0, min(ranks[other] + deeper for other, deeper in bound.others.items()))


def _rank(bounds: list[_Bound], component: set[Argument], ranks: dict[Argument, float]) -> None:
    """Set the least ranks of the arguments in a component; infinity if there are none.

    Args:
        bounds: the bounds on these ranks.
        component: arguments that depend on each other.
        ranks: the ranks of other arguments; the results are added.
    """
    users: dict[Argument, list[_Bound]] = defaultdict(list)
    for bound in bounds:
        for other in bound.others.keys() & component:
            users[other].append(bound)
    queue, evaluations = deque(bounds), 0
    while queue:
        bound, evaluations = queue.popleft(), evaluations + 1
        rank = _least(bound, ranks)
        if rank > ranks[bound.argument]:
            is_finite = rank <= MAX_RANK and evaluations <= MAX_EVALUATIONS
            ranks[bound.argument] = rank if is_finite else inf
            queue += users[bound.argument]


def _bounds(rule: Rule) -> Iterator[_Bound]:
    """Yield the bounds on the ranks of the arguments of a rule's head."""
    places: dict[str, dict[Argument, int]] = defaultdict(dict)  # depths of each variable
    for atom in rule.positive:
        for argument, name, depth in _variables(atom):
            places[name][argument] = max(depth, places[name].get(argument, 0))
    for argument, name, depth in _variables(rule.head):
        if name in places:
            others = {other: depth - least for other, least in places[name].items()}
            yield _Bound(argument, others, rule)


def _variables(atom: Atom) -> Iterator[tuple[Argument, str, int]]:
    """Yield the argument, the name and the depth of each variable in an atom."""
    relation: object = atom[0]
    arguments = atom[1:]
    if relation in STATE:
        term = atom[-1]
        fluent = (term,) if isinstance(term, str) else term
        relation = (STATE[str(relation)], fluent[0], len(fluent))
        arguments = (*atom[1:-1], *fluent[1:])
    for number, term in enumerate(arguments, 1):
        for name, depth in _depths(term):
            yield (relation, number), name, depth


def _depths(term: Term, depth: int = 0) -> Iterator[tuple[str, int]]:
    """Yield the variables of a term with the number of terms around each of them."""
    if isinstance(term, str):
        if term[0] == "?":
            yield term, depth
    else:
        for item in term[1:]:
            yield from _depths(item, depth + 1)


def _with_known_terms(rules: list[Rule]) -> Iterator[Rule]:
    """Yield the rules, with each possible kind of term for variables that are fluents or moves."""
    known: dict[str, set[tuple[str, int]]] = {"true": set(), "does": set()}
    for rule in rules:
        if rule.head[0] in ("init", "next", "legal") and isinstance(rule.head[-1], tuple):
            term = rule.head[-1]
            known[STATE[str(rule.head[0])]].add((str(term[0]), len(term)))
    for rule in rules:
        kinds = {
            str(atom[-1]): known[STATE[str(atom[0])]]
            for atom in (rule.head, *rule.positive)
            if atom[0] in STATE and is_variable(atom[-1]) and known[STATE[str(atom[0])]]
        }
        if prod(map(len, kinds.values())) > MAX_KINDS:
            kinds = {}
        for chosen in product(*map(sorted, kinds.values())):
            terms: dict[str, Term] = {
                name: (functor, *(f"{name} {i}" for i in range(1, length)))
                for name, (functor, length) in zip(kinds, chosen, strict=True)
            }
            yield _substituted(rule, terms) if terms else rule


def _substituted(rule: Rule, terms: dict[str, Term]) -> Rule:
    """Return a rule with terms in place of variables in its head and positive literals."""

    def put(atom: Iterable[Term]) -> Atom:
        return tuple(terms.get(item, item) if isinstance(item, str) else put(item) for item in atom)

    return replace(rule, head=put(rule.head), positive=[put(atom) for atom in rule.positive])
