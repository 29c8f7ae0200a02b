"""Who plays the rounds of deep Q-learning: this process, or actors in several others."""

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
    """Plays rounds of `config.games_per_iteration` games in this process."""

    def __init__(
        self,
        network: QNetwork,
        encoder: Encoder,
        config: DQNConfig,
        monitor: Monitor | None = None,
        server: str = "",
    ):
        """Make room for a round.

        Args:
            network: with the weights to begin with.
            encoder: of the game.
            config: settings; `precision` is no auto.
            monitor: is shown the progress, and may end a round.
            server: name of the inference server where the network runs, or "" for this process.
        """
        game = encoder.game
        opponent = None if config.opponent == "self" else make_agent(config.opponent, game)
        self._config = config
        self._table = DQNCollector(
            encoder, config.games_per_iteration, opponent, config.agent_seat, monitor
        )
        self._runner = make_runner(network, 1 / game.observation_high, config, server)

    def load(self, network: QNetwork) -> None:
        """Take over the weights of a network."""
        self._runner.load(network)

    def play(self, rng: np.random.Generator, games: int) -> DQNRollout:
        """Play a round, which begins after `games` games.

        Raises:
            Stopped: if the run is to stop.
        """
        return self._table.play(self._runner, epsilon_at(self._config, games), rng)


class DQNActorWorker:
    """A worker's actor, see `ludoteca.train.actors.Actor`."""

    def __init__(self, config: DQNConfig, server: str):
        """Make an actor for a part of a round; `server` as for `LocalActor`."""
        game = make_game(config.game)
        self._network = make_q_network(config.network, game)
        self._actor = DQNLocalActor(self._network, Encoder(game), config, server=server)

    def play(self, weights: Sequence[Weights], rng: np.random.Generator, games: int) -> DQNRollout:
        """Play a part of a round."""
        set_weights(self._network, weights[0])
        self._actor.load(self._network)
        return self._actor.play(rng, games)


def epsilon_at(config: DQNConfig, games: int) -> float:
    """Return the probability of random moves after so many games."""
    falling = max(config.exploration_fraction * config.games, 1)
    share = min(games / falling, 1.0)
    return (
        config.exploration_initial_eps
        + (config.exploration_final_eps - config.exploration_initial_eps) * share
    )
