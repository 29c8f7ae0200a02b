"""Status of a game as text: the player to move, or the result, and the last move."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.envs.layout import Piece
from ludoteca.envs.record_views import Record

StatusItem = tuple[int | None, str]
"""The player that an item is about, or None, and its text."""


@np.errstate(over="ignore")  # kernels may rely on integer overflow
def status(game: Game, s: Any, last_action: Any = None) -> list[StatusItem]:
    """Return the items of the line under a board.

    `last_action` is the action of the last ply; in simultaneous games it is ignored.

    Raises:
        ValueError: if a player has no piece in the layout, `last_action` is not an action, or the
            layout's cells are invalid.
    """
    items: list[StatusItem] = []
    if game.is_terminal(s):
        winners = best_players(game, s)
        player = winners[0] if len(winners) == 1 and game.num_players > 1 else None
        items.append((player, describe_result(game, s)))
    elif game.player is not None:
        mover = game.player(s)
        items.append((mover, f"{player_name(game, mover)} to move"))
    elif not game.layout.counts:  # else the items with the counts name the players
        items += [(p, f"{player_name(game, p)} to move") for p in range(game.num_players)]
    if game.layout.counts:
        counts = count_cells(game, s)
        # In unfinished simultaneous games, a player without pieces is eliminated: "out".
        can_be_out = game.simultaneous and not game.is_terminal(s)
        items += [(p, "out" if can_be_out and n == 0 else str(n)) for p, n in enumerate(counts)]
    if not game.simultaneous and last_action is not None:
        items.append((None, f"last move {action_name(game, last_action)}"))
    return items


def status_text(game: Game, s: Any, last_action: Any = None) -> str:
    """Return the status as one line, such as `"black to move, black 4, white 1, last move d3"`."""
    texts = []
    for player, text in status(game, s, last_action):
        has_name = player is None or player_name(game, player) in text
        # `or 0` is for the type checker: without a player, `has_name` is true.
        texts.append(text if has_name else f"{player_name(game, player or 0)} {text}")
    return ", ".join(texts)


def describe_result(game: Game, s: Any) -> str:
    """Return the result of a finished game as text, e.g. `"draw"` or `"white wins"`."""
    winners = best_players(game, s)
    if game.num_players == 1:
        return "game over"
    if len(winners) == game.num_players:
        return "draw"
    names = [player_name(game, p) for p in winners]
    if len(names) == 1:
        return f"{names[0]} wins"
    return f"{', '.join(names[:-1])} and {names[-1]} tie for first"


@np.errstate(over="ignore")  # kernels may rely on integer overflow
def best_players(game: Game, s: Any) -> list[int]:
    """Return the players with the highest return in a finished game; several if they tie."""
    returns = np.zeros(game.num_players)
    game.returns(s, returns)
    return [int(p) for p in np.flatnonzero(returns == returns.max())]


def player_piece(game: Game, player: int) -> Piece:
    """Return the piece that represents a player: the head of its snake, or else its first piece.

    Raises:
        ValueError: if the layout has no piece of this player.
    """
    pieces = [piece for piece in game.layout.pieces if piece.player == player]
    if not pieces:
        raise ValueError(f"the layout of {game.name} has no piece of player {player}")
    return next((piece for piece in pieces if piece.shape == "head"), pieces[0])


def player_name(game: Game, player: int) -> str:
    """Return the displayed name of a player, that of its piece, e.g. `"black"`."""
    return player_piece(game, player).name


def action_name(game: Game, action: Any) -> str:
    """Return the displayed name of an action, e.g. `"d3"`.

    Raises:
        ValueError: if there is no such action.
    """
    if not 0 <= action < game.num_actions:
        raise ValueError(f"{game.name} has the actions 0 to {game.num_actions - 1}, got {action!r}")
    return game.action_names[int(action)]


def count_cells(game: Game, s: Any) -> list[int]:
    """Return the number of cells with a piece, for each player."""
    counts = np.bincount(board_codes(game, s).ravel(), minlength=len(game.layout.pieces) + 1)
    by_player = [0] * game.num_players
    for piece, count in zip(game.layout.pieces, counts[1:], strict=True):
        if piece.player >= 0:
            by_player[piece.player] += int(count)
    return by_player


@np.errstate(over="ignore")  # kernels may rely on integer overflow
def board_codes(game: Game, s: Any) -> NDArray[np.int8]:
    """Return the code of every cell, shape `[rows, columns]`; see `Layout.pieces`.

    Raises:
        ValueError: if the layout's `cells` returns another shape or invalid codes.
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
    """Return a position as a record with attributes, from a record or an array of one record.

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
