"""Sampling of the distributions that selection policies need: uniform and gamma."""

import math
from typing import Any

import numpy as np

from ludoteca.envs.jit import kernel
from ludoteca.envs.rng import next_u64


@kernel
def sample_gamma(shape: float, rng: Any) -> float:
    """Sample from a gamma distribution of scale 1 and shape >= 1.

    Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.
    """
    d = shape - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        # A normal variable by the Box-Muller transform.
        x = math.sqrt(-2 * math.log(sample_uniform(rng))) * math.cos(
            2 * math.pi * sample_uniform(rng)
        )
        v = (1 + c * x) ** 3
        if v > 0:
            u = sample_uniform(rng)
            # The first condition implies the second one, and avoids most logarithms.
            if u < 1 - 0.0331 * x**4 or math.log(u) < 0.5 * x * x + d - d * v + d * math.log(v):
                return d * v


@kernel
def sample_uniform(rng: Any) -> float:
    """Sample uniformly from (0, 1]."""
    return (float(next_u64(rng) >> np.uint64(11)) + 1.0) / 9007199254740992.0  # 2**53
