"""Logistic and normalized Elo differences, and the mean scores that correspond to them.

An Elo difference is the rating of the agent whose score is given minus that of its opponent.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.params import check_choice

LOGISTIC, NORMALIZED = "logistic", "normalized"
ELO_MODELS = (LOGISTIC, NORMALIZED)
TRINOMIAL, PENTANOMIAL = 3, 5  # numbers of possible results, see `check_frequencies`
NORMALIZED_ELO = 800 / math.log(10)  # points per standard deviation of a game's score


def expected_score(elo: float) -> float:
    """Return the expected score at a logistic Elo difference, 1 / (1 + 10^(-elo / 400))."""
    return 1 / (1 + 10 ** (-elo / 400))


def t_value(normalized_elo: float, games: int) -> float:
    """Return (mean - 1/2) / standard deviation of the mean score of `games` games.

    Normalized Elo is 800 / ln 10 times (mean - 1/2) / standard deviation of one game (Van den
    Bergh, "Normalized Elo", section 2). Near 1/2 it equals logistic Elo if there are no draws.
    """
    return normalized_elo / NORMALIZED_ELO * math.sqrt(games)


def score_at(elo: float, model: str, deviation: float) -> float:
    """Return the mean score at an Elo difference.

    Args:
        elo: Elo difference.
        model: "logistic" or "normalized".
        deviation: standard deviation of the score of a game, the unit of normalized Elo.
    """
    if check_choice("model", model, ELO_MODELS) == LOGISTIC:
        return expected_score(elo)
    return 0.5 + t_value(elo, 1) * deviation


def check_frequencies(frequencies: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return validated frequencies, the numbers of results, as an array, `[3]` or `[5]`.

    Three are the numbers of losses, draws and wins in single games (trinomial). Five are the
    numbers of pairs of games with a sum of scores of 0, 1/2, 1, 3/2 and 2 (pentanomial).

    Raises:
        ValueError: if there are not three or five frequencies, or one is negative or not finite.
    """
    counts = np.asarray(frequencies, np.float64)
    if counts.shape not in ((TRINOMIAL,), (PENTANOMIAL,)):
        raise ValueError(
            "expected 3 frequencies (losses, draws, wins) or 5 (pairs of games by their score 0, "
            f"1/2, 1, 3/2, 2), got {frequencies!r}"
        )
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise ValueError(f"frequencies must be finite numbers of at least 0, got {frequencies!r}")
    return counts


def games_per_result(frequencies: NDArray[np.float64]) -> int:
    """Return the number of games of a result: 1 if trinomial, 2 if pentanomial."""
    return 1 if frequencies.shape[-1] == TRINOMIAL else 2


def mean_and_variance(frequencies: NDArray[np.float64]) -> tuple[float, float]:
    """Return mean and variance of the results; the score of a pair is the mean of its games."""
    scores = np.linspace(0, 1, len(frequencies))
    p = frequencies / frequencies.sum()
    mean = float(p @ scores)
    return mean, float(p @ (scores - mean) ** 2)
