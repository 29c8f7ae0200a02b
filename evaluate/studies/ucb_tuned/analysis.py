"""Shares of wins of UCB-Tuned by reading of its formula, compared with a thesis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ludoteca.evaluate.statistics.differences import shares_differ, shares_difference
from ludoteca.evaluate.statistics.intervals import Z_95
from ludoteca.evaluate.studies.ggp import uaemex2021 as thesis
from ludoteca.evaluate.studies.study import Records

TUNED = thesis.POLICIES.index("ucb_tuned")


@dataclass(frozen=True)
class Comparison:
    """Mean share of wins over the games, beside that of the thesis.

    Attributes:
        share: our share of wins.
        thesis: that of the thesis.
        low: lower bound of the 95 % interval of the difference.
        high: upper bound.
        differing: number of games in which the shares differ significantly at the 5 % level.
        games: number of games that were played.
    """

    share: float
    thesis: float
    low: float
    high: float
    differing: int
    games: int

    @property
    def difference(self) -> float:
        """Difference of the shares."""
        return self.share - self.thesis

    @property
    def contains_zero(self) -> bool:
        """Whether the interval of the difference contains zero."""
        return self.low <= 0 <= self.high


def wins_of(
    records: Records, reading: str, simulations: int, opponents: Sequence[str]
) -> dict[str, tuple[int, int]]:
    """Return the wins and the number of games of a reading against some opponents, by game.

    Args:
        records: records of the tasks.
        reading: options of the reading.
        simulations: number of simulations per move.
        opponents: options of the opponents.
    """
    found = {}
    for record in records.values():
        if record["settings"]["simulations"] == simulations:
            cells = [
                cell
                for cell in record["cells"]
                if cell["reading"] == reading and cell["opponent"] in opponents
            ]
            totals = sum(cell["wins"] for cell in cells), sum(cell["games"] for cell in cells)
            found[record["game"]] = totals
    return found


def compare(
    records: Records, reading: str, simulations: int, opponents: Mapping[str, str]
) -> Comparison:
    """Return how often a reading wins, compared with UCB-Tuned in the thesis.

    Games count equally, and the interval of the difference of the mean shares is a normal one.

    Args:
        records: records of the tasks.
        reading: options of the reading.
        simulations: number of simulations per move.
        opponents: options of the opponents, by their names in the thesis: either all four, or one.
    """
    wins = wins_of(records, reading, simulations, tuple(opponents.values()))
    rows = [thesis.GAMES.index(game) for game in wins]
    if len(opponents) == 1:
        pair = thesis.PAIR_NAMES.index(f"UCB-Tuned against {next(iter(opponents))}")
        theirs, their_games = thesis.PAIR_WINS[simulations][rows, pair], thesis.GAMES_PER_PAIR
    else:
        theirs, their_games = thesis.WINS[simulations][rows, TUNED], thesis.PLAYED
    ours, games = np.array([won for won, _ in wins.values()]), next(iter(wins.values()))[1]
    shares = ours / games, games, theirs / their_games, their_games
    low, high = shares_difference(*shares)
    deviation = float(np.sqrt((((high - low) / 2 / Z_95) ** 2).sum()) / len(rows))
    share, their_share = float(shares[0].mean()), float(shares[2].mean())
    return Comparison(
        share,
        their_share,
        share - their_share - Z_95 * deviation,
        share - their_share + Z_95 * deviation,
        int(shares_differ(*shares).sum()),
        games * len(rows),
    )
