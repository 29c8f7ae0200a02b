"""Study of RAVE and GRAVE by exploration constant and bias, in the thesis' eight games.

Gelly and Silver, "Monte-Carlo tree search and rapid action value estimation in computer Go" (2011),
use RAVE without exploration, and so does Cazenave, "Generalized rapid action value estimation"
(2015), with GRAVE; instead of a constant, the statistics of all moves as first lead to new actions.
"""

from collections.abc import Mapping
from typing import Any

from ludoteca.evaluate.statistics.intervals import score_interval
from ludoteca.evaluate.studies.ggp.uaemex2021 import GAME_NAMES, GAMES
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.study import Records, Study, Task

CONSTANTS = (0.0, 0.1, 0.5, 2.0)  # exploration constants of UCB1
# The schedule gives an action's own mean and its all-moves-as-first mean, which also counts
# simulations that play the action later, the same weight after 1 / (4 bias^2) visits of the action,
# if the second mean has many more.
BIASES = (0.01, 0.05, 0.1, 0.3)
SIMULATIONS, GAMES_PER_CELL = 100, 200
Cell = Mapping[str, Any]  # `"wins"`, `"draws"` and `"games"` of a cell, or of a sum of cells


def make_study(fast: bool = False) -> Study:
    """Return the study.

    Args:
        fast: play matches of 10 games, to check that everything runs.
    """
    settings = {
        "constants": CONSTANTS, "biases": BIASES, "simulations": SIMULATIONS,
        "games": 10 if fast else GAMES_PER_CELL, "seed": 1,
    }  # fmt: skip
    tasks = {
        game: Task(
            game, "ludoteca.evaluate.studies.amaf.grid",
            {"game": game, **settings, "out": "{artifact}"}, {"game": game, **settings},
            label=name,
        )
        for game, name in zip(GAMES, GAME_NAMES, strict=True)
    }  # fmt: skip
    names = {
        "settings": settings, "equivalence": equivalence, "pool": pool, "score": score,
        "is_better": is_better, "best_cells": best_cells,
    }  # fmt: skip
    return Study("amaf", {"amaf": tasks}, names, fast=fast)


def equivalence(bias: float) -> float:
    """Return the visits after which both means of `BIASES` have the same weight, 1 / (4 bias^2)."""
    return 1 / (4 * bias * bias)


def pool(records: Records, **selected: Any) -> dict[str, int]:
    """Return the wins, draws and games of the selected cells, summed over all records.

    Args:
        records: records of the tasks.
        selected: values of cells, such as `amaf="rave", constant=0.0`; all cells with them count.
    """
    cells = [
        cell
        for record in records.values()
        for cell in record["cells"]
        if all(cell[key] == value for key, value in selected.items())
    ]
    return {key: sum(cell[key] for cell in cells) for key in ("wins", "draws", "games")}


def score(total: Cell) -> float:
    """Return the score: the share of points, a draw being half a point."""
    return float((total["wins"] + total["draws"] / 2) / total["games"])


def is_better(total: Cell) -> bool:
    """Return whether the 95 % interval of the score lies above one half."""
    return score_interval(total["wins"], total["draws"], total["games"])[0] > 0.5


def best_cells(records: Records, amaf: str) -> list[dict[str, Any]]:
    """Return the cells of `amaf` summed over all records, the highest score first.

    Args:
        records: records of the tasks.
        amaf: `"rave"`, `"grave"` or `"none"`, whose bias is None.
    """
    cells = [
        {"constant": constant, "bias": bias}
        | pool(records, amaf=amaf, constant=constant, bias=bias)
        for constant in CONSTANTS
        for bias in ((None,) if amaf == "none" else BIASES)
    ]
    return sorted(cells, key=score, reverse=True)


reproduce = study_command(
    make_study, "Compare exploration constants and biases of RAVE and GRAVE in eight games."
)
