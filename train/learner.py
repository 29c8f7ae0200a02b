"""Learner of a reinforcement learning run: updates of a network by the loss of an algorithm."""

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ludoteca.agents.networks.weights import find_weights
from ludoteca.divergence import DivergedError
from ludoteca.envs.game import Game
from ludoteca.train.algorithm import Algorithm
from ludoteca.train.examples import Batch
from ludoteca.train.trainable_model import TrainableModel


class NetworkLearner(TrainableModel[Any]):
    """Trainable model that minimizes the loss of an algorithm.

    The learning rate decays over the games of the run.
    """

    def __init__(self, algorithm: Algorithm[Any]):
        """Make a learner of the network of an algorithm."""
        config, scale = algorithm.config, algorithm.encoder.scale
        optimization = algorithm.optimization()
        self._algorithm = algorithm
        super().__init__(algorithm.network, optimization, scale, config.device, config.precision)
        algorithm.begin_learning(self)

    def networks(self) -> dict[str, nn.Module]:
        """Return the networks of the state, by name."""
        return self._algorithm.networks()

    def optimized(self) -> tuple[nn.Module, ...]:
        """Return the networks that the optimizer updates."""
        return self._algorithm.optimized()

    def outputs(self, planes: Tensor) -> Tensor:
        """Return outputs `[N, outputs]`, with gradients, for int8 planes `[N, *shape]`."""
        with self.cast():
            outputs: Tensor = self.module(self.scaled(planes)).float()
        return outputs

    def evaluate(self, network: nn.Module, planes: Tensor) -> Tensor:
        """Return the outputs of another network with the same input, such as a target network."""
        with self.cast():
            outputs: Tensor = network(self.scaled(planes)).float()
        return outputs

    def update(
        self, batch: Batch, progress: float
    ) -> tuple[dict[str, float], NDArray[np.float32] | None]:
        """Make an update from a minibatch.

        Args:
            batch: columns of the algorithm's layout, and `weight` if sampling is prioritized.
            progress: fraction of the training completed so far.

        Returns:
            The scalar losses, averaged over all ranks, and the absolute TD errors, if there are
            any. Shape `[N]`.

        Raises:
            DivergedError: if a loss in `plotted_losses` is not finite.
        """
        algorithm = self._algorithm
        size = len(next(iter(batch.values())))
        rows = self.part(size)
        algorithm.progress = progress
        losses = algorithm.loss(
            {name: self.to_device(array[rows]) for name, array in batch.items()}
        )
        self.gradient_step(losses["loss"], *algorithm.learning_rates(progress))
        algorithm.after_update(self.updates)
        names = algorithm.loss_metrics
        means = self.means(*(losses[name].detach() for name in names))
        self._check(dict(zip(names, means, strict=True)))
        errors = None
        if "td_error" in losses:
            errors = self._ranks.all_gather(losses["td_error"].detach().cpu().numpy(), size)
        return dict(zip(names, means, strict=True)), errors

    def _check(self, losses: dict[str, float]) -> None:
        """Check that the losses of an update in `plotted_losses` are finite.

        Raises:
            DivergedError: if one is not.
        """
        config = self._algorithm.config
        checked = [losses[name] for name in self._algorithm.plotted_losses]
        if all(math.isfinite(loss) for loss in checked):
            return
        is_or_are = "loss of update {} is" if len(checked) == 1 else "losses of update {} are"
        raise DivergedError(
            f"the {is_or_are.format(self.updates)} {' and '.join(map(str, checked))}: "
            f"learning_rate={config.learning_rate:g} is too high for "
            f"optimizer={config.optimizer!r} and max_grad_norm={config.max_grad_norm:g}"
        )


def initial_network(algorithm: type[Algorithm[Any]], config: Any, game: Game) -> Any:
    """Return the initial network of a run: random, or loaded from `start_from`.

    Raises:
        FileNotFoundError: if the file does not exist.
        ValueError: if its architecture is not `config.network`.
    """
    if config.start_from is None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            return algorithm.make_network(config.network, game)
    file = find_weights(config.start_from, algorithm.agent_name)
    network, _ = algorithm.load_network(game, file)
    if network.config != config.network:
        raise ValueError(
            f"start_from={config.start_from} has a different architecture: {network.config}, "
            f"not {config.network}"
        )
    return network
