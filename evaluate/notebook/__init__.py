"""Interactive boards in notebooks; clicks need the optional dependencies `notebook`."""

from ludoteca.evaluate.notebook.board import play_board
from ludoteca.evaluate.notebook.game import NotebookGame

__all__ = ["NotebookGame", "play_board"]
