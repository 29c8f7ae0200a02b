"""Pairs of policies of the study in General Game Playing, compared with the thesis' tables."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.studies.ggp import uaemex2021 as thesis
from ludoteca.evaluate.studies.ggp.uaemex2021_pairs import (
    DIRECTED_PAIRS,
    FIRST_COMPARISON,
    PAIR_NAMES,
    PAIR_WINS,
)
from ludoteca.evaluate.tournament.results import Results


def pair_names(results: Mapping[int, Results]) -> dict[str, Any]:
    """Return the values of the report's section on pairs.

    Args:
        results: results of the tournaments, by the number of simulations per move.
    """
    wins = {simulations: pair_wins(result) for simulations, result in results.items()}
    games = {s: result.tournament.games_per_pair for s, result in results.items()}
    return {
        "PAIR_NAMES": PAIR_NAMES,
        "without_tuned": np.array(
            [thesis.POLICIES.index("ucb_tuned") not in p for p in DIRECTED_PAIRS]
        ),
        # Mean over the games of UCB-Tuned's share of wins against UCB.
        "tuned_mean": lambda shares: shares[:, PAIR_NAMES.index("UCB-Tuned against UCB")].mean(),
        "pair_shares": {s: 100 * table / games[s] for s, table in wins.items()},
        "thesis_pair_shares": {s: 100 * PAIR_WINS[s] / thesis.GAMES_PER_PAIR for s in wins},
        "pair_differs": {
            s: differs(table, games[s], PAIR_WINS[s], thesis.GAMES_PER_PAIR)
            for s, table in wins.items()
        },
        "first_comparison": {
            s: np.stack([first_three(table) for table in table_by_game(wins[s])])
            * (thesis.GAMES_PER_PAIR / games[s])
            for s in wins
        },
        "thesis_first_comparison": {s: FIRST_COMPARISON[s] for s in wins},
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


def differs(
    ours: NDArray[np.int64], our_games: int, theirs: NDArray[np.int64], their_games: int
) -> NDArray[np.bool_]:
    """Return which shares of wins differ significantly at the 5 % level (two proportions).

    Args:
        ours: our wins. Shape `[games, pairs]`, like the result.
        our_games: number of games in which each of these wins was counted.
        theirs: the thesis' wins. Shape `[games, pairs]`.
        their_games: number of games in which each of these wins was counted.
    """
    pooled = (ours + theirs) / (our_games + their_games)
    sd = np.sqrt(pooled * (1 - pooled) * (1 / our_games + 1 / their_games))
    result: NDArray[np.bool_] = np.abs(ours / our_games - theirs / their_games) > 1.96 * sd
    return result
