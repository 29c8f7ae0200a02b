"""Power analysis of a match: number of games needed to detect a difference of two agents.

The test asks whether the mean score differs from 1/2. A game's score has the variance (1 - d) / 4
if the agents are equally strong and s (1 - s) - d / 4 if the mean is s, d being the fraction of
draws. The mean score of many games is nearly normal.
"""

import math
from dataclasses import dataclass

from ludoteca.envs.params import check_integer, check_real
from ludoteca.evaluate.statistics.elo_models import expected_score
from ludoteca.evaluate.statistics.ratings import elo_difference
from ludoteca.evaluate.statistics.sprt import score_variance

MIN_DISTANCE = 1e-4  # minimum distance of the mean score from 1/2


@dataclass(frozen=True)
class PowerAnalysis:
    """Power analysis of a test, in a match, of the hypothesis that two agents are equally strong.

    Attributes:
        score: assumed mean score of the first agent; not 1/2.
        draws: fraction of drawn games.
        alpha: significance level: probability of detecting a difference between equal agents.
        two_sided: whether the test is two-sided.
    """

    score: float
    draws: float = 0.0
    alpha: float = 0.05
    two_sided: bool = True

    def __post_init__(self) -> None:
        check_real("score", self.score, 0.001, 0.999)
        check_real("alpha", self.alpha, 1e-9, 0.5)
        if abs(self.score - 0.5) < MIN_DISTANCE:
            raise ValueError(
                f"score must differ from 0.5 by {MIN_DISTANCE} or more, got {self.score:g}: equal "
                "agents have no difference that a match could detect"
            )
        self._deviations()  # raises a `ValueError` if so many draws are impossible at this score

    def games(self, power: float = 0.8) -> int:
        """Return the smallest even number of games with which a match detects the difference.

        The number is even so that each agent moves first in half of the games.

        Args:
            power: probability of detecting the difference.

        Raises:
            ValueError: if `power` is not between `alpha` and 1.
        """
        from scipy.stats import norm

        check_real("power", power, self.alpha, 1 - 1e-9)
        null_deviation, alternative_deviation = self._deviations()
        # The difference of the mean score from 1/2 that is needed, times the root of the games.
        needed = self._critical() * null_deviation + float(norm.ppf(power)) * alternative_deviation
        games = (max(needed, 0.0) / abs(self.score - 0.5)) ** 2
        return max(2, 2 * math.ceil(games / 2))

    def power(self, games: int) -> float:
        """Return the probability that a match of `games` games detects the difference.

        Raises:
            ValueError: if `games` is not positive.
        """
        from scipy.stats import norm

        check_integer("games", games, 1, 10**12)
        null_deviation, alternative_deviation = self._deviations()
        distance = abs(self.score - 0.5) * math.sqrt(games)
        return float(
            norm.cdf((distance - self._critical() * null_deviation) / alternative_deviation)
        )

    def _critical(self) -> float:
        """Return the number of standard errors from 1/2 beyond which a mean is significant."""
        from scipy.stats import norm

        return float(norm.isf(self.alpha / 2 if self.two_sided else self.alpha))

    def _deviations(self) -> tuple[float, float]:
        """Return the standard deviations of a game's score with equal and with unequal agents."""
        elo = elo_difference(self.score)
        assert elo is not None
        return math.sqrt(score_variance(0, self.draws)), math.sqrt(score_variance(elo, self.draws))


def power_analysis_of_elo(
    elo: float, draws: float = 0.0, alpha: float = 0.05, two_sided: bool = True
) -> PowerAnalysis:
    """Return the power analysis for a logistic Elo difference."""
    return PowerAnalysis(
        expected_score(check_real("elo", elo, -1000, 1000)), draws, alpha, two_sided
    )
