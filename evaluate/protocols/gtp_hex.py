"""Hex in GTP: board sizes, moves, the swap and the score.

Cells are named as everywhere in Hex, with a1 in the acute corner and without the gap of Go after
the letter h. The swap is `swap-pieces`, see `ludoteca.envs.formats.sgf_hex`. On an empty board
either color may begin.
"""

from ludoteca.envs.game import Game
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.protocols.gtp_game import GameServer, other_color
from ludoteca.evaluate.protocols.line_server import CommandError

SWAP, SWAP_NAMES = "swap-pieces", ("swap-pieces", "swap")  # name in answers, names in commands
SIZES = range(2, 20)


class HexServer(GameServer):
    """Engine for Hex that answers GTP commands."""

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
        """Make a color the color to move; on an empty board it may be either color.

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

    def play_move(self, color: str, move: str) -> None:
        """Place a stone, or swap.

        Raises:
            CommandError: if the move is illegal.
        """
        self.turn_to(color)
        names = self.session.game.action_names
        name = "swap" if move in SWAP_NAMES else move
        legal = self.session.history.legal()
        if name not in names:
            hint = "; this game has no swap" if name == "swap" else ""
            raise CommandError(f"illegal move: there is no move {move:.40}{hint}")
        if names.index(name) not in legal:
            reason = "only the second move may swap" if name == "swap" else "the cell is occupied"
            raise CommandError(f"illegal move: {move}, {reason}")
        self.session.play(names.index(name))

    def resized(self, size: int) -> Game:
        """Return the game on a board of another size.

        Raises:
            CommandError: if there is no such board.
        """
        if size not in SIZES:
            raise CommandError(f"unacceptable size: expected 2 to 19, got {size}")
        return make_game("hex", **{**self.session.game.params, "board_size": size})

    def score_text(self) -> str:
        """Return the winner: `B+` or `W+`."""
        returns, first = self.session.history.returns(), str(self.session.game.params["first"])
        assert returns is not None
        winner = first if returns[0] > 0 else other_color(first)
        return f"{winner[0].upper()}+"
