"""Who plays the rounds of self-play: this process, or actors in several others."""

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
    """Plays rounds of self-play with the network that it was given last."""

    def load(self, network: PVNetwork) -> None:
        """Take over the weights of a network."""

    def play(self, rng: np.random.Generator, games: int = 0) -> AlphaZeroRollout:
        """Play a round, which begins after `games` games; `rng` decides about everything in it.

        Raises:
            Stopped: if the run is to stop.
        """


class AlphaZeroLocalActor:
    """Plays in this process."""

    def __init__(
        self,
        network: PVNetwork,
        encoder: Encoder,
        config: AlphaZeroConfig,
        monitor: Monitor | None = None,
        server: str = "",
    ):
        """Make room for rounds of `config.games_per_iteration` games.

        Args:
            network: with the weights to begin with.
            encoder: of the game.
            config: settings; `precision` is no auto.
            monitor: is shown the progress, and may end a round.
            server: name of the inference server where the network runs, or "" for this process.
        """
        game = encoder.game
        self._runner = make_runner(network, 1 / game.observation_high, config, server)
        self._cache = EvaluationCache(self._runner, encoder.shape, game.num_actions + 1)
        self._table = AlphaZeroCollector(encoder, config, monitor)

    def load(self, network: PVNetwork) -> None:
        """Take over the weights of a network."""
        self._runner.load(network)
        self._cache.clear()

    def play(self, rng: np.random.Generator, games: int = 0) -> AlphaZeroRollout:
        """Play a round."""
        return self._table.play(make_evaluator(self._cache), rng)


class AlphaZeroActorWorker:
    """A worker's actor, see `ludoteca.train.actors.Actor`."""

    def __init__(self, config: AlphaZeroConfig, server: str):
        """Make an actor for a part of a round; `server` as for `LocalActor`."""
        game = make_game(config.game)
        self._network = make_pv_network(config.network, game)
        self._actor = AlphaZeroLocalActor(self._network, Encoder(game), config, server=server)

    def play(
        self, weights: Sequence[Weights], rng: np.random.Generator, games: int
    ) -> AlphaZeroRollout:
        """Play a part of a round."""
        set_weights(self._network, weights[0])
        self._actor.load(self._network)
        return self._actor.play(rng)


def make_actors(
    config: AlphaZeroConfig, scale: float, monitor: Monitor | None = None
) -> MultiprocessActor[AlphaZeroRollout]:
    """Return the actors of a run in other processes; `config.precision` is no auto."""
    return MultiprocessActor(config, AlphaZeroActorWorker, scale, monitor)
