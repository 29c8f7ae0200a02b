"""Self-play actors of AlphaZero, in this process and in workers."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.evaluation_cache import EvaluationCache
from ludoteca.agents.networks.pv_network import PVNetwork, make_evaluator, make_pv_network
from ludoteca.envs.registry import make_game
from ludoteca.train.actors import MultiprocessActor, Weights, make_runner, set_weights
from ludoteca.train.alphazero.config import AlphaZeroConfig
from ludoteca.train.alphazero.rollout import AlphaZeroCollector, AlphaZeroRollout
from ludoteca.train.monitor import Monitor


class SelfPlayActor(Protocol):
    """Self-play with the network that was loaded last."""

    def load(self, network: PVNetwork) -> None:
        """Load the weights of a network."""

    def play(self, rng: np.random.Generator, games: int = 0) -> AlphaZeroRollout:
        """Collect a rollout after `games` games; `rng` is its random stream.

        Raises:
            Stopped: if the run is to stop.
        """


class AlphaZeroLocalActor:
    """Self-play in this process."""

    def __init__(
        self,
        network: PVNetwork,
        encoder: Encoder,
        config: AlphaZeroConfig,
        monitor: Monitor | None = None,
        server: str = "",
    ):
        """Allocate rollouts of `config.games_per_iteration` games.

        Args:
            network: network with the initial weights.
            encoder: encoder of the game.
            config: settings; `precision` is not auto.
            monitor: receives the progress, and may stop the run.
            server: name of the inference server, or "" for inference in this process.
        """
        game = encoder.game
        self._runner = make_runner(network, 1 / game.observation_high, config, server)
        self._cache = EvaluationCache(self._runner, encoder.shape, game.num_actions + 1)
        self._collector = AlphaZeroCollector(encoder, config, monitor)

    def load(self, network: PVNetwork) -> None:
        """Load the weights of a network."""
        self._runner.load(network)
        self._cache.clear()

    def play(self, rng: np.random.Generator, games: int = 0) -> AlphaZeroRollout:
        """Collect a rollout."""
        return self._collector.play(make_evaluator(self._cache), rng)


class AlphaZeroActorWorker:
    """Actor in a worker, see `ludoteca.train.actors.Actor`."""

    def __init__(self, config: AlphaZeroConfig, server: str):
        """Make an actor for a part of each rollout; `server` as for `LocalActor`."""
        game = make_game(config.game)
        self._network = make_pv_network(config.network, game)
        self._actor = AlphaZeroLocalActor(self._network, Encoder(game), config, server=server)

    def play(
        self, weights: Sequence[Weights], rng: np.random.Generator, games: int
    ) -> AlphaZeroRollout:
        """Play a part of a rollout."""
        set_weights(self._network, weights[0])
        self._actor.load(self._network)
        return self._actor.play(rng)


def make_actors(
    config: AlphaZeroConfig, scale: float, monitor: Monitor | None = None
) -> MultiprocessActor[AlphaZeroRollout]:
    """Return self-play in other processes; `config.precision` is not auto."""
    return MultiprocessActor(config, AlphaZeroActorWorker, scale, monitor)
