"""Game record: a replay and what else its file says, and errors with line and column."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ludoteca.envs.game import Game
from ludoteca.envs.replay import Replay, returns_of


@dataclass(frozen=True)
class GameRecord:
    """One game of a file.

    Attributes:
        replay: its moves and players.
        notes: what the file says and a replay does not hold, such as skipped variations.
    """

    replay: Replay
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """Result of a game by its file.

    Attributes:
        text: the property, such as `"RE[B+R]"`.
        winner: the player who won, None if it is not known, -1 for a draw.
        offset: where it stands in the text.
    """

    text: str
    winner: int | None
    offset: int


class RecordText:
    """Text of a file of game records, which locates errors.

    Attributes:
        text: the text.
    """

    def __init__(self, text: str):
        self.text = text.removeprefix("\ufeff")

    def error(self, offset: int, message: str) -> ValueError:
        """Return an error that begins with the line and the column of a character."""
        line = self.text.count("\n", 0, offset) + 1
        column = offset - self.text.rfind("\n", 0, offset)
        return ValueError(f"line {line}, column {column}: {message}")


def make_record(
    source: RecordText,
    game: Game,
    moves: Iterable[tuple[int, int]],
    players: tuple[str, ...],
    claim: Claim | None = None,
    notes: Iterable[str] = (),
) -> GameRecord:
    """Return the record of a game, after playing its moves.

    Args:
        source: the text with the moves.
        game: a sequential game of two players.
        moves: the actions, each with its offset in the text.
        players: names of the players by seat; none if all are empty.
        claim: the result by the file.
        notes: what else the file says.

    Raises:
        ValueError: at the first illegal move, or if the game has another winner.
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
                offset, f"move {len(actions) + 1}: {name} is illegal: legal are {legal}"
            )
        with np.errstate(over="ignore"):  # kernels may count on integers that wrap around
            game.step(s, action)
        actions.append(action)
    returns = returns_of(game, s)
    notes = tuple(notes)
    if claim is not None and claim.winner is not None:
        if returns is None:
            notes += (f"{claim.text}: the game ended before its last move by the rules",)
        elif claim.winner != _winner(returns):
            raise source.error(
                claim.offset, f"{claim.text}, but after the moves the result is {list(returns)}"
            )
    names = players if any(players) else ()
    return GameRecord(Replay(game.spec, 0, actions, returns, names), notes)


def _winner(returns: tuple[float, ...]) -> int:
    return -1 if returns[0] == returns[1] else int(returns[1] > returns[0])
