"""Sequential probability ratio test (SPRT) of the Elo difference of two agents.

Wald, "Sequential tests of statistical hypotheses", Annals of Mathematical Statistics 16, 1945,
section 3, with the generalized likelihood ratio of `likelihood_ratio.py`, in which the probability
of a draw is a nuisance parameter. The Elo difference is the rating of the first agent minus that of
the second; results and scores are those of the first agent.
"""

import inspect
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.names import did_you_mean
from ludoteca.envs.params import check_choice, check_real
from ludoteca.envs.spec import check_types, parse_params
from ludoteca.evaluate.statistics.brownian import StoppedBrownianMotion
from ludoteca.evaluate.statistics.elo_models import (
    ELO_MODELS,
    LOGISTIC,
    NORMALIZED,
    expected_score,
    score_at,
)
from ludoteca.evaluate.statistics.likelihood_ratio import (
    log_likelihood_ratio,
    log_likelihood_ratios,
)

MAX_ELO = 1000.0  # maximum absolute Elo difference of a hypothesis
UNDECIDED, ACCEPT_H0, ACCEPT_H1 = "undecided", "H0", "H1"  # verdicts
COUNTS = ("pentanomial", "trinomial")  # kinds of results, see `Sprt.counts`


@dataclass(frozen=True)
class Sprt:
    """Design of a test of H0: the Elo difference is `elo0`, against H1: it is `elo1`.

    The difference is the rating of the first agent minus that of the second. A positive one means
    that the first agent is stronger; results and scores are the first agent's.

    Attributes:
        elo0: Elo difference of H0, less than `elo1`.
        elo1: Elo difference of H1.
        alpha: nominal probability of accepting H1 if the difference is `elo0`.
        beta: nominal probability of accepting H0 if the difference is `elo1`.
        model: scale of the differences, "logistic" or "normalized".
        counts: what a result is: with "pentanomial" the score of a pair of games from the same
            opening with the seats exchanged, the mean of the two games' scores; with "trinomial"
            the score of a single game. Results are assumed to be independent.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: str = LOGISTIC
    counts: str = "pentanomial"

    def __post_init__(self) -> None:
        for name in ("elo0", "elo1"):
            object.__setattr__(self, name, check_real(name, getattr(self, name), -MAX_ELO, MAX_ELO))
        if self.elo0 >= self.elo1:
            raise ValueError(
                f"elo0 must be less than elo1, got elo0={self.elo0:g}, elo1={self.elo1:g}"
            )
        for name in ("alpha", "beta"):
            object.__setattr__(self, name, check_real(name, getattr(self, name), 1e-9, 0.499))
        check_choice("model", self.model, ELO_MODELS)
        check_choice("counts", self.counts, COUNTS)

    @property
    def lower(self) -> float:
        """Bound of the log-likelihood ratio at which H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """Bound of the log-likelihood ratio at which H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    @property
    def games_per_result(self) -> int:
        """Number of games of a result: 2 if pentanomial, 1 if trinomial."""
        return 2 if self.counts == "pentanomial" else 1

    @property
    def spec(self) -> str:
        """Text that `parse_sprt` parses into this test."""
        return ",".join(
            f"{key}={value if isinstance(value, str) else _shortest(value)}"
            for key, value in asdict(self).items()
        )

    def llr(self, frequencies: Sequence[float] | NDArray[np.float64]) -> float:
        """Return the log-likelihood ratio of H1 to H0, see `log_likelihood_ratio`.

        Args:
            frequencies: numbers of results so far: of losses, draws and wins (trinomial), or of
                pairs with the score 0, 1/4, 1/2, 3/4 and 1 (pentanomial).
        """
        return log_likelihood_ratio(self.elo0, self.elo1, frequencies, self.model)

    def llrs(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-likelihood ratios of many tests, see `log_likelihood_ratios`.

        Args:
            counts: frequencies of each test, not all 0. Shape `[tests, 3]` or `[tests, 5]`.
        """
        return log_likelihood_ratios(self.elo0, self.elo1, counts, self.model)

    def verdict(self, llr: float) -> str:
        """Return the hypothesis that a log-likelihood ratio accepts, or `"undecided"`."""
        if llr >= self.upper:
            return ACCEPT_H1
        return ACCEPT_H0 if llr <= self.lower else UNDECIDED

    def motion(self, mean: float, variance: float) -> StoppedBrownianMotion:
        """Return the Brownian motion that approximates the log-likelihood ratio of a test.

        The unit of time is one result. For results with mean score m and variance v, a result
        changes the ratio by (s1 - s0) (2 m - s0 - s1) / (2 v) on average, with variance
        (s1 - s0)^2 / v; s0 and s1 are the mean scores under H0 and H1 (Van den Bergh, "A practical
        introduction to the GSPRT", section 4).

        Args:
            mean: mean score of a result, true or estimated.
            variance: variance of the score of a result; the score of a pair is the mean of its
                games.
        """
        deviation = math.sqrt(variance * self.games_per_result)  # of the score of one game
        s0, s1 = (score_at(elo, self.model, deviation) for elo in (self.elo0, self.elo1))
        drift = (s1 - s0) * (2 * mean - s0 - s1) / (2 * variance)
        return StoppedBrownianMotion(self.lower, self.upper, drift, (s1 - s0) ** 2 / variance)

    def expected_games(self, elo: float, draws: float, correlation: float = 0.0) -> float:
        """Return the expected number of games until the test ends.

        Args:
            elo: true Elo difference, in the model of the test.
            draws: fraction of drawn games.
            correlation: correlation of the scores of the two games of a pair.
        """
        return self.games_per_result * self._motion_at(elo, draws, correlation).expected_time()

    def acceptance_probability(self, elo: float, draws: float, correlation: float = 0.0) -> float:
        """Return the probability that H1 is accepted; see `expected_games` for the arguments."""
        return 1 - self._motion_at(elo, draws, correlation).lower_probability()

    def _motion_at(self, elo: float, draws: float, correlation: float) -> StoppedBrownianMotion:
        """Return the Brownian motion at a true Elo difference; arguments as `expected_games`."""
        game_variance = score_variance(elo, draws, self.model)
        mean = score_at(elo, self.model, math.sqrt(game_variance))
        variance = game_variance
        if self.games_per_result == 2:
            variance = game_variance * (1 + check_real("correlation", correlation, -0.999, 1)) / 2
        return self.motion(mean, variance)


