"""Counterparts of games in OpenSpiel: its spec string, and actions translated both ways."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ludoteca.envs.game import Game

Translation = Callable[[Any, int], int]


class Counterpart(NamedTuple):
    """OpenSpiel's counterpart of one of our games.

    Attributes:
        name: OpenSpiel's spec string.
        to_theirs: `to_theirs(state, action)` turns our action into theirs, legal in their `state`.
        to_ours: the inverse.
    """

    name: str
    to_theirs: Translation
    to_ours: Translation


def same_action(state: Any, action: int) -> int:
    """Return the action unchanged, as both libraries number actions equally."""
    return action


def othello_counterpart(game: Game) -> Counterpart:
    """Return OpenSpiel's Othello: 8 by 8, with passes as moves.

    Raises:
        ValueError: if the game is another one.
    """
    _require(game, board_size=8, auto_pass=False)
    return Counterpart("othello", same_action, same_action)


def connect4_counterpart(game: Game) -> Counterpart:
    """Return OpenSpiel's Connect Four, of any size."""
    rows, columns, connect = (game.params[key] for key in ("rows", "columns", "connect"))
    name = f"connect_four(rows={rows},columns={columns},x_in_row={connect})"
    return Counterpart(name, same_action, same_action)


def hex_counterpart(game: Game) -> Counterpart:
    """Return OpenSpiel's Hex, with the swap rule or without.

    Raises:
        ValueError: if White begins.
    """
    _require(game, first="black")
    name = f"hex(board_size={game.params['board_size']},swap={game.params['swap']})"
    return Counterpart(name, same_action, same_action)


def tictactoe_counterpart(game: Game) -> Counterpart:
    """Return OpenSpiel's m,n,k-game on a square board."""
    n, line = game.params["board_size"], game.params["line"]
    return Counterpart(f"mnk(m={n},n={n},k={line})", same_action, same_action)


def breakthrough_counterpart(game: Game) -> Counterpart:
    """Return OpenSpiel's Breakthrough.

    Its first player starts at the top, ours at the bottom: ranks are turned around.
    """
    rows, columns = game.params["rows"], game.params["columns"]
    number = {name: action for action, name in enumerate(game.action_names)}

    def to_ours(state: Any, action: int) -> int:
        # From and to, such as a5b4, and a star if it captures.
        move = state.action_to_string(action)
        cells = (f"{move[k]}{rows + 1 - int(move[k + 1])}" for k in (0, 2))
        return number["-".join(cells)]

    def to_theirs(state: Any, action: int) -> int:
        their_actions: list[int] = state.legal_actions()
        return next(candidate for candidate in their_actions if to_ours(state, candidate) == action)

    return Counterpart(f"breakthrough(rows={rows},columns={columns})", to_theirs, to_ours)


def _require(game: Game, **params: Any) -> None:
    for key, value in params.items():
        if game.params[key] != value:
            raise ValueError(
                f"OpenSpiel plays {game.name} with {key}={value} only, not {key}={game.params[key]}"
            )
