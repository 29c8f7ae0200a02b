"""Matches of a selection policy against others in Tron, each with its tuned constants.

The command is `python -m ludoteca.evaluate.studies.related_work.tron`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tyro

from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match_cells import Cell, write_cells
from ludoteca.evaluate.studies.related_work.decided_games import agent_spec, play_decided
from ludoteca.evaluate.studies.related_work.tuning import choose_constants
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
        tuned: results of the command tuning, one or several for a policy, from which its constants
            are chosen; the other policies have the default constants.
        budget: search budget per move of all agents: simulations=N or seconds=X.
        decided: number of decided games of each match.
        seed: seed of each match.
    """
    chosen = chosen_constants([read_json(file) for file in tuned])
    rules, cells = make_game(game), list[Cell]()
    for opponent in opponents:
        specs = (
            agent_spec(policy, chosen.get(policy, ""), budget),
            agent_spec(opponent, chosen.get(opponent, ""), budget),
        )
        result = play_decided(rules, specs, decided, seed)
        cells.append({"opponent": opponent, "agents": specs, **result})
    return write_cells(out, {"policy": policy}, cells)


def chosen_constants(tunings: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the constants of each policy with a tuning, chosen from all its tunings."""
    cells, references = defaultdict[str, list[Cell]](list), dict[str, str]()
    for content in tunings:
        references[content["policy"]] = content["reference"]
        cells[content["policy"]] += content["cells"]
    return {policy: choose_constants(cells[policy], text) for policy, text in references.items()}


if __name__ == "__main__":
    tyro.cli(play_opponents)
