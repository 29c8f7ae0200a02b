"""Matches of UCB1 with further options against plain UCB1 in one game.

The command is `python -m ludoteca.evaluate.studies.exploration.matches`.
"""

from pathlib import Path
from typing import Any

import tyro

from ludoteca.envs.params import check_integer
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.match_cells import Cell, match_cell, write_cells


def agent_spec(alpha: float, simulations: int, option: str = "") -> str:
    """Return the spec string of UCB1; `option` is text such as `exploration=linear`."""
    spec = f"mcts:policy=ucb1,policy.alpha={alpha:g},simulations={simulations}"
    return f"{spec},{option}" if option else spec


def play_options(
    out: Path,
    game: str,
    options: tuple[str, ...],
    alphas: tuple[float, ...] = (2.0,),
    factor: float = 0.5,
    simulations: int = 100,
    games: int = 200,
    seed: int = 0,
) -> dict[str, Any]:
    """Play matches of UCB1 with an option against UCB1 without it, and write their results.

    Both agents have the same constant alpha and the same number of simulations per move, and play
    the most visited move. Another match per constant shows the effect of a constant factor alone.

    Args:
        out: the JSON file to write.
        game: spec string of the game.
        options: options of the agent mcts, such as exploration=linear.
        alphas: exploration constants, `policy.alpha` of UCB1.
        factor: constant factor of the exploration term in the additional match.
        simulations: number of simulations per move of both agents.
        games: number of games of each match; the agents alternate in moving first.
        seed: seed of each match.
    """
    check_integer("games", games, 1, 10**9)
    check_integer("simulations", simulations, 1, 10**9)
    rules, cells = make_game(game), list[Cell]()
    for alpha in alphas:
        plain = agent_spec(alpha, simulations)
        specs = {"factor": agent_spec(alpha * factor**2, simulations)}
        specs |= {option: agent_spec(alpha, simulations, option) for option in options}
        for option, spec in specs.items():
            result = play_match(rules, (spec, plain), games, seed=seed)
            cells.append(match_cell({"option": option, "alpha": alpha}, result))
    return write_cells(out, {"game": game}, cells)


if __name__ == "__main__":
    tyro.cli(play_options)
