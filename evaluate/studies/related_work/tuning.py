"""Tuning of the constants of a selection policy in Tron, by matches against reference constants.

The command is `python -m ludoteca.evaluate.studies.related_work.tuning`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tyro

from ludoteca.envs.registry import make_game
from ludoteca.evaluate.match_cells import Cell, write_cells
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.studies.related_work.decided_games import agent_spec, play_decided


def tune_policy(
    out: Path,
    game: str,
    policy: str,
    reference: str,
    grid: tuple[str, ...],
    budget: str = "simulations=200",
    decided: int = 100,
    seed: int = 1,
    early_stop: bool = False,
) -> dict[str, Any]:
    """Play matches of a policy with other constants against its reference; write the results.

    Args:
        out: the JSON file to write.
        game: spec string of the game.
        policy: selection policy.
        reference: reference constants, such as policy.alpha=2.
        grid: the other constants.
        budget: search budget per move of both agents: simulations=N or seconds=X.
        decided: number of decided games of each match.
        seed: seed of each match.
        early_stop: end a match as soon as its constants have lost so many games that they could not
            replace the reference even if they won all others of `decided` games.
    """
    rules, cells = make_game(game), list[Cell]()
    opponent = agent_spec(policy, reference, budget)

    def is_settled(cell: Cell) -> bool:
        return wilson(max(decided - cell["losses"], 0), decided)[0] <= 0.5

    for constants in grid:
        specs = (agent_spec(policy, constants, budget), opponent)
        match = play_decided(rules, specs, decided, seed, is_settled if early_stop else None)
        cells.append({"constants": constants, **match})
    chosen = choose_constants(cells, reference)
    return write_cells(out, {"policy": policy, "reference": reference, "chosen": chosen}, cells)


def choose_constants(cells: Sequence[Mapping[str, Any]], reference: str) -> str:
    """Return the constants that win most against the reference, or the reference.

    Constants replace the reference only if the 95 % interval of their share of the decided games
    lies above one half.
    """
    best = max(cells, key=share)
    low, _ = wilson(best["wins"], best["wins"] + best["losses"])
    return str(best["constants"]) if low > 0.5 else reference


def share(total: Mapping[str, Any]) -> float:
    """Return the share of wins in the decided games, one half if there are none."""
    decided = total["wins"] + total["losses"]
    return float(total["wins"] / decided) if decided else 0.5


if __name__ == "__main__":
    tyro.cli(tune_policy)
