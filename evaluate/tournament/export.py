"""Export of all numbers of a tournament, as CSV and as JSON.

A tournament plays several games (kinds, such as Hex): "the games of a pair" are those that two
agents played of one kind.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ludoteca.evaluate.match_clock import times_json
from ludoteca.evaluate.statistics.alpha_rank import alpha_rank
from ludoteca.evaluate.statistics.intervals import wilson
from ludoteca.evaluate.statistics.nash_averaging import nash_average
from ludoteca.evaluate.statistics.ratings import Ratings
from ludoteca.evaluate.tournament.analysis import Analysis
from ludoteca.evaluate.tournament.results import PairResult, Results


def pair_json(results: Results, pair: PairResult) -> dict[str, Any]:
    """Return the result of two agents in one game as JSON values."""
    t, half = results.tournament, pair.games // 2
    a, b = pair.pair
    return {
        "game": t.games[pair.game],
        "agent_a": t.names[a],
        "agent_b": t.names[b],
        "games": pair.games,
        "wins_a": pair.wins,
        "draws": pair.draws,
        "wins_b": pair.losses,
        "win_rate_a": round(pair.wins / pair.games, 5),
        "win_interval": [round(x, 5) for x in wilson(pair.wins, pair.games)],
        "games_each_seat": half,
        "wins_a_in_seat_0": pair.wins_first,
        "wins_a_in_seat_1": pair.wins_second,
        "wins_b_in_seat_0": pair.losses_second,
        "wins_b_in_seat_1": pair.losses_first,
        "wins_by_repeat": list(pair.wins_by_repeat),  # of agent a
        "losses_by_repeat": list(pair.losses_by_repeat),
        "mean_plies": round(pair.mean_plies, 3),
    }


def to_csv(pairs: Sequence[dict[str, Any]]) -> str:
    """Return the results of `pair_json` as CSV, a line for each."""
    rows = []
    for pair in pairs:
        low, high = pair["win_interval"]
        rows.append(pair | {"win_rate_low": low, "win_rate_high": high})
        for key in ("wins_by_repeat", "losses_by_repeat"):
            rows[-1][key] = " ".join("?" if n is None else str(n) for n in pair[key])
        del rows[-1]["win_interval"]
    return csv_text(rows)


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows as CSV, with the names of the columns in the first line.

    Args:
        rows: values by column, at least one row; all rows have the same columns.
    """
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def to_json(results: Results, analysis: Analysis) -> dict[str, Any]:
    """Return all numbers of a tournament but those of `pair_json`, as JSON values."""
    t = results.tournament
    ratings, nash = results.ratings, nash_average(results.advantages())
    numbers = {
        key: None if value is None else np.asarray(value).tolist()
        for key, value in (
            ("points", analysis.points),
            ("points_by_repeat", results.by_repeat.points),
            ("total", analysis.total),
            ("mean", analysis.mean),
            ("sd", analysis.sd),
            ("median", analysis.median),
            ("ranks", analysis.ranks),
            ("mean_ranks", analysis.mean_ranks),
        )
    }
    return {
        "tournament": t.identity() | {"names": list(t.names), "draws": t.draws},
        "seconds": round(results.seconds, 1),
        "forfeits": [
            asdict(forfeit)
            | {
                "game": t.games[match.game],
                "agent": t.names[forfeit.agent],
                "against": t.names[sum(match.pair) - forfeit.agent],  # the other agent of the pair
                "repeat": match.repeat,
                "game_of_match": forfeit.game,
            }
            for match, forfeit in results.forfeits
        ],
        **({"times": times_json(results.times)} if results.times else {}),
        **numbers,
        "friedman": None if analysis.friedman is None else asdict(analysis.friedman),
        "nemenyi": None
        if analysis.nemenyi is None
        else {
            "critical_difference": analysis.nemenyi.critical_difference,
            "p": analysis.nemenyi.p.tolist(),
        },
        "wilcoxon": [
            {
                "agent_a": t.names[difference.pair[0]],
                "agent_b": t.names[difference.pair[1]],
                **asdict(difference.test),
                "p_holm": difference.holm,
            }
            for difference in analysis.differences
        ],
        "nash_averaging": {
            "probabilities": nash.probabilities.tolist(),
            "ratings": nash.ratings.tolist(),
        },
        "alpha_rank": alpha_rank(results.advantages()).tolist(),
        "elo": _ratings_json(ratings),
        "elo_by_game": [_ratings_json(game_ratings) for game_ratings in results.ratings_by_game],
    }


def _ratings_json(ratings: Ratings) -> dict[str, list[float]]:
    return {key: np.round(getattr(ratings, key), 2).tolist() for key in ("elo", "low", "high")}
