"""Nash averaging: ratings of agents against their maximum-entropy Nash equilibrium.

Balduzzi et al., "Re-evaluating evaluation", NeurIPS 2018, section 3. Two players each choose an
agent; the payoff is the advantage of the first. Copies of an agent do not change the equilibrium:
they share its probability. So weak or redundant agents cannot inflate a rating.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ludoteca.evaluate.statistics.alpha_rank import check_payoffs

Array = NDArray[np.float64]
# Tolerances of the numerical solution, with advantages scaled to at most 1.
MIN_PROBABILITY = 1e-9  # an agent with a lower probability does not belong to an equilibrium
MIN_DISTANCE = 1e-7  # equilibria whose probabilities differ less are considered equal
TOLERANCE = 1e-5  # maximum advantage of an agent over the equilibrium, which is 0 in theory


@dataclass(frozen=True)
class NashAverage:
    """Maximum-entropy Nash equilibrium, and the ratings against it.

    Attributes:
        probabilities: probability of each agent in the equilibrium. Shape `[agents]`.
        ratings: expected advantage of each agent over an agent drawn from the equilibrium: 0 for
            agents in the equilibrium, at most 0 for all others. Shape `[agents]`.
    """

    probabilities: Array
    ratings: Array


def nash_average(advantages: ArrayLike) -> NashAverage:
    """Compute the maximum-entropy Nash equilibrium of a symmetric zero-sum game.

    Args:
        advantages: `advantages[a, b]` is the mean advantage of a over b, such as its wins minus its
            losses per game, equal to `-advantages[b, a]`. Shape `[agents, agents]`.

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
    if np.ptp(extreme, axis=0).max() > MIN_DISTANCE:  # several equilibria
        support = np.flatnonzero(probabilities > MIN_PROBABILITY)
        probabilities = np.zeros(len(array))
        probabilities[support] = _max_entropy_equilibrium(scaled[:, support])
    max_advantage = float((scaled @ probabilities).max())
    if max_advantage > TOLERANCE:
        raise RuntimeError(
            f"no Nash equilibrium found: an agent has an advantage of {max_advantage:.3g}"
        )
    return NashAverage(probabilities, array @ probabilities)


def _extreme_equilibria(advantages: Array) -> Array:
    """Return an equilibrium for each agent, the one with the highest probability of that agent.

    Shape `[agents, agents]`: `[k, a]` is the probability of agent a in the equilibrium of agent k.
    """
    from scipy.optimize import linprog

    agents = len(advantages)
    extreme = np.zeros((agents, agents))
    for a in range(agents):
        solution = linprog(
            -np.eye(agents)[a],
            A_ub=advantages,
            b_ub=np.zeros(agents),
            A_eq=np.ones((1, agents)),
            b_eq=[1.0],
        )
        if solution.x is None:
            raise RuntimeError(f"no Nash equilibrium found: {solution.message}")
        extreme[a] = np.where(solution.x > MIN_PROBABILITY, solution.x, 0.0)
    equilibria: Array = extreme / extreme.sum(1, keepdims=True)
    return equilibria


def _max_entropy_equilibrium(advantages: Array) -> Array:
    """Return the maximum-entropy equilibrium of agents that each belong to some equilibrium.

    It minimizes sum p log p subject to `advantages @ p <= 0`. The dual problem has a nonnegative
    multiplier for each row, and p is proportional to exp(-multipliers @ advantages).

    Args:
        advantages: advantages over the agents of the support. Shape `[agents, support]`.
    """
    from scipy.optimize import minimize
    from scipy.special import logsumexp, softmax

    def loss(multipliers: Array) -> tuple[float, Array]:
        """Return the dual objective and its gradient."""
        logits = -multipliers @ advantages
        return float(logsumexp(logits)), -advantages @ softmax(logits)

    rows = len(advantages)
    solution = minimize(
        loss,
        np.zeros(rows),
        jac=True,
        bounds=[(0, None)] * rows,
        method="L-BFGS-B",
        options={"maxiter": 5_000, "maxfun": 20_000, "ftol": 1e-16, "gtol": 1e-9, "maxcor": 30},
    )
    p: Array = softmax(-solution.x @ advantages)
    return p
