"""Who plays the rounds of self-play: this process, or several others."""

from dataclasses import fields, replace
from functools import cache, partial
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.memory import Memory
from ludoteca.agents.networks.pv_network import PVNetwork, evaluator, make_pv_network
from ludoteca.agents.networks.runner import Runner
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.tournament.workers import Workers
from ludoteca.train.alphazero.config import Config
from ludoteca.train.alphazero.selfplay import Round, SelfPlay
from ludoteca.train.monitor import Monitor, Stopped

Weights = dict[str, NDArray[Any]]


class Player(Protocol):
    """Plays rounds of self-play with the network that it was given last."""

    def load(self, network: PVNetwork) -> None:
        """Take over the weights of a network."""

    def play(self, rng: np.random.Generator) -> Round:
        """Play a round; `rng` decides about everything in it.

        Raises:
            Stopped: if the run is to stop.
        """


class HerePlayer:
    """Plays in this process."""

    def __init__(
        self,
        network: PVNetwork,
        encoder: Encoder,
        config: Config,
        monitor: Monitor | None = None,
    ):
        """Make room for rounds of `config.games_per_round` games; `config.precision` is no auto."""
        game = encoder.game
        scale = 1 / game.observation_high
        self._runner = Runner(network, scale, config.device, config.precision)
        self._memory = Memory(self._runner, encoder.shape, game.num_actions + 1)
        self._table = SelfPlay(encoder, config, monitor)

    def load(self, network: PVNetwork) -> None:
        """Take over the weights of a network."""
        self._runner.load(network)
        self._memory.clear()

    def play(self, rng: np.random.Generator) -> Round:
        """Play a round."""
        return self._table.play(evaluator(self._memory), rng)


class WorkersPlayer:
    """Plays a part of each round in each of several processes.

    What is played depends on the number of processes, but not on which of them is faster.
    """

    def __init__(self, network: PVNetwork, config: Config, monitor: Monitor | None = None):
        """Start `config.workers` processes."""
        self._config = replace(config, games_per_round=config.games_per_round // config.workers)
        self._monitor = monitor or Monitor()
        self._workers = Workers(config.workers)
        self.load(network)

    def load(self, network: PVNetwork) -> None:
        """Take over the weights of a network."""
        self._weights = {
            name: tensor.cpu().numpy().copy() for name, tensor in network.state_dict().items()
        }

    def play(self, rng: np.random.Generator) -> Round:
        """Play a round."""
        seeds = rng.integers(2**63, size=self._config.workers)
        tasks = (
            partial(_play_part, number, self._config, self._weights, int(seed))
            for number, seed in enumerate(seeds)
        )
        monitor, found = self._monitor, []
        monitor.begin("playing", self._config.workers, "part")
        try:
            for part in self._workers.run(tasks, monitor.check):
                found.append(part)
                monitor.step("playing", len(found))
        except Stopped:
            # What the processes are playing would be taken for parts of the next round.
            self._workers.__exit__(None, None, None)
            self._workers = Workers(self._config.workers)
            raise
        parts = [played for _, played in sorted(found, key=lambda one: one[0])]
        return Round(
            **{
                field.name: np.concatenate([getattr(part, field.name) for part in parts])
                for field in fields(Round)
            }
        )

    def close(self) -> None:
        """End the processes."""
        self._workers.close()


def make_player(
    network: PVNetwork, encoder: Encoder, config: Config, monitor: Monitor | None = None
) -> HerePlayer | WorkersPlayer:
    """Return who plays, as `config.workers` says."""
    if config.workers > 1:
        return WorkersPlayer(network, config, monitor)
    return HerePlayer(network, encoder, config, monitor)


def _play_part(number: int, config: Config, weights: Weights, seed: int) -> tuple[int, Round]:
    """Play a part of a round in a process of its own; return it with its number."""
    network, player = _tools(config)
    network.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    player.load(network)
    return number, player.play(np.random.default_rng(seed))


@cache
def _tools(config: Config) -> tuple[PVNetwork, HerePlayer]:
    """Return what a process keeps from round to round."""
    torch.set_num_threads(1)
    game = make_game(config.game)
    network = make_pv_network(config.network, game)
    return network, HerePlayer(network, Encoder(game), config)
