"""OpenSpiel's versions of our games: spec strings and translations of actions."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ludoteca.envs.game import Game

Translation = Callable[[Any, int], int]  # see `Counterpart`


class Counterpart(NamedTuple):
    """OpenSpiel's version of one of our games.

    Attributes:
        name: OpenSpiel's spec string.
        to_spiel: `to_spiel(state, action)` translates our action to OpenSpiel's; `state` is
            OpenSpiel's.
        to_ours: `to_ours(state, action)` translates OpenSpiel's action to ours.
    """

    name: str
    to_spiel: Translation
    to_ours: Translation


def same_action(state: Any, action: int) -> int:
    """Return the action unchanged: both libraries number the actions equally."""
    return action


def othello_counterpart(game: Game) -> Counterpart:
    """Return OpenSpiel's Othello: 8x8, with passes as moves.

    Raises:
        ValueError: if the parameters of the game differ.
    """
    _require(game, board_size=8, auto_pass=False)
    return Counterpart("othello", same_action, same_action)


def connect4_counterpart(game: Game) -> Counterpart:
    """Return OpenSpiel's Connect Four, of any size."""
    rows, columns, connect = (game.params[key] for key in ("rows", "columns", "connect"))
    name = f"connect_four(rows={rows},columns={columns},x_in_row={connect})"
    return Counterpart(name, same_action, same_action)


def hex_counterpart(game: Game) -> Counterpart:
    """Return OpenSpiel's Hex, with or without the swap rule.

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

    Its first player starts at the top, ours at the bottom: the order of ranks is reversed.
    """
    rows, columns = game.params["rows"], game.params["columns"]
    actions = {name: action for action, name in enumerate(game.action_names)}

    def to_ours(state: Any, action: int) -> int:
        # The cells of a move from and to, such as a5b4, and a star if it captures.
        move = state.action_to_string(action)
        cells = (f"{move[k]}{rows + 1 - int(move[k + 1])}" for k in (0, 2))
        return actions["-".join(cells)]

    def to_spiel(state: Any, action: int) -> int:
        their_actions: list[int] = state.legal_actions()
        return next(candidate for candidate in their_actions if to_ours(state, candidate) == action)

    return Counterpart(f"breakthrough(rows={rows},columns={columns})", to_spiel, to_ours)


def _require(game: Game, **params: Any) -> None:
    """Check that parameters of a game have the values that OpenSpiel supports.

    Raises:
        ValueError: if one differs.
    """
    for key, value in params.items():
        if game.params[key] != value:
            raise ValueError(
                f"OpenSpiel plays {game.name} with {key}={value} only, not {key}={game.params[key]}"
            )
