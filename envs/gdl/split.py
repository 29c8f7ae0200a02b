"""Splitting of rule bodies: variables that the head lacks are eliminated into auxiliary rules.

A rule with k variables has up to n^k ground instances. A variable that the head lacks only connects
the literals in which it occurs (its bucket). They become the body of an auxiliary rule over the
remaining variables of the bucket, as in bucket elimination (Dechter 1999), if that rule has fewer
variables than the whole one. Rules with equal bodies share one auxiliary relation.
"""

from dataclasses import dataclass

from ludoteca.envs.gdl.parse import Term, variables
from ludoteca.envs.gdl.rules import Atom, Rule

AUXILIARY = "aux "  # begins the names of auxiliary relations, which no sheet can have


@dataclass(eq=False, slots=True)
class _Literal:
    """A literal or constraint of a body: `p` positive, `n` negative, `d` distinct, `e` equal."""

    kind: str
    term: tuple[Term, ...]
    variables: frozenset[str]


def split_rules(rules: list[Rule]) -> list[Rule]:
    """Return equivalent rules with fewer variables each, and the auxiliary rules that they use."""
    result: list[Rule] = []
    names: dict[tuple[object, ...], str] = {}
    todo = list(reversed(rules))
    while todo:
        rule = todo.pop()
        literals = _literals(rule)
        head = frozenset(variables(rule.head))
        while True:
            bucket = _best_bucket(literals, head) or _separate_component(literals, head)
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
            literals = [*others, _Literal("p", (name, *remaining), frozenset(remaining))]
        result.append(_rule(rule.head, ((each.kind, each.term) for each in literals), rule.line))
    return result


def _literals(rule: Rule) -> list[_Literal]:
    kinds = (("p", rule.positive), ("n", rule.negative), ("d", rule.distinct), ("e", rule.equal))
    return [
        _Literal(kind, term, frozenset(variables(term))) for kind, terms in kinds for term in terms
    ]


def _rule(head: Atom, literals: object, line: int) -> Rule:
    rule = Rule(head, line=line)
    lists: dict[str, list[tuple[Term, ...]]] = {
        "p": rule.positive, "n": rule.negative, "d": rule.distinct, "e": rule.equal,
    }  # type: ignore[dict-item]  # fmt: skip
    for kind, term in literals:  # type: ignore[attr-defined]
        lists[kind].append(term)
    return rule


def _union(literals: list[_Literal]) -> frozenset[str]:
    return frozenset().union(*(literal.variables for literal in literals))


def _interface(
    bucket: list[_Literal], others: list[_Literal], head: frozenset[str]
) -> frozenset[str]:
    """Return the variables of a bucket that the head or the other literals have, too."""
    return _union(bucket) & (head | _union(others))


def _is_bound(bucket: list[_Literal]) -> bool:
    """Return whether all variables of a bucket occur in positive literals of it."""
    return _union(bucket) <= _union([literal for literal in bucket if literal.kind == "p"])


def _has_move(bucket: list[_Literal]) -> bool:
    return any(literal.kind == "p" and literal.term[0] == "does" for literal in bucket)


def _best_bucket(literals: list[_Literal], head: frozenset[str]) -> list[_Literal]:
    """Return the literals of the variable whose elimination leaves the smallest auxiliary rule.

    Literals with `does` stay in rules whose heads have all their variables: the network factors
    moves out of such rules.
    """
    everything = _union(literals) | head
    best: tuple[tuple[int, int, str], list[_Literal]] | None = None
    for variable in everything - head:
        near = [literal for literal in literals if variable in literal.variables]
        reach = _union(near)
        bucket = [
            literal
            for literal in literals
            if literal.variables
            and literal.variables <= reach
            and (variable in literal.variables or literal.kind != "p")
        ]
        size = len(reach) - 1
        if len(bucket) == len(literals) or size + 1 >= len(everything) or not _is_bound(bucket):
            continue
        if _has_move(bucket) and not reach - {variable} <= head:
            continue
        key = (size, len(bucket), variable)
        if best is None or key < best[0]:
            best = key, bucket
    return best[1] if best else []


def _separate_component(literals: list[_Literal], head: frozenset[str]) -> list[_Literal]:
    """Return literals with `does` that share only variables of the head with the others."""
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
    """Return a body with variables renamed in order, after the number of parameters."""
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
