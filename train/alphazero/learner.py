"""One update of a policy-value network from a batch of positions."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from ludoteca.agents.networks.pv_network import PVNetwork
from ludoteca.train import learner
from ludoteca.train.alphazero.config import AlphaZeroConfig

MOMENTUM = 0.9  # of SGD


class AlphaZeroLearner(learner.Learner[PVNetwork]):
    """A network and its optimizer."""

    def __init__(self, network: PVNetwork, config: AlphaZeroConfig, scale: float):
        """Make a learner; see `ludoteca.train.learner.Learner`."""
        super().__init__(network, config, scale, MOMENTUM, config.weight_decay)
        self._value_weight = config.vf_coef

    def update(
        self,
        planes: NDArray[np.int8],
        policies: NDArray[np.float32],
        values: NDArray[np.float32],
        progress: float,
    ) -> tuple[float, float]:
        """Learn from a batch.

        Args:
            planes: what was seen. Shape `[N, planes, rows, columns]`.
            policies: what the search made of the moves. Shape `[N, A]`.
            values: what became of the game. Shape `[N]`.
            progress: share of the training that is over, for the learning rate.

        Returns:
            The mean losses: cross-entropy of the policy, squared error of the value.

        Raises:
            ValueError: if they are not finite: nothing more can be learned then.
        """
        mine = self.part(len(planes))
        planes, policies, values = planes[mine], policies[mine], values[mine]
        with self.cast():
            outputs = self.trained(self.tensor(planes)).float()
        wanted = torch.from_numpy(policies).to(self._device)
        policy_loss = -(wanted * functional.log_softmax(outputs[:, :-1], 1)).sum(1).mean()
        value_loss = functional.mse_loss(outputs[:, -1], torch.from_numpy(values).to(self._device))
        self.step(policy_loss + self._value_weight * value_loss, progress)
        return self.told(policy_loss, value_loss)
