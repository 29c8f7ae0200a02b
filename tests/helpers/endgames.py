"""Othello endgames for tests."""

from ludoteca import make_game
from ludoteca.evaluate.bench.ffo import ffo_positions

GAME = make_game("othello")
FFO = ffo_positions()  # endgame test positions of the Fédération Française d'Othello
