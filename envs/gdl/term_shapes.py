"""Terms of the same shape: the fluents or moves of a network that differ only in their constants.

The shape of `(cell a 1 x)` is `"(cell {} {} {})"`, with the constants `a`, `1` and `x`. A constant
that names a cell, such as `a1`, is two constants, of the shape `"{}{}"`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

CONSTANT = re.compile(r"(?<=\s)[^\s()]+")  # not the name of a relation, which follows "("
ATOM = "{}"  # shape of a term that is a single constant
CELL = re.compile(r"([a-zA-Z])(\d+)")


@dataclass(frozen=True)
class TermGroup:
    """Terms of one shape, with N constants each.

    Attributes:
        shape: the text of a term, with `{}` in place of each constant.
        numbers: numbers of the terms in their list. Length K.
        constants: the constants of each term. Length K, of length N.
    """

    shape: str
    numbers: tuple[int, ...]
    constants: tuple[tuple[str, ...], ...]

    @property
    def size(self) -> int:
        """Number of constants of each term."""
        return len(self.constants[0])

    def values(self, i: int) -> list[str]:
        """Return the constants at position `i`, without duplicates, in order of occurrence."""
        return list(dict.fromkeys(constants[i] for constants in self.constants))

    def text(self, constants: Sequence[str]) -> str:
        """Return the term of this shape with the given constants."""
        return self.shape.format(*constants)


def group_terms(terms: Iterable[str]) -> tuple[TermGroup, ...]:
    """Return terms grouped by shape, in order of the first term of each group."""
    members: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
    for number, text in enumerate(terms):
        if text[0] != "(":
            shape, constants = ATOM, (text,)
        else:
            escaped = text.replace("{", "{{").replace("}", "}}")
            shape, constants = CONSTANT.sub("{}", escaped), tuple(CONSTANT.findall(text))
        members.setdefault(shape, []).append((number, constants))
    groups = []
    for shape, pairs in members.items():
        numbers, parts = zip(*pairs, strict=True)
        groups.append(_split_cells(TermGroup(shape, numbers, parts)))
    return tuple(groups)


def _split_cells(group: TermGroup) -> TermGroup:
    """Return a group with constants such as `a1` split into letter and number."""
    parts = shape_parts(group.shape)
    for i in reversed(range(group.size)):
        matches = [CELL.fullmatch(constants[i]) for constants in group.constants]
        letters = {match[1] for match in matches if match}
        digits = {match[2] for match in matches if match}
        if all(matches) and len(letters) > 1 and len(digits) > 1:
            parts[i + 1 : i + 1] = [""]
            group = TermGroup(
                "{}".join(parts),
                group.numbers,
                tuple(
                    (*constants[:i], match[1], match[2], *constants[i + 1 :])
                    for constants, match in zip(group.constants, matches, strict=True)
                    if match
                ),
            )
    return group


def shape_parts(shape: str) -> list[str]:
    """Return the texts before, between and after the constants of a shape."""
    return re.split(r"(?<!\{)\{\}(?!\})", shape)
