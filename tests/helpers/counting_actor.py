"""Self-play actor without games: its rollouts hold the network and arguments that it received."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from ludoteca.train.actors import Weights
from ludoteca.train.settings import RLConfig


@dataclass(frozen=True)
class CountedGames:
    """Rollout of G games that were not played. All arrays have the shape `[G]`.

    Attributes:
        lengths: number of plies.
        env_indices: index of the game in the batch.
        networks: weight of the network that the actor received.
        games_before: number of games of the run before the rollout.
        random_numbers: samples of the actor's random generator.
    """

    lengths: np.ndarray
    env_indices: np.ndarray
    networks: np.ndarray
    games_before: np.ndarray
    random_numbers: np.ndarray


class CountingActor:
    """Self-play actor that records its arguments; negative weights raise an error."""

    def __init__(self, config: RLConfig, server: str):
        self._games = config.games_per_iteration

    def play(
        self, weights: Sequence[Weights], rng: np.random.Generator, games: int
    ) -> CountedGames:
        count = self._games
        network = weights[0]["weight"].ravel()[0]
        if network < 0:
            raise ValueError("this network cannot play")
        return CountedGames(
            np.full(count, 3),
            np.arange(count, dtype=np.int32),
            np.full(count, network),
            np.full(count, games),
            rng.random(count),
        )


def network(number: float) -> torch.nn.Module:
    """Return a network with this number as its only weight."""
    linear = torch.nn.Linear(1, 1)
    torch.nn.init.constant_(linear.weight, number)
    return linear
