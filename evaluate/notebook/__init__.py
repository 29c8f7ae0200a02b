"""Boards in notebooks that people play on, with the extra `notebook`."""

from ludoteca.evaluate.notebook.board import play_board
from ludoteca.evaluate.notebook.game import NotebookGame

__all__ = ["NotebookGame", "play_board"]
