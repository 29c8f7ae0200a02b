"""Estimates of the sizes of relations and joins, from the constants that each argument can have.

The domain of an argument is the set of its possible constants. Domains are over-approximated by
propagation from facts through rules, each argument on its own, so they are found in milliseconds.
A join is assumed to have as many rows as there are combinations of values of its variables, times
the selectivity of each literal: the share of the combinations of its arguments that are facts. This
is the usual estimate of query optimizers (Selinger et al., "Access path selection in a relational
database management system", SIGMOD 1979, section 4), which takes literals as independent.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf, prod

from ludoteca.envs.gdl.parse import Term, variables
from ludoteca.envs.gdl.rules import Atom, Rule

MAX_DEPTH = 4  # nesting of terms to which domains are distinguished
MAX_ROUNDS = 100  # of propagation; domains that still grow are too small
SIZE_ROUNDS = 2  # of the estimation of sizes, each by the sizes of the round before
# Rules of the language: states begin with `init` and continue with `next`; legal moves are made.
FLOWS = (
    Rule(("true", "?x"), [("init", "?x")]),
    Rule(("true", "?x"), [("next", "?x")]),
    Rule(("does", "?r", "?m"), [("legal", "?r", "?m")]),
)


@dataclass(slots=True)
class Domain:
    """Possible terms of an argument.

    Attributes:
        constants: the constants.
        parts: domains of the arguments of compound terms, by name, number of arguments and index.
        is_cut: whether there may be further terms, nested deeper than `MAX_DEPTH`.
    """

    constants: set[str] = field(default_factory=set)
    parts: "dict[tuple[Term, int, int], Domain]" = field(default_factory=dict)
    is_cut: bool = False

    def add(self, other: "Domain", depth: int = 0) -> bool:
        """Add the terms of another domain, and return whether there were new ones."""
        before = len(self.constants), self.is_cut
        self.constants |= other.constants
        self.is_cut |= other.is_cut or (depth >= MAX_DEPTH and bool(other.parts))
        changed = (len(self.constants), self.is_cut) != before
        if depth < MAX_DEPTH:
            for key, part in list(other.parts.items()):
                if key not in self.parts:
                    self.parts[key] = Domain()
                    changed = True
                changed |= self.parts[key].add(part, depth + 1)
        return changed

    def meet(self, other: "Domain") -> "Domain":
        """Return the terms of both domains."""
        keys = self.parts.keys() & other.parts.keys()
        parts = {key: self.parts[key].meet(other.parts[key]) for key in keys}
        return Domain(self.constants & other.constants, parts, self.is_cut or other.is_cut)

    def is_within(self, constants: Collection[str]) -> bool:
        """Return whether all terms are among some constants."""
        return not (self.is_cut or self.parts) and self.constants <= set(constants)

    def size(self) -> int:
        """Return the number of terms, at least 1."""
        sizes: dict[tuple[Term, int], int] = {}
        for (name, length, _), part in self.parts.items():
            sizes[name, length] = sizes.get((name, length), 1) * part.size()
        return max(1, len(self.constants) + sum(sizes.values()))


class Estimates:
    """Estimates of the numbers of rows of relations and of joins.

    Args:
        rules: the rules of a sheet.
        known_size: `known_size(relation)` returns the number of facts of a relation, or None if it
            is not known.
    """

    def __init__(self, rules: Sequence[Rule], known_size: Callable[[str], int | None]):
        self._known_size = known_size
        self._relations: dict[str, Domain] = defaultdict(Domain)
        self._sizes: dict[str, float] = {}  # of relations, where the rules bound them
        derived = [rule for rule in rules if rule.positive]
        for rule in rules:
            self._insert(self._relations[str(rule.head[0])], rule.head, {})
        self._is_complete = self._propagate([*FLOWS, *derived])
        for _ in range(SIZE_ROUNDS):
            self._sizes = self._sum_rows([*FLOWS, *rules])

    def define(self, head: Atom, body: Sequence[Atom]) -> None:
        """Set the domains and the size of a new relation, derived by one rule."""
        domains = self._variables(body)
        name = str(head[0])
        self._insert(self._relations[name], head, domains)
        self._sizes[name] = min(
            self.rows(body), prod(domains[variable].size() for variable in variables(head))
        )

    def rows(self, body: Sequence[Atom]) -> int:
        """Return the estimated number of rows of the join of a body of positive literals."""
        domains = {name: domain.size() for name, domain in self._variables(body).items()}
        rows = float(prod(domains.values()))
        for atom in body:
            combinations = prod(domains[name] for name in set(variables(atom)))
            rows *= min(1.0, self._size(atom) / combinations)
        return max(1, int(rows))

    def possible_terms(self, body: Iterable[Atom]) -> dict[str, Domain]:
        """Return the domains of the variables of a body of positive literals."""
        domains = self._variables(body)
        if self._is_complete:
            return domains
        return {name: Domain(is_cut=True) for name in domains}

    def total(self, rules: Iterable[Rule]) -> int:
        """Return the estimated number of ground instances of some rules."""
        return sum(self.rows(rule.positive) for rule in rules)

    def _sum_rows(self, rules: Sequence[Rule]) -> dict[str, float]:
        """Return the sums of the rows of the rules of each relation."""
        sums: dict[str, float] = defaultdict(float)
        for rule in rules:
            sums[str(rule.head[0])] += self.rows(rule.positive)
        return sums

    def _size(self, atom: Atom) -> float:
        """Return the estimated number of facts that match the constants of an atom."""
        name = str(atom[0])
        node, share = self._relations[name], 1.0
        size: float | None = self._known_size(name)
        if size is None:
            size = self._sizes.get(name, inf)
        whole = 1
        for i, item in enumerate(atom[1:], 1):
            part = node.parts.get((name, len(atom), i))
            if part is None:
                return 1.0
            matching = _matching(part, item)
            whole *= part.size()
            share *= matching / part.size()
        return share * min(size, whole)

    def _variables(self, body: Iterable[Atom]) -> dict[str, Domain]:
        """Return the domains of the variables of a body."""
        domains: dict[str, Domain] = {}

        def walk(domain: Domain, term: Term) -> None:
            if isinstance(term, tuple):
                for i, item in enumerate(term[1:], 1):
                    missing = Domain(is_cut=domain.is_cut)
                    walk(domain.parts.get((term[0], len(term), i), missing), item)
            elif term[0] == "?":
                domains[term] = domains[term].meet(domain) if term in domains else domain

        for atom in body:
            walk(self._relations[str(atom[0])], atom)
        return domains

    def _insert(self, domain: Domain, term: Term, domains: dict[str, Domain]) -> bool:
        """Add a term to a domain, where variables stand for `domains`; return if it was new."""
        if isinstance(term, tuple):
            changed = False
            for i, item in enumerate(term[1:], 1):
                key = (term[0], len(term), i)
                if key not in domain.parts:
                    domain.parts[key] = Domain()
                    changed = True
                changed |= self._insert(domain.parts[key], item, domains)
            return changed
        if term[0] == "?":
            return term in domains and domain.add(domains[term])
        if term in domain.constants:
            return False
        domain.constants.add(term)
        return True

    def _propagate(self, rules: Sequence[Rule]) -> bool:
        """Add the terms that the rules derive; return whether there are no new ones in the end."""
        for _ in range(MAX_ROUNDS):
            changed = False
            for rule in rules:
                domains = self._variables(rule.positive)
                changed |= self._insert(self._relations[str(rule.head[0])], rule.head, domains)
            if not changed:
                return True
        return False


def _matching(domain: Domain, term: Term) -> float:
    """Return how many terms of a domain match a term, whose variables stand for any term."""
    if isinstance(term, tuple):
        return float(
            prod(
                _matching(domain.parts.get((term[0], len(term), i), Domain()), item)
                for i, item in enumerate(term[1:], 1)
            )
        )
    return float(domain.size()) if term[0] == "?" else 1.0
