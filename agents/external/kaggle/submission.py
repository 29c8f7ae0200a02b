"""Function that plays one step of an exported agent; it becomes part of the exported file."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from ludoteca.agents.external.kaggle.position import new_position, update_position

ACTION_NAMES = ("NORTH", "EAST", "SOUTH", "WEST")


def play(
    kaggle_observation: Any, configuration: Any, memory: dict[int, Any], choose: Callable[..., int]
) -> str:
    """Return the action of the observing goose.

    Args:
        kaggle_observation: Kaggle's observation.
        configuration: Kaggle's configuration.
        memory: previous position and random stream by index of the goose; updated.
        choose: policy kernel `choose(s, player, legal, n, rng) -> action`.
    """
    index = kaggle_observation["index"]
    if kaggle_observation["step"] == 0 or index not in memory:
        rng = np.array([random.getrandbits(64)], np.uint64)
        memory[index] = new_position(len(kaggle_observation["geese"]), configuration), rng
    s, rng = memory[index]
    update_position(s, kaggle_observation)
    with np.errstate(over="ignore"):  # random streams wrap around modulo 2**64
        return ACTION_NAMES[int(choose(s, index, np.arange(4), 4, rng))]
