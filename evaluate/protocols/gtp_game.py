"""GTP commands of play and time that all games of two colors share."""

import math
import time
from abc import abstractmethod
from collections.abc import Sequence

from ludoteca.envs.game import Game
from ludoteca.envs.render.text import board_text
from ludoteca.evaluate.protocols.engine_session import EngineSession
from ludoteca.evaluate.protocols.gtp import GTPServer, expect_arguments
from ludoteca.evaluate.protocols.gtp_clock import GTPClock
from ludoteca.evaluate.protocols.line_server import CommandError, parse_integer

# Color by its name or abbreviation in a command.
COLORS = {"b": "black", "black": "black", "w": "white", "white": "white"}
RESIGN = "resign"


class GameServer(GTPServer):
    """Engine for a game of two colors that answers GTP commands.

    Attributes:
        session: the game and the agent.
    """

    def __init__(self, game: Game, agent: str, seed: int = 0):
        """Begin a game.

        Args:
            game: the game, with its size and rules.
            agent: spec string of the agent.
            seed: seed of the first game.

        Raises:
            ValueError: if the agent is unknown, or does not play the game.
            ImportError: if a package that the agent needs is missing.
        """
        super().__init__(f"ludoteca {agent}")
        self.session = EngineSession(game, agent, seed)
        self._clock: GTPClock | None = None  # None without a time limit of the protocol
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
    @abstractmethod
    def color(self) -> str | None:
        """The color to move, or None if the game is over."""

    @abstractmethod
    def move_name(self, action: int) -> str:
        """Return the name of an action in the protocol."""

    @abstractmethod
    def turn_to(self, color: str) -> None:
        """Make a color the color to move, if the rules allow that.

        Raises:
            CommandError: if the other color is to move, or the game is over.
        """

    @abstractmethod
    def play_move(self, color: str, move: str) -> None:
        """Play a move, in lower case, that is not a resignation.

        Raises:
            CommandError: if it is illegal.
        """

    @abstractmethod
    def resized(self, size: int) -> Game:
        """Return the game on a board of another size.

        Raises:
            CommandError: if there is no such board.
        """

    @abstractmethod
    def score_text(self) -> str:
        """Return the result of a game that is over, such as `B+`."""

    def max_moves_left(self) -> int:
        """Return the largest number of moves that the color to move can still make."""
        plies = self.session.game.max_plies - len(self.session.history.actions)
        return max((plies + 1) // 2, 1)

    def _boardsize(self, arguments: Sequence[str]) -> str:
        expect_arguments(arguments, 1, 2, "boardsize SIZE, or boardsize COLUMNS ROWS")
        size, *more = [parse_integer(text, "SIZE") for text in arguments]
        if more not in ([], [size]):
            raise CommandError(
                f"unacceptable size: expected a square board, got {' '.join(arguments)}"
            )
        game = self.resized(size)
        try:
            self.session.restart(game)
        except CommandError as error:
            raise CommandError(f"unacceptable size: {error}") from None
        self._reset_clock()
        return ""

    def _clear_board(self, _: Sequence[str]) -> str:
        self.session.restart(self.session.game)
        self._reset_clock()
        return ""

    def _play(self, arguments: Sequence[str]) -> str:
        expect_arguments(arguments, 2, 2, "play COLOR MOVE")
        color, move = parse_color(arguments[0]), arguments[1].lower()
        if move != RESIGN:  # a resignation is not a move by the rules: the position stays
            self.play_move(color, move)
        return ""

    def _genmove(self, arguments: Sequence[str]) -> str:
        """Choose a move and play it."""
        start = time.perf_counter()
        move = self._reg_genmove(arguments)
        action = self.session.analyze().action
        if self._clock is not None:
            self._clock.spend(parse_color(arguments[0]), time.perf_counter() - start)
        self.session.play(action)
        return move

    def _reg_genmove(self, arguments: Sequence[str]) -> str:
        """Choose a move without playing it, as regression tests need."""
        expect_arguments(arguments, 1, 1, "genmove COLOR")
        color = parse_color(arguments[0])
        self.turn_to(color)
        if self._clock is not None:
            self.session.limit_time(self._clock.move_seconds(color, self.max_moves_left()))
        return self.move_name(self.session.analyze().action)

    def _undo(self, _: Sequence[str]) -> str:
        self.session.undo()
        return ""

    def _showboard(self, _: Sequence[str]) -> str:
        """Return the board in lines after the `=` of the response; an empty line would end it."""
        text = board_text(self.session.game, self.session.history.current)
        return "\n" + "\n".join(line for line in text.splitlines() if line)

    def _time_settings(self, arguments: Sequence[str]) -> str:
        """Set the time control: the agent's searches take the time of the clock from now on."""
        usage = "time_settings MAIN_TIME BYO_YOMI_TIME BYO_YOMI_STONES"
        expect_arguments(arguments, 3, 3, usage)
        main, period = map(_parse_seconds, arguments[:2])
        clock = GTPClock(main, period, parse_integer(arguments[2], "BYO_YOMI_STONES"))
        self._clock = clock if clock.is_limited else None
        if self._clock is None:
            self.session.limit_time(None)
        else:
            # Compiles the agent. New clocks are equal, so either color will do; before each move,
            # `_reg_genmove` sets the limit again.
            self.session.limit_time(self._clock.move_seconds("black", self.max_moves_left()))
        return ""

    def _time_left(self, arguments: Sequence[str]) -> str:
        expect_arguments(arguments, 2, 3, "time_left COLOR TIME STONES")
        color, seconds = parse_color(arguments[0]), _parse_seconds(arguments[1])
        stones = parse_integer(arguments[2], "STONES") if len(arguments) == 3 else 0
        if self._clock is not None:
            self._clock.set_left(color, seconds, stones)
        return ""

    def _reset_clock(self) -> None:
        if self._clock is not None:
            self._clock.reset()

    def _final_score(self, _: Sequence[str]) -> str:
        if not self.session.history.is_over:
            raise CommandError("cannot score: the game is not over")
        return self.score_text()


def parse_color(text: str) -> str:
    """Return `"black"` or `"white"`.

    Raises:
        CommandError: if the text is neither a color nor its first letter.
    """
    color = COLORS.get(text.lower())
    if color is None:
        raise CommandError(f"syntax error: expected black, b, white or w, got {text:.40}")
    return color


def other_color(color: str) -> str:
    """Return the color of the opponent."""
    return "white" if color == "black" else "black"


def _parse_seconds(text: str) -> float:
    """Return an argument of a command as seconds, which may be fractional."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise CommandError(f"syntax error: expected seconds, 0 or more, got {text:.40}")
    return value
