"""Random variables of selection policies: uniform and gamma."""

import math
from typing import Any

import numpy as np

from ludoteca.envs.jit import kernel
from ludoteca.envs.rng import next_u64


@kernel
def gamma(shape: float, rng: Any) -> float:
    """Sample from a gamma distribution of scale 1 and shape >= 1.

    Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.
    """
    d = shape - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        # A normal variable by Box and Muller.
        x = math.sqrt(-2 * math.log(unit(rng))) * math.cos(2 * math.pi * unit(rng))
        v = (1 + c * x) ** 3
        if v > 0 and math.log(unit(rng)) < 0.5 * x * x + d - d * v + d * math.log(v):
            return d * v


@kernel
def unit(rng: Any) -> float:
    """Sample uniformly from (0, 1]."""
    return (float(next_u64(rng) >> np.uint64(11)) + 1.0) / 9007199254740992.0
