"""Cache of the views (JSON values with SVG) of the positions of one game."""

from typing import Any

from ludoteca.envs.game import Game
from ludoteca.envs.render import standings
from ludoteca.evaluate.arena.board_view import action_text, board_view, position_view
from ludoteca.evaluate.play.history import GameHistory


class GameViews:
    """Cache of position views of one game."""

    def __init__(self, game: Game):
        self._game = game
        self._positions: dict[int, dict[str, Any]] = {}

    def board(self) -> dict[str, Any]:
        """Return the view of the board, see `board_view`."""
        return board_view(self._game)

    def position(self, history: GameHistory, ply: int) -> dict[str, Any]:
        """Return the view of the position after `ply` plies.

        Raises:
            ValueError: if the game is shorter.
        """
        if not 0 <= ply <= len(history.actions):
            raise ValueError(f"ply must be from 0 to {len(history.actions)}, got {ply}")
        if ply not in self._positions:
            standings_by_ply = list(standings(self._game, history.positions[: ply + 1]))
            last = history.actions[ply - 1] if ply > 0 else None
            s = history.positions[ply]
            self._positions[ply] = position_view(self._game, s, ply, last, standings_by_ply[-1])
        return self._positions[ply]

    def action_names(self, history: GameHistory) -> list[str]:
        """Return the names of all actions so far."""
        return [action_text(self._game, action) for action in history.actions]

    def truncate(self, ply: int) -> None:
        """Remove the views of positions after the first `ply` plies."""
        self._positions = {k: view for k, view in self._positions.items() if k <= ply}
