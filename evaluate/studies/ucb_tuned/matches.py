"""Matches of UCB-Tuned, by several readings of its formula, against other policies in one game.

The command is `python -m ludoteca.evaluate.studies.ucb_tuned.matches`.
"""

from pathlib import Path
from typing import Any

import tyro

from ludoteca.envs.params import check_integer
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.match_cells import Cell, match_cell, write_cells
from ludoteca.evaluate.studies.equivalence.matches import agent_spec


def play_readings(
    out: Path,
    game: str,
    readings: tuple[str, ...],
    opponents: tuple[str, ...],
    options: str,
    simulations: int = 100,
    games: int = 300,
    seed: int = 1,
) -> dict[str, Any]:
    """Play a match of each reading against each opponent, and write their results.

    Args:
        out: the JSON file to write.
        game: spec string of the game.
        readings: options of the agent mcts, such as policy=ucb_tuned,policy.scale=100.
        opponents: options of the opponents, such as policy=ucb1,policy.alpha=2.
        options: options of all agents, such as draw=loss.
        simulations: number of simulations per move of all agents.
        games: number of games of each match; the agents alternate in moving first.
        seed: seed of each match.
    """
    check_integer("games", games, 1, 10**9)
    check_integer("simulations", simulations, 1, 10**9)
    rules, cells = make_game(game), list[Cell]()
    for reading in readings:
        for opponent in opponents:
            specs = [agent_spec(each, options, simulations) for each in (reading, opponent)]
            result = play_match(rules, specs, games, seed=seed)
            cells.append(match_cell({"reading": reading, "opponent": opponent}, result))
    return write_cells(out, {"game": game}, cells)


if __name__ == "__main__":
    tyro.cli(play_readings)
