"""Self-play actors of actor-critic learning: the network, pool agents and past networks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from ludoteca.agents.agent import Agent
from ludoteca.agents.networks.ac_network import ACNetwork, make_ac_network
from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.agents.registry import make_agent
from ludoteca.agents.seat_network import SeatNetworkAgent
from ludoteca.envs.registry import make_game
from ludoteca.executor import LOCAL
from ludoteca.shared import Shared
from ludoteca.train.actor_critic.config import ActorCriticConfig
from ludoteca.train.actor_critic.rollout import ActorCriticCollector, ActorCriticRollout
from ludoteca.train.actor_critic.search_rollout import SearchCollector
from ludoteca.train.actors import MultiprocessActor, Weights, make_runner, set_weights
from ludoteca.train.monitor import Monitor
from ludoteca.train.run_directory import Arrays


class ActorCriticActor:
    """Self-play actor of a network and its opponent pool, here or in worker processes.

    Every `config.past_opponent_interval` games, the network joins the pool;
    the oldest past network leaves.

    Attributes:
        actors: actor processes of the settings, or None for self-play in this process.
    """

    def __init__(
        self,
        network: ACNetwork,
        encoder: SeatEncoder,
        config: ActorCriticConfig,
        monitor: Monitor | None = None,
        server: str = "",
    ):
        """Make room, or prepare the actors that play; see `RemoteActor` for the arguments."""
        self._config, self._network, self._encoder = config, network, encoder
        self._past_weights: list[
            dict[str, torch.Tensor]
        ] = []  # weights, in the order of `_runners`
        self._iterations = self._num_joined = 0
        self.actors: MultiprocessActor[ActorCriticRollout] | None = None
        if config.has_actors:
            self.actors = MultiprocessActor(config, ActorCriticActorWorker, encoder.scale, monitor)
            self._shared: dict[int, tuple[Any, Shared[Weights]]] = {}  # past networks
            return
        collector = SearchCollector if config.method == "search" else ActorCriticCollector
        self._collector = collector(encoder, config, monitor)
        self._runner = make_runner(network, encoder.scale, config, server)
        self._pool_agents: list[Agent] = [
            make_agent(spec, encoder.game) for spec in config.opponent_pool
        ]
        self._runners = [
            Runner(network, encoder.scale, config.device, config.precision)
            for _ in range(config.num_past_opponents)
        ]
        self._past_agents = [SeatNetworkAgent(encoder, one, 1.0) for one in self._runners]

    def load(self, network: ACNetwork) -> None:
        """Load the weights of a network for a rollout."""
        config = self._config
        before, after = (
            n * config.games_per_iteration for n in (self._iterations, self._iterations + 1)
        )
        self._iterations += 1
        if (
            config.num_past_opponents
            and after // config.past_opponent_interval > before // config.past_opponent_interval
        ):
            place = self._num_joined % config.num_past_opponents
            self._num_joined += 1
            self._past_weights[place : place + 1] = [
                {
                    name: tensor.detach().cpu().clone()
                    for name, tensor in network.state_dict().items()
                }
            ]
            if self.actors is None:
                self._runners[place].load(network)
        self.reload(network)

    def reload(self, network: ACNetwork) -> None:
        """Load the weights of a network again, for a rollout that was dropped."""
        if self.actors is None:
            self._runner.load(network)
        else:
            self.actors.load(
                network, *(self._shared_weights(k) for k in range(len(self._past_weights)))
            )

    def _shared_weights(self, place: int) -> Shared[Weights]:
        """Return a network of the past as a value that each worker receives once."""
        assert self.actors is not None
        weights = self._past_weights[place]
        if place not in self._shared or self._shared[place][0] is not weights:
            self._shared[place] = (weights, self.actors.put(weights))
        return self._shared[place][1]

    def load_weights(self, weights: Sequence[Weights]) -> None:
        """Load received weights: those of the network, then those of past networks."""
        set_weights(self._network, weights[0])
        self._runner.load(self._network)
        self._past_weights = [{}] * (len(weights) - 1)
        for runner, one in zip(self._runners, weights[1:], strict=False):
            set_weights(self._network, one)
            runner.load(self._network)

    def play(self, rng: np.random.Generator, games: int = 0) -> ActorCriticRollout:
        """Collect a rollout after `games` games."""
        if self.actors is not None:
            return self.actors.play(rng, games)
        opponents = [*self._pool_agents, *self._past_agents[: len(self._past_weights)]]
        return self._collector.play(self._runner, opponents, rng)

    def state(self) -> Arrays:
        """Return the state, for `restore`."""
        arrays: Arrays = {"numbers": np.array([self._iterations, self._num_joined])}
        for place, weights in enumerate(self._past_weights):
            arrays |= {f"{place}/{name}": tensor.numpy() for name, tensor in weights.items()}
        return arrays

    def restore(self, arrays: Arrays, network: ACNetwork) -> None:
        """Resume from `state`; `network` has the same architecture."""
        self._iterations, self._num_joined = (int(number) for number in arrays["numbers"])
        now: Any = {name: tensor.clone() for name, tensor in network.state_dict().items()}
        for place in range(min(self._num_joined, self._config.num_past_opponents)):
            prefix = f"{place}/"
            weights = {
                name.removeprefix(prefix): torch.from_numpy(np.array(array))
                for name, array in arrays.items()
                if name.startswith(prefix)
            }
            self._past_weights.append(weights)
            network.load_state_dict(weights)
            if self.actors is None:
                self._runners[place].load(network)
        network.load_state_dict(now)


class ActorCriticActorWorker:
    """Actor in a worker, see `ludoteca.train.actors.Actor`."""

    def __init__(self, config: ActorCriticConfig, server: str):
        """Make an actor for a part of each rollout.

        Args:
            config: settings; `precision` is not auto.
            server: name of the inference server, or "" for inference in this process.
        """
        game = make_game(config.game)
        alone = replace(
            config, num_actors=1, executor=LOCAL, max_staleness=0, inference="actors"
        )  # of this part
        network = make_ac_network(config.network, game)
        encoder = SeatEncoder(game, config.network.view)
        self._actor = ActorCriticActor(network, encoder, alone, server=server)

    def play(
        self, weights: Sequence[Weights], rng: np.random.Generator, games: int
    ) -> ActorCriticRollout:
        """Play a part of a rollout."""
        self._actor.load_weights(weights)
        return self._actor.play(rng)
