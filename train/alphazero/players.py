"""Who plays the rounds of self-play: this process, or actors in several others."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.evaluation_cache import EvaluationCache
from ludoteca.agents.networks.pv_network import PVNetwork, evaluator, make_pv_network
from ludoteca.envs.registry import make_game
from ludoteca.train.actors import Actors, Weights, make_runner, set_weights
from ludoteca.train.alphazero.config import Config
from ludoteca.train.alphazero.selfplay import Round, SelfPlay
from ludoteca.train.monitor import Monitor


class Player(Protocol):
    """Plays rounds of self-play with the network that it was given last."""

    def load(self, network: PVNetwork) -> None:
        """Take over the weights of a network."""

    def play(self, rng: np.random.Generator, games: int = 0) -> Round:
        """Play a round, which begins after `games` games; `rng` decides about everything in it.

        Raises:
            Stopped: if the run is to stop.
        """


class LocalActor:
    """Plays in this process."""

    def __init__(
        self,
        network: PVNetwork,
        encoder: Encoder,
        config: Config,
        monitor: Monitor | None = None,
        server: str = "",
    ):
        """Make room for rounds of `config.games_per_round` games.

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
        self._table = SelfPlay(encoder, config, monitor)

    def load(self, network: PVNetwork) -> None:
        """Take over the weights of a network."""
        self._runner.load(network)
        self._cache.clear()

    def play(self, rng: np.random.Generator, games: int = 0) -> Round:
        """Play a round."""
        return self._table.play(evaluator(self._cache), rng)


class RemoteActor:
    """A worker's actor, see `ludoteca.train.actors.Actor`."""

    def __init__(self, config: Config, server: str):
        """Make an actor for a part of a round; `server` as for `LocalActor`."""
        game = make_game(config.game)
        self._network = make_pv_network(config.network, game)
        self._actor = LocalActor(self._network, Encoder(game), config, server=server)

    def play(self, weights: Sequence[Weights], rng: np.random.Generator, games: int) -> Round:
        """Play a part of a round."""
        set_weights(self._network, weights[0])
        self._actor.load(self._network)
        return self._actor.play(rng)


def make_actors(config: Config, scale: float, monitor: Monitor | None = None) -> Actors[Round]:
    """Return the actors of a run in other processes; `config.precision` is no auto."""
    return Actors(config, RemoteActor, scale, monitor)
