"""Who plays the rounds of self-play: this process, or several others."""

from collections.abc import Mapping
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
from ludoteca.executor import LOCAL, make_executor
from ludoteca.shared import Shared
from ludoteca.train.alphazero.config import Config
from ludoteca.train.alphazero.selfplay import Round, SelfPlay
from ludoteca.train.monitor import Monitor

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
    """Plays in this process.

    Attributes:
        held: the key of the shared weights that it has, where it plays for another process.
    """

    held = ""

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
    """Plays a part of each round in each of several processes, on this machine or a cluster.

    What is played depends on the number of processes, but not on where they are, nor on which of
    them is faster.
    """

    def __init__(self, network: PVNetwork, config: Config, monitor: Monitor | None = None):
        """Start `config.workers` processes."""
        self._config = replace(config, games_per_round=config.games_per_round // config.workers)
        self._monitor = monitor or Monitor()
        self._executor = make_executor(config.executor, config.workers)
        self.load(network)

    def load(self, network: PVNetwork) -> None:
        """Take over the weights of a network."""
        weights = {
            name: tensor.cpu().numpy().copy() for name, tensor in network.state_dict().items()
        }
        self._weights = self._executor.put(weights)  # sent to each process once

    def play(self, rng: np.random.Generator) -> Round:
        """Play a round."""
        workers = self._config.workers
        if workers == 1:  # as in this process
            tasks = [partial(_play_part, self._config, self._weights, rng)]
        else:
            seeds = rng.integers(2**63, size=workers)
            rngs = [np.random.default_rng(int(seed)) for seed in seeds]
            tasks = [partial(_play_part, self._config, self._weights, one) for one in rngs]
        monitor, parts = self._monitor, []
        monitor.begin("playing", workers, "part")
        for part, after in self._executor.run(tasks, monitor.check):
            parts.append(part)
            monitor.step("playing", len(parts))
            if workers == 1:
                rng.bit_generator.state = after
        return Round(
            **{
                field.name: np.concatenate([getattr(part, field.name) for part in parts])
                for field in fields(Round)
            }
        )

    def close(self) -> None:
        """End the processes."""
        self._executor.close()


def make_player(
    network: PVNetwork, encoder: Encoder, config: Config, monitor: Monitor | None = None
) -> HerePlayer | WorkersPlayer:
    """Return who plays, as `config.workers` says."""
    if config.workers > 1 or config.executor != LOCAL:
        return WorkersPlayer(network, config, monitor)
    return HerePlayer(network, encoder, config, monitor)


def _play_part(
    config: Config, weights: Shared[Weights], rng: np.random.Generator
) -> tuple[Round, Mapping[str, Any]]:
    """Play a part of a round in a process of its own; return it and the random numbers' state."""
    network, player = _tools(config)
    if player.held != weights.key:
        arrays = weights.get().items()
        network.load_state_dict({name: torch.from_numpy(array) for name, array in arrays})
        player.load(network)
        player.held = weights.key
    played = player.play(rng)
    return played, rng.bit_generator.state


@cache
def _tools(config: Config) -> tuple[PVNetwork, HerePlayer]:
    """Return what a process keeps from round to round."""
    torch.set_num_threads(config.threads if config.workers == 1 else 1)
    game = make_game(config.game)
    network = make_pv_network(config.network, game)
    return network, HerePlayer(network, Encoder(game), config)
