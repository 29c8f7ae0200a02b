"""Test of equivalence: whether a difference is smaller than a margin that was chosen before.

Two one-sided tests, from Schuirmann, "A comparison of the two one-sided tests procedure and the
power approach for assessing the equivalence of average bioavailability", Journal of
Pharmacokinetics and Biopharmaceutics 15, 1987. A difference that is not significant is no evidence
of equivalence, since there may be too few data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist, fmean


@dataclass(frozen=True)
class MeanScore:
    """Mean score of matches in several games with equal weights, and its standard error."""

    score: float  # from 0 to 1, a draw being half a point
    standard_error: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval by the normal approximation, with bounds in [0, 1]."""
        half_width = NormalDist().inv_cdf((1 + confidence) / 2) * self.standard_error
        return max(self.score - half_width, 0.0), min(self.score + half_width, 1.0)

    def p_equivalent(self, margin: float) -> float:
        """Return the p-value of two one-sided tests that the score is within `margin` of 1/2.

        It is below 0.05 if and only if the 90 % interval lies within 1/2 - margin and 1/2 + margin.
        """
        difference = self.score - 0.5
        return max(self._p_above(margin + difference), self._p_above(margin - difference))

    def p_different(self) -> float:
        """Return the p-value of the two-sided test that the score differs from 1/2."""
        return min(2 * self._p_above(abs(self.score - 0.5)), 1.0)

    def _p_above(self, estimate: float) -> float:
        """Return the p-value of the one-sided test that an estimated number is positive."""
        if self.standard_error == 0:
            return 0.0 if estimate > 0 else 1.0
        return 1 - NormalDist().cdf(estimate / self.standard_error)


def stratified_score(matches: Sequence[tuple[int, int, int]]) -> MeanScore:
    """Return the mean score of matches of different games, with equal weights.

    The standard error is stratified by match: the mean score of a match with sample variance s^2
    of n games has the variance s^2 / n, and differences between the matches do not count.

    Args:
        matches: wins, draws and games of each match.

    Raises:
        ValueError: if there are no matches, or one has fewer than two games.
    """
    if not matches or min(games for _, _, games in matches) < 2:
        raise ValueError(f"expected matches of at least 2 games each, got {list(matches)}")
    scores, variances = [], []
    for wins, draws, games in matches:
        score = (wins + draws / 2) / games
        scores.append(score)
        sample_variance = (wins + draws / 4 - games * score**2) / (games - 1)
        variances.append(max(sample_variance, 0.0) / games)  # rounding errors may be negative
    return MeanScore(fmean(scores), sqrt(sum(variances)) / len(matches))
