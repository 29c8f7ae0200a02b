"""Reports on General Game Playing: Valencia's thesis (UAEMex, 2021), and the extended study."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.statistics.differences import shares_differ
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.statistics.wilcoxon import signed_rank
from ludoteca.evaluate.studies import verdicts
from ludoteca.evaluate.studies.ggp import uaemex2021 as thesis
from ludoteca.evaluate.studies.ggp.conclusions import conclusions
from ludoteca.evaluate.studies.ggp.uaemex2021 import DIRECTED_PAIRS, PAIR_NAMES
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


def pair_names(results: Mapping[int, Results]) -> dict[str, Any]:
    """Return the values of the report's section on pairs.

    Args:
        results: results of the tournaments, by the number of simulations per move.
    """
    games = {s: result.tournament.games_per_pair for s, result in results.items()}
    wins = {s: pair_wins(result) for s, result in results.items()}
    theirs, their_games = thesis.PAIR_WINS, thesis.GAMES_PER_PAIR
    tuned = PAIR_NAMES.index("UCB-Tuned against UCB")
    return {
        "without_tuned": np.array(
            [thesis.POLICIES.index("ucb_tuned") not in pair for pair in DIRECTED_PAIRS]
        ),
        # Mean over the games of UCB-Tuned's share of wins against UCB.
        "tuned_mean": lambda percentages: percentages[:, tuned].mean(),
        "pair_shares": {s: 100 * wins[s] / games[s] for s in wins},
        "thesis_pair_shares": {s: 100 * theirs[s] / their_games for s in wins},
        "pair_differs": {
            s: shares_differ(wins[s] / games[s], games[s], theirs[s] / their_games, their_games)
            for s in wins
        },
        # Wins of each of the first three policies against the other two.
        "first_comparison": {
            s: result.wins()[:, :3, :3].sum(2) * (their_games / games[s])
            for s, result in results.items()
        },
    }


def pair_wins(results: Results) -> NDArray[np.int64]:
    """Return the wins of the first policy of each of `DIRECTED_PAIRS`, by game: `[G, 14]`."""
    first, second = np.transpose(DIRECTED_PAIRS)
    wins: NDArray[np.int64] = results.wins()[:, first, second]
    return wins


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
        "GAME_NAMES": thesis.GAME_NAMES,
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
