"""Step of an exported agent: from an observation to an action; part of the exported file."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from ludoteca.agents.external.kaggle.position import follow, new_position

NAMES = ("NORTH", "EAST", "SOUTH", "WEST")


def play(seen: Any, configuration: Any, memory: dict[int, Any], choose: Callable[..., int]) -> str:
    """Return the action of the observing goose.

    Args:
        seen: Kaggle's observation.
        configuration: Kaggle's.
        memory: by index of a goose, its previous position and a random stream; updated.
        choose: policy kernel `choose(s, player, legal, n, rng) -> action`.
    """
    index = seen["index"]
    if seen["step"] == 0 or index not in memory:
        rng = np.array([random.getrandbits(64)], np.uint64)
        memory[index] = new_position(len(seen["geese"]), configuration), rng
    s, rng = memory[index]
    follow(s, seen)
    with np.errstate(over="ignore"):  # random streams wrap around modulo 2**64
        return NAMES[int(choose(s, index, np.arange(4), 4, rng))]
