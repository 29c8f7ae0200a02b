"""Help texts of commands, wrapped to the width of the terminal."""

import io
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ludoteca.evaluate.cli.commands import Command

BORDERS = "╭│╰+|"  # first characters of lines of tyro's boxes, which fit the terminal already


def overview(
    commands: Mapping[str, "Command"],
    prog: str,
    description: str,
    epilog: str = "",
    noun: str = "command",
) -> str:
    """Return the list of commands with their summaries.

    Args:
        commands: the commands by name.
        prog: program name before the command.
        description: text above the list; its paragraphs are wrapped.
        epilog: text below the list; its lines are not wrapped.
        noun: word for a command.
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    width = max(get_terminal_size().columns, 40)
    indent = 4 + max(map(len, commands))
    lines = [
        f"usage: {prog} {noun.upper()} [OPTIONS]",
        "",
        paragraphs(description, width),
        "",
        f"{plural}:",
    ]
    for name, command in commands.items():
        name_column = f"  {name}".ljust(indent)
        lines.append(
            fill(command.summary, width, initial_indent=name_column, subsequent_indent=indent * " ")
        )
    lines += ["", fill(f"`{prog} {noun.upper()} --help` shows the options.", width)]
    return "\n".join([*lines, "", epilog.strip("\n")] if epilog else lines)


def paragraphs(text: str, width: int) -> str:
    """Return a text with its paragraphs wrapped to a width."""
    return "\n\n".join(
        fill(" ".join(paragraph.split()), width) for paragraph in text.strip().split("\n\n")
    )


def unwrapped(docstring: str) -> str:
    """Return a docstring with each paragraph, and each entry of `Args:`, on a single line."""
    description, heading, sections = docstring.partition("\nArgs:\n")
    lines = [" ".join(paragraph.split()) for paragraph in description.strip().split("\n\n")]
    if not heading:
        return "\n\n".join(lines)
    args_section = re.split(r"\n(?=\S)", sections)[0]  # without later sections, such as `Raises:`
    entries = re.split(r"\n(?=    \w)", args_section)
    return "\n\n".join(
        [*lines, "Args:\n" + "\n".join("    " + " ".join(entry.split()) for entry in entries)]
    )


@contextmanager
def print_help() -> Iterator[None]:
    """Wrap the descriptions and the usage line of tyro's help to the width of the terminal."""
    out = _Captured(sys.stdout.isatty())
    try:
        with redirect_stdout(out):
            yield
    finally:
        width = max(get_terminal_size().columns, 40)
        for line in re.sub(r"\n{3,}", "\n\n", out.getvalue()).splitlines():
            print(_wrap_line(line, width))


def wrapped_help(arguments: Sequence[str]) -> AbstractContextManager[None]:
    """Return `print_help()` if the arguments ask for help, else a context without effect."""
    return print_help() if {"-h", "--help"} & set(arguments) else nullcontext()


class _Captured(io.StringIO):
    """Buffer in place of standard output with the same `isatty()` and encoding."""

    def __init__(self, is_terminal: bool):
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        """Return whether standard output is a terminal, which has colors."""
        return self._is_terminal

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Encoding of standard output, which decides whether boxes are drawn."""
        return sys.__stdout__.encoding if sys.__stdout__ else "ascii"


def _wrap_line(line: str, width: int) -> str:
    """Return a line of tyro's help, wrapped and without colors if it is longer than `width`."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", line)
    if len(plain) <= width or plain.lstrip()[:1] in BORDERS:
        return line
    if not plain.startswith("usage: "):
        return fill(plain, width, break_on_hyphens=False)
    # No line break between an option and its value.
    protected = re.sub(
        r"\[[^\[\]]*(\[[^\]]*\])?\]", lambda match: match[0].replace(" ", "\0"), plain
    )
    return fill(protected, width, subsequent_indent=7 * " ", break_on_hyphens=False).replace(
        "\0", " "
    )
