"""Matches in Tron that last until a number of games are decided, that is, not drawn.

Perick, St-Pierre, Maes and Ernst, "Comparison of different selection strategies in Monte-Carlo tree
search for the game of Tron" (CIG 2012), count only such games.
"""

from collections.abc import Callable
from typing import Any

from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.match_cells import Cell

GAMES_PER_DECIDED = 10  # a match ends after this many games for each decided game that it needs
# Moves of playouts are uniformly random among those onto free cells.
OPTIONS = "playout=safe,action_selection=robust"


def agent_spec(policy: str, constants: str, budget: str) -> str:
    """Return the spec string of a tree search in Tron.

    Args:
        policy: selection policy.
        constants: options such as `"policy.alpha=2"`, or `""` for a policy without constants.
        budget: search budget per move, such as `"simulations=500"` or `"seconds=0.1"`.
    """
    return ",".join(filter(None, (f"mcts:policy={policy}", constants, budget, OPTIONS)))


def play_decided(
    game: Game,
    specs: tuple[str, str],
    decided: int,
    seed: int,
    is_settled: Callable[[Cell], bool] | None = None,
) -> Cell:
    """Play games of two agents until `decided` of them are not drawn; return the results.

    The last games may bring one decided game more, since each agent plays each seat equally often.
    The games do not depend on `is_settled`, which only ends the match earlier.

    Args:
        game: the game.
        specs: spec strings of the agents.
        decided: number of decided games.
        seed: seed of the match.
        is_settled: called with the results after every two games; the match ends if it is true.

    Returns:
        `"wins"` and `"losses"` of the first agent, `"draws"`, `"games"` and `"seconds"`.
    """
    check_integer("decided", decided, 1, 10**9)
    cell: dict[str, Any] = {"wins": 0, "losses": 0, "draws": 0, "games": 0, "seconds": 0.0}
    while (missing := decided - cell["wins"] - cell["losses"]) > 0:
        if cell["games"] >= GAMES_PER_DECIDED * decided:
            break
        if is_settled is not None and is_settled(cell):
            break
        count = missing + missing % 2 if is_settled is None else 2
        result = play_match(game, specs, count, seed=seed, first_game=cell["games"])
        record = result.totals[0]
        for key, value in (
            ("wins", record.wins),
            ("losses", record.losses),
            ("draws", record.draws),
            ("games", count),
            ("seconds", result.seconds),
        ):
            cell[key] += value
    return cell
