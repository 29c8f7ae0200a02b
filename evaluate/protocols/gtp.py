"""Go Text Protocol, version 2: syntax and administrative commands.

Specification: https://www.lysator.liu.se/~gunnar/gtp/gtp2-spec-draft2/gtp2-spec.html.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from ludoteca import __version__
from ludoteca.evaluate.protocols.line_server import CommandError, one_line

COMMAND_ID = re.compile(r"([0-9]{1,10})(?![^ ])")  # optional number before a command
CONTROL = dict.fromkeys([*range(32), 127])  # characters that the protocol ignores


class GTPServer:
    """Engine that answers GTP commands.

    Attributes:
        name: name of the engine.
        closed: whether the command `quit` has been executed.
        commands: functions by name of the command, from its arguments to the text of its response.
    """

    def __init__(self, name: str):
        self.name = one_line(name)
        self.closed = False
        self.commands: dict[str, Callable[[Sequence[str]], str]] = {
            "protocol_version": lambda _: "2",
            "name": lambda _: self.name,
            "version": lambda _: __version__,
            "known_command": self._known_command,
            "list_commands": lambda _: "\n".join(self.commands),
            "quit": self._quit,
        }

    def respond(self, line: str) -> Iterator[str]:
        """Execute the command in a line and yield its response, if the line has a command."""
        text = line.partition("#")[0].replace("\t", " ").translate(CONTROL).strip()
        if not text:
            return
        number, command_id = "", COMMAND_ID.match(text)
        if command_id:
            number, text = command_id[1], text[command_id.end() :]
        name, *arguments = text.split() or [""]
        try:
            if name not in self.commands:
                raise CommandError(f"unknown command: {name:.80}" if name else "no command")
            yield f"={number} {self.commands[name](arguments)}\n\n"
        except CommandError as error:
            yield f"?{number} {one_line(str(error))}\n\n"

    def refuse(self, message: str) -> str:
        """Return the response to a line that is not a command."""
        return f"? {message}\n\n"

    def _known_command(self, arguments: Sequence[str]) -> str:
        expect_arguments(arguments, 1, 1, "known_command NAME")
        return "true" if arguments[0] in self.commands else "false"

    def _quit(self, _: Sequence[str]) -> str:
        self.closed = True
        return ""


def expect_arguments(arguments: Sequence[str], least: int, most: int, usage: str) -> None:
    """Raise a `CommandError` unless the number of arguments is from `least` to `most`."""
    if not least <= len(arguments) <= most:
        raise CommandError(f"syntax error: expected {usage}, got {len(arguments)} arguments")
