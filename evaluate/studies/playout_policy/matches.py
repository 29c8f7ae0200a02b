"""Matches of softmax playouts against uniform playouts, at equal simulations and equal CPU time.

The command is `python -m ludoteca.evaluate.studies.playout_policy.matches`.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from ludoteca.agents.registry import make_agent
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.match_cells import Cell, match_cell, write_cells

POLICY = "ucb_alpha2"  # selection policy of all agents


def agent_spec(simulations: int, weights: str | Path = "") -> str:
    """Return the spec string of an agent; `weights` is a file, or empty for uniform playouts."""
    spec = f"mcts:policy={POLICY},simulations={simulations}"
    return f"{spec},playout=softmax,playout.weights={weights}" if weights else spec


def play_methods(
    out: Path,
    game: str,
    weights: tuple[Path, ...],
    simulations: int = 200,
    games: int = 300,
    speed_positions: int = 40,
    seed: int = 1,
) -> dict[str, Any]:
    """Play matches of agents with softmax playouts against uniform playouts; write the results.

    The first match of each file has the same number of simulations per move, in the second the
    opponent has as many more as it runs in the same CPU time.

    Args:
        out: the JSON file to write.
        game: spec string of the game.
        weights: files of weights.
        simulations: number of simulations per move of the agents with softmax playouts.
        games: number of games of each match; the agents alternate in moving first.
        speed_positions: number of positions from random games in which the speed is measured.
        seed: seed of each match, and of these positions.
    """
    check_integer("games", games, 1, 10**9)
    rules, cells = make_game(game), list[Cell]()
    states = random_positions(rules, speed_positions, seed)
    uniform_speed = simulations_per_second(rules, agent_spec(simulations), states)
    for file in weights:
        spec = agent_spec(simulations, file)
        speed = simulations_per_second(rules, spec, states)
        rivals = {
            "simulations": simulations,
            "cpu_time": round(simulations * uniform_speed / speed),
        }
        for budget, rival_simulations in rivals.items():
            result = play_match(rules, (spec, agent_spec(rival_simulations)), games, seed=seed)
            settings = {
                "method": file.stem,
                "budget": budget,
                "opponent_simulations": rival_simulations,
                "simulations_per_second": speed,
            }
            cells.append(match_cell(settings, result))
    return write_cells(out, {"game": game, "uniform_simulations_per_second": uniform_speed}, cells)


def random_positions(game: Game, count: int, seed: int) -> list[Any]:
    """Return positions of random games at random plies, none of them over."""
    rng, positions = np.random.default_rng(seed), list[Any]()
    while len(positions) < count:
        s, trajectory = game.new(seed), []
        while not game.is_terminal(s):
            trajectory.append(s.copy())
            game.step(s, int(rng.choice(game.legal(s))))
        positions.append(trajectory[rng.integers(len(trajectory))])
    return positions


def simulations_per_second(game: Game, spec: str, positions: list[Any]) -> float:
    """Return the simulations per second of CPU time of an agent in some positions."""
    agent: Any = make_agent(spec, game)
    agent.search(positions[0])  # compiles the search
    start, simulations = time.process_time(), 0
    for position in positions:
        simulations += agent.search(position).simulations
    return simulations / max(time.process_time() - start, 1e-9)


if __name__ == "__main__":
    tyro.cli(play_methods)
