"""Splitting of rule bodies: variables that are not in the head are moved to auxiliary rules.

A rule with k variables, each with n values, has up to n^k ground instances. A variable that is not
in the head only connects the literals in which it occurs (its bucket). The bucket becomes the body
of an auxiliary rule, whose head has the remaining variables of the bucket, if that rule has fewer
variables than the original one. This is bucket elimination (Dechter, "Bucket elimination: A
unifying framework for reasoning", Artificial Intelligence 113, 1999). Equal buckets share one
auxiliary relation.

With estimates of the sizes of joins, rules with many instances are split where that leaves the
fewest.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ludoteca.envs.gdl.estimates import Estimates
from ludoteca.envs.gdl.parse import Term, variables
from ludoteca.envs.gdl.rules import Atom, Rule

AUXILIARY = "aux "  # prefix of the names of auxiliary relations; no sheet has names with a space
FEW_ROWS = 20_000  # a rule with at most as many instances is split by its number of variables
MIN_GAIN = 2  # factor by which a split by estimates must reduce the number of instances
# The same for splits that hide moves from the network, which would factor them out. They are made
# only if the rule has more than MANY_ROWS instances otherwise.
MIN_GAIN_OF_MOVES = 8
MANY_ROWS = 2_000_000


@dataclass(eq=False, slots=True)
class _Literal:
    """Literal or constraint of a body.

    `kind` is `"p"` (positive), `"n"` (negative), `"d"` (distinct) or `"e"` (equal).
    """

    kind: str
    term: tuple[Term, ...]
    variables: frozenset[str]


def split_rules(rules: list[Rule], estimates: Estimates | None = None) -> list[Rule]:
    """Return equivalent rules with fewer variables each, and the auxiliary rules that they use.

    Args:
        rules: the rules of a sheet.
        estimates: estimates for these rules, by which rules with many instances are split; None:
            all rules are split by their numbers of variables. The auxiliary relations are added.
    """
    result: list[Rule] = []
    names: dict[tuple[object, ...], str] = {}
    todo = list(reversed(rules))
    while todo:
        rule = todo.pop()
        literals = _literals(rule)
        head = frozenset(variables(rule.head))
        while True:
            bucket = _best_bucket(literals, head) or _separate_component(literals, head)
            if estimates:
                bucket = _cheapest_bucket(literals, head, estimates, bucket)
            if not bucket:
                break
            others = [literal for literal in literals if literal not in bucket]
            remaining = sorted(_interface(bucket, others, head))
            body, renamed = _canonical(bucket, remaining)
            name = names.get(body)
            if name is None:
                name = names[body] = f"{AUXILIARY}{len(names)}"
                parameters = tuple(renamed[variable] for variable in remaining)
                todo.append(_rule((name, *parameters), body[1:], rule.line))
                if estimates:
                    estimates.define((name, *remaining), _positive(bucket))
            literals = [*others, _Literal("p", (name, *remaining), frozenset(remaining))]
        result.append(_rule(rule.head, ((each.kind, each.term) for each in literals), rule.line))
    return result


def _literals(rule: Rule) -> list[_Literal]:
    """Return the literals and constraints of a rule."""
    kinds = (("p", rule.positive), ("n", rule.negative), ("d", rule.distinct), ("e", rule.equal))
    return [
        _Literal(kind, term, frozenset(variables(term))) for kind, terms in kinds for term in terms
    ]


def _rule(head: Atom, literals: Iterable[Any], line: int) -> Rule:
    """Return the rule with these literals, given as pairs (kind, term)."""
    rule = Rule(head, line=line)
    lists: dict[str, list[Any]] = {
        "p": rule.positive, "n": rule.negative, "d": rule.distinct, "e": rule.equal,
    }  # fmt: skip
    for kind, term in literals:
        lists[kind].append(term)
    return rule


def _union(literals: list[_Literal]) -> frozenset[str]:
    """Return the variables of all literals."""
    return frozenset().union(*(literal.variables for literal in literals))


def _interface(
    bucket: list[_Literal], others: list[_Literal], head: frozenset[str]
) -> frozenset[str]:
    """Return the variables of a bucket that also occur in the head or in the other literals."""
    return _union(bucket) & (head | _union(others))


def _is_bound(bucket: list[_Literal]) -> bool:
    """Return whether all variables of a bucket occur in its positive literals."""
    return _union(bucket) <= _union([literal for literal in bucket if literal.kind == "p"])


def _has_move(bucket: list[_Literal]) -> bool:
    """Return whether a positive literal of a bucket is `does`."""
    return any(literal.kind == "p" and literal.term[0] == "does" for literal in bucket)


def _positive(literals: list[_Literal]) -> list[Atom]:
    """Return the positive literals."""
    return [literal.term for literal in literals if literal.kind == "p"]


def _buckets(
    literals: list[_Literal], head: frozenset[str]
) -> Iterator[tuple[str, frozenset[str], list[_Literal]]]:
    """Yield the bucket of each variable that is not in the head, with the variable and all others.

    Buckets that are not bound, or that are the whole body, are left out.
    """
    for variable in sorted(_union(literals) - head):
        near = [literal for literal in literals if variable in literal.variables]
        reach = _union(near)
        bucket = [
            literal
            for literal in literals
            if literal.variables
            and literal.variables <= reach
            and (variable in literal.variables or literal.kind != "p")
        ]
        if len(bucket) < len(literals) and _is_bound(bucket):
            yield variable, reach, bucket


def _cheapest_bucket(
    literals: list[_Literal], head: frozenset[str], estimates: Estimates, default: list[_Literal]
) -> list[_Literal]:
    """Return the bucket that leaves the fewest instances of the auxiliary rule and the rest.

    If the rule has few instances, or no bucket reduces them enough, return `default`, unless that
    has more instances.
    """
    before = estimates.rows(_positive(literals))
    if before <= FEW_ROWS:
        return default

    def rows_after(bucket: list[_Literal]) -> float:
        others = [literal for literal in literals if literal not in bucket]
        trial = (f"{AUXILIARY}trial", *sorted(_interface(bucket, others, head)))
        estimates.define(trial, _positive(bucket))
        return estimates.rows(_positive(bucket)) + estimates.rows([*_positive(others), trial])

    by_default = min(before, rows_after(default)) if default else before
    best: tuple[float, str, list[_Literal]] | None = None
    for variable, reach, bucket in _buckets(literals, head):
        after = rows_after(bucket)
        hides_moves = _has_move(bucket) and not reach - {variable} <= head
        if hides_moves and (by_default <= MANY_ROWS or after * MIN_GAIN_OF_MOVES > by_default):
            continue
        if after * MIN_GAIN > before:
            continue
        if best is None or (after, variable) < best[:2]:
            best = after, variable, bucket
    if best:
        return best[2]
    return default if by_default < before else []


def _best_bucket(literals: list[_Literal], head: frozenset[str]) -> list[_Literal]:
    """Return the bucket of the variable whose elimination needs the smallest auxiliary rule.

    Return an empty list if no bucket can be moved. Literals with `does` are moved only if all other
    variables of the bucket are in the head: the network factors moves out of such rules.
    """
    everything = _union(literals) | head
    best: tuple[tuple[int, int, str], list[_Literal]] | None = None
    for variable, reach, bucket in _buckets(literals, head):
        size = len(reach) - 1
        if size + 1 >= len(everything):
            continue
        if _has_move(bucket) and not reach - {variable} <= head:
            continue
        key = (size, len(bucket), variable)
        if best is None or key < best[0]:
            best = key, bucket
    return best[1] if best else []


def _separate_component(literals: list[_Literal], head: frozenset[str]) -> list[_Literal]:
    """Return connected literals, one of them `does`, that share only head variables with others.

    They do not contain all variables of the head. If there are none, return an empty list.
    """
    free = set(_union(literals) - head)
    while free:
        component = {min(free)}
        while True:
            bucket = [literal for literal in literals if literal.variables & component]
            reach = _union(bucket)
            if reach - head <= component:
                break
            component |= reach - head
        free -= component
        shared = reach & head
        if _has_move(bucket) and _is_bound(bucket) and len(bucket) < len(literals):  # noqa: SIM102
            if shared < head:
                return bucket
    return []


def _canonical(
    bucket: list[_Literal], parameters: list[str]
) -> tuple[tuple[object, ...], dict[str, str]]:
    """Return a key that is equal for equal buckets, and the renaming of the variables.

    The key is the number of parameters, then the literals with variables renamed in order.
    """
    renamed: dict[str, str] = {}
    for variable in parameters:
        renamed[variable] = f"?{len(renamed)}"
    ordered = sorted(bucket, key=lambda literal: (literal.kind, repr(literal.term)))
    body = [(literal.kind, _rename(literal.term, renamed)) for literal in ordered]
    return (len(parameters), *body), renamed


def _rename(term: Term, renamed: dict[str, str]) -> Term:
    if isinstance(term, str):
        return renamed.setdefault(term, f"?{len(renamed)}") if term[0] == "?" else term
    return tuple(_rename(item, renamed) for item in term)
