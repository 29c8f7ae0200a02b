"""Parser of rule sheets in the Game Description Language (GDL), in prefix syntax (KIF).

The language is that of Love, Hinrichs, Haley, Schkufza and Genesereth, "General Game Playing: Game
Description Language Specification" (Stanford Logic Group, LG-2006-01). A term is a string (the name
of a constant, or with a question mark in front that of a variable) or a tuple of terms, of which
the first is the name of a relation or function.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ludoteca.envs.gdl.errors import GDLError
from ludoteca.files import read_bytes

Term = str | tuple["Term", ...]

MAX_BYTES = 8 << 20  # limit of a sheet; the largest of the GGP base repository has 0.3 MB
MAX_DEPTH = 100  # levels of nested parentheses
MAX_STATEMENTS = 200_000
MAX_DIGITS = 640  # of a number in a name; Python always converts integers of this length
# Names that are keywords in any case; other names distinguish upper and lower case.
KEYWORDS = frozenset(
    ("role", "init", "true", "does", "next", "legal", "goal", "terminal", "base", "input")
) | {"distinct", "not", "or", "and", "sees", "random"}
LONG_NUMBER = re.compile(rf"\d{{{MAX_DIGITS + 1}}}")
TOKEN = re.compile(r";[^\n]*|[()]|[^\s();]+")  # a comment, a parenthesis or a name


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact or rule of a sheet.

    Attributes:
        term: the fact, or `("<=", head, literal, ...)`.
        line: line of its first character, from 1.
        column: column of its first character, from 1.
    """

    term: Term
    line: int
    column: int


def read_sheet(path: str | Path, max_bytes: int = MAX_BYTES) -> str:
    """Return the text of a rule sheet; bytes that are not UTF-8 become replacement characters.

    Raises:
        OSError: if the file cannot be read.
        GDLError: if it is not a regular file, or larger than `max_bytes`.
    """
    try:
        return read_bytes(path, max_bytes).decode(errors="replace")
    except ValueError as error:
        reason = str(error).removeprefix(f"{path}: ")
        raise GDLError(f"{path} is not a rule sheet: {reason}") from None


def parse(text: str, name: str = "sheet") -> list[Statement]:
    """Return the statements of a sheet in their order.

    Args:
        text: the sheet.
        name: name of the sheet in messages.

    Raises:
        GDLError: if a parenthesis is not closed or not opened, if a list is empty or does not begin
            with a name, if lists are nested deeper than `MAX_DEPTH`, if a number has more than
            `MAX_DIGITS` digits, if a fact or rule is in infix syntax, or if there is no statement
            or more than `MAX_STATEMENTS`.
    """
    statements: list[Statement] = []
    stack: list[list[Term]] = []
    opened: list[int] = []  # positions of the open parentheses
    places = _Places(text)
    name_end = -1  # where the last statement ends, if it is a name
    for token, position in _tokens(text):
        if token == "(":
            if not stack and position == name_end:
                raise GDLError(
                    f"{name}, {places.at(position)}: '(' after {show(statements[-1].term):.40}; "
                    "expected prefix syntax (KIF), such as (role white), got infix syntax, such as "
                    "role(white)"
                )
            if len(stack) == MAX_DEPTH:
                raise GDLError(
                    f"{name}, {places.at(position)}: parentheses are nested more than {MAX_DEPTH} "
                    "deep"
                )
            stack.append([])
            opened.append(position)
            continue
        term: Term = token
        if token == ")":
            if not stack:
                raise GDLError(f"{name}, {places.at(position)}: ')' without '('")
            items, position = stack.pop(), opened.pop()
            problem = _list_problem(items)
            if problem:
                raise GDLError(f"{name}, {places.at(position)}: {problem}")
            term = tuple(items)
        elif len(token) > MAX_DIGITS and LONG_NUMBER.search(token):
            raise GDLError(
                f"{name}, {places.at(position)}: a number has more than {MAX_DIGITS} digits"
            )
        elif token.lower() in KEYWORDS:
            term = token.lower()
        if stack:
            stack[-1].append(term)
            continue
        if len(statements) == MAX_STATEMENTS:
            raise GDLError(f"{name}: more than {MAX_STATEMENTS:,} statements")
        line, column = places.line_and_column(position)
        statements.append(Statement(term, line, column))
        name_end = position + len(token) if token != ")" else -1
    if stack:
        raise GDLError(f"{name}, {places.at(opened[-1])}: '(' is never closed")
    if not statements:
        raise GDLError(
            f"{name} holds no statement: a rule sheet has facts and rules such as (role white)"
        )
    return statements


def show(term: Term) -> str:
    """Return a term as text, such as `"(mark 1 2)"`."""
    if isinstance(term, str):
        return term
    return f"({' '.join(map(show, term))})"


def is_variable(term: Term) -> bool:
    """Return whether a term is a variable."""
    return isinstance(term, str) and term[0] == "?"


def variables(term: Term) -> Iterator[str]:
    """Yield the variables of a term in their order, repeated ones too."""
    if isinstance(term, str):
        if term[0] == "?":
            yield term
    else:
        for item in term:
            yield from variables(item)


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """Yield the tokens of a text with their offsets; comments are skipped."""
    for match in TOKEN.finditer(text):
        if text[match.start()] != ";":
            yield match.group(), match.start()


def _list_problem(items: list[Term]) -> str:
    """Return the reason why a list is invalid, or an empty string."""
    if not items:
        return "an empty list; a list begins with the name of a relation"
    if not isinstance(items[0], str):
        named = "begin with the name of a relation or function"
        return f"a list must {named}, got {show(items[0]):.80}"
    if items[0][0] == "?":
        return f"the variable {items[0]} stands in place of a relation's name"
    return ""


class _Places:
    """Converter of character offsets to lines and columns, fast for ascending offsets."""

    def __init__(self, text: str):
        self._text, self._position, self._line = text, 0, 1

    def line_and_column(self, position: int) -> tuple[int, int]:
        """Return the line and the column, both from 1, of the character at an offset."""
        if position < self._position:
            self._position, self._line = 0, 1
        self._line += self._text.count("\n", self._position, position)
        self._position = position
        return self._line, position - self._text.rfind("\n", 0, position)

    def at(self, position: int) -> str:
        """Return the line and the column of an offset as text."""
        line, column = self.line_and_column(position)
        return f"line {line}, column {column}"
