"""Who plays the rounds: the network, members of a league, and networks of the past."""

from typing import Any

import numpy as np
import torch

from ludoteca.agents.actor_critic import ActorCriticAgent
from ludoteca.agents.agent import Agent
from ludoteca.agents.networks.ac_network import ACNetwork
from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.agents.registry import make_agent
from ludoteca.train.actor_critic.config import Config
from ludoteca.train.actor_critic.rounds import Round, SelfPlay
from ludoteca.train.actor_critic.search_rounds import SearchPlay
from ludoteca.train.monitor import Monitor
from ludoteca.train.run_folder import Arrays


class League:
    """Plays rounds with the network that it was given last.

    Every `config.past_every` games, that network joins those of the past; the oldest leaves.
    """

    def __init__(
        self,
        network: ACNetwork,
        encoder: SeatEncoder,
        config: Config,
        monitor: Monitor | None = None,
    ):
        """Make room; `config.precision` is no auto."""
        self._config = config
        table = SearchPlay if config.method == "search" else SelfPlay
        self._table = table(encoder, config, monitor)
        self._runner = Runner(network, encoder.scale, config.device, config.precision)
        self._fixed: list[Agent] = [make_agent(spec, encoder.game) for spec in config.league]
        self._runners = [
            Runner(network, encoder.scale, config.device, config.precision)
            for _ in range(config.past)
        ]
        self._former = [ActorCriticAgent.from_runner(encoder, one, 1.0) for one in self._runners]
        self._past: list[dict[str, torch.Tensor]] = []  # weights, in the order of `_runners`
        self._rounds = self._joined = 0

    def load(self, network: ACNetwork) -> None:
        """Take over the weights of a network, for a round."""
        config = self._config
        self._runner.load(network)
        before, after = (n * config.games_per_round for n in (self._rounds, self._rounds + 1))
        self._rounds += 1
        if config.past and after // config.past_every > before // config.past_every:
            place = self._joined % config.past
            self._joined += 1
            self._past[place : place + 1] = [
                {
                    name: tensor.detach().cpu().clone()
                    for name, tensor in network.state_dict().items()
                }
            ]
            self._runners[place].load(network)

    def reload(self, network: ACNetwork) -> None:
        """Take over the weights of a network again, for a round that was dropped."""
        self._runner.load(network)

    def play(self, rng: np.random.Generator) -> Round:
        """Play a round."""
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
        for place in range(min(self._joined, self._config.past)):
            prefix = f"{place}/"
            weights = {
                name.removeprefix(prefix): torch.from_numpy(np.array(array))
                for name, array in arrays.items()
                if name.startswith(prefix)
            }
            self._past.append(weights)
            network.load_state_dict(weights)
            self._runners[place].load(network)
        network.load_state_dict(now)
