"""Alpha-rank: ranking of agents by an evolutionary process, also if their results are cyclic.

Omidshafiei et al., "Alpha-rank: multi-agent evaluation by evolution", Scientific Reports 9,
2019, for one population. A population of copies of one agent is replaced by copies of another,
with a probability that increases with the payoff of the other against it. The mass of an agent is
the fraction of time in which the population consists of it; agents that beat each other in a cycle
share the mass.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ludoteca.envs.params import check_integer, check_real

Array = NDArray[np.float64]
POPULATION = 50  # default number of individuals
EPSILON = 0.01  # probability of a change to a worse agent with infinite alpha, as in OpenSpiel


def alpha_rank(
    payoffs: ArrayLike,
    alpha: float | None = None,
    population: int = POPULATION,
    epsilon: float = EPSILON,
) -> Array:
    """Return the mass of each agent, `[agents]`, with sum 1.

    Args:
        payoffs: `payoffs[a, b]` is the mean payoff of a against b. Shape `[agents, agents]`.
        alpha: selection strength; None for infinity, so that only the order of payoffs counts.
        population: number of individuals, used only with finite `alpha`.
        epsilon: probability of a change to a worse agent, used only with infinite `alpha`.

    Raises:
        ValueError: if an argument has the wrong shape or is out of range.
    """
    array = check_payoffs(payoffs)
    agents = len(array)
    if agents == 1:
        return np.ones(1)
    advantage = array.T - array  # [s, r]: payoff of r against s minus that of s against r
    if alpha is None:
        epsilon = check_real("epsilon", epsilon, 1e-9, 0.5)
        tied = np.isclose(advantage, 0, atol=1e-12)  # equal but for rounding
        fixation = np.where(tied, 0.5, np.where(advantage > 0, 1 - epsilon, epsilon))
    else:
        alpha = check_real("alpha", alpha, 0, 1e6)
        population = check_integer("population", population, 2, 10**6)
        fixation = _fixation_probabilities(alpha * advantage, population)
    transitions = fixation / (agents - 1)  # a mutant is any other agent, equally likely
    np.fill_diagonal(transitions, 0)
    return stationary(transitions)


def _fixation_probabilities(u: Array, population: int) -> Array:
    """Return (1 - exp(-u)) / (1 - exp(-m u)), the probability that a single mutant takes over.

    Args:
        u: alpha times the mutant's advantage. Shape `[agents, agents]`, like the result.
        population: number of individuals, m.
    """
    # Both branches are computed for all u, so the branch that is not selected may overflow. The
    # second one is the same formula, extended by exp(m u), which is finite for negative u.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        probability = np.where(
            u > 0,
            np.expm1(-u) / np.expm1(-population * u),
            np.exp((population - 1) * u) * np.expm1(u) / np.expm1(population * u),
        )
    fixation: Array = np.where(np.abs(u) < 1e-14, 1 / population, probability)  # limit at 0
    return np.maximum(fixation, 1e-300)  # so that the chain stays irreducible


def stationary(transitions: Array) -> Array:
    """Return the stationary distribution of an irreducible chain by elimination of states.

    Grassmann, Taksar and Heyman, "Regenerative analysis and steady state distributions for Markov
    chains", Operations Research 33, 1985: as the algorithm has no subtractions, even tiny
    probabilities are precise. The diagonal is ignored.

    Args:
        transitions: `transitions[s, r]` is the probability of the step from s to r. Shape `[n, n]`.
    """
    p = transitions.astype(np.float64).copy()
    n = len(p)
    for k in range(n - 1, 0, -1):
        p[:k, k] /= p[k, :k].sum()
        p[:k, :k] += np.outer(p[:k, k], p[k, :k])
    mass = np.zeros(n)
    mass[0] = 1.0
    for k in range(1, n):
        mass[k] = mass[:k] @ p[:k, k]
    distribution: Array = mass / mass.sum()
    return distribution


def check_payoffs(payoffs: ArrayLike) -> Array:
    """Return validated payoffs as an array, `[agents, agents]`.

    Raises:
        ValueError: if the payoffs have another shape or are not finite.
    """
    array = np.asarray(payoffs, np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.size == 0:
        raise ValueError(
            f"expected payoffs of shape [agents, agents], got shape {list(array.shape)}"
        )
    if not np.isfinite(array).all():
        raise ValueError("payoffs must be finite")
    return array
