"""Comparisons of constants of UCB1 in the same problems, with intervals."""

import math
from statistics import NormalDist

import numpy as np

from ludoteca.evaluate.bandits.experiment import Regrets
from ludoteca.evaluate.bandits.findings import Findings
from ludoteca.evaluate.statistics.rank_correlation import rank_correlation

SAMPLES = 2_000  # number of bootstrap samples


def regret_ratio(
    first: Regrets, second: Regrets, comparisons: int = 1
) -> tuple[float, float, float]:
    """Return the ratio of two mean regrets in the same problems, with its interval.

    The interval is normal, with the standard error of a ratio of means (delta method). It is one of
    several that hold together with a probability of 95 % (Bonferroni's correction).

    Args:
        first: regrets of the numerator. Shape `[problems]`.
        second: regrets of the denominator, in the same problems. Shape `[problems]`.
        comparisons: number of intervals that hold together.

    Returns:
        The ratio, and the lower and the upper end of the interval.
    """
    ratio = float(first.mean() / second.mean())
    residuals = first - ratio * second
    error = float(residuals.std(ddof=1) / second.mean()) / math.sqrt(len(first))
    half_width = NormalDist().inv_cdf(1 - 0.025 / comparisons) * error
    return ratio, ratio - half_width, ratio + half_width


def correlation_with_arms(findings: Findings, seed: int = 0) -> tuple[float, float, float]:
    """Return the rank correlation of K and the best alpha of the grids, with a 95 % interval.

    The interval is that of a bootstrap that samples the problems anew for each K and chooses among
    the same alphas. It is biased towards zero, since sampling anew adds errors.

    Args:
        findings: results of the experiment, with at least two numbers of arms.
        seed: seed of the samples.
    """
    rng, arms = np.random.default_rng(seed), list(findings.regrets)
    best, sampled_best = list[float](), list[Regrets]()
    for k in arms:
        alphas = np.array(findings.candidates(k))
        regrets = np.stack([findings.regrets[k][alpha] for alpha in alphas], axis=1)
        problems = len(regrets)
        counts = rng.multinomial(problems, np.full(problems, 1 / problems), SAMPLES)
        best.append(float(alphas[regrets.mean(axis=0).argmin()]))
        sampled_best.append(alphas[(counts @ regrets).argmin(axis=1)])
    samples = rank_correlation(arms, np.stack(sampled_best, axis=1))
    low, high = np.percentile(samples, (2.5, 97.5))
    return float(rank_correlation(arms, best)), float(low), float(high)
