"""Hex Text Protocol (HTP): GTP for Hex with analysis commands of the graphical program HexGui.

HexGui (https://github.com/ryanbhayward/hexgui) requests the list of the commands for its menu. A
line of the list has the type of the display, the title and the command; `%c` stands for a color.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.game import Game
from ludoteca.evaluate.protocols.gtp import expect_arguments
from ludoteca.evaluate.protocols.gtp_game import parse_color
from ludoteca.evaluate.protocols.gtp_hex import SWAP, HexServer
from ludoteca.evaluate.protocols.line_server import CommandError

ANALYZE_COMMANDS = (
    "plist/All Legal Moves/all_legal_moves %c",
    "string/Show Board/showboard",
    "string/Final Score/final_score",
    "varc/Generate Move/reg_genmove %c",
    "string/Expected Score/expected_score",
    "pspairs/Move Values/move_values",
    "pspairs/Visit Shares/visit_shares",
    "var/Principal Variation/principal_variation",
)


class HTPServer(HexServer):
    """Engine for Hex that answers HTP commands."""

    def __init__(self, game: Game, agent: str, seed: int = 0):
        super().__init__(game, agent, seed)
        self.commands |= {
            "hexgui-analyze_commands": lambda _: "\n".join(ANALYZE_COMMANDS),
            "all_legal_moves": self._all_legal_moves,
            "expected_score": self._expected_score,
            "move_values": self._move_values,
            "visit_shares": self._visit_shares,
            "principal_variation": self._principal_variation,
        }

    def _all_legal_moves(self, arguments: Sequence[str]) -> str:
        expect_arguments(arguments, 0, 1, "all_legal_moves COLOR")
        if arguments:
            self.turn_to(parse_color(arguments[0]))
        return " ".join(map(self.move_name, self.session.history.legal()))

    def _expected_score(self, _: Sequence[str]) -> str:
        """Return the expected score of the player to move: 1 for a win, 0 for a loss."""
        score = self.session.analyze().score
        if score is None:
            raise CommandError(f"{self.session.spec} does not evaluate positions")
        return f"{score:.3f}"

    def _move_values(self, _: Sequence[str]) -> str:
        analysis = self.session.analyze()
        return self._pairs(analysis.best(self.session.game.num_actions), analysis.values, "values")

    def _visit_shares(self, _: Sequence[str]) -> str:
        analysis = self.session.analyze()
        return self._pairs(analysis.best(self.session.game.num_actions), analysis.shares, "visits")

    def _principal_variation(self, _: Sequence[str]) -> str:
        analysis = self.session.analyze()
        names = [SWAP if name == "swap" else name for name in analysis.variation]
        return " ".join(names or [self.move_name(analysis.action)])

    def _pairs(self, actions: Sequence[int], numbers: NDArray[np.float64] | None, kind: str) -> str:
        """Return the names of cells, each with its number, in the order of `actions`.

        The swap, which has no cell, is omitted. `kind` names the numbers in the error.
        """
        if numbers is None:
            raise CommandError(f"{self.session.spec} does not return {kind} of moves")
        names = self.session.game.action_names
        return " ".join(f"{names[a]} {numbers[a]:.3f}" for a in actions if names[a] != "swap")
