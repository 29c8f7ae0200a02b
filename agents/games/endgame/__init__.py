"""Perfect play at the end of a game: how many discs a position is worth, and the moves to it."""

from ludoteca.agents.games.endgame.solution import EndgameLimitError, EndgameSolution, OptimalLine
from ludoteca.agents.games.endgame.solve import make_endgame_solver, solve_endgame

__all__ = [
    "EndgameLimitError",
    "EndgameSolution",
    "OptimalLine",
    "make_endgame_solver",
    "solve_endgame",
]
