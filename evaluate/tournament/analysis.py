"""Statistics of a tournament's points: ranks and significance tests."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.statistics.ranks import (
    MIN_RANKED_AGENTS,
    MIN_RANKED_GAMES,
    Friedman,
    Nemenyi,
    friedman,
    nemenyi,
)
from ludoteca.evaluate.statistics.ranks import ranks as rank_agents
from ludoteca.evaluate.statistics.wilcoxon import SignedRank, all_pairs, holm


@dataclass(frozen=True)
class Difference:
    """Wilcoxon signed-rank test of two agents over all games.

    Attributes:
        pair: indices of the agents.
        test: result of the test.
        holm: p value with Holm's correction for the number of pairs.
    """

    pair: tuple[int, int]
    test: SignedRank
    holm: float


@dataclass(frozen=True)
class Analysis:
    """Statistics of the points of agents in games.

    Attributes:
        points: points of each agent in each game. Shape `[games, agents]`.
        total: sum over the games. Shape `[agents]`.
        mean: mean over the games. Shape `[agents]`.
        sd: sample standard deviation over the games, `[agents]`; None with one game.
        median: median over the games. Shape `[agents]`.
        ranks: rank of each agent in each game; 1 is the best. Shape `[games, agents]`.
        mean_ranks: mean rank over the games. Shape `[agents]`.
        friedman: Friedman's test; None with one game or two agents.
        nemenyi: Nemenyi's test; None with one game or two agents.
        differences: Wilcoxon signed-rank test of every pair; empty with one game.
    """

    points: NDArray[Any]
    total: NDArray[Any]
    mean: NDArray[np.float64]
    sd: NDArray[np.float64] | None
    median: NDArray[np.float64]
    ranks: NDArray[np.float64]
    mean_ranks: NDArray[np.float64]
    friedman: Friedman | None
    nemenyi: Nemenyi | None
    differences: tuple[Difference, ...]


def analyze(points: NDArray[Any]) -> Analysis:
    """Compute the statistics of points, and the tests that have enough games and agents.

    Args:
        points: points of each agent in each game. Shape `[games, agents]`.
    """
    games, agents = points.shape
    has_rank_tests = games >= MIN_RANKED_GAMES and agents >= MIN_RANKED_AGENTS
    agent_ranks = rank_agents(points)
    tests = all_pairs(points) if games >= MIN_RANKED_GAMES else []
    holm_p_values = holm([test.p for _, _, test in tests])
    return Analysis(
        points=points,
        total=points.sum(0),
        mean=points.mean(0),
        sd=points.std(0, ddof=1) if games > 1 else None,
        median=np.median(points, axis=0),
        ranks=agent_ranks,
        mean_ranks=agent_ranks.mean(0),
        friedman=friedman(points) if has_rank_tests else None,
        nemenyi=nemenyi(points) if has_rank_tests else None,
        differences=tuple(
            Difference((a, b), test, p)
            for (a, b, test), p in zip(tests, holm_p_values, strict=True)
        ),
    )
