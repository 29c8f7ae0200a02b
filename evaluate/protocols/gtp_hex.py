"""Hex in GTP: commands of the board and of play.

Cells are named as everywhere in Hex, a1 in the acute corner and no letter left out. The swap is
`swap-pieces`, see `ludoteca.envs.formats.sgf_hex`. On an empty board either color may begin.
"""

import math
from collections.abc import Sequence

from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.envs.render.text import board_text
from ludoteca.evaluate.protocols.engine_session import EngineSession
from ludoteca.evaluate.protocols.gtp import GTPServer, expect_arguments
from ludoteca.evaluate.protocols.line_server import CommandError, parse_integer

COLORS = {"b": "black", "black": "black", "w": "white", "white": "white"}
SWAP, SWAPS = "swap-pieces", ("swap-pieces", "swap")
RESIGN = "resign"
SIZES = range(2, 20)


class HexServer(GTPServer):
    """Engine for Hex that answers GTP commands.

    Attributes:
        session: the game and the agent.
    """

    def __init__(self, game: Game, agent: str, seed: int = 0):
        """Begin a game.

        Args:
            game: Hex, with its size, rules and first color.
            agent: spec string of the agent.
            seed: seed of the first game.

        Raises:
            ValueError: if there is no such agent, or it does not play the game.
            ImportError: if a package that the agent needs is missing.
        """
        super().__init__(f"ludoteca {agent}")
        self.session = EngineSession(game, agent, seed)
        self.commands |= {
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "play": self._play,
            "genmove": self._genmove,
            "reg_genmove": self._reg_genmove,
            "undo": self._undo,
            "showboard": self._showboard,
            "time_settings": self._time_settings,
            "time_left": self._time_left,
            "final_score": self._final_score,
        }

    @property
    def color(self) -> str | None:
        """The color to move, or None if the game is over."""
        mover, first = self.session.history.mover, str(self.session.game.params["first"])
        return None if mover is None else first if mover == 0 else other_color(first)

    def move_name(self, action: int) -> str:
        """Return the name of an action in the protocol."""
        name = self.session.game.action_names[action]
        return SWAP if name == "swap" else name

    def turn_to(self, color: str) -> None:
        """Make a color the color to move, which is possible on an empty board.

        Raises:
            CommandError: if the other color is to move, or the game is over.
        """
        game, to_move = self.session.game, self.color
        if to_move is None:
            raise CommandError("the game is over")
        if to_move == color:
            return
        if self.session.history.actions:
            raise CommandError(f"{to_move} is to move, not {color}: colors alternate")
        self.session.restart(make_game("hex", **{**game.params, "first": color}))

    def _boardsize(self, arguments: Sequence[str]) -> str:
        expect_arguments(arguments, 1, 2, "boardsize SIZE, or boardsize COLUMNS ROWS")
        size, *more = [parse_integer(text, "SIZE") for text in arguments]
        if size not in SIZES or more not in ([], [size]):
            got = " ".join(arguments)
            raise CommandError(f"unacceptable size: expected a square of 2 to 19, got {got}")
        game = make_game("hex", **{**self.session.game.params, "board_size": size})
        try:
            self.session.restart(game)
        except CommandError as error:
            raise CommandError(f"unacceptable size: {error}") from None
        return ""

    def _clear_board(self, _: Sequence[str]) -> str:
        self.session.restart(self.session.game)
        return ""

    def _play(self, arguments: Sequence[str]) -> str:
        expect_arguments(arguments, 2, 2, "play COLOR MOVE")
        color, move = parse_color(arguments[0]), arguments[1].lower()
        if move == RESIGN:  # not a move by the rules: the position stays
            return ""
        self.turn_to(color)
        names = self.session.game.action_names
        name = "swap" if move in SWAPS else move
        legal = self.session.history.legal()
        if name not in names:
            hint = "; this game has no swap" if name == "swap" else ""
            raise CommandError(f"illegal move: there is no move {move:.40}{hint}")
        if names.index(name) not in legal:
            reason = "only the second move may swap" if name == "swap" else "the cell is occupied"
            raise CommandError(f"illegal move: {move}, {reason}")
        self.session.play(names.index(name))
        return ""

    def _genmove(self, arguments: Sequence[str]) -> str:
        move = self._reg_genmove(arguments)
        self.session.play(self.session.analyze().action)
        return move

    def _reg_genmove(self, arguments: Sequence[str]) -> str:
        expect_arguments(arguments, 1, 1, "genmove COLOR")
        self.turn_to(parse_color(arguments[0]))
        return self.move_name(self.session.analyze().action)

    def _undo(self, _: Sequence[str]) -> str:
        self.session.undo()
        return ""

    def _showboard(self, _: Sequence[str]) -> str:
        """Return the board, which begins in a line of its own, without empty lines."""
        text = board_text(self.session.game, self.session.history.current)
        return "\n" + "\n".join(line for line in text.splitlines() if line)

    def _time_settings(self, arguments: Sequence[str]) -> str:
        """Accept any time control; the limits of the agent are those of its spec string."""
        usage = "time_settings MAIN_TIME BYO_YOMI_TIME BYO_YOMI_STONES"
        expect_arguments(arguments, 3, 3, usage)
        for text in arguments:
            _check_seconds(text)
        return ""

    def _time_left(self, arguments: Sequence[str]) -> str:
        expect_arguments(arguments, 2, 3, "time_left COLOR TIME STONES")
        parse_color(arguments[0])
        for text in arguments[1:]:
            _check_seconds(text)
        return ""

    def _final_score(self, _: Sequence[str]) -> str:
        returns, first = self.session.history.returns(), str(self.session.game.params["first"])
        if returns is None:
            raise CommandError("cannot score: the game is not over")
        winner = first if returns[0] > 0 else other_color(first)
        return f"{winner[0].upper()}+"


def parse_color(text: str) -> str:
    """Return `"black"` or `"white"`.

    Raises:
        CommandError: if the text is neither of them, nor abbreviates one.
    """
    color = COLORS.get(text.lower())
    if color is None:
        raise CommandError(f"syntax error: expected black or white, got {text:.40}")
    return color


def other_color(color: str) -> str:
    """Return the color of the opponent."""
    return "white" if color == "black" else "black"


def _check_seconds(text: str) -> None:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise CommandError(f"syntax error: expected a number that is not negative, got {text:.40}")
