"""Game records (games in the formats of other programs): replays with notes, errors with line."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.replay import Replay, returns_of


@dataclass(frozen=True)
class GameRecord:
    """One game of a file.

    Attributes:
        replay: the game's moves and players.
        notes: sentences for the user about content of the file that a replay cannot hold, such as
            variations.
    """

    replay: Replay
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClaimedResult:
    """Result of a game according to its file, to be compared with the result of the moves.

    Attributes:
        text: the property, such as `"RE[B+R]"`.
        winner: the winning player, -1 for a draw, None if it is unknown.
        offset: offset of the property in the text.
    """

    text: str
    winner: int | None
    offset: int


class RecordText:
    """Text of a file of game records; makes errors that name the line and the column.

    Attributes:
        text: the text, without a byte order mark.
    """

    def __init__(self, text: str):
        self.text = text.removeprefix("\ufeff")

    def error(self, offset: int, message: str) -> ValueError:
        """Return an error whose message begins with the line and the column of `text[offset]`."""
        line = self.text.count("\n", 0, offset) + 1
        column = offset - self.text.rfind("\n", 0, offset)
        return ValueError(f"line {line}, column {column}: {message}")


def make_record(
    source: RecordText,
    game: Game,
    moves: Iterable[tuple[int, int]],
    players: tuple[str, ...],
    claimed: ClaimedResult | None = None,
    notes: Iterable[str] = (),
) -> GameRecord:
    """Play the moves of a game, and return its record.

    Args:
        source: the text that contains the moves.
        game: a sequential game of two players.
        moves: the actions, each with its offset in the text.
        players: names of the players; all may be empty.
        claimed: the result according to the file, if it states one.
        notes: notes of the record, see `GameRecord`.

    Raises:
        ValueError: at the first illegal move, or if the moves lead to another winner than claimed.
    """
    s = game.new(0)
    actions: list[int] = []
    for action, offset in moves:
        if game.is_terminal(s):
            name = game.action_names[action]
            raise source.error(offset, f"the game is over, but the record continues with {name}")
        if action not in game.legal(s):
            legal = " ".join(game.action_names[a] for a in game.legal(s))
            name = game.action_names[action]
            raise source.error(
                offset, f"move {len(actions) + 1}: {name} is illegal: the legal moves are {legal}"
            )
        with np.errstate(over="ignore"):  # kernels may rely on integer overflow
            game.step(s, action)
        actions.append(action)
    returns = returns_of(game, s)
    notes = tuple(notes)
    if claimed is not None and claimed.winner is not None:
        if returns is None:
            notes += (f"{claimed.text}: the game ended before the rules decided it",)
        elif claimed.winner != _winner(returns):
            raise source.error(
                claimed.offset,
                f"the result is {claimed.text}, but the moves lead to the returns {list(returns)}",
            )
    names = players if any(players) else ()
    return GameRecord(Replay(game.spec, 0, actions, returns, names), notes)


def _winner(returns: tuple[float, ...]) -> int:
    """Return the player with the higher return, -1 for a draw."""
    return -1 if returns[0] == returns[1] else int(returns[1] > returns[0])
