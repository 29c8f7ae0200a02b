"""Help on the command line, wrapped to the width of the terminal."""

import io
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ludoteca.evaluate.cli.commands import Command

BORDERS = "╭│╰+|"  # with which a line of a box begins: it is as wide as the terminal already


def overview(
    commands: Mapping[str, "Command"],
    prog: str,
    description: str,
    more: str = "",
    kind: str = "command",
) -> str:
    """Return the list of commands with what each does.

    Args:
        commands: the commands by name.
        prog: what is typed before a command.
        description: what the commands are for; paragraphs are wrapped.
        more: shown below; lines stay as they are.
        kind: what the commands are called.
    """
    width = max(get_terminal_size().columns, 40)
    indent = 4 + max(map(len, commands))
    lines = [
        f"usage: {prog} {kind.upper()} [OPTIONS]",
        "",
        paragraphs(description, width),
        "",
        f"{kind}s:",
    ]
    for name, command in commands.items():
        head = f"  {name}".ljust(indent)
        lines.append(
            fill(command.summary, width, initial_indent=head, subsequent_indent=indent * " ")
        )
    lines += ["", fill(f"`{prog} {kind.upper()} --help` shows the options.", width)]
    return "\n".join([*lines, "", more.strip("\n")] if more else lines)


def paragraphs(text: str, width: int) -> str:
    """Return a text wrapped to a width; empty lines separate its paragraphs."""
    return "\n\n".join(fill(" ".join(one.split()), width) for one in text.strip().split("\n\n"))


def unwrapped(docstring: str) -> str:
    """Return a docstring with every paragraph, and every entry of `Args:`, on one line."""
    about, heading, rest = docstring.partition("\nArgs:\n")
    lines = [" ".join(one.split()) for one in about.strip().split("\n\n")]
    if not heading:
        return "\n\n".join(lines)
    entries = re.split(r"\n(?=    \w)", re.split(r"\n(?=\S)", rest)[0])
    return "\n\n".join(
        [*lines, "Args:\n" + "\n".join("    " + " ".join(e.split()) for e in entries)]
    )


@contextmanager
def print_help() -> Iterator[None]:
    """Wrap what tyro prints as it stands, descriptions and usage, to the width of the terminal."""
    out = _Captured(sys.stdout.isatty())
    try:
        with redirect_stdout(out):
            yield
    finally:
        width = max(get_terminal_size().columns, 40)
        for line in re.sub(r"\n{3,}", "\n\n", out.getvalue()).splitlines():
            print(_fitted(line, width))


class _Captured(io.StringIO):
    """Text as written to the terminal, colors included if there is one."""

    def __init__(self, is_terminal: bool):
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        """Return whether colors are wanted."""
        return self._is_terminal

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of standard output, by which boxes are drawn or not."""
        return sys.__stdout__.encoding if sys.__stdout__ else "ascii"


def _fitted(line: str, width: int) -> str:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", line)
    if len(plain) <= width or plain.lstrip()[:1] in BORDERS:
        return line
    if not plain.startswith("usage: "):
        return fill(plain, width, break_on_hyphens=False)
    # An option and its value stay together.
    whole = re.sub(r"\[[^\[\]]*(\[[^\]]*\])?\]", lambda found: found[0].replace(" ", "\0"), plain)
    return fill(whole, width, subsequent_indent=7 * " ", break_on_hyphens=False).replace("\0", " ")
