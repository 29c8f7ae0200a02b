"""Upper bounds of the expected regret of UCB1 and MOSS in a bandit problem.

The forms are those of Valencia, "Desarrollo de una política de selección para General Game Playing
basada en el problema del bandido multi-armado" (thesis, UAEMex, 2021), sections 1.3.5 and 1.3.6.
Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit problem" (Machine
Learning, 2002), theorem 1, prove the bound of `ucb1_bound` with `1 + pi^2 / 3` for `pi^2 / 3`.

A gap is the difference between the highest success probability and that of an arm.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ludoteca.envs.params import check_real


def ucb1_bound(probabilities: ArrayLike, rounds: ArrayLike) -> NDArray[np.float64]:
    """Return the bound of UCB1 with alpha = 2, theorem 1 of the thesis.

    Args:
        probabilities: success probabilities of the arms, `[K]`.
        rounds: numbers of rounds T, `[C]`.

    Returns:
        The sum of `8 ln T / gap + (pi^2 / 3) gap` over the arms that are not the best, `[C]`.
    """
    gaps, log_rounds = _gaps(probabilities), np.log(np.asarray(rounds, np.float64))
    result: NDArray[np.float64] = 8 * log_rounds * (1 / gaps).sum() + math.pi**2 / 3 * gaps.sum()
    return result


def ucb1_general_bound(
    probabilities: ArrayLike, rounds: ArrayLike, alpha: float
) -> NDArray[np.float64]:
    """Return the bound of UCB1 with a constant alpha > 1, theorem 2 of the thesis.

    Its proof is for the exploration term `sqrt(alpha ln t / (2 n))`, and UCB1 has
    `sqrt(alpha ln t / n)`.

    Args:
        probabilities: success probabilities of the arms, `[K]`.
        rounds: numbers of rounds T, `[C]`.
        alpha: constant of UCB1. The bound diverges as alpha falls to 1.

    Returns:
        The sum of `4 alpha ln T / gap + (2 alpha / (alpha - 1)) gap` over the arms that are not
        the best, `[C]`.

    Raises:
        ValueError: if alpha is not above 1.
    """
    if not check_real("alpha", alpha, 1, 1e9) > 1:
        raise ValueError(f"alpha must be above 1, got {alpha}")
    gaps, log_rounds = _gaps(probabilities), np.log(np.asarray(rounds, np.float64))
    constant = 2 * alpha / (alpha - 1) * gaps.sum()
    result: NDArray[np.float64] = 4 * alpha * log_rounds * (1 / gaps).sum() + constant
    return result


def moss_bound(probabilities: ArrayLike, rounds: ArrayLike) -> NDArray[np.float64]:
    """Return the bound of MOSS, eq. 1.12 of the thesis.

    Source: Audibert and Bubeck, "Minimax policies for adversarial and stochastic bandits" (COLT
    2009). It is proved for MOSS with a known number of rounds.

    Args:
        probabilities: success probabilities of the arms, `[K]`.
        rounds: numbers of rounds T, `[C]`.

    Returns:
        `23 K` times the sum of `max(ln(T gap^2 / K), 1) / gap` over the arms that are not the best,
        `[C]`.
    """
    gaps, k = _gaps(probabilities), np.size(probabilities)
    logs = np.log(np.asarray(rounds, np.float64)[:, None] * gaps**2 / k)
    result: NDArray[np.float64] = 23 * k * (np.maximum(logs, 1) / gaps).sum(axis=1)
    return result


def _gaps(probabilities: ArrayLike) -> NDArray[np.float64]:
    """Return the positive differences between the highest probability and the others."""
    p = np.asarray(probabilities, np.float64)
    if p.ndim != 1 or not p.size or not np.all((p >= 0) & (p <= 1)):
        raise ValueError(
            f"probabilities must be from 0 to 1, of shape [arms], got {probabilities!r}"
        )
    gaps = p.max() - p
    positive: NDArray[np.float64] = gaps[gaps > 0]
    return positive
