"""Blocks of code in the documents, and the outputs that stand below them."""

import doctest
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<code>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
DOCUMENTS += [ROOT / "docs/results/README.md", *sorted((ROOT / "docs/games").glob("*.md"))]
DOCUMENTS += sorted((ROOT / "docs/tutorial").glob("*.md"))
DOCUMENTS += [ROOT / "docs/recipes/README.md", *sorted((ROOT / "docs/libraries").glob("*.md"))]


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        line: number of the line above its first one.
        tags: the words behind the fence, the language first.
        code: its text.
        output: the text of the block tagged `text` that follows with nothing but empty lines
            between, or None.
    """

    line: int
    tags: tuple[str, ...]
    code: str
    output: str | None

    @property
    def language(self) -> str:
        """Return the first tag, or `""`."""
        return self.tags[0] if self.tags else ""


def blocks_of(text: str) -> Iterator[Block]:
    """Yield the blocks of a document in order."""
    found = list(FENCE.finditer(text))
    for match, follower in zip_longest(found, found[1:]):
        output = None
        if follower is not None and follower["info"].split() == ["text"]:
            between = text[match.end() : follower.start()]
            output = None if between.strip() else follower["code"]
        line = text.count("\n", 0, match.start("code"))
        yield Block(line, tuple(match["info"].split()), match["code"], output)


def agrees(output: str, printed: str, varies: bool = False) -> bool:
    """Return whether a program printed the output of a document.

    As in doctest, `...` stands for any text, such as a time. Spaces at the ends of lines, and empty
    lines at the start and the end, do not count.

    Args:
        output: of the document.
        printed: by the program.
        varies: whether numbers and cells such as `c3` may be others, as those of networks are on
            other processors.
    """
    if varies:
        output, printed = _without_numbers(output), _without_numbers(printed)
    wanted, got = (
        "\n".join(line.rstrip() for line in text.strip("\n").split("\n")) + "\n"
        for text in (output, printed)
    )
    return doctest.OutputChecker().check_output(wanted, got, doctest.ELLIPSIS)


def _without_numbers(text: str) -> str:
    """Return a text with 0 for every number or cell, and for several of them in a row."""
    text = re.sub(r"(\* )?\b[a-z]\d+\b|[-+]?\d[\d,.]*|(?<= )-(?= )", "0", text)
    return re.sub(r" +", " ", re.sub(r"0(?: +0)+", "0", text)).replace("[ ", "[")
