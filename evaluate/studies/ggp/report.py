"""Reports on General Game Playing: Valencia's thesis (UAEMex, 2021), and the extended study."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.engine.branching import branching_factor
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.statistics import verdicts
from ludoteca.evaluate.statistics.differences import shares_differ
from ludoteca.evaluate.statistics.wilcoxon import signed_rank
from ludoteca.evaluate.studies.ggp import uaemex2021 as thesis
from ludoteca.evaluate.studies.ggp.branching import relation
from ludoteca.evaluate.studies.ggp.conclusions import ALPHA1, ALPHA2, MARGIN, conclusions
from ludoteca.evaluate.studies.ggp.encounters import encounter_files
from ludoteca.evaluate.studies.ggp.intervals import (
    INTERVALS_FILE,
    half_widths,
    intervals_csv,
    mean_score,
)
from ludoteca.evaluate.studies.ggp.uaemex2021 import DIRECTED_PAIRS, PAIR_NAMES
from ludoteca.evaluate.tournament.analysis import analyze
from ludoteca.evaluate.tournament.results import Results

# Content of the file of results, values of the template, and further files by name.
Report = tuple[dict[str, Any], dict[str, Any], dict[str, str | bytes]]
RANDOM_GAMES = 10_000  # number of games of each kind that measure its branching factor


def comparison(stages: Mapping[str, Results], stored: Mapping[str, Any]) -> Report:
    """Return the content of `comparison.json`, the values of `report.md.j2`, and further files.

    The files are the encounters, their figures, and the intervals.

    Args:
        stages: results of the tournaments, by the number of simulations per move.
        stored: not used.
    """
    results = {int(simulations): result for simulations, result in stages.items()}
    first = next(iter(results.values()))
    games = first.games_per_agent
    shares = {s: result.points() / games for s, result in results.items()}
    # Rounded, as equal numbers of wins may differ in their last digits after the scaling, which
    # rank tests would count as a difference.
    wins = {s: np.round(thesis.PLAYED * share, 6) for s, share in shares.items()}
    beyond = {
        s: shares_differ(share, games, thesis.WINS[s] / thesis.PLAYED, thesis.PLAYED)
        for s, share in shares.items()
    }
    scores = {s: mean_score(result, ALPHA1, ALPHA2) for s, result in results.items()}
    checked = conclusions(wins, games, scores)
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
        "half_widths": {
            s: half_widths(result.points(), games, thesis.WINS[s]) for s, result in results.items()
        },
        "intervals_file": INTERVALS_FILE,
        "margin": MARGIN,
        "correlations": {
            s: np.corrcoef(table.ravel(), thesis.WINS[s].ravel())[0, 1] for s, table in wins.items()
        },
        "tests": lambda analysis: {pair.pair: pair.test for pair in analysis.differences},
    } | pair_names(results)
    per_pair = first.tournament.games_per_pair
    tables = {
        s: [
            (thesis.POLICY_NAMES, result.points(), games, thesis.WINS[s], thesis.PLAYED),
            (PAIR_NAMES, pair_wins(result), per_pair, thesis.PAIR_WINS[s], thesis.GAMES_PER_PAIR),
        ]
        for s, result in results.items()
    }
    return content, names, encounter_files(results) | {INTERVALS_FILE: intervals_csv(tables)}


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
        "without_tuned": np.array(["UCB-Tuned" not in name for name in PAIR_NAMES]),
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


def answers(stages: Mapping[str, Results], stored: Mapping[str, Any]) -> Report:
    """Return the content of `answers.json`, the values of `extended.md.j2`, and a figure.

    Args:
        stages: results of the tournaments, by stage of the study, see `ggp.study`.
        stored: content of an earlier `answers.json`, whose branching factors are used again.
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
    factors = stored.get("branching_factors") or [
        branching_factor(make_game(game), RANDOM_GAMES) for game in constants.tournament.games
    ]
    relations, figure = relation(stages, [mean for mean, _ in factors])
    names = relations | {
        "branching_factors": factors,
        "stages": stages,
        "GAME_NAMES": thesis.GAME_NAMES,
        "best": best,
        "budget": budget,
        "elo_differences": elo_differences,
        "p_value": lambda a: signed_rank(*constants.points()[:, (a, best)].T).p,
    }
    content = {"elo_low_high": elo_low_high, "branching_factors": factors}
    return content, names, {"branching.png": figure}


def elo_differences(results: Results, policy: str) -> dict[str, tuple[float, float, float]]:
    """Return the Elo rating of a policy with each enhancement minus that without, and its interval.

    Args:
        results: results of a tournament of agents `"POLICY ENHANCEMENT"` and `"POLICY plain"`.
        policy: name of the policy that the enhancements are added to.
    """
    names, prefix = results.tournament.names, f"{policy} "
    plain = names.index(f"{prefix}plain")
    return {
        name.removeprefix(prefix): results.ratings.difference(a, plain)
        for a, name in enumerate(names)
        if name.startswith(prefix) and a != plain
    }


def budget(results: Results) -> str:
    """Return the agents' search budget per move, e.g. `"simulations=1000"`."""
    options = results.tournament.agents[0].split(",")
    return next(text for text in options if text.startswith(("simulations=", "seconds=")))