def score_variance(elo: float, draws: float, model: str = LOGISTIC) -> float:
    """Return the variance of the score of a game, s (1 - s) - d / 4, in which s is the mean.

    Args:
        elo: Elo difference.
        draws: fraction of drawn games, d.
        model: scale of the difference.

    Raises:
        ValueError: if the fraction of draws is impossible at this Elo difference.
    """
    draws = check_real("draws", draws, 0, 1)
    if model == NORMALIZED:
        # Inserting s = 1/2 + t sigma into sigma^2 = s (1 - s) - d / 4 gives
        # sigma^2 (1 + t^2) = (1 - d) / 4.
        t = score_at(elo, NORMALIZED, 1.0) - 0.5
        variance = (1 - draws) / 4 / (1 + t * t)
        mean = 0.5 + t * math.sqrt(variance)
    else:
        mean = expected_score(elo)
        variance = mean * (1 - mean) - draws / 4
    if draws / 2 > min(mean, 1 - mean) or variance <= 0:
        raise ValueError(
            f"with a mean score of {mean:.3f} (Elo difference {elo:g}) at most "
            f"{2 * min(mean, 1 - mean):.3f} of the games can be draws, got {draws:g}"
        )
    return variance


def parse_sprt(text: str) -> Sprt:
    """Parse the text of a test, such as `"elo0=0,elo1=10,alpha=0.05"`.

    Raises:
        ValueError: if `elo0` or `elo1` is missing, or a parameter is unknown or out of range.
    """
    parameters = inspect.signature(Sprt).parameters
    # `first=None`: each parameter needs its name, also the first one.
    params = parse_params(f"sprt:{text}", text, first=None, known=parameters)
    for key in params:
        if key not in parameters:
            raise ValueError(
                f"a sequential test has no parameter {key!r}{did_you_mean(key, parameters)}; "
                f"it has {', '.join(parameters)}"
            )
    missing = [key for key in ("elo0", "elo1") if key not in params]
    if missing:
        raise ValueError(
            f"a sequential test needs elo0 and elo1, such as elo0=0,elo1=10: got {text!r}"
        )
    check_types(f"sprt:{text}", params, parameters)
    return Sprt(**params)


def _shortest(number: float) -> str:
    """Return the shortest text of a number: `5`, not `5.0`."""
    text = format(number, "g")
    return text if float(text) == number else repr(float(number))
