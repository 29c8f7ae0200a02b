"""Simulated matches: results of independent games with given probabilities.

They measure the error rates and the length of sequential tests, and the power of matches of fixed
length.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.statistics.intervals import score_interval
from ludoteca.evaluate.statistics.sprt import Sprt

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SimulatedTests:
    """Outcomes of sequential tests that were simulated until each was decided.

    Attributes:
        accepted: whether H1 was accepted. Shape `[tests]`.
        games: number of games until the decision. Shape `[tests]`.
        frequencies: results until the decision, see `Sprt.llr`. Shape `[tests, results]`.
    """

    accepted: NDArray[np.bool_]
    games: NDArray[np.int64]
    frequencies: Array


def simulate_tests(
    test: Sprt,
    score: float,
    draws: float,
    advantage: float,
    count: int,
    rng: np.random.Generator,
) -> SimulatedTests:
    """Simulate sequential tests, in whose games the agents alternate in moving first.

    Args:
        test: the test.
        score: mean score of the first agent over both seats.
        draws: probability of a draw.
        advantage: advantage of moving first: the mean score of the first agent is
            `score + advantage` in the games in which it moves first, and `score - advantage` in the
            others.
        count: number of tests.
        rng: random generator of the results.

    Raises:
        ValueError: if so many draws are impossible at these scores.
    """
    by_seat = [game_probabilities(mean, draws) for mean in (score + advantage, score - advantage)]
    if test.games_per_result == 2:  # probabilities of the points in a pair of independent games
        by_seat = [np.convolve(by_seat[0], by_seat[1])]
    cumulative = [np.cumsum(p)[:-1] for p in by_seat]
    undecided, results = np.arange(count), 0
    frequencies = np.zeros((count, len(by_seat[0])))
    accepted, lengths = np.zeros(count, np.bool_), np.zeros(count, np.int64)
    while undecided.size:
        thresholds = cumulative[results % len(cumulative)]
        drawn = np.searchsorted(thresholds, rng.random(undecided.size), side="right")
        frequencies[undecided, drawn] += 1
        results += 1
        llrs = test.llrs(frequencies[undecided])
        accepted[undecided] = llrs >= test.upper
        decided = (llrs >= test.upper) | (llrs <= test.lower)
        lengths[undecided[decided]] = results * test.games_per_result
        undecided = undecided[~decided]
    return SimulatedTests(accepted, lengths, frequencies)


def count_detections(
    score: float,
    draws: float,
    games: int,
    confidence: float,
    count: int,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Return in how many matches of fixed length the interval of the score is above, below 1/2.

    Args:
        score: mean score of the first agent.
        draws: probability of a draw.
        games: number of games of a match.
        confidence: level of the interval, see `score_interval`.
        count: number of simulated matches.
        rng: random generator of the results.

    Raises:
        ValueError: if so many draws are impossible at this score.
    """
    results = rng.multinomial(games, game_probabilities(score, draws), count)
    above = below = 0
    for (_, drawn, won), number in zip(
        *np.unique(results, axis=0, return_counts=True), strict=True
    ):
        low, high = score_interval(int(won), int(drawn), games, confidence)
        above += int(number) * (low > 0.5)
        below += int(number) * (high < 0.5)
    return above, below


def game_probabilities(score: float, draws: float) -> Array:
    """Return the probabilities of a loss, a draw and a win at a mean score, `[3]`.

    Raises:
        ValueError: if so many draws are impossible at this score.
    """
    p = np.array([1 - score - draws / 2, draws, score - draws / 2])
    if p.min() < 0:
        raise ValueError(f"a mean score of {score:g} is impossible with {draws:g} draws per game")
    return p
