"""Code blocks of the documents, and their outputs, which follow them."""

import ast
import contextlib
import doctest
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

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
        line: number of the line of its opening fence.
        tags: the words after the opening fence, the language first.
        code: the text of the block.
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

    def tagged(self, prefix: str) -> str:
        """Return the tag that begins with a prefix, without the prefix, or `""`."""
        values = [tag.removeprefix(prefix) for tag in self.tags if tag.startswith(prefix)]
        return values[0] if values else ""

    @property
    def file(self) -> str:
        """Name of the file whose content the block is, or `""`."""
        return self.tagged("file=")

    @property
    def quick(self) -> dict[str, Any]:
        """Values of the block's parameters in a shortened run, from `quick:NAME=VALUE,...`."""
        pairs = (pair.split("=") for pair in self.tagged("quick:").split(",") if pair)
        return {name: ast.literal_eval(value) for name, value in pairs}


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


def execute(block: Block, names: dict[str, Any], document: Path, quick: bool = False) -> str:
    """Execute a Python block in the current folder and return what it prints.

    A block with a tag `file=NAME` is written to that file instead.

    Args:
        block: the block.
        names: variables of the document, changed in place.
        document: the document, for error messages.
        quick: whether to shorten the run: the block's parameters get the values of its tag
            `quick:NAME=VALUE,...`.

    Raises:
        AssertionError: if the tag names a parameter that the block does not set.
    """
    if block.file:
        Path(block.file).write_text(block.code, encoding="utf-8")
        return ""
    printed = io.StringIO()
    # Empty lines in front give errors the line numbers of the document.
    code = compile("\n" * block.line + block.code, str(document), "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    if quick:
        unknown = block.quick.keys() - names.keys()
        assert not unknown, f"{document.name}, line {block.line}: no parameter {unknown}"
        names |= block.quick
    return printed.getvalue()


def agrees(output: str, printed: str, varies: bool = False) -> bool:
    """Return whether a program printed the output of a document.

    As in doctest, `...` stands for any text, such as a time. Spaces at the ends of lines, and empty
    lines at the start and the end, do not count.

    Args:
        output: output in the document.
        printed: output of the program.
        varies: whether numbers and cells such as `c3` may differ, as results of networks do on
            different processors.
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
