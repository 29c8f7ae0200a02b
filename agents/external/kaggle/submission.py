"""What an exported agent does with each observation; goes into the exported file."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from ludoteca.agents.external.kaggle.position import follow, new_position

NAMES = ("NORTH", "EAST", "SOUTH", "WEST")


def play(seen: Any, configuration: Any, memory: dict[int, Any], choose: Callable[..., int]) -> str:
    """Return the action of the goose that sees.

    Args:
        seen: Kaggle's observation.
        configuration: Kaggle's.
        memory: by index of a goose, the position one step before and a random stream; is changed.
        choose: `choose(s, player, legal, n, rng) -> action`, as policy kernels are called.
    """
    index = seen["index"]
    if seen["step"] == 0 or index not in memory:
        rng = np.array([random.getrandbits(64)], np.uint64)
        memory[index] = new_position(len(seen["geese"]), configuration), rng
    s, rng = memory[index]
    follow(s, seen)
    with np.errstate(over="ignore"):  # random streams count modulo 2**64
        return NAMES[int(choose(s, index, np.arange(4), 4, rng))]
