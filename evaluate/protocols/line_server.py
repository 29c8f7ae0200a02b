"""Loop of a server on standard input and output: each line is a command, answered as text."""

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import BinaryIO, Protocol, TextIO

MAX_LINE = 1 << 16  # bytes of a command


class CommandError(ValueError):
    """A command that cannot be executed; the message is one line."""


class LineServer(Protocol):
    """Engine that answers lines of a protocol.

    Attributes:
        closed: whether the engine has been asked to quit.
    """

    closed: bool

    def respond(self, line: str) -> Iterator[str]:
        """Execute a command and yield the parts of its answer."""

    def refuse(self, message: str) -> str:
        """Return the answer to a line that is too long to be a command."""


def serve(server: LineServer, lines: BinaryIO | None = None, out: TextIO | None = None) -> None:
    """Execute commands until the engine is asked to quit or the input ends.

    What agents print goes to standard error, as standard output belongs to the protocol.

    Args:
        server: the engine.
        lines: the commands, by default standard input.
        out: file for the answers, by default standard output.
    """
    lines = sys.stdin.buffer if lines is None else lines
    out = sys.stdout if out is None else out
    with redirect_stdout(sys.stderr):
        while not server.closed and (line := lines.readline(MAX_LINE + 1)):
            if len(line) > MAX_LINE and not line.endswith(b"\n"):
                while (rest := lines.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                    pass
                answers = iter((server.refuse(f"expected at most {MAX_LINE} bytes in a line"),))
            else:
                answers = server.respond(line.decode(errors="replace"))
            for answer in answers:
                out.write(answer)
                out.flush()


def one_line(text: str) -> str:
    """Return a text in one line of printable ASCII characters; others are escaped."""
    return "".join(c if " " <= c <= "~" else ascii(c)[1:-1] for c in " ".join(text.split()))


def parse_integer(text: str, name: str) -> int:
    """Return an argument of a command as an integer; `name` names the argument in errors.

    Raises:
        CommandError: if it is not a short sequence of ASCII digits.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise CommandError(f"{name} must be an integer of at most 9 digits, got {text:.40}")
    return int(text)
