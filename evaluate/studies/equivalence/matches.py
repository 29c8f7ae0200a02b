"""Matches of tree searches with UCB1 and enhancements against UCB-alpha2 in one game.

The command is `python -m ludoteca.evaluate.studies.equivalence.matches`.
"""

from pathlib import Path
from typing import Any

import tyro

from ludoteca.envs.params import check_integer
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.match_cells import Cell, match_cell, write_cells

RIVAL = "policy=ucb_alpha2"  # options of the opponent, UCB-alpha2 without enhancements


def agent_spec(options: str, common_options: str, simulations: int) -> str:
    """Return the spec string of a tree search; options are text such as `policy=ucb1,fpu=1`."""
    return f"mcts:{options},simulations={simulations},{common_options}"


def play_candidates(
    out: Path,
    game: str,
    candidates: tuple[str, ...],
    options: str,
    simulations: int = 1_000,
    games: int = 100,
    first_game: int = 0,
    seed: int = 1,
) -> dict[str, Any]:
    """Play a match of each candidate against UCB-alpha2, and write their results.

    Args:
        out: the JSON file to write.
        game: spec string of the game.
        candidates: options of the agent mcts, such as policy=ucb1,policy.alpha=2,solver=True.
        options: options of the candidates and of the opponent, such as draw=loss.
        simulations: number of simulations per move of both agents.
        games: number of games of each match; the agents alternate in moving first.
        first_game: number of the first game, with which the random streams of the games begin.
        seed: seed of each match.
    """
    check_integer("games", games, 1, 10**9)
    check_integer("simulations", simulations, 1, 10**9)
    rules, cells = make_game(game), list[Cell]()
    rival = agent_spec(RIVAL, options, simulations)
    for candidate in candidates:
        spec = agent_spec(candidate, options, simulations)
        result = play_match(rules, (spec, rival), games, seed=seed, first_game=first_game)
        cells.append(match_cell({"candidate": candidate}, result))
    return write_cells(out, {"game": game}, cells)


if __name__ == "__main__":
    tyro.cli(play_candidates)
