"""Demand of relations: large relations are derived only for the arguments that rules ask for.

This is the transformation known as magic sets (Bancilhon, Maier, Sagiv and Ullman, "Magic sets and
other strange ways to implement logic programs", PODS 1986). A rule calls a relation p if p occurs
in its body. The demand of p is another relation: the arguments with which rules call p. Each rule
of p gets the demand as a further literal, and each call of p becomes a rule that derives the
demand. A demand restricts what is grounded; it is not a part of the ground rules.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from ludoteca.envs.gdl.graph import reachable, reversed_edges
from ludoteca.envs.gdl.parse import variables
from ludoteca.envs.gdl.rules import ARITIES, Atom, Rule, dependencies

# Prefix of the names of demands, the relations of the arguments with which rules call another
# relation. No relation of a rule sheet has such a name: it contains a space.
DEMAND = "demand "
Positions = dict[str, tuple[int, ...]]  # positions of the arguments in a demand, by relation


def demandable_relations(rules: Collection[Rule], static: Collection[str]) -> set[str]:
    """Return the relations that may be derived by demand: only for arguments that rules ask for.

    These are all but keywords and the static relations that are negated, or on which `init`, `role`
    or a negated static relation relies: they must be complete before others are derived.

    Args:
        rules: the rules of a rule sheet.
        static: relations that do not depend on the state or the moves.
    """
    graph = dependencies(rules)
    negated = {str(atom[0]) for rule in rules for atom in rule.negative if atom[0] in static}
    complete = reachable({"init", "role"} | negated, lambda name: graph.get(name, ()))
    return set(graph) - (complete & set(static)) - set(ARITIES)


def with_neighbors(
    rules: Iterable[Rule], large: set[str], demandable: set[str], static: set[str]
) -> set[str]:
    """Return large relations, relations that depend on them, and relations on which they depend.

    Static relations on which large ones depend are left out, unless they are large themselves. The
    returned relations are to be derived by demand: only for arguments that rules ask for.

    Args:
        rules: the rules of a rule sheet.
        large: the large relations.
        demandable: relations that may be derived by demand; no others are returned.
        static: relations that do not depend on the state or the moves.
    """
    graph = dependencies(rules)
    reverse = reversed_edges(graph)
    relying = reachable(large, lambda name: reverse.get(name, set()) & demandable)
    used = demandable - static | large
    return relying | reachable(large, lambda name: graph.get(name, set()) & used)


def demand_rules(rules: list[Rule], demanded: Collection[str]) -> tuple[list[Rule], list[Rule]]:
    """Return the rules, restricted to demands, and the rules of the demands.

    A demand is the relation of the arguments with which rules call another relation.

    Args:
        rules: the rules of a rule sheet.
        demanded: relations that shall have a demand. A relation gets none if no argument is bound
            in all its calls.
    """
    positions = _bound_positions(rules, demanded)
    restricted, demands = [], []
    for rule in rules:
        guard = _demand(rule.head, positions)
        if guard:
            rule = replace(rule, positive=[guard, *rule.positive])
        restricted.append(rule)
        for call, before in _calls(rule, positions):
            head = _demand(call, positions)
            assert head is not None
            body = _connected(head, before)
            if head not in body:
                bound = set(variables(tuple(body)))
                distinct = [pair for pair in rule.distinct if bound.issuperset(variables(pair))]
                demands.append(Rule(head, body, [], distinct, [], rule.line))
    return restricted, demands


def _demand(atom: Atom, positions: Positions) -> Atom | None:
    """Return the atom that demands an atom, or None if its relation has no demand."""
    bound = positions.get(str(atom[0]))
    return (f"{DEMAND}{atom[0]}", *(atom[i] for i in bound)) if bound else None


def _bound_positions(rules: list[Rule], demanded: Collection[str]) -> Positions:
    """Return the positions of arguments that are bound in all calls of each relation."""
    positions: Positions = {
        str(rule.head[0]): tuple(range(1, len(rule.head)))
        for rule in rules
        if rule.head[0] in demanded and len(rule.head) > 1
    }
    changed = True
    while changed:
        changed = False
        for rule in rules:
            guard = _demand(rule.head, positions)
            guarded = replace(rule, positive=[guard, *rule.positive]) if guard else rule
            for call, before in _calls(guarded, positions):
                name, bound_names = str(call[0]), set(variables(tuple(before)))
                old = positions.get(name, ())
                new = tuple(i for i in old if bound_names.issuperset(variables((call[i],))))
                if new != old:
                    changed = True
                    positions[name] = new
    return {name: bound for name, bound in positions.items() if bound}


def _calls(rule: Rule, positions: Positions) -> Iterator[tuple[Atom, list[Atom]]]:
    """Yield each literal whose relation has a demand, and the literals that are joined before."""
    before: list[Atom] = []
    bound_names: set[str] = set()
    remaining = list(rule.positive)
    while remaining:
        literal = min(remaining, key=lambda atom: _rank(atom, bound_names, positions))
        remaining.remove(literal)
        if literal[0] in positions:
            yield literal, list(before)
        before.append(literal)
        bound_names.update(variables(literal))
    for atom in rule.negative:
        if atom[0] in positions:
            yield atom, before


def _rank(atom: Atom, bound_names: set[str], positions: Positions) -> tuple[bool, bool, int]:
    """Return the rank of a literal in the order of joins; the lowest comes first.

    Demands come first, then literals of relations without a demand, then the others; among equals,
    literals with fewer new variables come first.
    """
    names = set(variables(atom))
    is_demand = str(atom[0]).startswith(DEMAND)
    return not is_demand, atom[0] in positions, len(names - bound_names)


def _connected(head: Atom, body: list[Atom]) -> list[Atom]:
    """Return the literals of `body` that share variables with `head`, directly or through others.

    Literals without variables are kept, too.
    """
    reach, kept = set(variables(head)), set[int]()
    grown = True
    while grown:
        grown = False
        for i, atom in enumerate(body):
            names = set(variables(atom))
            if i not in kept and (not names or reach & names):
                kept.add(i)
                reach |= names
                grown = True
    return [atom for i, atom in enumerate(body) if i in kept]
