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

from ludoteca.envs.gdl.demand import DEMAND
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


def split_rules(
    rules: list[Rule], estimates: Estimates | None = None, thorough: bool = False
) -> list[Rule]:
    """Return equivalent rules with fewer variables each, and the auxiliary rules that they use.

    Args:
        rules: the rules of a sheet.
        estimates: estimates for these rules, by which rules with many instances are split; None:
            all rules are split by their numbers of variables. The auxiliary relations are added.
        thorough: whether, with estimates, several variables at once may be moved to an auxiliary
            rule, and negative literals whose variables are bound elsewhere. A demand then binds
            them in the auxiliary rule.
    """
    result: list[Rule] = []
    names: dict[tuple[object, ...], str] = {}
    todo = list(reversed(rules))

    def auxiliary(bucket: list[_Literal], parameters: list[str], prefix: str = "") -> _Literal:
        """Return the literal of the auxiliary relation of a bucket; add its rule if it is new."""
        body, renamed = _canonical(bucket, parameters)
        name = names.get((prefix, *body))
        if name is None:
            name = names[prefix, *body] = f"{prefix}{AUXILIARY}{len(names)}"
            arguments = tuple(renamed[variable] for variable in parameters)
            todo.append(_rule((name, *arguments), body[1:], rule.line))
            if estimates:
                estimates.define((name, *parameters), _positive(bucket))
        return _Literal("p", (name, *parameters), frozenset(parameters))

    while todo:
        rule = todo.pop()
        literals = _literals(rule)
        head = frozenset(variables(rule.head))
        while True:
            bucket = _best_bucket(literals, head) or _separate_component(literals, head)
            if estimates:
                bucket = _cheapest_bucket(literals, head, estimates, bucket, thorough)
            if not bucket:
                break
            others = [literal for literal in literals if literal not in bucket]
            remaining = sorted(_interface(bucket, others, head))
            if binder := _binder(bucket, others):
                bound = sorted(_union(binder).intersection(remaining))
                bucket = [*bucket, auxiliary(binder, bound, DEMAND)]
            literals = [*others, auxiliary(bucket, remaining)]
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


def _binder(bucket: list[_Literal], others: list[_Literal]) -> list[_Literal]:
    """Return positive literals outside of a bucket that bind the variables it does not bind."""
    unbound = set(_union(bucket) - _union([each for each in bucket if each.kind == "p"]))
    binder: list[_Literal] = []
    candidates = [literal for literal in others if literal.kind == "p"]
    while unbound and candidates:
        most = max(
            candidates, key=lambda each: (len(each.variables & unbound), -len(each.variables))
        )
        candidates.remove(most)
        if most.variables & unbound:
            unbound -= most.variables
            binder.append(most)
    return binder


def _buckets(
    literals: list[_Literal], head: frozenset[str]
) -> Iterator[tuple[str, frozenset[str], list[_Literal]]]:
    """Yield the bucket of each variable that is not in the head, with the variable and all others.

    Buckets that are not bound, or that are the whole body, are left out.
    """
    for variable in sorted(_union(literals) - head):
        bucket = _bucket(literals, frozenset((variable,)))
        if len(bucket) < len(literals) and _is_bound(bucket):
            yield variable, _union(bucket), bucket


def _joint_buckets(
    literals: list[_Literal], head: frozenset[str]
) -> Iterator[tuple[str, frozenset[str], list[_Literal]]]:
    """Yield buckets of several variables, with the names of these variables and all others.

    The variables are those of one literal, or of two literals that share some. Buckets may have
    negative literals with variables that other literals bind. Buckets with `does`, and those that
    leave nothing but demands, are left out.
    """
    sets = {literal.variables - head for literal in literals} - {frozenset()}
    sets |= {a | b for a in sets for b in sets if a & b}
    for eliminated in sorted(sets, key=sorted):
        bucket = _bucket(literals, eliminated)
        leaves = any(
            literal not in bucket and not str(literal.term[0]).startswith(DEMAND)
            for literal in literals
        )
        if leaves and not _has_move(bucket) and any(each.kind == "p" for each in bucket):
            yield " ".join(sorted(eliminated)), _union(bucket), bucket


def _bucket(literals: list[_Literal], eliminated: frozenset[str]) -> list[_Literal]:
    """Return the literals with some variables, and constraints on variables of these literals."""
    reach = _union([literal for literal in literals if literal.variables & eliminated])
    return [
        literal
        for literal in literals
        if literal.variables
        and literal.variables <= reach
        and (literal.variables & eliminated or literal.kind != "p")
    ]


def _cheapest_bucket(
    literals: list[_Literal],
    head: frozenset[str],
    estimates: Estimates,
    default: list[_Literal],
    thorough: bool,
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
        body = _positive(bucket)
        if binder := _binder(bucket, others):
            body.append((f"{AUXILIARY}binder", *sorted(_union(binder).intersection(trial))))
            estimates.define(body[-1], _positive(binder))
        estimates.define(trial, body)
        return estimates.rows(body) + estimates.rows([*_positive(others), trial])

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
    if thorough:
        for variable, _, bucket in _joint_buckets(literals, head):
            after = rows_after(bucket)
            if after < (best[0] if best else by_default):
                best = after, variable, bucket
    if best:
        return best[2]
    if by_default < before:
        return default
    return _joint_bucket(literals, head) if thorough else []


def _joint_bucket(literals: list[_Literal], head: frozenset[str]) -> list[_Literal]:
    """Return the bucket of several variables with the smallest auxiliary rule, or an empty list.

    Estimates take literals as independent, so they miss how much a projection reduces. The
    auxiliary rule has fewer variables than the original one.
    """
    everything = _union(literals) | head
    best: tuple[tuple[int, int, str], list[_Literal]] | None = None
    for names, reach, bucket in _joint_buckets(literals, head):
        others = [literal for literal in literals if literal not in bucket]
        key = len(reach), len(_interface(bucket, others, head)), names
        if len(reach) < len(everything) and (best is None or key < best[0]):
            best = key, bucket
    return best[1] if best else []


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
