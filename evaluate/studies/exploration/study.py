"""Study of the exploration factor and of move groups in six games of Valencia's thesis.

The thesis, on General Game Playing (UAEMex, 2021), names as future work exploration constants that
decay with time or with the variance, and move groups. Each option plays against the same policy
without it, with the same number of simulations.
"""

from collections.abc import Mapping
from math import sqrt
from statistics import NormalDist
from typing import Any

from ludoteca.evaluate.statistics.intervals import score_interval
from ludoteca.evaluate.studies.amaf.study import is_better, pool, score
from ludoteca.evaluate.studies.ggp.uaemex2021 import GAME_NAMES, GAMES
from ludoteca.evaluate.studies.runner import study_command
from ludoteca.evaluate.studies.study import Records, Study, Task

ALPHAS = (2.0, 0.2)  # of UCB1: the thesis' constant, and one that is near the best of `amaf`
SIMULATIONS, GAMES_PER_CELL, FACTOR = 200, 400, 0.5
# Options of the agent, and their names in the report.
OPTIONS = {
    "exploration=linear": "linear schedule",
    "exploration=power": "quadratic schedule",
    "exploration.stdev=node": "standard deviation of the node",
    "exploration.stdev=root": "standard deviation of the root",
    "exploration.depth_decay=0.8": "0.8 for each ply",
}
GROUPS = {
    "groups=origin": "by the piece that moves",
    "groups=captures": "captures and other moves",
    "groups=row": "by row",
    "groups=contact": "beside a stone or not",
}
PIECE_GAMES = ("groups=origin", "groups=captures")
GROUPS_BY_GAME = {
    "atari_go": ("groups=row", "groups=contact"),
    "breakthrough": PIECE_GAMES,
    "knight_through": PIECE_GAMES,
    "sheep_and_wolf": ("groups=origin",),
    "breakthrough_holes": PIECE_GAMES,
    "tictactoe_large": ("groups=row",),
}


def make_study(fast: bool = False) -> Study:
    """Return the study.

    Args:
        fast: play matches of 10 games, to check that everything runs.
    """
    settings = {
        "alphas": ALPHAS, "factor": FACTOR, "simulations": SIMULATIONS,
        "games": 10 if fast else GAMES_PER_CELL, "seed": 1,
    }  # fmt: skip
    names = dict(zip(GAMES, GAME_NAMES, strict=True))
    tasks = {
        game: Task(
            game, "ludoteca.evaluate.studies.exploration.matches",
            {"game": game, "options": (*OPTIONS, *groups), **settings, "out": "{artifact}"},
            {"game": game, "options": (*OPTIONS, *groups), **settings},
            label=names[game],
        )
        for game, groups in GROUPS_BY_GAME.items()
    }  # fmt: skip
    template_names = {
        "settings": settings, "options": OPTIONS, "groups": GROUPS, "pool": pool,
        "is_better": is_better, "has_cells": has_cells, "verdicts": verdicts,
    }  # fmt: skip
    return Study("exploration", {"exploration": tasks}, template_names, fast=fast)


def has_cells(records: Records, option: str) -> bool:
    """Return whether any record has a cell with an option."""
    return any(cell["option"] == option for record in records.values() for cell in record["cells"])


def verdicts(records: Records) -> list[dict[str, Any]]:
    """Return the sums of each option and constant over all games, with their verdicts.

    A verdict is that of the 95 % interval of all sums and differences together (Bonferroni):
    "helps" if it lies above one half, "harms" if below, otherwise "inconclusive". The verdict on
    the difference to the control, the constant factor, is "better", "worse" or "inconclusive"; it
    is empty for move groups, which not all games have.
    """
    options = [option for option in ("factor", *OPTIONS, *GROUPS) if has_cells(records, option)]
    comparisons = len(options) + sum(option in OPTIONS for option in options)
    confidence = 1 - 0.05 / (comparisons * len(ALPHAS))
    result = []
    for alpha in ALPHAS:
        control = pool(records, option="factor", alpha=alpha)
        for option in options:
            total: Mapping[str, int] = pool(records, option=option, alpha=alpha)
            low, high = score_interval(total["wins"], total["draws"], total["games"], confidence)
            row = {"option": option, "alpha": alpha, "total": total, "against_control": ""}
            row["verdict"] = "helps" if low > 0.5 else "harms" if high < 0.5 else "inconclusive"
            if option in OPTIONS:
                low, high = difference_interval(total, control, confidence)
                row["against_control"] = (
                    "better" if low > 0 else "worse" if high < 0 else "inconclusive"
                )
            result.append(row)
    return result


def difference_interval(
    total: Mapping[str, int], control: Mapping[str, int], confidence: float = 0.95
) -> tuple[float, float]:
    """Return the interval of the difference of two scores, by the normal approximation.

    The variance of the score of a game with win probability w, draw probability d and mean p is
    p (1 - p) - d / 4.
    """
    variance = sum(
        (score(each) * (1 - score(each)) - each["draws"] / each["games"] / 4) / each["games"]
        for each in (total, control)
    )
    half_width = NormalDist().inv_cdf((1 + confidence) / 2) * sqrt(variance)
    difference = score(total) - score(control)
    return difference - half_width, difference + half_width


reproduce = study_command(
    make_study, "Compare exploration factors and move groups with plain UCB1 in six games."
)
