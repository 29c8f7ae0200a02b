"""Functions that make and call the endgame solver of a game."""

from typing import Any

from ludoteca.agents.games.endgame.solution import EndgameSolution, EndgameSolver
from ludoteca.agents.games.knowledge import load
from ludoteca.agents.games.registry import find_knowledge, games_with
from ludoteca.envs.game import Game
from ludoteca.envs.interpreted import cache_by_mode


def solve_endgame(
    game: Game,
    s: Any,
    *,
    all_moves: bool = False,
    nodes: int | None = None,
    seconds: float | None = None,
) -> EndgameSolution:
    """Solve a position by exhaustive search; the result is deterministic.

    Args:
        game: Othello, with any board size and either rule of passing, or Connect Four.
        s: an unfinished position, one record.
        all_moves: whether to compute the score of every legal move, which takes several times as
            long.
        nodes: maximum number of positions to search; no limit by default.
        seconds: time limit, not counting compilation; no limit by default.

    Raises:
        EndgameLimitError: if the position is not solved within `nodes` or `seconds`.
        ValueError: if the game has no endgame solver, `s` is not an unfinished position of it, or a
            limit is not positive.
    """
    return make_endgame_solver(game).solve(s, all_moves=all_moves, nodes=nodes, seconds=seconds)


@cache_by_mode
def make_endgame_solver(game: Game) -> EndgameSolver:
    """Return the endgame solver of a game.

    Raises:
        ValueError: if it has none.
    """
    target = find_knowledge(game).endgame_solver
    if not target:
        games = ", ".join(games_with("endgame_solver"))
        raise ValueError(f"{game.name} has no endgame solver; games with one are {games}")
    solver: EndgameSolver = load(target)(game)
    return solver
