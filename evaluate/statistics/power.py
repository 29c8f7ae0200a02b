"""Number of games that a match needs to show a difference of two agents, and power of a match.

The test asks whether the mean score differs from 1/2. A game's score has the variance (1 - d) / 4
if the agents are equally strong and s (1 - s) - d / 4 if the mean is s, d being the fraction of
draws. The mean score of many games is nearly normal.
"""

import math
from dataclasses import dataclass

from ludoteca.envs.params import integer, real
from ludoteca.evaluate.statistics.elo_models import expected_score
from ludoteca.evaluate.statistics.ratings import elo_difference
from ludoteca.evaluate.statistics.sprt import score_variance

MIN_DISTANCE = 1e-4  # least distance of the mean score from 1/2


@dataclass(frozen=True)
class Question:
    """Question whether a match can show that one agent is stronger.

    Attributes:
        score: mean score of the first agent, if it is as strong as assumed; not 1/2.
        draws: fraction of drawn games.
        alpha: probability of finding a difference between equal agents.
        two_sided: whether a difference in either direction counts.
    """

    score: float
    draws: float = 0.0
    alpha: float = 0.05
    two_sided: bool = True

    def __post_init__(self) -> None:
        real("score", self.score, 0.001, 0.999)
        real("alpha", self.alpha, 1e-9, 0.5)
        if abs(self.score - 0.5) < MIN_DISTANCE:
            raise ValueError(
                f"score must differ from 0.5 by {MIN_DISTANCE} or more, got {self.score:g}: no "
                "match shows that equal agents differ"
            )
        self._deviations()  # raises if so many draws are impossible

    def games(self, power: float = 0.8) -> int:
        """Return the even number of games with which the match finds the difference.

        Args:
            power: probability of finding it.

        Raises:
            ValueError: if `power` is not between `alpha` and 1.
        """
        from scipy.stats import norm

        real("power", power, self.alpha, 1 - 1e-9)
        null, alternative = self._deviations()
        reach = self._critical() * null + float(norm.ppf(power)) * alternative
        games = (max(reach, 0.0) / abs(self.score - 0.5)) ** 2
        return max(2, 2 * math.ceil(games / 2))

    def power(self, games: int) -> float:
        """Return the probability of finding the difference, in its direction, by that many games.

        Raises:
            ValueError: if `games` is not positive.
        """
        from scipy.stats import norm

        integer("games", games, 1, 10**12)
        null, alternative = self._deviations()
        distance = abs(self.score - 0.5) * math.sqrt(games)
        return float(norm.cdf((distance - self._critical() * null) / alternative))

    def _critical(self) -> float:
        from scipy.stats import norm

        return float(norm.isf(self.alpha / 2 if self.two_sided else self.alpha))

    def _deviations(self) -> tuple[float, float]:
        """Return the standard deviations of a game's score with equal and with unequal agents."""
        elo = elo_difference(self.score)
        assert elo is not None
        return math.sqrt(score_variance(0, self.draws)), math.sqrt(score_variance(elo, self.draws))


def question_of_elo(
    elo: float, draws: float = 0.0, alpha: float = 0.05, two_sided: bool = True
) -> Question:
    """Return the question of a logistic Elo difference."""
    return Question(expected_score(real("elo", elo, -1000, 1000)), draws, alpha, two_sided)
