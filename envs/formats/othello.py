"""Moves of Othello in game records, where passes may be left out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from ludoteca.envs.formats.record import RecordText
from ludoteca.envs.game import Game
from ludoteca.envs.replay import Replay

COLORS = ("black", "white")
PASSES = ("", "pass", "pa", "ps", "--", "@@")


@dataclass(frozen=True)
class OthelloMove:
    """Move of a record.

    Attributes:
        color: 0 for black, 1 for white, None if the record does not say.
        action: the square, or None for a pass.
        offset: where it stands in the text.
    """

    color: int | None
    action: int | None
    offset: int


def with_passes(
    source: RecordText, game: Game, moves: Sequence[OthelloMove]
) -> Iterator[tuple[int, int]]:
    """Yield the actions of moves, each with its offset; passes that were left out are added.

    Passes after the end of the game are ignored. Illegal moves are yielded, too.

    Raises:
        ValueError: if a move is of the wrong color.
    """
    passing, s = game.num_actions - 1, game.new(0)
    assert game.player is not None
    for move in moves:
        if game.is_terminal(s) and move.action is None:
            continue
        action = passing if move.action is None else move.action
        legal = game.legal(s)
        if passing in legal and action != passing:
            yield passing, move.offset
            with np.errstate(over="ignore"):
                game.step(s, passing)
            legal = game.legal(s)
        mover = game.player(s)
        if move.color is not None and move.color != mover and not game.is_terminal(s):
            raise source.error(
                move.offset, f"expected a move of {COLORS[mover]}, got one of {COLORS[move.color]}"
            )
        yield action, move.offset
        if action not in legal:
            return
        with np.errstate(over="ignore"):
            game.step(s, action)


def moves_with_passes(game: Game, replay: Replay) -> list[tuple[int, str]]:
    """Return the color and the name of each move of a replay, all passes included.

    Raises:
        ValueError: if the replay is invalid.
    """
    assert game.player is not None
    moves: list[tuple[int, str]] = []
    actions = cast(Sequence[int], replay.actions)
    for s, action in zip(replay.positions(), actions, strict=False):
        mover = game.player(s)
        if moves and moves[-1][0] == mover:  # with auto_pass, a pass is not a ply
            moves.append((1 - mover, "pass"))
        moves.append((mover, game.action_names[action]))
    return moves


def disc_difference(replay: Replay) -> int:
    """Return the discs of black minus those of white at the end; empty squares are the winner's."""
    s = list(replay.positions())[-1]
    black, white = (int(discs).bit_count() for discs in s.discs)
    empty = int(s.board.shape[1]) ** 2 - black - white
    return black - white + empty * ((black > white) - (black < white))
