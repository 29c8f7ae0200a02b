"""Report of the study on General Game Playing, compared with the tables of the thesis."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from ludoteca.evaluate.statistics.differences import shares_differ
from ludoteca.evaluate.studies import verdicts
from ludoteca.evaluate.studies.ggp import uaemex2021 as thesis
from ludoteca.evaluate.studies.ggp.conclusions import conclusions
from ludoteca.evaluate.studies.ggp.pairs import pair_names
from ludoteca.evaluate.tournament.analysis import analyze
from ludoteca.evaluate.tournament.results import Results


def comparison(stages: Mapping[str, Results]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the content of `comparison.json`, and the values that `report.md.j2` uses.

    Args:
        stages: results of the tournaments, by the number of simulations per move.
    """
    results = {int(simulations): result for simulations, result in stages.items()}
    first = next(iter(results.values()))
    shares = {s: result.points() / result.games_per_agent for s, result in results.items()}
    # Rounded, as equal numbers of wins may differ in their last digits after the scaling, which
    # rank tests would count as a difference.
    wins = {s: np.round(thesis.PLAYED * share, 6) for s, share in shares.items()}
    beyond = {
        s: shares_differ(
            share, results[s].games_per_agent, thesis.WINS[s] / thesis.PLAYED, thesis.PLAYED
        )
        for s, share in shares.items()
    }
    checked = conclusions(wins, first.games_per_agent)
    content = {
        "games_per_pair": {s: result.tournament.games_per_pair for s, result in results.items()},
        "policies": thesis.POLICIES,
        "games": list(first.tournament.games),
        "wins": {s: result.points().tolist() for s, result in results.items()},
        "thesis_wins": {s: table.tolist() for s, table in thesis.WINS.items()},
        "beyond_chance": {s: cells.tolist() for s, cells in beyond.items()},
        "conclusions": [asdict(conclusion) for conclusion in checked],
    }
    names = {
        **vars(thesis),
        **vars(verdicts),
        "results": results,
        "per_pair": first.tournament.games_per_pair,
        "conclusions": checked,
        "counts": Counter(conclusion.verdict for conclusion in checked),
        "ours": {s: analyze(table) for s, table in wins.items()},
        "theirs": {s: analyze(table) for s, table in thesis.WINS.items()},
        "beyond": beyond,
        "correlations": {
            s: np.corrcoef(table.ravel(), thesis.WINS[s].ravel())[0, 1] for s, table in wins.items()
        },
        "tests": lambda analysis: {pair.pair: pair.test for pair in analysis.differences},
    } | pair_names(results)
    return content, names
