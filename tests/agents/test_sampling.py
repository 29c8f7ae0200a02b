"""Tests of sampling in proportion to powers of weights, at any temperature."""

import numpy as np
import pytest

from ludoteca.agents.sampling import sample_by_weight

WEIGHTS = np.array([[0.0, 0.1, 0.6, 0.3], [7.0, 0.0, 14.0, 28.0]])


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_probabilities_are_powers_of_the_weights(temperature, dtype):
    uniform = (np.arange(100_000) + 0.5) / 100_000  # a grid in place of random numbers
    for row in WEIGHTS.astype(dtype):
        chosen = sample_by_weight(np.repeat(row[None], len(uniform), 0), uniform, temperature)
        shares = np.bincount(chosen, minlength=4) / len(uniform)
        powers = row.astype(float) ** (1 / temperature)
        assert np.allclose(shares, powers / powers.sum(), atol=1e-4)
        assert (shares[row == 0] == 0).all()


@pytest.mark.parametrize("temperature", [1e-3, 1e-300])
@pytest.mark.parametrize("uniform", [1e-9, 0.5, 1 - 2**-53])
def test_best_action_is_sampled_at_low_temperatures(temperature, uniform):
    chosen = sample_by_weight(WEIGHTS * 1e-5, np.full(2, uniform), temperature)
    assert chosen.tolist() == [2, 3]


@pytest.mark.parametrize("uniform", [0.0, 0.5, 1 - 2**-53])
def test_equally_good_actions_share_at_low_temperatures(uniform):
    chosen = sample_by_weight(np.array([[0.0, 0.4, 0.4, 0.2]]), np.full(1, uniform), 1e-3)
    assert chosen[0] == (1 if uniform < 0.5 else 2)
