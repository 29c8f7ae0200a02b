"""Widget of a board in notebooks, which needs the optional dependencies `notebook`."""

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from ludoteca.evaluate.notebook.game import NotebookGame


class BoardWidget(anywidget.AnyWidget):
    """Board that shows a game and accepts clicks.

    Attributes:
        game: the game; `game.session` has its positions and actions.
        board: shape of the board and its pieces, see `NotebookGame.board`.
        position: the current position, see `NotebookGame.position`.
    """

    # anywidget's name for the JavaScript module
    _esm = Path(__file__).with_name("widget.js")
    board = traitlets.Dict().tag(sync=True)
    position = traitlets.Dict().tag(sync=True)

    def __init__(self, game: NotebookGame):
        """Show a game; agents that move first play their moves."""
        super().__init__(board=game.board(), position=game.position())
        self.game = game
        self.on_msg(self._receive)
        game.let_agents_move(self._show)

    def _receive(self, _: Any, message: Any, __: Any) -> None:
        self.game.receive(message)
        self._show()
        self.game.let_agents_move(self._show)

    def _show(self) -> None:
        self.position = self.game.position()
