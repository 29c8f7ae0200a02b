"""Learner of a reinforcement learning run, and its initial network."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

from ludoteca.agents.networks.ac_network import ACNetwork
from ludoteca.agents.networks.pv_network import PVNetwork
from ludoteca.agents.networks.q_network import QNetwork
from ludoteca.agents.networks.weights import find_weights
from ludoteca.train.optimizer import Optimization, learning_rate
from ludoteca.train.settings import RLConfig
from ludoteca.train.trainable_model import Network, TrainableModel

First = TypeVar("First", QNetwork, PVNetwork, ACNetwork)


class NetworkLearner(TrainableModel[Network]):
    """Trainable model with a learning rate schedule over the games of the run."""

    def __init__(
        self, network: Network, config: RLConfig, scale: float, momentum: float, decay: float
    ):
        """Make a learner.

        Args:
            network: network to train, in place.
            config: settings.
            scale: scale factor of the input planes.
            momentum: momentum of SGD.
            decay: weight decay.
        """
        optimization = Optimization(
            config.optimizer, config.learning_rate, momentum, decay, config.max_grad_norm
        )
        super().__init__(network, optimization, scale, config.device, config.precision)
        self._settings = config

    def step(self, loss: Tensor, progress: float) -> None:
        """Make one gradient step.

        Args:
            loss: loss of a batch.
            progress: fraction of the training that is done, for the learning rate.
        """
        config = self._settings
        self.gradient_step(
            loss, learning_rate(config.learning_rate, config.final_learning_rate, progress)
        )

    def finite_losses(self, policy_loss: Tensor, value_loss: Tensor) -> tuple[float, float]:
        """Return the policy and value loss of the last update, averaged over all ranks.

        Raises:
            ValueError: if they are not finite: training has diverged.
        """
        policy, value = self.means(policy_loss, value_loss)
        if not (math.isfinite(policy) and math.isfinite(value)):
            config = self._settings
            raise ValueError(
                f"the losses of update {self.updates} are {policy} and {value}: "
                f"learning_rate={config.learning_rate:g} is too high for "
                f"optimizer={config.optimizer!r} and max_grad_norm={config.max_grad_norm:g}"
            )
        return policy, value


def first_network(
    config: RLConfig,
    kind: str,
    load: Callable[[Path], tuple[First, Any]],
    make: Callable[[], First],
) -> First:
    """Return the initial network of a run.

    Args:
        config: settings; weights come from `start_from`, or are random.
        kind: name of the agent, see `find_weights`.
        load: returns the network in a file, and its metadata.
        make: makes a network with random weights.

    Raises:
        FileNotFoundError: if the file does not exist.
        ValueError: if its architecture is not `config.network`.
    """
    if config.start_from is None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            return make()
    network, _ = load(find_weights(config.start_from, kind))
    if network.config != config.network:
        raise ValueError(
            f"start_from={config.start_from} has another architecture: {network.config}, "
            f"not {config.network}"
        )
    return network
