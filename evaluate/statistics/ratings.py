"""Elo ratings of agents by the Bradley-Terry and Plackett-Luce models."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

ELO_PER_UNIT = 400 / math.log(10)  # Elo points per unit of log-odds, the scale of strengths t
VIRTUAL_DRAWS = 1.0  # draws added for every pair that played, which keep ratings finite
# Final order of a game: tuples of agents that share a place, from the first place.
Order = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Ratings:
    """Elo ratings; their mean is 0.

    Attributes:
        elo: ratings; a difference of 100 means an expected score of 64 %. Shape `[agents]`.
        low: lower ends of the confidence intervals. Shape `[agents]`.
        high: upper ends. Shape `[agents]`.
        covariance: covariance of the errors of the ratings, in squared Elo points. Shape
            `[agents, agents]`. None if it is not known.
    """

    elo: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    covariance: NDArray[np.float64] | None = None

    def difference(
        self, first: int, second: int, confidence: float = 0.95
    ) -> tuple[float, float, float]:
        """Return the rating of one agent minus that of another, and its normal interval.

        Args:
            first: index of an agent.
            second: index of the agent whose rating is subtracted.
            confidence: level of the interval.

        Raises:
            ValueError: if the covariance is not known.
        """
        from scipy.stats import norm

        if self.covariance is None:
            raise ValueError("an interval of a difference needs the covariance, which is None")
        signs = np.zeros(len(self.elo))
        signs[first] += 1
        signs[second] -= 1
        error = math.sqrt(max(0.0, float(signs @ self.covariance @ signs)))
        half_width = float(norm.isf((1 - confidence) / 2)) * error
        center = float(self.elo[first] - self.elo[second])
        return center, center - half_width, center + half_width


def elo_difference(score: float) -> float | None:
    """Return the Elo difference that corresponds to a mean score; None for scores of 0 and 1."""
    return ELO_PER_UNIT * math.log(score / (1 - score)) if 0 < score < 1 else None


def rate(wins: NDArray[Any], draws: NDArray[Any], confidence: float = 0.95) -> Ratings:
    """Rate agents by games of two players; a draw counts as half a win.

    Agent i scores 1 / (1 + exp(t_j - t_i)) on average against agent j (Bradley and Terry, "Rank
    analysis of incomplete block designs", Biometrika 39, 1952). This is the special case of
    `rate_orders` for games of two agents.

    Args:
        wins: `wins[i, j]` is the number of wins of i against j. Shape `[agents, agents]`.
        draws: `draws[i, j]` is the number of draws of i and j, equal to `draws[j, i]`. Shape
            `[agents, agents]`.
        confidence: level of the intervals.

    Raises:
        ValueError: if the agents fall into groups that did not play each other.
    """
    orders: dict[Order, float] = {}
    for i, j in combinations(range(len(wins)), 2):
        orders[(i,), (j,)], orders[(j,), (i,)] = float(wins[i, j]), float(wins[j, i])
        orders[((i, j),)] = float(draws[i, j])
    return rate_orders(orders, len(wins), confidence)


def rate_orders(orders: Mapping[Order, float], agents: int, confidence: float = 0.95) -> Ratings:
    """Rate agents by games of any number of players, from their final orders.

    The probability of an order is the product, over its places, of exp(t) of the agent there
    divided by the sum of exp(t) of this and all later agents (Plackett, "The analysis of
    permutations", Applied Statistics 24, 1975). The order of any pair then follows Bradley and
    Terry. A game with ties counts as all orders of the tied agents, with equal weights. The
    strengths t maximize the likelihood; one virtual draw of every pair that played keeps them
    finite.

    The intervals are normal, with a covariance that is valid even if the model is not (White,
    "Maximum likelihood estimation of misspecified models", Econometrica 50, 1982): results vary
    less than the model predicts if many games are drawn. They are intervals of the difference of a
    rating from the mean of all ratings.

    Args:
        orders: number of games by the final order of the agents.
        agents: number of agents.
        confidence: level of the intervals.

    Raises:
        ValueError: if the agents fall into groups that did not play each other, or an order
            contains an agent twice or an invalid index.
    """
    from scipy.optimize import minimize
    from scipy.stats import norm

    positive_orders = {order: float(count) for order, count in orders.items() if count > 0}
    _check_orders(positive_orders, agents)
    if not positive_orders:  # one agent without games
        zeros = np.zeros(agents)
        return Ratings(zeros, zeros, zeros, np.zeros((agents, agents)))
    for i, j in {pair for order in positive_orders for pair in _pairs(order)}:
        positive_orders[((i, j),)] = positive_orders.get(((i, j),), 0.0) + VIRTUAL_DRAWS
    counts = np.array(list(positive_orders.values()))  # games `[orders]`
    takes_part = np.array(  # 1 if the agent is in the order `[orders, agents]`
        [[a in sum(order, ()) for a in range(agents)] for order in positive_orders], float
    )
    choice_order, weights, is_remaining = _choices(positive_orders, agents)
    games = counts[choice_order] * weights  # weighted games `[choices]`

    def probabilities(t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of each agent in each choice. Shape `[choices, agents]`."""
        strengths = np.where(is_remaining, np.exp(t - t.max()), 0.0)
        p: NDArray[np.float64] = strengths / strengths.sum(1, keepdims=True)
        return p

    # The likelihood does not depend on the mean of all strengths; the last term keeps it at 0.
    def loss(t: NDArray[np.float64]) -> float:
        """Return the negative log-likelihood of the strengths t, `[agents]`."""
        sums = np.log(np.where(is_remaining, np.exp(t - t.max()), 0.0).sum(1)) + t.max()
        return float(games @ sums - counts @ takes_part @ t + t.sum() ** 2 / 2)

    def gradient(t: NDArray[np.float64]) -> NDArray[np.float64]:
        slope: NDArray[np.float64] = games @ probabilities(t) - counts @ takes_part + t.sum()
        return slope

    def hessian(t: NDArray[np.float64]) -> NDArray[np.float64]:
        p = probabilities(t)
        curvature: NDArray[np.float64] = np.diag(games @ p) - (p.T * games) @ p + 1
        return curvature

    t = minimize(loss, np.zeros(agents), jac=gradient, hess=hessian, method="trust-exact").x
    # Gradient of the loss of one game of each order `[orders, agents]`.
    errors = -takes_part
    np.add.at(errors, choice_order, weights[:, None] * probabilities(t))
    inverse = np.linalg.inv(hessian(t))
    covariance = inverse @ (errors.T * counts @ errors) @ inverse
    half_widths = norm.isf((1 - confidence) / 2) * np.sqrt(np.maximum(np.diag(covariance), 0))
    t = t - t.mean()
    low, high = ELO_PER_UNIT * (t - half_widths), ELO_PER_UNIT * (t + half_widths)
    return Ratings(ELO_PER_UNIT * t, low, high, ELO_PER_UNIT**2 * covariance)


def _choices(
    orders: Mapping[Order, float], agents: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return the choices of the Plackett-Luce model: the best agent among the remaining agents.

    If k agents tie, all their permutations count; each subset of n of them is what remains of the
    tied agents in 1 / comb(k, n) of the permutations.

    Returns:
        Index of the order of each choice, int64 `[choices]`; its weight, the fraction of the
        order's permutations in which it occurs; and the remaining agents, bool `[choices, agents]`.
    """
    choices = [
        (k, 1 / math.comb(len(tied), size), [a in remaining + later for a in range(agents)])
        for k, order in enumerate(orders)
        for tied, later in _places(order)
        for size in range(1, len(tied) + 1)
        for remaining in combinations(tied, size)
    ]
    choice_order, weights, is_remaining = zip(*choices, strict=True)
    return np.array(choice_order), np.array(weights), np.array(is_remaining)


def _places(order: Order) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield the agents that share each place, and all agents behind them."""
    for k, tied in enumerate(order):
        yield tied, sum(order[k + 1 :], ())


def _pairs(order: Order) -> Iterator[tuple[int, int]]:
    """Yield the pairs `(i, j)`, i < j, of agents that played the game."""
    yield from combinations(sorted(sum(order, ())), 2)


def _check_orders(orders: Mapping[Order, float], agents: int) -> None:
    """Raise a `ValueError` unless the orders are valid and connect all agents."""
    from scipy.sparse.csgraph import connected_components

    have_played = np.zeros((agents, agents), np.bool_)
    for order in orders:
        members = sum(order, ())
        if len(set(members)) < len(members) or not set(members) <= set(range(agents)):
            raise ValueError(
                f"an order must contain agents from 0 to {agents - 1}, each at most once, "
                f"got {order}"
            )
        for i, j in _pairs(order):
            have_played[i, j] = True
    count, group = connected_components(have_played, directed=False)
    if count > 1:
        raise ValueError(
            f"agents cannot be rated together, as none of {np.flatnonzero(group == 0).tolist()} "
            f"played any of {np.flatnonzero(group != 0).tolist()}"
        )
