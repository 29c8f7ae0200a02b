"""Terms of the same shape: the fluents or moves of a network that differ only in their constants.

The shape of `(cell a 1 x)` is `"(cell {} {} {})"`, with the constants `a`, `1` and `x`. A constant
that names a cell, such as `a1`, is two constants, of the shape `"{}{}"`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

CONSTANT = re.compile(r"(?<=\s)([^\s()]+)")  # not the name of a relation, which follows "("
MARK = "\n"  # in place of a constant; no term has line breaks
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

    @cached_property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        """The constants of all terms at each position. Length N, of length K."""
        return tuple(zip(*self.constants, strict=True))

    def values(self, i: int) -> list[str]:
        """Return the constants at position `i`, without duplicates, in order of occurrence."""
        return self._values[i]

    @cached_property
    def _values(self) -> tuple[list[str], ...]:
        return tuple(list(dict.fromkeys(column)) for column in self.columns)

    def text(self, constants: Sequence[str]) -> str:
        """Return the term of this shape with the given constants."""
        return self.shape.format(*constants)


def group_terms(terms: Iterable[str]) -> tuple[TermGroup, ...]:
    """Return terms grouped by shape, in order of the first term of each group."""
    members: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
    for number, text in enumerate(terms):
        # Texts between constants, and constants, in turn.
        parts = CONSTANT.split(text) if text[0] == "(" else ["", text, ""]
        members.setdefault(MARK.join(parts[::2]), []).append((number, tuple(parts[1::2])))
    groups = []
    for shape, pairs in members.items():
        numbers, constants_of_all = zip(*pairs, strict=True)
        escaped = shape.replace("{", "{{").replace("}", "}}").replace(MARK, "{}")
        groups.append(_split_cells(TermGroup(escaped, numbers, constants_of_all)))
    return tuple(groups)


def _split_cells(group: TermGroup) -> TermGroup:
    """Return a group with constants such as `a1` split into letter and number."""
    parts = shape_parts(group.shape)
    for i in reversed(range(group.size)):
        matches = {value: CELL.fullmatch(value) for value in group.values(i)}
        split = {value: (match[1], match[2]) for value, match in matches.items() if match}
        letters = {letter for letter, _ in split.values()}
        digits = {number for _, number in split.values()}
        if len(split) == len(matches) and len(letters) > 1 and len(digits) > 1:
            parts[i + 1 : i + 1] = [""]
            group = TermGroup(
                "{}".join(parts),
                group.numbers,
                tuple(
                    (*constants[:i], *split[constants[i]], *constants[i + 1 :])
                    for constants in group.constants
                ),
            )
    return group


def shape_parts(shape: str) -> list[str]:
    """Return the texts before, between and after the constants of a shape."""
    return re.split(r"(?<!\{)\{\}(?!\})", shape)
