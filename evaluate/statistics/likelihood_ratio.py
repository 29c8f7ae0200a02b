"""Generalized log-likelihood ratio of two Elo differences.

The probabilities of the results (loss, draw, win, or the five scores of a pair) are nuisance
parameters: under each hypothesis they have the values that maximize the likelihood. The ratio of
the two maxima is the statistic of the generalized sequential probability ratio test, which Fishtest
uses (Van den Bergh, "A practical introduction to the GSPRT", section 2).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ludoteca.envs.params import check_choice
from ludoteca.evaluate.statistics.elo_models import (
    ELO_MODELS,
    LOGISTIC,
    check_frequencies,
    expected_score,
    games_per_result,
    t_value,
)

Array = NDArray[np.float64]

PRIOR = 1e-3  # assumed frequency of results that did not occur, as in Fishtest
MAX_ITERATIONS, TOLERANCE = 200, 1e-9  # of the fixed-point iteration under normalized Elo
ROOT_TOLERANCE = 1e-14  # of Newton's method, relative to the interval between the poles
EDGE = 1e-15  # distance of that interval's ends from the poles, relative to the poles


def log_likelihood_ratio(
    elo0: float, elo1: float, frequencies: Sequence[float] | Array, model: str = LOGISTIC
) -> float:
    """Return the log-likelihood ratio of the Elo difference `elo1` to `elo0`.

    Args:
        elo0: Elo difference of the null hypothesis: the rating of the agent whose wins are counted
            minus that of its opponent.
        elo1: Elo difference of the alternative.
        frequencies: numbers of losses, draws and wins, or of pairs of games by ascending score,
            see `check_frequencies`.
        model: scale of the differences, "logistic" or "normalized".

    Raises:
        ValueError: if the frequencies are invalid, or no probabilities of the results have one of
            the Elo differences.
    """
    counts = check_frequencies(frequencies)
    check_choice("model", model, ELO_MODELS)
    if counts.sum() == 0:
        return 0.0
    return float(log_likelihood_ratios(elo0, elo1, counts[None], model)[0])


def log_likelihood_ratios(elo0: float, elo1: float, counts: Array, model: str = LOGISTIC) -> Array:
    """Return the log-likelihood ratio of each of many tests, `[tests]`.

    Args:
        elo0: Elo difference of the null hypothesis.
        elo1: Elo difference of the alternative.
        counts: valid frequencies, see `log_likelihood_ratio`. Shape `[tests, results]`; in no test
            are all of them 0.
        model: scale of the differences.
    """
    counts = np.where(counts == 0, PRIOR, counts)
    if model == LOGISTIC:
        means = np.array([[expected_score(elo)] for elo in (elo0, elo1)])
        p0, p1 = with_mean(counts, means)
    else:
        games = games_per_result(counts)
        p0, p1 = (
            np.stack([with_t_value(row, t_value(elo, games)) for row in counts])
            for elo in (elo0, elo1)
        )
    ratios: Array = (counts * np.log(p1 / p0)).sum(-1)
    return ratios


def with_mean(frequencies: Array, mean: float | Array) -> Array:
    """Return the most likely probabilities of the results whose mean score is `mean`.

    They are f / (1 + x (a - mean)) with the relative frequencies f, the scores a, and the x for
    which the mean score is `mean` (Van den Bergh, "MLE for multinomials", proposition 1.1).

    Args:
        frequencies: numbers of results. Shape `[..., results]`.
        mean: a mean score, or several. Shape `[...]`, broadcast with that of the frequencies.

    Raises:
        ValueError: if `mean` is not between 0 and 1.
    """
    means = np.asarray(mean)
    if not (means.min() > 0 and means.max() < 1):
        raise ValueError(f"the mean score must be between 0 and 1, got {mean}")
    observed, scores = _frequencies_and_scores(frequencies)
    return _tilted_probabilities(observed, scores - means[..., None])


def with_t_value(frequencies: Array, t: float) -> Array:
    """Return the most likely probabilities with (mean - 1/2) / standard deviation = t, `[results]`.

    Fixed-point iteration of Van den Bergh, "Normalized Elo in practice", section 4.1: the
    constraint, linearized at the current probabilities, has the form of `with_mean`.

    Raises:
        ValueError: if the iteration does not converge, as for a `t` that is too extreme for scores
            between 0 and 1.
    """
    observed, scores = _frequencies_and_scores(frequencies)
    for step in (1.0, 0.5):  # the full step may oscillate
        p = np.full(len(scores), 1 / len(scores))
        for _ in range(MAX_ITERATIONS):
            mean = float(p @ scores)
            deviation = math.sqrt(float(p @ (scores - mean) ** 2))
            slope = scores - 0.5 - t * deviation * (1 + ((scores - mean) / deviation) ** 2) / 2
            if slope.min() >= 0 or slope.max() <= 0:  # nothing meets the linearized constraint
                break
            target = _tilted_probabilities(observed, slope)
            if np.abs(target - p).max() < TOLERANCE:
                return target
            p = p + step * (target - p)
    raise ValueError(
        f"no probabilities of the results {frequencies.tolist()} have a t value of {t:.3g}, (mean "
        "score - 1/2) / standard deviation; choose Elo differences nearer to 0"
    )


def _frequencies_and_scores(frequencies: Array) -> tuple[Array, Array]:
    """Return the relative frequencies, `[..., results]`, and the scores of the results."""
    observed: Array = frequencies / frequencies.sum(-1, keepdims=True)
    return observed, np.linspace(0, 1, frequencies.shape[-1])


def _tilted_probabilities(observed: Array, values: Array) -> Array:
    """Return p = observed / (1 + x values), with the x for which the mean of the values is 0.

    Newton's method, with bisection where a step would leave the interval that contains x.

    Args:
        observed: relative frequencies. Shape `[..., results]`.
        values: values of the results, some below and some above 0; the shapes are broadcast.
    """
    # The mean falls from +inf to -inf between the poles of the extreme values.
    low, high = (
        (EDGE - 1) / values.max(-1, keepdims=True),
        (EDGE - 1) / values.min(-1, keepdims=True),
    )
    tolerance = ROOT_TOLERANCE * float((high - low).min())
    x = np.zeros((*np.broadcast_shapes(observed.shape, values.shape)[:-1], 1))
    for _ in range(MAX_ITERATIONS):
        factors = values / (1 + x * values)
        terms = observed * factors
        mean = terms.sum(-1, keepdims=True)
        is_low = mean > 0
        low, high = np.where(is_low, x, low), np.where(is_low, high, x)
        following = x + mean / (terms * factors).sum(-1, keepdims=True)
        is_inside = (low <= following) & (following <= high)
        following = np.where(is_inside, following, (low + high) / 2)
        change, x = np.abs(following - x).max(), following
        if change <= tolerance:
            break
    weights = observed / (1 + x * values)
    p: Array = weights / weights.sum(-1, keepdims=True)
    return p
