"""Free arguments: arguments of a relation on which a rule does not depend.

In a rule such as `(<= (clear ?u ?x ?ignored) (next ?u ?x) (cell ?ignored))`, the argument
`?ignored` is free: it can be any cell. Such a rule has an instance for each cell, and so has each
rule that relies on it. Here the relation becomes two: `clear` without the free argument, derived by
this rule, and the rest, derived by the other rules, which has few facts if `?ignored` seldom
matters. Rules that call the relation call both: in a positive literal one or the other, in a
negative literal neither.

A rule has no free argument as long as a literal such as `(different ?c ?d ?u ?v)` binds it, where
cells are different if their columns or their rows are. Such literals are unfolded first: replaced
by the bodies of their rules, as in partial deduction (Lloyd and Shepherdson, "Partial evaluation in
logic programming", Journal of Logic Programming 11, 1991). Then each rule has one of `?c` and `?d`
as a free argument.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from types import MappingProxyType

from ludoteca.envs.gdl.estimates import Estimates
from ludoteca.envs.gdl.parse import Term, variables
from ludoteca.envs.gdl.rules import ARITIES, Atom, Rule

FREE = "free "  # prefix of the names of relations without their free arguments
MAX_RELATIONS = 12  # into which one relation may be divided, by the arguments that are free
MAX_GROWTH = 4  # factor by which the number of rules may grow
# Free positions of a relation's arguments, each with its domain: the static relations of one
# argument that bind it.
FreeArguments = tuple[tuple[int, tuple[str, ...]], ...]


def separate_free_arguments(
    rules: list[Rule],
    relations: Collection[str],
    domains: Mapping[str, Collection[Atom]],
    estimates: Estimates,
) -> list[Rule]:
    """Return equivalent rules in which relations are divided by their free arguments.

    The relations keep their names, for the facts that no rule with a free argument derives. If the
    rules became too many, they are returned as they are.

    Args:
        rules: the rules of a sheet.
        relations: relations that may be divided; they depend on the state or the moves.
        domains: facts of the static relations of one argument, by relation.
        estimates: estimates for these rules, whose domains prove that an argument in a negative
            literal is in the domain of a free argument.
    """
    divisible = set(relations) - set(ARITIES)
    unfolded = _unfold_rules(rules, divisible, domains)
    pinned = _pinned_positions(unfolded, divisible, domains, estimates)
    divided: dict[str, dict[FreeArguments, None]] = defaultdict(dict)
    while True:
        result: dict[str, Rule] = {}
        changed = False
        for rule in unfolded:
            name = str(rule.head[0])
            for alternative in _alternatives(rule, divisible, divided):
                free: FreeArguments = ()
                if name in divisible:
                    free = _free_arguments(alternative, domains, pinned)
                    if free not in divided[name]:
                        divided[name][free] = None
                        changed = True
                new = _without_arguments(alternative, free)
                result[str(new)] = new
                if len(result) > MAX_GROWTH * len(rules) or len(divided[name]) > MAX_RELATIONS:
                    return rules
        if not changed:
            return list(result.values())


def divided_relations(rules: Iterable[Rule]) -> set[str]:
    """Return the relations that were divided, by their original names."""
    names = (str(rule.head[0]) for rule in rules)
    return {name.rsplit(" ", 1)[-1] for name in names if name.startswith(FREE)}


def _free_arguments(
    rule: Rule,
    domains: Collection[str],
    pinned: Mapping[str, Collection[tuple[str, int]]] = MappingProxyType({}),
) -> FreeArguments:
    """Return the free arguments of a rule's head: variables that only domains bind.

    Args:
        rule: the rule.
        domains: static relations of one argument.
        pinned: arguments that cannot be free with a domain, by domain; see `_pinned_positions`.
    """
    found = []
    for i, item in enumerate(rule.head[1:], 1):
        if isinstance(item, tuple) or not _is_variable(item):
            continue
        if list(variables(rule.head)).count(item) > 1:
            continue
        if any(item in variables(t) for t in rule.negative + rule.distinct + rule.equal):
            continue
        literals = [atom for atom in rule.positive if item in variables(atom)]
        domain = sorted({str(atom[0]) for atom in literals})
        if not domain or not all(len(atom) == 2 and atom[0] in domains for atom in literals):
            continue
        if not any((rule.head[0], i) in pinned.get(name, ()) for name in domain):
            found.append((i, tuple(domain)))
    return tuple(found)


def _alternatives(
    rule: Rule,
    divisible: Collection[str],
    divided: Mapping[str, Collection[FreeArguments]],
) -> Iterator[Rule]:
    """Yield the rules that replace a rule, one for each choice of the relations that it calls."""
    choices = [
        [_call(atom, free) for free in divided[str(atom[0])]] if atom[0] in divisible else [[atom]]
        for atom in rule.positive
    ]
    negative = [
        _call(atom, free)[0]
        for atom in rule.negative
        for free in (divided[str(atom[0])] if atom[0] in divisible else [()])
    ]
    for choice in product(*choices):
        positive = list(dict.fromkeys(atom for atoms in choice for atom in atoms))
        yield replace(rule, positive=positive, negative=negative)


def _call(atom: Atom, free: FreeArguments) -> list[Atom]:
    """Return the literals that replace a literal: without free arguments, and their domains."""
    if not free:
        return [atom]
    positions = {i for i, _ in free}
    names = " ".join(f"{i}:{','.join(domain)}" for i, domain in free)
    call = (
        f"{FREE}{names} {atom[0]}",
        *(a for i, a in enumerate(atom) if i and i not in positions),
    )
    return [call, *((name, atom[i]) for i, domain in free for name in domain)]


def _without_arguments(rule: Rule, free: FreeArguments) -> Rule:
    """Return the rule of the relation without its free arguments, and without their domains."""
    dropped = {rule.head[i] for i, _ in free}
    positive = [atom for atom in rule.positive if dropped.isdisjoint(variables(atom))]
    return replace(rule, head=_call(rule.head, free)[0], positive=positive)


def _pinned_positions(
    rules: Iterable[Rule],
    divisible: Collection[str],
    domains: Mapping[str, Collection[Atom]],
    estimates: Estimates,
) -> dict[str, set[tuple[str, int]]]:
    """Return for each domain the arguments that may be outside of it in a negative literal.

    Arguments are pairs (relation, position).
    """
    pinned: dict[str, set[tuple[str, int]]] = {name: set() for name in domains}
    constants = {name: {str(atom[1]) for atom in atoms} for name, atoms in domains.items()}
    for rule in rules:
        calls = [atom for atom in rule.negative if atom[0] in divisible]
        possible = estimates.possible_terms(rule.positive) if calls else {}
        for atom in calls:
            for i, item in enumerate(atom[1:], 1):
                for name, inside in constants.items():
                    if isinstance(item, str) and _is_variable(item):
                        is_within = possible[item].is_within(inside)
                    else:
                        is_within = item in inside
                    if not is_within:
                        pinned[name].add((str(atom[0]), i))
    return pinned


def _unfold_rules(
    rules: list[Rule], divisible: Collection[str], domains: Collection[str]
) -> list[Rule]:
    """Return the rules with literals unfolded where that frees arguments of divisible relations.

    Literals are unfolded if all rules of their relation have only domains and constraints.
    """
    by_relation: dict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        by_relation[str(rule.head[0])].append(rule)
    simple = {
        name: each
        for name, each in by_relation.items()
        if len(each) > 1 and all(_is_simple(rule, domains) for rule in each)
    }
    result = []
    for rule in rules:
        unfolded = [rule]
        if rule.head[0] in divisible:
            for atom in rule.positive:
                if atom[0] in simple:
                    unfolded = [
                        _unfold(each, atom, definition)
                        for each in unfolded
                        for definition in simple[str(atom[0])]
                    ]
        before = len(_free_arguments(rule, domains))
        frees = any(len(_free_arguments(each, domains)) > before for each in unfolded)
        result += unfolded if frees else [rule]
    return result


def _is_simple(rule: Rule, domains: Collection[str]) -> bool:
    """Return whether a rule has only domains and constraints, and different variables as head."""
    return (
        all(map(_is_variable, rule.head[1:]))
        and len(set(rule.head[1:])) == len(rule.head) - 1
        and bool(rule.positive)
        and not rule.negative
        and all(len(atom) == 2 and atom[0] in domains for atom in rule.positive)
        and set(variables(tuple(rule.positive))) <= set(rule.head)
    )


def _unfold(rule: Rule, atom: Atom, definition: Rule) -> Rule:
    """Return a rule with a literal replaced by the body of a simple rule of its relation."""
    values = dict(zip(definition.head[1:], atom[1:], strict=True))

    def substitute(terms: Atom) -> Atom:
        return tuple(
            values.get(item, item) if isinstance(item, str) else substitute(item) for item in terms
        )

    def substitute_pairs(pairs: list[tuple[Term, Term]]) -> list[tuple[Term, Term]]:
        return [(a, b) for a, b in map(substitute, pairs)]

    positive = [each for each in rule.positive if each != atom]
    positive += [substitute(each) for each in definition.positive]
    return replace(
        rule,
        positive=list(dict.fromkeys(positive)),
        distinct=rule.distinct + substitute_pairs(definition.distinct),
        equal=rule.equal + substitute_pairs(definition.equal),
    )


def _is_variable(term: Term) -> bool:
    return isinstance(term, str) and term[0] == "?"
