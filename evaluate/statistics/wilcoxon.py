"""Exact Wilcoxon signed-rank test of two agents over several games, and Holm's correction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MIN_SIGNIFICANT_GAMES = 6  # minimum number of games for significance at 0.05


@dataclass(frozen=True)
class SignedRank:
    """Result of a Wilcoxon signed-rank test.

    Attributes:
        plus: sum of the ranks of the games with a higher score of the first agent.
        minus: sum of the ranks of the games with a lower score of the first agent.
        games: number of games with different scores; games with equal scores are omitted.
        p: exact two-sided p value.
    """

    plus: float
    minus: float
    games: int
    p: float


def signed_rank(first: NDArray[Any], second: NDArray[Any]) -> SignedRank:
    """Test whether two agents are equally good, from their scores in the same games.

    Games with equal scores are omitted, as in Wilcoxon, "Individual comparisons by ranking
    methods", 1945. Equal absolute differences share the mean of their ranks. The p value is the
    exact fraction of the 2^n assignments of signs to the n ranks that are at least as extreme.
    (That is SciPy's `wilcoxon(method="exact")` if no two differences are equal, and its
    `PermutationMethod` with all permutations otherwise.)

    Args:
        first: scores of the first agent. Shape `[games]`.
        second: scores of the second agent. Shape `[games]`.
    """
    from scipy.stats import rankdata

    differences = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    differences = differences[differences != 0]
    # Mean ranks may be halves; doubled ranks are integers.
    doubled_ranks = np.rint(2 * rankdata(np.abs(differences))).astype(np.int64)
    plus, total = int(doubled_ranks[differences > 0].sum()), int(doubled_ranks.sum())
    num_subsets = np.zeros(total + 1)  # number of subsets of the games by sum of doubled ranks
    num_subsets[0] = 1.0
    for rank in doubled_ranks:
        num_subsets[rank:] += num_subsets[: total + 1 - rank].copy()
    extreme = min(plus, total - plus)
    p = min(1.0, 2 * float(num_subsets[: extreme + 1].sum() / num_subsets.sum()))
    return SignedRank(plus / 2, (total - plus) / 2, len(differences), p)


def all_pairs(scores: NDArray[Any]) -> list[tuple[int, int, SignedRank]]:
    """Test every pair of agents `(a, b)`, a < b.

    Args:
        scores: scores. Shape `[games, agents]`.
    """
    agents = np.shape(scores)[1]
    return [
        (a, b, signed_rank(scores[:, a], scores[:, b]))
        for a in range(agents)
        for b in range(a + 1, agents)
    ]


def holm(p: Sequence[float]) -> list[float]:
    """Return p values corrected for the number of tests (family-wise error rate), in their order.

    Holm, "A simple sequentially rejective multiple test procedure", 1979.
    """
    corrected = [0.0] * len(p)
    largest = 0.0
    for num_corrected, k in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
        largest = max(largest, min(1.0, (len(p) - num_corrected) * p[k]))
        corrected[k] = largest
    return corrected
