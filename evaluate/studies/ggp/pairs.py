"""Pairs of policies of the study in General Game Playing, compared with the thesis' tables."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.statistics.differences import shares_differ
from ludoteca.evaluate.studies.ggp import uaemex2021 as thesis
from ludoteca.evaluate.studies.ggp.uaemex2021 import DIRECTED_PAIRS, PAIR_NAMES
from ludoteca.evaluate.tournament.results import Results


def pair_names(results: Mapping[int, Results]) -> dict[str, Any]:
    """Return the values of the report's section on pairs.

    Args:
        results: results of the tournaments, by the number of simulations per move.
    """
    wins = {simulations: pair_wins(result) for simulations, result in results.items()}
    games = {s: result.tournament.games_per_pair for s, result in results.items()}
    shares = {s: table / games[s] for s, table in wins.items()}
    theirs = {s: thesis.PAIR_WINS[s] / thesis.GAMES_PER_PAIR for s in wins}
    tuned = PAIR_NAMES.index("UCB-Tuned against UCB")
    return {
        "without_tuned": np.array(
            [thesis.POLICIES.index("ucb_tuned") not in pair for pair in DIRECTED_PAIRS]
        ),
        # Mean over the games of UCB-Tuned's share of wins against UCB.
        "tuned_mean": lambda percentages: percentages[:, tuned].mean(),
        "pair_shares": {s: 100 * wins[s] / games[s] for s in wins},
        "thesis_pair_shares": {s: 100 * thesis.PAIR_WINS[s] / thesis.GAMES_PER_PAIR for s in wins},
        "pair_differs": {
            s: shares_differ(shares[s], games[s], theirs[s], thesis.GAMES_PER_PAIR) for s in wins
        },
        "first_comparison": {
            s: np.stack([first_three(table) for table in table_by_game(wins[s])])
            * (thesis.GAMES_PER_PAIR / games[s])
            for s in wins
        },
    }


def pair_wins(results: Results) -> NDArray[np.int64]:
    """Return the wins of the first policy of each of `DIRECTED_PAIRS`, by game: `[G, 14]`."""
    wins = results.wins()
    return np.stack([wins[:, a, b] for a, b in DIRECTED_PAIRS], axis=1)


def table_by_game(wins: NDArray[np.int64]) -> list[dict[tuple[int, int], int]]:
    """Return for each game the wins by directed pair."""
    return [dict(zip(DIRECTED_PAIRS, row.tolist(), strict=True)) for row in wins]


def first_three(wins: Mapping[tuple[int, int], int]) -> NDArray[np.int64]:
    """Return the wins of each of the first three policies against the other two."""
    return np.array([sum(wins[a, b] for b in range(3) if b != a) for a in range(3)], dtype=np.int64)
