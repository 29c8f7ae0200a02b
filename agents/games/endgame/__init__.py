"""Endgame solvers: exact scores and optimal lines of positions near the end of a game."""

from ludoteca.agents.games.endgame.solution import EndgameLimitError, EndgameSolution, OptimalLine
from ludoteca.agents.games.endgame.solve import make_endgame_solver, solve_endgame

__all__ = [
    "EndgameLimitError",
    "EndgameSolution",
    "OptimalLine",
    "make_endgame_solver",
    "solve_endgame",
]
