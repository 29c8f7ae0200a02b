"""Who plays the rounds: the network, members of a league, and networks of the past."""

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
    """Plays rounds with the network that it was given last.

    Every `config.past_opponent_interval` games, that network joins those of the past;
    the oldest leaves.

    Attributes:
        actors: play the rounds if the settings say so; else None, and this process plays.
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
        self._past: list[dict[str, torch.Tensor]] = []  # weights, in the order of `_runners`
        self._rounds = self._joined = 0
        self.actors: MultiprocessActor[ActorCriticRollout] | None = None
        if config.has_actors:
            self.actors = MultiprocessActor(config, ActorCriticActorWorker, encoder.scale, monitor)
            self._sent: dict[int, tuple[Any, Shared[Weights]]] = {}  # networks of the past
            return
        table = SearchCollector if config.method == "search" else ActorCriticCollector
        self._table = table(encoder, config, monitor)
        self._runner = make_runner(network, encoder.scale, config, server)
        self._fixed: list[Agent] = [make_agent(spec, encoder.game) for spec in config.opponent_pool]
        self._runners = [
            Runner(network, encoder.scale, config.device, config.precision)
            for _ in range(config.num_past_opponents)
        ]
        self._former = [SeatNetworkAgent(encoder, one, 1.0) for one in self._runners]

    def load(self, network: ACNetwork) -> None:
        """Take over the weights of a network, for a round."""
        config = self._config
        before, after = (n * config.games_per_iteration for n in (self._rounds, self._rounds + 1))
        self._rounds += 1
        if (
            config.num_past_opponents
            and after // config.past_opponent_interval > before // config.past_opponent_interval
        ):
            place = self._joined % config.num_past_opponents
            self._joined += 1
            self._past[place : place + 1] = [
                {
                    name: tensor.detach().cpu().clone()
                    for name, tensor in network.state_dict().items()
                }
            ]
            if self.actors is None:
                self._runners[place].load(network)
        self.reload(network)

    def reload(self, network: ACNetwork) -> None:
        """Take over the weights of a network again, for a round that was dropped."""
        if self.actors is None:
            self._runner.load(network)
        else:
            self.actors.load(network, *(self._share(k) for k in range(len(self._past))))

    def _share(self, place: int) -> Shared[Weights]:
        """Return a network of the past as a value that each worker receives once."""
        assert self.actors is not None
        weights = self._past[place]
        if place not in self._sent or self._sent[place][0] is not weights:
            self._sent[place] = (weights, self.actors.put(weights))
        return self._sent[place][1]

    def take(self, weights: Sequence[Weights]) -> None:
        """Take over weights that a worker has received: the network's, and those of the past."""
        set_weights(self._network, weights[0])
        self._runner.load(self._network)
        self._past = [{}] * (len(weights) - 1)
        for runner, one in zip(self._runners, weights[1:], strict=False):
            set_weights(self._network, one)
            runner.load(self._network)

    def play(self, rng: np.random.Generator, games: int = 0) -> ActorCriticRollout:
        """Play a round, which begins after `games` games."""
        if self.actors is not None:
            return self.actors.play(rng, games)
        league = [*self._fixed, *self._former[: len(self._past)]]
        return self._table.play(self._runner, league, rng)

    def state(self) -> Arrays:
        """Return what `restore` needs."""
        arrays: Arrays = {"numbers": np.array([self._rounds, self._joined])}
        for place, weights in enumerate(self._past):
            arrays |= {f"{place}/{name}": tensor.numpy() for name, tensor in weights.items()}
        return arrays

    def restore(self, arrays: Arrays, network: ACNetwork) -> None:
        """Go on from where `state` was taken; `network` is of the same form."""
        self._rounds, self._joined = (int(number) for number in arrays["numbers"])
        now: Any = {name: tensor.clone() for name, tensor in network.state_dict().items()}
        for place in range(min(self._joined, self._config.num_past_opponents)):
            prefix = f"{place}/"
            weights = {
                name.removeprefix(prefix): torch.from_numpy(np.array(array))
                for name, array in arrays.items()
                if name.startswith(prefix)
            }
            self._past.append(weights)
            network.load_state_dict(weights)
            if self.actors is None:
                self._runners[place].load(network)
        network.load_state_dict(now)


class ActorCriticActorWorker:
    """A worker's actor, see `ludoteca.train.actors.Actor`."""

    def __init__(self, config: ActorCriticConfig, server: str):
        """Make an actor for a part of a round.

        Args:
            config: settings; `precision` is no auto.
            server: name of the inference server where the network runs, or "" for this process.
        """
        game = make_game(config.game)
        alone = replace(
            config, num_actors=1, executor=LOCAL, max_staleness=0, inference="actors"
        )  # of this part
        network = make_ac_network(config.network, game)
        encoder = SeatEncoder(game, config.network.view)
        self._league = ActorCriticActor(network, encoder, alone, server=server)

    def play(
        self, weights: Sequence[Weights], rng: np.random.Generator, games: int
    ) -> ActorCriticRollout:
        """Play a part of a round."""
        self._league.take(weights)
        return self._league.play(rng)
