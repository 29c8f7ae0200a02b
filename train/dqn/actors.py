"""Actors of deep Q-learning, in this process and in workers."""

from collections.abc import Sequence

import numpy as np

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.q_network import QNetwork, make_q_network
from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.train.actors import Weights, make_runner, set_weights
from ludoteca.train.dqn.config import DQNConfig
from ludoteca.train.dqn.rollout import DQNCollector, DQNRollout
from ludoteca.train.monitor import Monitor


class DQNLocalActor:
    """Self-play in this process."""

    def __init__(
        self,
        network: QNetwork,
        encoder: Encoder,
        config: DQNConfig,
        monitor: Monitor | None = None,
        server: str = "",
    ):
        """Allocate a rollout.

        Args:
            network: network with the initial weights.
            encoder: encoder of the game.
            config: settings; `precision` is not auto.
            monitor: receives the progress, and may stop the run.
            server: name of the inference server, or "" for inference in this process.
        """
        game = encoder.game
        opponent = None if config.opponent == "self" else make_agent(config.opponent, game)
        self._config = config
        self._collector = DQNCollector(
            encoder, config.games_per_iteration, opponent, config.agent_seat, monitor
        )
        self._runner = make_runner(network, 1 / game.observation_high, config, server)

    def load(self, network: QNetwork) -> None:
        """Load the weights of a network."""
        self._runner.load(network)

    def play(self, rng: np.random.Generator, games: int) -> DQNRollout:
        """Collect a rollout after `games` games.

        Raises:
            Stopped: if the run is to stop.
        """
        return self._collector.play(self._runner, epsilon_at(self._config, games), rng)


class DQNActorWorker:
    """Actor in a worker, see `ludoteca.train.actors.Actor`."""

    def __init__(self, config: DQNConfig, server: str):
        """Make an actor for a part of each rollout; `server` as for `LocalActor`."""
        game = make_game(config.game)
        self._network = make_q_network(config.network, game)
        self._actor = DQNLocalActor(self._network, Encoder(game), config, server=server)

    def play(self, weights: Sequence[Weights], rng: np.random.Generator, games: int) -> DQNRollout:
        """Play a part of a rollout."""
        set_weights(self._network, weights[0])
        self._actor.load(self._network)
        return self._actor.play(rng, games)


def epsilon_at(config: DQNConfig, games: int) -> float:
    """Return the exploration rate (epsilon) after `games` games."""
    falling = max(config.exploration_fraction * config.games, 1)
    share = min(games / falling, 1.0)
    return (
        config.exploration_initial_eps
        + (config.exploration_final_eps - config.exploration_initial_eps) * share
    )
