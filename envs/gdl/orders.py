"""Orders of constants: numbers, letters, and constants that a relation of the sheet connects.

Coordinates of a board are ordered; names of pieces are not.
"""

import re
from collections.abc import Collection, Iterable

from ludoteca.envs.gdl.parse import Statement

Pairs = frozenset[tuple[str, str]]
NUMBERED = re.compile(r"(.*?)(\d+)")  # a name that ends with a number, such as `row3`


def binary_facts(statements: Iterable[Statement]) -> tuple[Pairs, ...]:
    """Return the facts of each relation between two constants, such as `(succ 1 2)`.

    The relations are in the order of the sheet.
    """
    relations: dict[str, set[tuple[str, str]]] = {}
    for statement in statements:
        term = statement.term
        if isinstance(term, tuple) and len(term) == 3 and term[0] != "<=":
            name, a, b = term
            if isinstance(name, str) and isinstance(a, str) and isinstance(b, str):
                relations.setdefault(name, set()).add((a, b))
    return tuple(frozenset(pairs) for pairs in relations.values())


def find_order(values: Collection[str], relations: Iterable[Pairs]) -> tuple[str, ...] | None:
    """Return some constants in their order, or None if they have none.

    Numbers are ordered by value. Other constants are ordered by a relation that connects each to
    the next one, such as `(right a b)`, or, without such a relation, if they are letters from `a`
    on or have one name with different numbers, such as `row1` and `row2`.
    """
    distinct = sorted(set(values))
    if all(value.isdecimal() for value in distinct):
        return tuple(sorted(distinct, key=int))
    path = relation_order(distinct, relations)
    if path is not None:
        return path
    if distinct == [chr(ord("a") + i) for i in range(len(distinct))] and len(distinct) > 2:
        return tuple(distinct)
    matches = [match for match in map(NUMBERED.fullmatch, distinct) if match]
    names = {match[1] for match in matches}
    if len(distinct) == len(matches) > 2 and len(names) == 1:
        return tuple(sorted(distinct, key=lambda value: int(value[len(matches[0][1]) :])))
    return None


def relation_order(values: Collection[str], relations: Iterable[Pairs]) -> tuple[str, ...] | None:
    """Return some constants in the order in which a relation connects them, or None."""
    paths = (_path(sorted(values), pairs) for pairs in relations)
    return next((path for path in paths if path is not None), None)


def _path(values: list[str], pairs: Pairs) -> tuple[str, ...] | None:
    """Return the path through all values whose steps are the pairs among them, or None.

    A cycle, as on a torus, is cut before its first value. Names that descend are reversed.
    """
    among = set(values)
    following = [(a, b) for a, b in pairs if a in among and b in among and a != b]
    successor = dict(following)
    targets = {b for _, b in following}
    if len(values) < 2 or not len(following) == len(successor) == len(targets):
        return None
    starts = [value for value in values if value not in targets]
    if len(starts) > 1 or len(following) < len(values) - 1:
        return None
    path = [starts[0] if starts else values[0]]
    while len(path) < len(values) and path[-1] in successor:
        path.append(successor[path[-1]])
    if len(set(path)) < len(values):
        return None
    return tuple(path[::-1] if path[::-1] == values else path)
