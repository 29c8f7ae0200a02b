"""Spearman's rank correlation, with the exact p value of few pairs of values."""

from functools import lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike, NDArray

MAX_EXACT = 9  # maximum number of pairs of values for the exact p value: 9! = 362,880 orders


def rank_correlation(x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Return Spearman's rank correlation along the last axis; 0 if all values of x or y are equal.

    Args:
        x: values. Shape `[..., n]`.
        y: values, like x; the other axes of both are broadcast.
    """
    rank_x, rank_y = _centered_ranks(x), _centered_ranks(y)
    norms = np.sqrt((rank_x**2).sum(-1) * (rank_y**2).sum(-1))
    products = (rank_x * rank_y).sum(-1)
    correlations: NDArray[np.float64] = products / np.where(norms > 0, norms, 1.0)
    return correlations


def exact_p(x: ArrayLike, y: ArrayLike) -> float:
    """Return the exact two-sided p value of the rank correlation of n pairs of values.

    It is the fraction of the n! orders of y, all equally probable if x and y are independent, whose
    correlation with x is at least as far from 0 as the observed one.

    Args:
        x: values. Shape `[n]`.
        y: values. Shape `[n]`.

    Raises:
        ValueError: if n is below 2 or above `MAX_EXACT`.
    """
    rank_x, rank_y = _centered_ranks(x), _centered_ranks(y)
    if rank_x.shape != rank_y.shape or not 2 <= rank_x.size <= MAX_EXACT:
        raise ValueError(
            f"expected two arrays of 2 to {MAX_EXACT} values, got shapes {list(rank_x.shape)} and "
            f"{list(rank_y.shape)}"
        )
    products = rank_y[_orders(rank_x.size)] @ rank_x
    return float((np.abs(products) >= abs(rank_y @ rank_x) - 1e-9).mean())


@lru_cache
def _orders(n: int) -> NDArray[np.int64]:
    """Return all orders of n indices, `[n!, n]`."""
    return np.array(list(permutations(range(n))))


def _centered_ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Return ranks along the last axis, the mean rank subtracted; ties share the mean rank."""
    from scipy.stats import rankdata

    array = np.asarray(values)
    ranks: NDArray[np.float64] = rankdata(array, axis=-1) - (array.shape[-1] + 1) / 2
    return ranks
