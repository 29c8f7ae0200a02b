"""Relation of a game's branching factor to the best constant of UCB1 and to the best policy."""

from collections.abc import Mapping
from typing import Any

from ludoteca.evaluate.statistics.wilcoxon import holm
from ludoteca.evaluate.studies.ggp.uaemex2021 import GAME_NAMES
from ludoteca.evaluate.tournament.results import Results
from ludoteca.evaluate.tournament.trends import ResampledResults, trend_plots


def relation(stages: Mapping[str, Results], factors: list[float]) -> tuple[dict[str, Any], bytes]:
    """Return the values of the report's section on the branching factor, and its figure.

    Args:
        stages: results of the tournaments `"constants"` and `"policies"`.
        factors: branching factors of the games.
    """
    constants, policies = (ResampledResults(stages[name]) for name in ("constants", "policies"))
    names = stages["constants"].tournament.names
    alphas = {name: float(name[4:]) for name in names if name.startswith("UCB ")}
    best, lead = constants.best_parameter(alphas), constants.lead("alpha2", "UCB 2")
    by_policy = {name: place.trend(factors) for name, place in policies.places().items()}
    corrected = holm([trend.p for trend in by_policy.values()])
    plotted = {"best constant of UCB1": best, "lead of alpha2 over UCB 2, %": lead}
    ticks = (5, 10, 20, 40), {"best constant of UCB1": tuple(alphas.values())}
    figure = trend_plots(plotted, factors, "branching factor", GAME_NAMES, *ticks)
    return {
        "factors": factors, "best_constant": best, "lead": lead, "holm": holm,
        "chances": policies.chances_of_best(),
        "policy_trends": list(zip(by_policy, by_policy.values(), corrected, strict=True)),
    }, figure  # fmt: skip
