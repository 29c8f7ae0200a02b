"""Traces of games of rule sheets in GDL (Game Description Language): positions as JSON lines.

Each line is a position: `game` and `ply` from 0, `state` (the true fluents, sorted) and `terminal`.
A terminal position also has `goals`, others have `legal` (sorted lists of moves) and `moves` (the
moves played), each with an entry per role in the order of the sheet. A role that does not have
exactly one goal has the goal `null`. A position in which a role has no legal move has no moves, and
ends the game. Terms are written like `(cell a 1 white)`. `ludoteca gdl trace` writes such lines,
and so does the recorder of GGP-Base, `tests/oracles/record_gdl.py`.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ludoteca.files import parse_json


@dataclass(frozen=True)
class TracePosition:
    """Position of a game of a rule sheet.

    Attributes:
        game: number of the game, from 0.
        ply: number of joint moves before the position.
        state: the true fluents, sorted.
        terminal: whether the game is over.
        goals: goal of each role if the game is over, else empty; None for a role without exactly
            one goal.
        legal: legal moves of each role, sorted, unless the game is over.
        moves: move of each role, unless the game is over or a role has no legal move.
    """

    game: int
    ply: int
    state: tuple[str, ...]
    terminal: bool
    goals: tuple[int | None, ...] = ()
    legal: tuple[tuple[str, ...], ...] = ()
    moves: tuple[str, ...] = ()

    def line(self) -> str:
        """Return the position as a line of JSON, without the line break."""
        content = {
            "game": self.game,
            "ply": self.ply,
            "terminal": self.terminal,
            "state": self.state,
        }
        if self.terminal:
            content["goals"] = self.goals
        else:
            content |= {"legal": self.legal, "moves": self.moves}
        return json.dumps(content)


def read_trace(lines: Iterable[str | bytes]) -> Iterator[TracePosition]:
    """Yield the positions of a trace.

    Raises:
        ValueError: if a line is not a position; the message has its number.
    """
    for number, line in enumerate(lines, 1):
        try:
            yield _position(parse_json(line))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"line {number} of the trace is not a position: {error!r}") from None


def _position(content: dict[str, object]) -> TracePosition:
    game, ply = _number(content["game"]), _number(content["ply"])
    state, terminal = _terms(content["state"]), content["terminal"]
    if terminal is True:
        goals = content["goals"]
        kinds = (int, type(None))
        if not isinstance(goals, list) or not all(type(goal) in kinds for goal in goals):
            raise ValueError(f"goals must be integers or null, got {goals!r:.80}")
        return TracePosition(game, ply, state, True, tuple(goals))
    if terminal is not False:
        raise ValueError(f"terminal must be true or false, got {terminal!r:.80}")
    legal = content["legal"]
    if not isinstance(legal, list):
        raise ValueError(f"legal must be a list of lists, got {legal!r:.80}")
    moves = _terms(content["moves"])
    movers = len(legal) if all(legal) else 0
    if len(moves) != movers:
        raise ValueError(f"{len(moves)} roles have moved, expected {movers}")
    return TracePosition(game, ply, state, False, (), tuple(map(_terms, legal)), moves)


def _number(content: object) -> int:
    if type(content) is not int or content < 0:
        raise ValueError(f"game and ply must be integers from 0, got {content!r:.80}")
    return content


def _terms(content: object) -> tuple[str, ...]:
    if not isinstance(content, list) or not all(isinstance(term, str) for term in content):
        raise ValueError(f"expected a list of terms, got {content!r:.80}")
    return tuple(content)
