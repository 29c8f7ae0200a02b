"""Ratings: how strong each agent is, from who beat whom how often."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

ELO = 400 / math.log(10)  # Elo points to one unit of the logistic scale
VIRTUAL = 1.0  # draws added to every pair that played, so that nobody is infinitely better


@dataclass(frozen=True)
class Ratings:
    """Elo ratings; their mean is 0.

    Attributes:
        elo: shape `[agents]`. 100 points more mean 64 % of the points between two agents.
        low: lower ends of the confidence intervals, likewise.
        high: upper ends.
    """

    elo: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def rate(wins: NDArray[Any], draws: NDArray[Any], confidence: float = 0.95) -> Ratings:
    """Rate agents by the model of Bradley and Terry, where a draw is half a win for both.

    Agent i scores 1 / (1 + exp(t_j - t_i)) on average against agent j (Bradley and Terry, "Rank
    analysis of incomplete block designs", Biometrika 39, 1952). The strengths t maximize the
    likelihood, which SciPy finds; one virtual draw in every pair that played keeps them finite.

    The intervals are normal, with the covariance that holds even if the model does not (White,
    "Maximum likelihood estimation of misspecified models", Econometrica 50, 1982): games vary less
    than the model says if many are drawn. They are about differences to the mean of all agents.

    Args:
        wins: `wins[i, j]` is how often i beat j. Shape `[agents, agents]`.
        draws: `draws[i, j]` is how often i and j drew, which is `draws[j, i]`.
        confidence: of the intervals.

    Raises:
        ValueError: if the agents fall into groups that did not play each other.
    """
    from scipy.optimize import minimize
    from scipy.stats import norm

    wins, draws = np.asarray(wins, np.float64), np.asarray(draws, np.float64)
    agents = len(wins)
    draws = draws + VIRTUAL * (wins + wins.T + draws > 0)
    points, games = wins + draws / 2, wins + wins.T + draws
    _check_connected(games)

    def expected(t: NDArray[np.float64]) -> NDArray[np.float64]:
        p: NDArray[np.float64] = 1 / (1 + np.exp(t - t[:, None]))
        return p

    # The sum of squares keeps the mean at 0, where the likelihood is indifferent.
    def loss(t: NDArray[np.float64]) -> float:
        log_p = -np.logaddexp(0, t - t[:, None])
        return float(-(points * log_p).sum() + t.sum() ** 2 / 2)

    def gradient(t: NDArray[np.float64]) -> NDArray[np.float64]:
        slope: NDArray[np.float64] = t.sum() - (points - games * expected(t)).sum(1)
        return slope

    def hessian(t: NDArray[np.float64]) -> NDArray[np.float64]:
        p = expected(t)
        return _laplacian(games * p * (1 - p)) + 1

    t = minimize(loss, np.zeros(agents), jac=gradient, hess=hessian, method="trust-exact").x
    p = expected(t)
    squared = wins * (1 - p) ** 2 + wins.T * p**2 + draws * (0.5 - p) ** 2  # errors, by pair
    inverse = np.linalg.inv(hessian(t))
    covariance = inverse @ _laplacian(squared) @ inverse
    reach = norm.isf((1 - confidence) / 2) * np.sqrt(np.maximum(np.diag(covariance), 0))
    t = t - t.mean()
    return Ratings(ELO * t, ELO * (t - reach), ELO * (t + reach))


def _laplacian(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum over pairs of weight times (e_i - e_j)(e_i - e_j)'."""
    weights = weights - np.diag(np.diag(weights))
    return np.diag(weights.sum(1)) - weights


def _check_connected(games: NDArray[np.float64]) -> None:
    from scipy.sparse.csgraph import connected_components

    count, group = connected_components(games > 0, directed=False)
    if count > 1:
        raise ValueError(
            f"agents cannot be rated together, since none of {np.flatnonzero(group == 0).tolist()} "
            f"played any of {np.flatnonzero(group != 0).tolist()}"
        )
