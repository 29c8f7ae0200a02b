"""Ratings: how strong each agent is, from who came out ahead of whom how often."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

ELO = 400 / math.log(10)  # Elo points to one unit of the logistic scale
VIRTUAL = 1.0  # draws added to every pair that played, so that nobody is infinitely better
Order = tuple[tuple[int, ...], ...]  # agents of a game, the best first; who tie stand together


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
    """Rate agents by games of two, in which a draw is half a win for both.

    Agent i scores 1 / (1 + exp(t_j - t_i)) on average against agent j (Bradley and Terry, "Rank
    analysis of incomplete block designs", Biometrika 39, 1952), which is `rate_orders` for two.

    Args:
        wins: `wins[i, j]` is how often i beat j. Shape `[agents, agents]`.
        draws: `draws[i, j]` is how often i and j drew, which is `draws[j, i]`.
        confidence: of the intervals.

    Raises:
        ValueError: if the agents fall into groups that did not play each other.
    """
    orders: dict[Order, float] = {}
    for i, j in combinations(range(len(wins)), 2):
        orders[(i,), (j,)], orders[(j,), (i,)] = float(wins[i, j]), float(wins[j, i])
        orders[((i, j),)] = float(draws[i, j])
    return rate_orders(orders, len(wins), confidence)


def rate_orders(orders: Mapping[Order, float], agents: int, confidence: float = 0.95) -> Ratings:
    """Rate agents by games of any number of them, from the orders in which these ended.

    The probability of an order is the product, over its places, of exp(t) of the agent there by the
    sum of exp(t) of this and all later ones (Plackett, "The analysis of permutations", Applied
    Statistics 24, 1975). So who is ahead of whom, in any pair, follows Bradley and Terry. Agents
    that tie count as each of the orders they might stand in, in equal parts. The strengths t
    maximize the likelihood, which SciPy finds; one virtual draw in every pair that played keeps
    them finite.

    The intervals are normal, with the covariance that holds even if the model does not (White,
    "Maximum likelihood estimation of misspecified models", Econometrica 50, 1982): games vary less
    than the model says if many are drawn. They are about differences to the mean of all agents.

    Args:
        orders: how many games ended in each order of the agents that played.
        agents: how many there are; they are numbered from 0.
        confidence: of the intervals.

    Raises:
        ValueError: if the agents fall into groups that did not play each other, or an order holds
            an agent twice, or one that does not exist.
    """
    from scipy.optimize import minimize
    from scipy.stats import norm

    played = {order: float(count) for order, count in orders.items() if count > 0}
    _check_orders(played, agents)
    if not played:  # one agent, and nobody to compare it with
        return Ratings(np.zeros(agents), np.zeros(agents), np.zeros(agents))
    for i, j in {pair for order in played for pair in _pairs(order)}:
        played[((i, j),)] = played.get(((i, j),), 0.0) + VIRTUAL
    counts = np.array(list(played.values()))
    present = np.array([[a in sum(order, ()) for a in range(agents)] for order in played], float)
    of, weights, among = _choices(played, agents)
    games = counts[of] * weights

    def chances(t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how likely each agent is to be chosen, by choice. Shape `[choices, agents]`."""
        worth = np.where(among, np.exp(t - t.max()), 0.0)
        p: NDArray[np.float64] = worth / worth.sum(1, keepdims=True)
        return p

    # The sum of squares keeps the mean at 0, where the likelihood is indifferent.
    def loss(t: NDArray[np.float64]) -> float:
        sums = np.log(np.where(among, np.exp(t - t.max()), 0.0).sum(1)) + t.max()
        return float(games @ sums - counts @ present @ t + t.sum() ** 2 / 2)

    def gradient(t: NDArray[np.float64]) -> NDArray[np.float64]:
        slope: NDArray[np.float64] = games @ chances(t) - counts @ present + t.sum()
        return slope

    def hessian(t: NDArray[np.float64]) -> NDArray[np.float64]:
        p = chances(t)
        curvature: NDArray[np.float64] = np.diag(games @ p) - (p.T * games) @ p + 1
        return curvature

    t = minimize(loss, np.zeros(agents), jac=gradient, hess=hessian, method="trust-exact").x
    errors = -present
    np.add.at(errors, of, weights[:, None] * chances(t))  # the gradient, by order
    inverse = np.linalg.inv(hessian(t))
    covariance = inverse @ (errors.T * counts @ errors) @ inverse
    reach = norm.isf((1 - confidence) / 2) * np.sqrt(np.maximum(np.diag(covariance), 0))
    t = t - t.mean()
    return Ratings(ELO * t, ELO * (t - reach), ELO * (t + reach))


def _choices(
    orders: Mapping[Order, float], agents: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return the choices that make up orders: who comes next, of those that are left?

    Of t agents that tie, each set of n is left before those behind in 1 of `comb(t, n)` orders.

    Returns:
        Of which order each is, int64 `[choices]`; in which share of the orders that it stands for
        it occurs; among whom it is, bool `[choices, agents]`.
    """
    found = [
        (k, 1 / math.comb(len(tied), size), [a in left + behind for a in range(agents)])
        for k, order in enumerate(orders)
        for tied, behind in _places(order)
        for size in range(1, len(tied) + 1)
        for left in combinations(tied, size)
    ]
    of, weights, among = zip(*found, strict=True)
    return np.array(of), np.array(weights), np.array(among)


def _places(order: Order) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield who shares each place, and who is behind."""
    for k, tied in enumerate(order):
        yield tied, sum(order[k + 1 :], ())


def _pairs(order: Order) -> Iterator[tuple[int, int]]:
    yield from combinations(sorted(sum(order, ())), 2)


def _check_orders(orders: Mapping[Order, float], agents: int) -> None:
    from scipy.sparse.csgraph import connected_components

    met = np.zeros((agents, agents), np.bool_)
    for order in orders:
        who = sum(order, ())
        if len(set(who)) < len(who) or not set(who) <= set(range(agents)):
            raise ValueError(f"an order must hold agents from 0 to {agents - 1} once, got {order}")
        for i, j in _pairs(order):
            met[i, j] = True
    count, group = connected_components(met, directed=False)
    if count > 1:
        raise ValueError(
            f"agents cannot be rated together, since none of {np.flatnonzero(group == 0).tolist()} "
            f"played any of {np.flatnonzero(group != 0).tolist()}"
        )
