"""Only a network that beats the one that plays may play: the gate of AlphaGo Zero."""

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
    """A player who takes over a network only if that beats the last one that he took over.

    Silver et al., "Mastering the game of Go without human knowledge" (2017), methods, "Evaluator":
    a network had to win 55 % of 400 games.

    Attributes:
        passed: how many networks got through.
        tried: how many there were.
    """

    def __init__(
        self,
        player: SelfPlayActor,
        game: Game,
        network: PVNetwork,
        config: AlphaZeroConfig,
        monitor: Monitor | None = None,
    ):
        """Put a gate before a player who has `network`; `config.precision` is no auto."""
        self._player, self._game, self._config = player, game, config
        self._monitor = monitor or Monitor()
        scale = 1 / game.observation_high
        self._new, self._held = (
            Runner(network, scale, config.device, config.precision) for _ in range(2)
        )
        self._form, self._weights = network, _copied(network)
        self._rounds = 0  # since the last trial
        self.passed = self.tried = 0

    def load(self, network: PVNetwork) -> None:
        """Try a network, if it is time to.

        Raises:
            Stopped: if the run is to stop; then the trial has yet to be made.
        """
        config, monitor = self._config, self._monitor
        if (self._rounds + 1) * config.games_per_iteration < config.gating_interval:
            self._rounds += 1
            return
        self._new.load(network)
        agents = [
            PolicyValueAgent(
                self._game,
                runner,
                config.num_simulations,
                config.search_rule,
                config.max_num_considered_actions,
                0.5,
            )
            for runner in (self._new, self._held)
        ]
        monitor.begin("evaluating", config.gating_games, "game")
        match = ranks().decided(
            lambda: play_match(
                self._game,
                agents,
                config.gating_games,
                seed=config.seed + self.tried + 1,
                on_step=lambda ended: monitor.step("evaluating", ended),
            )
        )
        self._rounds = 0
        self.tried += 1
        if match.totals[0].score >= config.gating_threshold:
            self.passed += 1
            self._held.load(network)
            self._weights = _copied(network)
            self._player.load(network)

    def reload(self) -> None:
        """Let the player begin anew with the network that holds, after a round was dropped."""
        network = copy.deepcopy(self._form)
        network.load_state_dict(self._weights)
        self._player.load(network)

    def play(self, rng: np.random.Generator, games: int = 0) -> Any:
        """Play a round with the network that holds."""
        return self._player.play(rng, games)

    def state(self) -> Arrays:
        """Return what `restore` needs."""
        numbers = np.array([self._rounds, self.passed, self.tried])
        return {"numbers": numbers} | {
            f"held/{name}": tensor.numpy() for name, tensor in self._weights.items()
        }

    def restore(self, arrays: Arrays, network: PVNetwork) -> None:
        """Go on from where `state` was taken; `network` is of the same form."""
        self._rounds, self.passed, self.tried = (int(number) for number in arrays["numbers"])
        self._weights = {
            name.removeprefix("held/"): torch.from_numpy(np.array(array))
            for name, array in arrays.items()
            if name.startswith("held/")
        }
        now = _copied(network)
        network.load_state_dict(self._weights)
        self._held.load(network)
        self._player.load(network)
        network.load_state_dict(now)


def _copied(network: PVNetwork) -> dict[str, torch.Tensor]:
    return {name: tensor.detach().cpu().clone() for name, tensor in network.state_dict().items()}
