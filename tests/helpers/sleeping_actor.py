"""Self-play actor whose rollout parts take a fixed time."""

import time
from collections.abc import Sequence

import numpy as np
from counting_actor import CountedGames, CountingActor

from ludoteca.train.actors import Weights

PLAYING, LEARNING = 0.4, 0.3  # seconds for a part of a rollout, and for learning from a rollout


class SleepingActor(CountingActor):
    """Counting actor that takes `PLAYING` seconds for each part of a rollout."""

    def play(
        self, weights: Sequence[Weights], rng: np.random.Generator, games: int
    ) -> CountedGames:
        time.sleep(PLAYING)
        return super().play(weights, rng, games)
