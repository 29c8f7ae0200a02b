"""Number of simulations that a search in Tron makes in a given time, by selection policy.

The command is `python -m ludoteca.evaluate.studies.related_work.speed`.
"""

import json
from pathlib import Path
from statistics import median
from typing import Any

import tyro

from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.studies.related_work.decided_games import agent_spec
from ludoteca.files import write_atomically
from ludoteca.provenance import run_provenance

PLIES_BETWEEN = 10  # plies between the searched positions of a game


def measure_speed(
    out: Path,
    game: str,
    policies: tuple[str, ...],
    seconds: float = 0.1,
    games: int = 10,
    simulations: int = 200,
    seed: int = 1,
) -> dict[str, Any]:
    """Search positions of a game for some time with each policy, and write the simulations.

    Args:
        out: the JSON file to write.
        game: spec string of the game.
        policies: selection policies, with their default constants.
        seconds: time of a search.
        games: number of games of UCB1 against itself, whose mean length is measured. The positions
            are those of the first game.
        simulations: number of simulations per move in these games.
        seed: seed of the games.
    """
    rules = make_game(game)
    player = agent_spec("ucb1", "", f"simulations={simulations}")
    played = play_match(rules, (player, player), games, seed=seed, num_replays=1)
    positions = list(played.replays[0].positions())[:-1:PLIES_BETWEEN]
    medians = {}
    for policy in policies:
        agent: Any = make_agent(agent_spec(policy, "", f"seconds={seconds:g}"), rules)
        agent.search(positions[0])  # compiles the search
        medians[policy] = median(agent.search(position).simulations for position in positions)
    content = {
        "game": game,
        "simulations": medians,
        "positions": len(positions),
        "mean_plies": played.mean_plies,
        "seconds": played.seconds + seconds * len(positions) * len(policies),
        **run_provenance(),
    }
    write_atomically(out, json.dumps(content, indent=1) + "\n")
    return content


if __name__ == "__main__":
    tyro.cli(measure_speed)
