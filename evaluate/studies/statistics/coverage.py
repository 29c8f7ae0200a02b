"""Coverage of the intervals of `ludoteca compare-runs`: scores with known true aggregates."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.evaluate.statistics.bootstrap import (
    AGGREGATES,
    Estimate,
    bootstrap,
    probability_of_improvement,
)

Array = NDArray[np.float64]
MEANS = np.array([0.3, 0.5, 0.7, 0.9])  # mean score of the first group in each task
DIFFERENCE = 0.05  # between the mean scores of the two groups
CONCENTRATION = 12.0  # of the beta distribution of scores: alpha + beta
FAILED_SCORE, FAILURE_RATE = 0.1, 0.2  # score and probability of runs that fail
POPULATION = 400_000  # number of runs whose aggregates count as the true values


def count_covered(
    distribution: str, runs: int, count: int, resamples: int, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Return how many intervals contain the true value, for each aggregate.

    Args:
        distribution: distribution of the scores, see `sample_scores`.
        runs: number of runs of each of two groups.
        count: number of simulated comparisons.
        resamples: number of bootstrap samples of an interval.
        rng: random generator of the scores.
    """
    first, second = sample_groups(distribution, POPULATION, rng)
    true = {name: float(aggregate(first)) for name, aggregate in AGGREGATES.items()}
    # The runs of both groups are independent, so that pairs of them are a sample of all pairs.
    true["probability of improvement"] = float((np.sign(first - second) / 2 + 0.5).mean())
    covered, width = dict.fromkeys(true, 0), dict.fromkeys(true, 0.0)
    for k in range(count):
        groups = sample_groups(distribution, runs, rng)
        for name, estimate in estimates(*groups, resamples, k).items():
            covered[name] += estimate.low <= true[name] <= estimate.high
            width[name] += (estimate.high - estimate.low) / count
    return [
        {"aggregate": name, "true": true[name], "covered": covered[name], "width": width[name]}
        for name in true
    ]


def sample_groups(distribution: str, runs: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return scores of two groups of training runs, `[runs, tasks]` each.

    Args:
        distribution: "beta": beta distributions; "failures": the same, but a fifth of the runs
            fails in a task.
        runs: number of runs of each group.
        rng: random generator.
    """
    groups = list[Array]()
    for means in (MEANS, MEANS - DIFFERENCE):
        shape = (runs, len(means))
        scores = rng.beta(CONCENTRATION * means, CONCENTRATION * (1 - means), shape)
        if distribution == "failures":
            scores[rng.random(shape) < FAILURE_RATE] = FAILED_SCORE
        groups.append(scores)
    return groups[0], groups[1]


def estimates(first: Array, second: Array, resamples: int, seed: int) -> dict[str, Estimate]:
    """Return the estimates of `ludoteca compare-runs` for two groups of runs, by aggregate."""
    options = {"resamples": resamples, "seed": seed}
    values = {name: bootstrap(each, first, **options) for name, each in AGGREGATES.items()}
    improvement = bootstrap(probability_of_improvement, first, second, **options)
    return values | {"probability of improvement": improvement}
