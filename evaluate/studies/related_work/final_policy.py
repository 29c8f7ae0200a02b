"""Matches of UCB-Tuned against UCB1 in which the selection policy also chooses the move to play.

The command is `python -m ludoteca.evaluate.studies.related_work.final_policy`.
"""

from pathlib import Path
from typing import Any

import tyro

from ludoteca.envs.params import check_integer
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.match_cells import match_cell, write_cells

# A draw is no win in the searches, as in the thesis' pseudocode of tree search.
OPTIONS = "draw=loss,action_selection=policy"
AGENT, OPPONENT = "policy=ucb_tuned", "policy=ucb1,policy.alpha=2"


def play_repeats(
    out: Path,
    game: str,
    simulations: int = 100,
    games: int = 100,
    repeats: int = 3,
) -> dict[str, Any]:
    """Play matches of UCB-Tuned against UCB1 in one game, and write their results.

    Args:
        out: the JSON file to write.
        game: spec string of the game.
        simulations: number of simulations per move of both agents.
        games: number of games of each match; the agents alternate in moving first.
        repeats: number of matches; their seeds are 1, 2 and so on.
    """
    check_integer("games", games, 1, 10**9)
    check_integer("simulations", simulations, 1, 10**9)
    check_integer("repeats", repeats, 1, 10**6)
    rules = make_game(game)
    specs = [f"mcts:{policy},simulations={simulations},{OPTIONS}" for policy in (AGENT, OPPONENT)]
    cells = [
        match_cell({"seed": seed}, play_match(rules, specs, games, seed=seed))
        for seed in range(1, repeats + 1)
    ]
    return write_cells(out, {"game": game, "agents": specs}, cells)


if __name__ == "__main__":
    tyro.cli(play_repeats)
