"""Status of a game in words: the player to move, or the result."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.layout import Piece
from ludoteca.envs.record_views import Record

# The player a part is about (or None) and what it says; a text may be empty.
Part = tuple[int | None, str]


@np.errstate(over="ignore")  # kernels may count on integers that wrap around
def status(game: Game, s: Any, last_action: Any = None) -> list[Part]:
    """Return what a line under the board says, part by part.

    `last_action` is the action of the last ply of a sequential game; others are ignored.
    """
    parts: list[Part] = []
    if game.is_terminal(s):
        winners = best_players(game, s)
        player = winners[0] if len(winners) == 1 and game.num_players > 1 else None
        parts.append((player, outcome(game, s)))
    elif game.player is not None:
        mover = game.player(s)
        parts.append((mover, f"{player_name(game, mover)} to move"))
    elif not game.layout.counts:
        parts += [(p, f"{player_name(game, p)} to move") for p in range(game.num_players)]
    if game.layout.counts:
        counts = cells_held(game, s)
        out = game.simultaneous and not game.is_terminal(s)
        parts += [(p, "out" if out and n == 0 else str(n)) for p, n in enumerate(counts)]
    if not game.simultaneous and last_action is not None:
        parts.append((None, f"last move {action_name(game, last_action)}"))
    return parts


def status_text(game: Game, s: Any, last_action: Any = None) -> str:
    """Return the status as one line, such as `"black to move, black 4, white 1, last move d3"`."""
    words = []
    for player, text in status(game, s, last_action):
        named = player is None or player_name(game, player) in text
        words.append(text if named else f"{player_name(game, player or 0)} {text}")
    return ", ".join(words)


def outcome(game: Game, s: Any) -> str:
    """Return how a finished game ended, e.g. `"draw"` or `"white wins"`."""
    winners = best_players(game, s)
    if game.num_players == 1:
        return "game over"
    if len(winners) == game.num_players:
        return "draw"
    names = [player_name(game, p) for p in winners]
    if len(names) == 1:
        return f"{names[0]} wins"
    return f"{', '.join(names[:-1])} and {names[-1]} tie for first"


@np.errstate(over="ignore")  # kernels may count on integers that wrap around
def best_players(game: Game, s: Any) -> list[int]:
    """Return the players with the highest return."""
    returns = np.zeros(game.num_players)
    game.returns(s, returns)
    return [int(p) for p in np.flatnonzero(returns == returns.max())]


def player_piece(game: Game, player: int) -> Piece:
    """Return the piece that stands for a player: the head, where there is one."""
    pieces = [piece for piece in game.layout.pieces if piece.player == player]
    if not pieces:
        raise ValueError(f"the layout of {game.name} has no piece of player {player}")
    return next((piece for piece in pieces if piece.shape == "head"), pieces[0])


def player_name(game: Game, player: int) -> str:
    """Return what people call a player, e.g. `"black"`."""
    return player_piece(game, player).name


def action_name(game: Game, action: Any) -> str:
    """Return what people call an action, e.g. `"d3"`.

    Raises:
        ValueError: if there is no such action.
    """
    if not 0 <= action < game.num_actions:
        raise ValueError(f"{game.name} has actions 0 to {game.num_actions - 1}, not {action!r}")
    return game.action_names[int(action)]


def cells_held(game: Game, s: Any) -> list[int]:
    """Return how many cells hold a piece of each player."""
    counts = np.bincount(board_codes(game, s).ravel(), minlength=len(game.layout.pieces) + 1)
    held = [0] * game.num_players
    for piece, count in zip(game.layout.pieces, counts[1:], strict=True):
        if piece.player >= 0:
            held[piece.player] += int(count)
    return held


@np.errstate(over="ignore")  # kernels may count on integers that wrap around
def board_codes(game: Game, s: Any) -> NDArray[np.int8]:
    """Return the code of every cell, shape `[rows, columns]`; see `Layout.pieces`.

    Raises:
        ValueError: if the layout's `cells` returns something else.
    """
    codes = np.asarray(game.layout.cells(s))
    shape = game.layout.rows, game.layout.columns
    if codes.shape != shape or not 0 <= codes.min() <= codes.max() <= len(game.layout.pieces):
        raise ValueError(
            f"cells of {game.name} must return codes 0 to {len(game.layout.pieces)} of shape "
            f"{shape}, got {codes.min()} to {codes.max()} of shape {codes.shape}"
        )
    return codes


def as_record(game: Game, s: Any) -> Any:
    """Return a position as a record with attributes, from a record or an array of one.

    Raises:
        ValueError: if it is not one position of this game.
    """
    if isinstance(s, np.record | Record) and s.dtype == game.state:
        return s
    array = np.asarray(s)
    if array.dtype != game.state or array.size != 1:
        raise ValueError(
            f"expected one position of {game.spec}, got an array of shape {array.shape} and "
            f"dtype {array.dtype}"
        )
    return array.reshape(1).view(np.recarray)[0]
