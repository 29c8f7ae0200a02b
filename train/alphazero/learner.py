"""Update of a policy-value network from a minibatch of positions."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from ludoteca.agents.networks.pv_network import PVNetwork
from ludoteca.train import learner
from ludoteca.train.alphazero.config import AlphaZeroConfig

MOMENTUM = 0.9  # of SGD


class AlphaZeroLearner(learner.NetworkLearner[PVNetwork]):
    """Learner of a policy-value network."""

    def __init__(self, network: PVNetwork, config: AlphaZeroConfig, scale: float):
        """Make a learner; see `ludoteca.train.learner.NetworkLearner`."""
        super().__init__(network, config, scale, MOMENTUM, config.weight_decay)
        self._vf_coef = config.vf_coef

    def update(
        self,
        planes: NDArray[np.int8],
        policies: NDArray[np.float32],
        values: NDArray[np.float32],
        progress: float,
    ) -> tuple[float, float]:
        """Make an update from a minibatch.

        Args:
            planes: observations. Shape `[N, planes, rows, columns]`.
            policies: policy targets. Shape `[N, A]`.
            values: value targets. Shape `[N]`.
            progress: fraction of the training that is done, for the learning rate.

        Returns:
            The mean losses: cross-entropy of the policy, squared error of the value.

        Raises:
            ValueError: if they are not finite: training has diverged.
        """
        mine = self.part(len(planes))
        planes, policies, values = planes[mine], policies[mine], values[mine]
        with self.cast():
            outputs = self.trained(self.tensor(planes)).float()
        wanted = torch.from_numpy(policies).to(self._device)
        policy_loss = -(wanted * functional.log_softmax(outputs[:, :-1], 1)).sum(1).mean()
        value_loss = functional.mse_loss(outputs[:, -1], torch.from_numpy(values).to(self._device))
        self.step(policy_loss + self._vf_coef * value_loss, progress)
        return self.finite_losses(policy_loss, value_loss)
