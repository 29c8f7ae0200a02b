"""Othello in GTP: board sizes, moves, passes and the score.

The conventions are those of the engine GRhino and the controller Quarry: the color that can move is
to move without a `pass` of the other color, and `genmove` of a color without a legal move answers
`pass` but changes nothing. Controllers may send passes, too.
"""

from collections.abc import Sequence

from ludoteca.envs.game import Game
from ludoteca.envs.games.bitboards import count
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.protocols.gtp import expect_arguments
from ludoteca.evaluate.protocols.gtp_game import GameServer, other_color, parse_color
from ludoteca.evaluate.protocols.line_server import CommandError

PASS = "pass"
GAME = "Othello"  # name of the game in Quarry's commands
PLAYER_COLORS = ("black", "white")  # by seat
SIZES = (4, 6, 8)


class OthelloServer(GameServer):
    """Engine for Othello that answers GTP commands, with Quarry's `list_games` and `set_game`."""

    def __init__(self, game: Game, agent: str, seed: int = 0):
        super().__init__(game, agent, seed)
        self.commands |= {"list_games": lambda _: GAME, "set_game": self._set_game}

    @property
    def color(self) -> str | None:
        """The color to move, or None if the game is over."""
        mover = self.session.history.mover
        return None if mover is None else PLAYER_COLORS[mover]

    def move_name(self, action: int) -> str:
        """Return the name of an action in the protocol."""
        return self.session.game.action_names[action]

    def turn_to(self, color: str) -> None:
        """Make a color the color to move, by the pass of the other color if that one must pass.

        Raises:
            CommandError: if the other color is to move, or the game is over.
        """
        to_move = self.color
        if to_move is None:
            raise CommandError("the game is over")
        if to_move == color:
            return
        if not self._must_pass():
            raise CommandError(f"{to_move} is to move, not {color}")
        self.session.play(self._pass)

    def play_move(self, color: str, move: str) -> None:
        """Place a disc, or pass.

        Raises:
            CommandError: if the move is illegal.
        """
        # A controller sends the pass that `turn_to` has already played.
        if move == PASS and self.color == other_color(color) and self._has_just_passed():
            return
        self.turn_to(color)
        names = self.session.game.action_names
        if move not in names:
            raise CommandError(f"illegal move: there is no move {move:.40}")
        legal = self.session.history.legal()
        if names.index(move) not in legal:
            expected = " ".join(names[action] for action in legal)
            raise CommandError(f"illegal move: {move}; the legal moves are {expected}")
        self.session.play(names.index(move))

    def resized(self, size: int) -> Game:
        """Return the game on a board of another size.

        Raises:
            CommandError: if there is no such board.
        """
        if size not in SIZES:
            raise CommandError(f"unacceptable size: expected 4, 6 or 8, got {size}")
        return make_game("othello", **{**self.session.game.params, "board_size": size})

    def score_text(self) -> str:
        """Return the winner and the difference of discs, such as `B+4`, or 0 for a draw."""
        black, white = (int(count(discs)) for discs in self.session.history.current.discs)
        winner = "B" if black > white else "W"
        return "0" if black == white else f"{winner}+{abs(black - white)}"

    def max_moves_left(self) -> int:
        """Return the largest number of moves that the color to move can still make."""
        discs = sum(int(count(discs)) for discs in self.session.history.current.discs)
        squares = self.session.game.num_actions - 1  # all actions but the pass
        return max((squares - discs + 1) // 2, 1)

    @property
    def _pass(self) -> int:
        """The action of a pass."""
        return self.session.game.num_actions - 1

    def _must_pass(self) -> bool:
        return self.session.history.legal() == [self._pass]

    def _has_just_passed(self) -> bool:
        return bool(self.session.history.last_action == self._pass)

    def _genmove(self, arguments: Sequence[str]) -> str:
        return self._forced_pass(arguments) or super()._genmove(arguments)

    def _reg_genmove(self, arguments: Sequence[str]) -> str:
        return self._forced_pass(arguments) or super()._reg_genmove(arguments)

    def _forced_pass(self, arguments: Sequence[str]) -> str:
        """Return `pass` if the color to move has to pass, else an empty text."""
        expect_arguments(arguments, 1, 1, "genmove COLOR")
        is_to_move = parse_color(arguments[0]) == self.color
        return PASS if is_to_move and self._must_pass() else ""

    def _undo(self, arguments: Sequence[str]) -> str:
        """Take back the last disc, and the passes after it."""
        while self.session.history.last_action == self._pass:
            self.session.undo()
        return super()._undo(arguments)

    def _set_game(self, arguments: Sequence[str]) -> str:
        expect_arguments(arguments, 1, 1, "set_game NAME")
        if arguments[0] != GAME:
            raise CommandError(f"unsupported game: expected {GAME}, got {arguments[0]:.40}")
        self._clear_board(())
        return ""
