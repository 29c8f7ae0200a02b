"""Nash averaging: ratings against the maximum-entropy Nash equilibrium of the agents themselves.

Balduzzi et al., "Re-evaluating evaluation", NeurIPS 2018, section 3. Two players each choose an
agent; the payoff is the advantage of the first. The equilibrium does not change when copies of an
agent enter: they share its probability. So weak or redundant agents cannot inflate a rating.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ludoteca.evaluate.statistics.alpha_rank import check_payoffs

Array = NDArray[np.float64]
TINY = 1e-9  # probability below which an agent is in no equilibrium
SAME = 1e-7  # distance below which equilibria are the same
TOLERANCE = 1e-5  # of the equilibrium: most that a deviation may gain


@dataclass(frozen=True)
class NashAverage:
    """Maximum-entropy Nash equilibrium, and the ratings against it.

    Attributes:
        probabilities: probability of each agent in the equilibrium. Shape `[agents]`.
        ratings: expected advantage of each agent over one drawn from the equilibrium: 0 for agents
            that are in it, 0 or less for all others. Shape `[agents]`.
    """

    probabilities: Array
    ratings: Array


def nash_average(advantages: ArrayLike) -> NashAverage:
    """Compute the maximum-entropy Nash equilibrium of a symmetric zero-sum game.

    Args:
        advantages: `advantages[a, b]` is the mean advantage of a over b, such as its wins minus its
            losses by the number of games, equal to `-advantages[b, a]`. Shape `[agents, agents]`.

    Raises:
        ValueError: if the advantages have another shape or are not antisymmetric.
        RuntimeError: if no equilibrium is found within the tolerance.
    """
    array = check_payoffs(advantages)
    if not np.allclose(array, -array.T, atol=1e-9):
        raise ValueError(
            "expected antisymmetric advantages, advantages[a, b] = -advantages[b, a]; they differ "
            f"by up to {np.abs(array + array.T).max():.3g}"
        )
    scale = np.abs(array).max()
    scaled = array / scale if scale > 0 else array
    extreme = _extreme_equilibria(scaled)
    probabilities = extreme.mean(0)
    if np.ptp(extreme, axis=0).max() > SAME:  # several equilibria
        support = np.flatnonzero(probabilities > TINY)
        most = _most_entropy(scaled[:, support])
        probabilities = np.zeros(len(array))
        probabilities[support] = most
    gain = float((scaled @ probabilities).max())
    if gain > TOLERANCE:
        raise RuntimeError(f"no Nash equilibrium found: a deviation gains {gain:.3g}")
    return NashAverage(probabilities, array @ probabilities)


def _extreme_equilibria(advantages: Array) -> Array:
    """Return equilibria, the k-th with the most probability of agent k, `[agents, agents]`."""
    from scipy.optimize import linprog

    agents = len(advantages)
    extreme = np.zeros((agents, agents))
    for a in range(agents):
        found = linprog(
            -np.eye(agents)[a],
            A_ub=advantages,
            b_ub=np.zeros(agents),
            A_eq=np.ones((1, agents)),
            b_eq=[1.0],
        )
        if found.x is None:
            raise RuntimeError(f"no Nash equilibrium found: {found.message}")
        extreme[a] = np.where(found.x > TINY, found.x, 0.0)
    equilibria: Array = extreme / extreme.sum(1, keepdims=True)
    return equilibria


def _most_entropy(advantages: Array) -> Array:
    """Return the equilibrium with the most entropy among agents that all are in some equilibrium.

    It minimizes sum p log p subject to `advantages @ p <= 0`; the dual has one multiplier of 0 or
    more for each row, and p is proportional to exp(-multipliers @ advantages).

    Args:
        advantages: advantages over the agents of the support. Shape `[agents, support]`.
    """
    from scipy.optimize import minimize
    from scipy.special import logsumexp, softmax

    def loss(multipliers: Array) -> tuple[float, Array]:
        logits = -multipliers @ advantages
        return float(logsumexp(logits)), -advantages @ softmax(logits)

    rows = len(advantages)
    found = minimize(
        loss,
        np.zeros(rows),
        jac=True,
        bounds=[(0, None)] * rows,
        method="L-BFGS-B",
        options={"maxiter": 5_000, "maxfun": 20_000, "ftol": 1e-16, "gtol": 1e-9, "maxcor": 30},
    )
    p: Array = softmax(-found.x @ advantages)
    return p
