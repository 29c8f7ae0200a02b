"""Positions and moves of Othello in game records, which may omit passes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.formats.record import RecordText
from ludoteca.envs.game import Game
from ludoteca.envs.games.bitboards import cells_of
from ludoteca.envs.games.othello import placements
from ludoteca.envs.replay import Replay
from ludoteca.envs.serialization import validate_states

COLORS = ("black", "white")
PASSES = ("", "pass", "pa", "ps", "--", "@@")  # spellings of a pass, in lower case


@dataclass(frozen=True)
class OthelloMove:
    """Move of a game record.

    Attributes:
        color: 0 for black, 1 for white, None if the record does not state it.
        action: the action, or None for a pass.
        offset: offset of the move in the text.
    """

    color: int | None
    action: int | None
    offset: int


def othello_position(game: Game, squares: NDArray[np.int64], player: int) -> Any:
    """Return a position of Othello, a record.

    Args:
        game: Othello.
        squares: 1 for a black disc, 2 for a white one, 0 for an empty square. Shape `[N, N]`.
        player: the player to move.

    Raises:
        ValueError: if the rules do not allow the position.
    """
    states = game.empty(1).view(np.recarray)
    states[0] = game.new(0)
    states["discs"][0] = [cells_of(squares == 1 + color) for color in (0, 1)]
    states["to_move"][0] = player
    s = states[0]
    with np.errstate(over="ignore"):  # kernels rely on integer overflow
        states["legal"][0] = placements(s, player)
        states["over"][0] = not states["legal"][0] and not placements(s, 1 - player)
    return validate_states(game, states)[0]


def with_passes(
    source: RecordText, game: Game, moves: Sequence[OthelloMove], start: Any = None
) -> Iterator[tuple[int, int]]:
    """Yield the action and the offset of each move, and of each pass that the record omits.

    Passes after the end of the game are skipped. If a move is illegal, it is the last one yielded:
    the caller reports it.

    Args:
        source: text with the moves.
        game: Othello.
        moves: the moves.
        start: the starting position, a record; by default the standard one.

    Raises:
        ValueError: if a move has the wrong color.
    """
    pass_action, s = game.num_actions - 1, game.new(0) if start is None else start.copy()
    assert game.player is not None
    for move in moves:
        if game.is_terminal(s) and move.action is None:
            continue
        action = pass_action if move.action is None else move.action
        legal = game.legal(s)
        if pass_action in legal and action != pass_action:
            yield pass_action, move.offset
            with np.errstate(over="ignore"):  # kernels rely on integer overflow
                game.step(s, pass_action)
            legal = game.legal(s)
        mover = game.player(s)
        if move.color is not None and move.color != mover and not game.is_terminal(s):
            raise source.error(
                move.offset, f"expected a move of {COLORS[mover]}, got one of {COLORS[move.color]}"
            )
        yield action, move.offset
        if action not in legal:
            return
        with np.errstate(over="ignore"):  # kernels rely on integer overflow
            game.step(s, action)


def moves_with_passes(game: Game, replay: Replay) -> list[tuple[int, str]]:
    """Return the color and the name of each move of a replay, with all passes.

    Raises:
        ValueError: if the replay is invalid.
    """
    assert game.player is not None
    moves: list[tuple[int, str]] = []
    actions = cast(Sequence[int], replay.actions)
    for s, action in zip(replay.positions(), actions, strict=False):
        mover = game.player(s)
        if moves and moves[-1][0] == mover:  # with the parameter auto_pass, passes are not plies
            moves.append((1 - mover, "pass"))
        moves.append((mover, game.action_names[action]))
    return moves


def disc_difference(replay: Replay) -> int:
    """Return the discs of black minus those of white at the end; empty squares are the winner's."""
    s = list(replay.positions())[-1]
    black, white = (int(discs).bit_count() for discs in s.discs)
    n = int(s.board.shape[1])  # `board` has the shape [0, n]: no elements, only the board size n
    empty = n**2 - black - white
    return black - white + empty * ((black > white) - (black < white))
