"""Gatekeeper of AlphaGo Zero: a network replaces the self-play network only if it beats it."""

import copy
from typing import Any

import numpy as np
import torch
from torch import nn

from ludoteca.agents.alphazero import PolicyValueAgent
from ludoteca.agents.networks.runner import Runner
from ludoteca.evaluate.match import play_match
from ludoteca.train.checkpoint import copy_weights
from ludoteca.train.distributed import ranks
from ludoteca.train.run_directory import Arrays


class Gatekeeper:
    """Self-play actor that loads a network only if it beats the current self-play network.

    Silver et al., "Mastering the game of Go without human knowledge" (2017), methods, "Evaluator":
    a network had to win 55 % of 400 games.

    Attributes:
        accepted: number of candidate networks accepted.
        tested: number of candidate networks.
    """

    def __init__(self, algorithm: Any, actor: Any):
        """Wrap a self-play actor.

        Args:
            algorithm: algorithm of the run, an `AlphaZero`.
            actor: its self-play actor.
        """
        self._algorithm, self._actor = algorithm, actor
        config, network = algorithm.config, algorithm.network
        # Forward passes of the candidate and of the self-play network.
        self._candidate, self._incumbent = (
            Runner(network, algorithm.encoder.scale, config.device, config.precision)
            for _ in range(2)
        )
        # Self-play network: its architecture, and its weights.
        self._template, self._weights = network, copy_weights(network)
        self._iterations = 0  # since the last match
        self.accepted = self.tested = 0
        actor.load(network)

    def load(self, network: nn.Module) -> None:
        """Load the self-play network for a rollout; first, at an interval, play a gatekeeper match.

        Args:
            network: the candidate network.

        Raises:
            Stopped: if the run is to stop; the match is then played after resuming.
        """
        algorithm, monitor = self._algorithm, self._algorithm.monitor
        config, game = algorithm.config, algorithm.game
        if (self._iterations + 1) * config.games_per_iteration < config.gating_interval:
            self._iterations += 1
            self.reload(network)
            return
        self._candidate.load(network)
        agents = [
            PolicyValueAgent(
                game,
                runner,
                config.num_simulations,
                config.search_config,
                config.max_num_considered_actions,
                temperature=0.5,  # actions are sampled, so that games differ
            )
            for runner in (self._candidate, self._incumbent)
        ]
        monitor.begin("evaluating", config.gating_games, "game")
        match = ranks().broadcast(
            lambda: play_match(
                game,
                agents,
                config.gating_games,
                seed=config.seed + self.tested + 1,
                on_step=lambda finished: monitor.step("evaluating", finished),
            )
        )
        self._iterations = 0
        self.tested += 1
        if match.totals[0].score >= config.gating_threshold:
            self.accepted += 1
            self._incumbent.load(network)
            self._weights = copy_weights(network)
        self.reload(network)

    def reload(self, network: nn.Module) -> None:
        """Load the self-play network into the actor, before each rollout.

        The actor's evaluation cache is then empty. Otherwise the batches of a resumed run, and so
        the rounding of its evaluations, would differ.
        """
        incumbent = copy.deepcopy(self._template)
        incumbent.load_state_dict(self._weights)
        self._actor.load(incumbent)

    def play(self, rng: np.random.Generator, games: int = 0) -> Any:
        """Collect a rollout with the self-play network, after `games` games of the run."""
        return self._actor.play(rng, games)

    def metrics(self) -> dict[str, float | int | None]:
        """Return the number of accepted candidates."""
        return {"candidates_accepted": self.accepted}

    def state(self) -> Arrays:
        """Return the state, for `restore`."""
        numbers = np.array([self._iterations, self.accepted, self.tested])
        return {"numbers": numbers} | {
            f"held/{name}": tensor.numpy() for name, tensor in self._weights.items()
        }

    def restore(self, arrays: Arrays, network: nn.Module) -> None:
        """Resume from `state`; `network` has the same architecture, and is left unchanged."""
        self._iterations, self.accepted, self.tested = (int(number) for number in arrays["numbers"])
        self._weights = {
            name.removeprefix("held/"): torch.from_numpy(np.array(array))
            for name, array in arrays.items()
            if name.startswith("held/")
        }
        current = copy_weights(network)
        network.load_state_dict(self._weights)
        self._incumbent.load(network)
        self._actor.load(network)
        network.load_state_dict(current)
