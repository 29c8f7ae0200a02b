"""Perfect play at the end of a game: how many discs a position is worth, and the moves to it."""

from ludoteca.agents.endgame.solution import EndgameLimitError, EndgameSolution
from ludoteca.agents.endgame.solve import make_endgame, solve_endgame

__all__ = ["EndgameLimitError", "EndgameSolution", "make_endgame", "solve_endgame"]
