"""Results of a tournament of which some games are played again."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.tournament.plan import Tournament
from ludoteca.evaluate.tournament.results import RepeatCounts, Results


def tournament_of_games(tournament: Tournament, games: Sequence[str]) -> Tournament:
    """Return the tournament with some of its games only; their matches have the same seeds.

    Args:
        tournament: the tournament.
        games: names of games, such as `"free_for_all"`.

    Raises:
        ValueError: if the tournament does not have one of the games.
    """
    names = [spec.partition(":")[0] for spec in tournament.games]
    if unknown := [game for game in games if game not in names]:
        raise ValueError(f"games must be among {', '.join(names)}, got {', '.join(unknown)}")
    kept = tuple(s for s, name in zip(tournament.games, names, strict=True) if name in games)
    return replace(tournament, games=kept)


def replace_games(results: Results, repeated: Results) -> Results:
    """Return results in which those of some games are replaced.

    Args:
        results: results of a tournament.
        repeated: results of the same tournament with some of its games only.

    Raises:
        ValueError: if the tournaments differ in more than their games.
    """
    tournament = results.tournament
    if replace(repeated.tournament, games=tournament.games) != tournament:
        raise ValueError("the tournaments must differ only in their games")
    rows = [tournament.games.index(game) for game in repeated.tournament.games]
    plies = {
        (pair.game, pair.pair): pair.mean_plies * pair.games for pair in results.pair_results
    } | {
        (rows[pair.game], pair.pair): pair.mean_plies * pair.games for pair in repeated.pair_results
    }

    def replaced(table: NDArray[Any], part: NDArray[Any]) -> NDArray[Any]:
        """Return a copy of a table by game, with the rows of the repeated games replaced."""
        copy = table.copy()
        copy[rows] = part
        return copy

    old, new = results.by_repeat, repeated.by_repeat
    counts = RepeatCounts(
        replaced(old.wins, new.wins),
        replaced(old.losses, new.losses),
        replaced(old.points, new.points),
    )
    return Results(
        tournament,
        replaced(results.outcomes, repeated.outcomes),
        np.rint(
            [[plies[g, pair] for pair in tournament.pairs] for g in range(len(tournament.games))]
        ).astype(np.int64),
        np.array([results.seconds, repeated.seconds]),
        [
            *(each for each in results.forfeits if each[0].game not in rows),
            *((replace(m, game=rows[m.game]), forfeit) for m, forfeit in repeated.forfeits),
        ],
        results.times,
        counts,
    )
