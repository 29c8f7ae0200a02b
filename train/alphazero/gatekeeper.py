"""Gatekeeper of AlphaGo Zero: only a network that beats the self-play network replaces it."""

import copy
from typing import Any

import numpy as np
import torch

from ludoteca.agents.alphazero import PolicyValueAgent
from ludoteca.agents.networks.pv_network import PVNetwork
from ludoteca.agents.networks.runner import Runner
from ludoteca.envs.game import Game
from ludoteca.evaluate.match import play_match
from ludoteca.train.alphazero.actors import SelfPlayActor
from ludoteca.train.alphazero.config import AlphaZeroConfig
from ludoteca.train.distributed import ranks
from ludoteca.train.monitor import Monitor
from ludoteca.train.run_directory import Arrays


class Gatekeeper:
    """Self-play actor that loads a network only if it beats the current self-play network.

    Silver et al., "Mastering the game of Go without human knowledge" (2017), methods, "Evaluator":
    a network had to win 55 % of 400 games.

    Attributes:
        accepted: number of candidate networks accepted.
        tested: number of candidate networks.
    """

    def __init__(
        self,
        player: SelfPlayActor,
        game: Game,
        network: PVNetwork,
        config: AlphaZeroConfig,
        monitor: Monitor | None = None,
    ):
        """Wrap a self-play actor that has `network`; `config.precision` is not auto."""
        self._player, self._game, self._config = player, game, config
        self._monitor = monitor or Monitor()
        scale = 1 / game.observation_high
        self._candidate, self._incumbent = (
            Runner(network, scale, config.device, config.precision) for _ in range(2)
        )
        self._template, self._weights = network, _copied(network)
        self._iterations = 0  # since the last match
        self.accepted = self.tested = 0

    def load(self, network: PVNetwork) -> None:
        """Play a gatekeeper match with a candidate network, at its interval.

        Raises:
            Stopped: if the run is to stop; the match is then played after resuming.
        """
        config, monitor = self._config, self._monitor
        if (self._iterations + 1) * config.games_per_iteration < config.gating_interval:
            self._iterations += 1
            return
        self._candidate.load(network)
        agents = [
            PolicyValueAgent(
                self._game,
                runner,
                config.num_simulations,
                config.search_rule,
                config.max_num_considered_actions,
                0.5,
            )
            for runner in (self._candidate, self._incumbent)
        ]
        monitor.begin("evaluating", config.gating_games, "game")
        match = ranks().broadcast(
            lambda: play_match(
                self._game,
                agents,
                config.gating_games,
                seed=config.seed + self.tested + 1,
                on_step=lambda ended: monitor.step("evaluating", ended),
            )
        )
        self._iterations = 0
        self.tested += 1
        if match.totals[0].score >= config.gating_threshold:
            self.accepted += 1
            self._incumbent.load(network)
            self._weights = _copied(network)
            self._player.load(network)

    def reload(self) -> None:
        """Load the self-play network into the player again, after a rollout was dropped."""
        network = copy.deepcopy(self._template)
        network.load_state_dict(self._weights)
        self._player.load(network)

    def play(self, rng: np.random.Generator, games: int = 0) -> Any:
        """Collect a rollout with the self-play network."""
        return self._player.play(rng, games)

    def state(self) -> Arrays:
        """Return the state, for `restore`."""
        numbers = np.array([self._iterations, self.accepted, self.tested])
        return {"numbers": numbers} | {
            f"held/{name}": tensor.numpy() for name, tensor in self._weights.items()
        }

    def restore(self, arrays: Arrays, network: PVNetwork) -> None:
        """Resume from `state`; `network` has the same architecture."""
        self._iterations, self.accepted, self.tested = (int(number) for number in arrays["numbers"])
        self._weights = {
            name.removeprefix("held/"): torch.from_numpy(np.array(array))
            for name, array in arrays.items()
            if name.startswith("held/")
        }
        now = _copied(network)
        network.load_state_dict(self._weights)
        self._incumbent.load(network)
        self._player.load(network)
        network.load_state_dict(now)


def _copied(network: PVNetwork) -> dict[str, torch.Tensor]:
    return {name: tensor.detach().cpu().clone() for name, tensor in network.state_dict().items()}
