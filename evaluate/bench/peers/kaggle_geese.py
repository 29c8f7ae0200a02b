"""Hungry Geese of kaggle-environments: `env.step` with four uniformly random geese."""

import random
from collections.abc import Callable
from importlib.metadata import version
from time import perf_counter

Run = Callable[[float], tuple[int, float]]  # seconds to run -> steps, seconds passed
ACTIONS = ("NORTH", "EAST", "SOUTH", "WEST")


def prepare(num_players: int = 4) -> tuple[dict[str, str], Run]:
    """Make the environment, and warm up; return the version and a function that steps it.

    Resets and the sampling of actions are timed, too.
    """
    from kaggle_environments import make

    env = make("hungry_geese")
    env.reset(num_players)

    def run(seconds: float) -> tuple[int, float]:
        steps = 0
        start = perf_counter()
        while (passed := perf_counter() - start) < seconds:
            if env.done:
                env.reset(num_players)
            env.step([random.choice(ACTIONS) for _ in range(num_players)])
            steps += 1
        return steps, passed

    run(0.1)
    return {"kaggle-environments": version("kaggle-environments")}, run
