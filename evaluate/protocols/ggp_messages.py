"""Messages of the protocol of General Game Playing (GGP), as GGP-Base sends them.

A message is a list: `(INFO)`, `(PREVIEW (RULES) CLOCK)`, `(START MATCH ROLE (RULES) START_CLOCK
PLAY_CLOCK)`, `(PLAY MATCH MOVES)`, `(STOP MATCH MOVES)` or `(ABORT MATCH)`. Clocks are seconds;
moves are `NIL` before the first joint move, then a list with the last move of each role. `(PING)`
means the same as `(INFO)`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ludoteca.envs.gdl.errors import GDLError
from ludoteca.envs.gdl.parse import TOKEN, parse, show

MAX_NAME = 200  # characters of a match's name
MAX_CLOCK = 86_400  # seconds
NO_MOVES = "nil"  # in place of the moves before the first joint move


class MessageError(ValueError):
    """A message that is not one of the protocol, or does not fit the match."""


@dataclass(frozen=True)
class Info:
    """Question whether the player is available."""


@dataclass(frozen=True)
class Preview:
    """Rules of a match that may follow, and the seconds in which the player may study them."""

    rules: str
    clock: int


@dataclass(frozen=True)
class Start:
    """Start of a match.

    Attributes:
        match: name of the match.
        role: role of the player.
        rules: the rules in the Game Description Language.
        start_clock: seconds until the answer to this message.
        play_clock: seconds until the answer to `Play`.
    """

    match: str
    role: str
    rules: str
    start_clock: int
    play_clock: int


@dataclass(frozen=True)
class Play:
    """Request for a move; `moves` are the last moves of all roles, empty before the first."""

    match: str
    moves: tuple[str, ...]


@dataclass(frozen=True)
class Stop:
    """End of a match; `moves` are the last moves of all roles."""

    match: str
    moves: tuple[str, ...]


@dataclass(frozen=True)
class Abort:
    """End of a match before the end of the game."""

    match: str


Message = Info | Preview | Start | Play | Stop | Abort


def parse_message(text: str) -> Message:
    """Return a message.

    Raises:
        MessageError: if it is not a message of the protocol.
    """
    kind, *items = split_list(text) or [""]
    reader, num_arguments = _READERS.get(kind.lower(), (None, 0))
    if reader is None:
        raise MessageError(f"expected a message {', '.join(_READERS).upper()}, got {kind!r:.80}")
    if len(items) != num_arguments:
        raise MessageError(f"{kind.upper()} needs {num_arguments} arguments, got {len(items)}")
    return reader(items)


def split_list(text: str) -> list[str]:
    """Return the items of a list as text; items may be lists.

    Raises:
        MessageError: if it is not one list.
    """
    items: list[str] = []
    depth, begin, is_over = 0, 0, False
    for token in TOKEN.finditer(text):
        word = token.group()
        if word[0] == ";":  # a comment
            continue
        if is_over or (depth == 0 and word != "("):
            raise MessageError(f"expected a list in parentheses, got {text!r:.80}")
        if word == "(":
            depth += 1
            begin = token.start() if depth == 2 else begin
        elif word == ")":
            depth -= 1
            is_over = depth == 0
            if depth == 1:
                items.append(text[begin : token.end()])
        elif depth == 1:
            items.append(word)
    if not is_over:
        raise MessageError(f"expected a list in parentheses, got {text!r:.80}")
    return items


def _start(items: list[str]) -> Start:
    match, role, rules, start_clock, play_clock = items
    return Start(
        _name(match),
        _term(role, "role"),
        _rules(rules),
        _clock(start_clock, "start clock"),
        _clock(play_clock, "play clock"),
    )


def _name(text: str) -> str:
    """Return the name of a match, validated."""
    if text[0] == "(" or len(text) > MAX_NAME:
        raise MessageError(
            f"the name of a match must be one word of at most {MAX_NAME} characters, got "
            f"{text!r:.80}"
        )
    return text


def _term(text: str, what: str) -> str:
    """Return a GDL term in this package's notation; `what` names the term in errors."""
    try:
        (statement,) = parse(text, what)
    except GDLError as error:
        raise MessageError(str(error)) from None
    return show(statement.term)


def _rules(text: str) -> str:
    """Return the text of a list of rules without its parentheses."""
    if text[0] != "(":
        raise MessageError(f"the rules must be a list of facts and rules, got {text!r:.80}")
    return text[1:-1]


def _clock(text: str, what: str) -> int:
    """Return the seconds of a clock; `what` names the clock in errors."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    if not 1 <= number <= MAX_CLOCK:
        raise MessageError(
            f"the {what} must be an integer from 1 to {MAX_CLOCK:,} seconds, got {text!r:.80}"
        )
    return number


def _moves(text: str) -> tuple[str, ...]:
    if text.lower() == NO_MOVES:
        return ()
    return tuple(_term(item, "move") for item in split_list(text))


# Function that makes the message from its arguments, and their number, by the first word.
_READERS: dict[str, tuple[Callable[[list[str]], Message], int]] = {
    "info": (lambda items: Info(), 0),
    "ping": (lambda items: Info(), 0),
    "preview": (lambda items: Preview(_rules(items[0]), _clock(items[1], "clock")), 2),
    "start": (_start, 5),
    "play": (lambda items: Play(_name(items[0]), _moves(items[1])), 2),
    "stop": (lambda items: Stop(_name(items[0]), _moves(items[1])), 2),
    "abort": (lambda items: Abort(_name(items[0])), 1),
}
