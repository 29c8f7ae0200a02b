"""What learners of trainings in rounds have in common, and the networks that they begin with."""

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


class Learner(TrainableModel[Network]):
    """A network, its optimizer, and a learning rate that falls while games are played."""

    def __init__(
        self, network: Network, config: RLConfig, scale: float, momentum: float, decay: float
    ):
        """Make a learner.

        Args:
            network: what learns; changed in place.
            config: how it learns.
            scale: what planes are multiplied with.
            momentum: of SGD.
            decay: of the weights.
        """
        optimization = Optimization(
            config.optimizer, config.learning_rate, momentum, decay, config.max_grad_norm
        )
        super().__init__(network, optimization, scale, config.device, config.precision)
        self._settings = config

    def step(self, loss: Tensor, progress: float) -> None:
        """Go down the gradient of a loss.

        Args:
            loss: of a batch.
            progress: share of the training that is over, for the learning rate.
        """
        config = self._settings
        self.descend(
            loss, learning_rate(config.learning_rate, config.final_learning_rate, progress)
        )

    def told(self, policy_loss: Tensor, value_loss: Tensor) -> tuple[float, float]:
        """Return the losses of the last update, of a policy and a value, as numbers.

        Raises:
            ValueError: if they are not finite: nothing more can be learned then.
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
    """Return the network that a run begins with.

    Args:
        config: settings; `start_from` names a file or run, if it does not begin at random.
        kind: the agent's name, see `find_weights`.
        load: returns the network in a file, and what is told about it.
        make: makes one with random weights.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the network there is another one than `config.network`.
    """
    if config.start_from is None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            return make()
    network, _ = load(find_weights(config.start_from, kind))
    if network.config != config.network:
        raise ValueError(
            f"start_from={config.start_from} is another network: {network.config}, "
            f"not {config.network}"
        )
    return network
