"""Report of the extended study in General Game Playing."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.statistics.wilcoxon import signed_rank
from ludoteca.evaluate.studies.ggp.uaemex2021 import GAME_NAMES
from ludoteca.evaluate.tournament.results import Results


def answers(stages: Mapping[str, Results]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the content of `answers.json`, and the names that `extended.md.j2` uses."""
    ratings = {
        stage: {
            name: [round(float(x), 1) for x in (one.elo[a], one.low[a], one.high[a])]
            for a, name in enumerate(results.tournament.names)
        }
        for stage, results in stages.items()
        for one in (results.ratings,)
    }
    constants = stages["constants"]
    best = next(a for a in best_first(constants) if constants.tournament.names[a].startswith("UCB"))
    points = constants.points()
    names = {
        "stages": stages,
        "GAME_NAMES": GAME_NAMES,
        "best": best,
        "best_first": best_first,
        "share": share,
        "budget": budget,
        "p_value": lambda a: signed_rank(points[:, a], points[:, best]).p,
    }
    return {"elo_low_high": ratings}, names


def best_first(results: Results) -> list[int]:
    """Return the indices of the agents by their rating."""
    order: list[int] = np.argsort(-results.ratings.elo, kind="stable").tolist()
    return order


def share(results: Results, first: str | int, second: str | int) -> tuple[float, float, float]:
    """Return the share of one agent, in %, in the decided games of two, and its 95 % interval."""
    names, wins = results.tournament.names, results.wins().sum(0)
    a, b = (names.index(each) if isinstance(each, str) else each for each in (first, second))
    won, decided = int(wins[a, b]), int(wins[a, b] + wins[b, a])
    low, high = wilson(won, decided)
    return 100 * (won / max(decided, 1)), 100 * low, 100 * high


def budget(results: Results) -> str:
    """Return the budget of each move of these agents, e.g. `"simulations=1000"`."""
    items = results.tournament.agents[0].split(",")
    return next(one for one in items if one.startswith(("simulations=", "seconds=")))
