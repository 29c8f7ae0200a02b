"""Random variables of search policies: Thompson sampling, gamma and uniform samplers."""

import math

import numpy as np
import pytest
from policy_references import stream
from scipy import stats

from ludoteca.agents.search.distributions import sample_gamma, sample_uniform
from ludoteca.agents.search.policies import POLICIES
from ludoteca.agents.search.policy import NO_BEST, Parent
from ludoteca.agents.search.sequential.tree import node_dtype
from ludoteca.envs.record_views import view_records


@pytest.mark.parametrize(("visits", "wins"), [(1, 0.0), (1, 1.0), (9, 3.5), (400, 300.0)])
def test_thompson_samples_from_the_posterior(visits: int, wins: float) -> None:
    child = view_records(np.zeros(1, node_dtype("ucb1")))[0]
    child.visits, child.value = visits, wins
    rng, score = stream(11), POLICIES["thompson"].score
    with np.errstate(over="ignore"):
        parent = Parent(10, 2.3, 4, NO_BEST, [], rng)
        draws = [score(child, 0.5, parent) for _ in range(3000)]
    posterior = stats.beta(1 + wins, 1 + visits - wins)
    assert stats.kstest(draws, posterior.cdf).pvalue > 0.001


@pytest.mark.parametrize("shape", [1.0, 1.5, 4.0, 60.0])
def test_gamma_sampler_matches_the_distribution(shape: float) -> None:
    rng, count = stream(12), 4000
    with np.errstate(over="ignore"):
        draws = np.array([sample_gamma(shape, rng) for _ in range(count)])
    assert draws.mean() == pytest.approx(shape, abs=4 * math.sqrt(shape / count))
    assert draws.var() == pytest.approx(shape, rel=4 * math.sqrt((2 + 6 / shape) / count))
    assert stats.kstest(draws, stats.gamma(shape).cdf).pvalue > 0.001


def test_unit_sampler_is_uniform_and_positive() -> None:
    rng = stream(13)
    with np.errstate(over="ignore"):
        draws = [sample_uniform(rng) for _ in range(4000)]
    assert stats.kstest(draws, "uniform").pvalue > 0.001
    # The random streams whose next output has 64 zero bits, or 64 one bits.
    assert unit_of_bits(0) == 2.0**-53
    assert unit_of_bits(2**64 - 1) == 1.0


def unit_of_bits(bits: int) -> float:
    """Return `sample_uniform` of the stream that next yields `bits`, by inverting SplitMix64."""
    mask = 2**64 - 1
    z = bits
    for shift, mix in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, None)):
        unshifted = z
        for _ in range(64 // shift):
            unshifted = z ^ (unshifted >> shift)
        z = unshifted * pow(mix, -1, 2**64) & mask if mix else unshifted
    with np.errstate(over="ignore"):
        return sample_uniform(stream((z - 0x9E3779B97F4A7C15) & mask))
