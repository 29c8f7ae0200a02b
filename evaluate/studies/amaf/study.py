"""Study of RAVE and GRAVE by exploration constant and bias, in eight games.

The games are those of Valencia's thesis on General Game Playing (UAEMex, 2021).
Gelly and Silver, "Monte-Carlo tree search and rapid action value estimation in computer Go" (2011),
use RAVE without exploration, and so does Cazenave, "Generalized rapid action value estimation"
(2015), with GRAVE; instead of a constant, the statistics of all moves as first lead to new actions.
"""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from ludoteca.evaluate.statistics.intervals import score_interval
from ludoteca.evaluate.studies.amaf.comparison import compare_with_ucb1, difference, mean_of
from ludoteca.evaluate.studies.ggp.uaemex2021 import GAME_NAMES, GAMES
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.study import Records, Study, Task, Tasks

CONSTANTS = (0.0, 0.1, 0.5, 2.0)  # exploration constants of UCB1
# The schedule gives an action's own mean and its all-moves-as-first mean, which also counts
# simulations that play the action later, the same weight after 1 / (4 bias^2) visits of the action,
# if the second mean has many more.
BIASES = (0.01, 0.05, 0.1, 0.3)
SIMULATIONS, GAMES_PER_CELL = 100, 200
# Constants and biases with which 1,000 simulations are compared.
OTHER_CONSTANTS, OTHER_BIASES = (0.0, 0.1), (0.01, 0.1)
# Grids with other budgets, by the name of the part: settings that differ from the grid above. The
# policy without AMAF statistics plays at equal simulations only.
AT_EQUAL_TIME: Mapping[str, Any] = {"amaf": ("rave", "grave"), "equal_time": True}
MORE_SIMULATIONS: Mapping[str, Any] = {
    "simulations": 1_000, "games": 50, "constants": (0.0,), "biases": OTHER_BIASES,
}  # fmt: skip
# As in MoGo, an action without visits has its AMAF mean as first-play urgency; without AMAF
# statistics it is visited first ("inf"), or counts as even ("0.5").
FIRST_PLAY_URGENCY: Mapping[str, Any] = {
    "amaf": ("rave", "grave"), "constants": (0.0,), "biases": OTHER_BIASES, "fpu": ("inf", "0.5"),
}  # fmt: skip
OTHER_BUDGETS: dict[str, Mapping[str, Any]] = {
    "equal-time": AT_EQUAL_TIME,
    "more-simulations": MORE_SIMULATIONS,
    "more-time": {**MORE_SIMULATIONS, **AT_EQUAL_TIME},
    "first-play-urgency": FIRST_PLAY_URGENCY,
    "urgency-equal-time": {**FIRST_PLAY_URGENCY, **AT_EQUAL_TIME},
    "urgency-more-simulations": {**MORE_SIMULATIONS, **FIRST_PLAY_URGENCY},
    "urgency-more-time": {**MORE_SIMULATIONS, **FIRST_PLAY_URGENCY, **AT_EQUAL_TIME},
}
# Games of RAVE against UCB-alpha2 that were reported before this study, without their settings.
EARLIER = {"game": "atari_go", "wins": 73, "draws": 0, "games": 100}
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
    parts = {"amaf": grid_tasks("", settings)}
    budgets = {}
    for part, changes in OTHER_BUDGETS.items():
        budgets[part] = {**settings, **changes, **({"games": 10} if fast else {})}
        parts[part] = grid_tasks(f"-{part}", budgets[part])
    names = {
        "settings": settings, "budgets": budgets, "equivalence": equivalence, "pool": pool,
        "score": score, "is_better": is_better, "best_cells": best_cells, "mean_cost": mean_cost,
        "other_constants": OTHER_CONSTANTS, "other_biases": OTHER_BIASES,
        "compare_with_ucb1": compare_with_ucb1, "earlier": EARLIER,
        "difference": difference, "mean_of": mean_of, "equal_cells": equal_cells,
    }  # fmt: skip
    return Study("amaf", parts, names, fast=fast)


def grid_tasks(suffix: str, settings: Mapping[str, Any]) -> Tasks:
    """Return the tasks of a grid, one for each game, by name.

    Args:
        suffix: end of the names, which begin with the name of the game.
        settings: settings of the grid.
    """
    return {
        f"{game}{suffix}": Task(
            f"{game}{suffix}", "ludoteca.evaluate.studies.amaf.grid",
            {"game": game, **settings, "out": "{artifact}"}, {"game": game, **settings},
            label=name,
        )
        for game, name in zip(GAMES, GAME_NAMES, strict=True)
    }  # fmt: skip


def equivalence(bias: float) -> float:
    """Return the visits after which both means of `BIASES` have the same weight, 1 / (4 bias^2)."""
    return 1 / (4 * bias * bias)


def pool(records: Records, **selected: Any) -> dict[str, int]:
    """Return the wins, draws and games of the selected cells, summed over all records.

    Args:
        records: records of the tasks.
        selected: values of cells, such as `amaf="rave", constant=0.0`; all cells with them count. A
            tuple has several values of which a cell has one.
    """
    cells = select_cells(records, **selected)
    return {key: sum(cell[key] for cell in cells) for key in ("wins", "draws", "games")}


def mean_cost(records: Records, **selected: Any) -> float:
    """Return the mean processor time of a simulation, relative to one of the opponent.

    Args:
        records: records of a grid at equal time.
        selected: values of cells, see `pool`.
    """
    return fmean(cell["cost"] for cell in select_cells(records, **selected))


def select_cells(records: Records, **selected: Any) -> list[Cell]:
    """Return the cells of all records that have the selected values, see `pool`."""
    allowed = {k: v if isinstance(v, tuple) else (v,) for k, v in selected.items()}
    return [
        cell
        for record in records.values()
        for cell in record["cells"]
        if all(cell[key] in values for key, values in allowed.items())
    ]


def score(total: Cell) -> float:
    """Return the score: the share of points, a draw being half a point."""
    return float((total["wins"] + total["draws"] / 2) / total["games"])


def is_better(total: Cell) -> bool:
    """Return whether the 95 % interval of the score lies above one half."""
    return score_interval(total["wins"], total["draws"], total["games"])[0] > 0.5


def equal_cells(record: Mapping[str, Any]) -> int:
    """Return in how many settings of a grid RAVE and GRAVE have the same wins and draws."""
    results = {
        name: {
            (cell["constant"], cell["bias"]): (cell["wins"], cell["draws"])
            for cell in record["cells"]
            if cell["amaf"] == name
        }
        for name in ("rave", "grave")
    }
    return sum(results["grave"][key] == value for key, value in results["rave"].items())


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
