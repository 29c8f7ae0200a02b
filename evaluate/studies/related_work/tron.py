"""Matches of a selection policy against others in Tron, each with its tuned constants.

The command is `python -m ludoteca.evaluate.studies.related_work.tron`.
"""

from pathlib import Path
from typing import Any

import tyro

from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match_cells import Cell, write_cells
from ludoteca.evaluate.studies.related_work.decided_games import agent_spec, play_decided
from ludoteca.files import read_json


def play_opponents(
    out: Path,
    game: str,
    policy: str,
    opponents: tuple[str, ...],
    tuned: tuple[Path, ...] = (),
    budget: str = "simulations=200",
    decided: int = 60,
    seed: int = 1,
) -> dict[str, Any]:
    """Play matches of a policy against other policies, and write their results.

    Args:
        out: the JSON file to write.
        game: spec string of the game.
        policy: selection policy.
        opponents: selection policies of its opponents.
        tuned: results of the command tuning, with the constants of policies; the others have the
            default constants.
        budget: search budget per move of all agents: simulations=N or seconds=X.
        decided: number of decided games of each match.
        seed: seed of each match.
    """
    tunings = [read_json(file) for file in tuned]
    chosen = {content["policy"]: content["chosen"] for content in tunings}
    rules, cells = make_game(game), list[Cell]()
    for opponent in opponents:
        specs = (
            agent_spec(policy, chosen.get(policy, ""), budget),
            agent_spec(opponent, chosen.get(opponent, ""), budget),
        )
        result = play_decided(rules, specs, decided, seed)
        cells.append({"opponent": opponent, "agents": specs, **result})
    return write_cells(out, {"policy": policy}, cells)


if __name__ == "__main__":
    tyro.cli(play_opponents)
