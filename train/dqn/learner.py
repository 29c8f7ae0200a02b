"""Update of a Q-network from a minibatch of transitions."""

import copy
import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from ludoteca.agents.networks.q_network import QNetwork
from ludoteca.train import learner
from ludoteca.train.dqn.config import DQNConfig
from ludoteca.train.replay import TransitionBatch


class DQNLearner(learner.NetworkLearner[QNetwork]):
    """Learner of a Q-network with a target network."""

    def __init__(self, network: QNetwork, config: DQNConfig, scale: float):
        """Make a learner; see `ludoteca.train.learner.NetworkLearner`."""
        decay = 0.0 if config.optimizer == "sgd" else config.weight_decay
        super().__init__(network, config, scale, config.momentum, decay)
        self._config = config
        self._target = (
            copy.deepcopy(self.network) if config.target_update_interval else self.network
        )

    def parts(self) -> dict[str, nn.Module]:
        """Return the networks of the state, by name."""
        return {"network": self.network, "target": self._target}

    def update(
        self, batch: TransitionBatch, weights: NDArray[np.float32] | None, progress: float
    ) -> Any:
        """Make an update from a minibatch.

        Args:
            batch: transitions.
            weights: importance-sampling weights, or None for 1.
            progress: fraction of the training that is done, for the learning rate.

        Returns:
            The mean loss, and the absolute TD errors, float32 `[N]`.
        """
        size = len(batch)
        mine = self.part(size)
        batch, weights = batch[mine], None if weights is None else weights[mine]
        targets = self._targets(batch)
        with self.cast():
            outputs = self.trained(self.tensor(batch.planes)).float()
        chosen = outputs.gather(1, torch.from_numpy(batch.actions).to(self._device)[:, None])[:, 0]
        losses = self._losses(chosen, targets)
        if weights is not None:
            losses = losses * torch.from_numpy(weights).to(self._device)
        loss = losses.mean()
        self.step(loss, progress)
        if (
            self._config.target_update_interval
            and self.updates % self._config.target_update_interval == 0
        ):
            self._target.load_state_dict(self.network.state_dict())
        errors = (self.network.values(chosen.detach()) - targets).abs()
        return self.means(loss.detach())[0], self._ranks.all_gather(errors.cpu().numpy(), size)

    def _targets(self, batch: TransitionBatch) -> Tensor:
        """Return TD targets `reward + discount * Q(next, best)`. Shape `[N]`."""
        targets = torch.from_numpy(batch.rewards)
        going = np.flatnonzero(batch.discounts)
        if len(going) > 0:
            planes = self.tensor(batch.next_planes[going])
            legal = torch.from_numpy(batch.next_masks[going]).to(self._device) == 1
            with torch.no_grad(), self.cast():
                outputs = self._target(planes).float()
                choosing = self.network(planes).float() if self._config.double_q else outputs
                if self._config.masked_targets:
                    choosing = choosing.masked_fill(~legal, -math.inf)
                best = choosing.argmax(1, keepdim=True)
                values = self.network.values(outputs.gather(1, best)[:, 0]).cpu()
            targets[going] += torch.from_numpy(batch.discounts[going]) * values
        return targets.to(self._device)

    def _losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of each transition. Shape `[N]`."""
        kind = self._config.loss_function
        if kind == "bce":
            win_probs = (targets.clamp(-1, 1) + 1) / 2
            return functional.binary_cross_entropy_with_logits(outputs, win_probs, reduction="none")
        if kind == "huber":
            return functional.huber_loss(outputs, targets, reduction="none")
        return 0.5 * (targets - outputs) ** 2
