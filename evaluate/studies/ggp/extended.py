"""Report of the extended study on General Game Playing."""

from collections.abc import Mapping
from typing import Any

from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.statistics.wilcoxon import signed_rank
from ludoteca.evaluate.studies.ggp.uaemex2021 import GAME_NAMES
from ludoteca.evaluate.tournament.results import Results


def answers(stages: Mapping[str, Results]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the content of `answers.json`, and the values that `extended.md.j2` uses.

    Args:
        stages: results of the tournaments, by stage of the study, see `ggp.study`.
    """
    elo_low_high = {
        stage: {
            name: [round(float(x), 1) for x in (ratings.elo[a], ratings.low[a], ratings.high[a])]
            for a, name in enumerate(results.tournament.names)
        }
        for stage, results in stages.items()
        for ratings in (results.ratings,)
    }
    constants = stages["constants"]
    # The agent of UCB1 with the best constant.
    best = next(a for a in constants.best_first if constants.tournament.names[a].startswith("UCB"))
    points = constants.points()
    names = {
        "stages": stages,
        "GAME_NAMES": GAME_NAMES,
        "best": best,
        "share": share,
        "budget": budget,
        "p_value": lambda a: signed_rank(points[:, a], points[:, best]).p,
    }
    return {"elo_low_high": elo_low_high}, names


def share(results: Results, first: str | int, second: str | int) -> tuple[float, float, float]:
    """Return the percentage of the decisive games of two agents that `first` won.

    The arguments are those of `Results.decided`.

    Returns:
        The percentage, and the bounds of its 95 % interval.
    """
    won, decided = results.decided(first, second)
    low, high = wilson(won, decided)
    return 100 * (won / max(decided, 1)), 100 * low, 100 * high


def budget(results: Results) -> str:
    """Return the agents' search budget per move, e.g. `"simulations=1000"`."""
    options = results.tournament.agents[0].split(",")
    return next(text for text in options if text.startswith(("simulations=", "seconds=")))
