"""One update of a policy-value network from a batch of positions."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from ludoteca.agents.networks.pv_network import PVNetwork
from ludoteca.agents.networks.runner import to_tensor
from ludoteca.train.alphazero.config import Config
from ludoteca.train.optimizer import learning_rate, load_optimizer, optimizer_arrays


class Learner:
    """A network and its optimizer.

    Attributes:
        network: what learns.
        updates: how many updates were made.
    """

    def __init__(self, network: PVNetwork, config: Config, scale: float):
        """Make a learner.

        Args:
            network: what learns; changed in place.
            config: how it learns.
            scale: what planes are multiplied with.
        """
        self._config, self._scale = config, scale
        self._device = torch.device(config.device)
        moved: Any = network.to(self._device)
        self.network: PVNetwork = moved.to(memory_format=torch.channels_last)
        self._optimizer: torch.optim.Optimizer
        weights = self.network.parameters()
        if config.optimizer == "sgd":
            self._optimizer = torch.optim.SGD(
                weights, config.learning_rate, 0.9, weight_decay=config.weight_decay
            )
        else:
            self._optimizer = torch.optim.AdamW(
                weights, config.learning_rate, weight_decay=config.weight_decay
            )
        self.updates = 0

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
        """
        config = self._config
        rate = learning_rate(config.learning_rate, config.final_learning_rate, progress)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        given = to_tensor(planes, self._scale, self._device, torch.float32)
        cast = config.precision == "bfloat16"
        with torch.autocast(self._device.type, torch.bfloat16, enabled=cast):
            outputs = self.network(given).float()
        wanted = torch.from_numpy(policies).to(self._device)
        policy_loss = -(wanted * functional.log_softmax(outputs[:, :-1], 1)).sum(1).mean()
        value_loss = functional.mse_loss(outputs[:, -1], torch.from_numpy(values).to(self._device))
        loss = policy_loss + config.value_weight * value_loss
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if config.clip:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), config.clip)
        self._optimizer.step()
        self.updates += 1
        return float(policy_loss.detach()), float(value_loss.detach())

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what `restore` needs to go on from here, as arrays."""
        arrays = {"updates": np.array(self.updates)}
        for name, tensor in self.network.state_dict().items():
            arrays[f"network/{name}"] = tensor.cpu().numpy()
        return arrays | optimizer_arrays(self._optimizer)

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from where `state` was taken."""
        self.updates = int(arrays["updates"])
        weights = {
            name.removeprefix("network/"): torch.from_numpy(np.array(value))
            for name, value in arrays.items()
            if name.startswith("network/")
        }
        self.network.load_state_dict(weights)
        load_optimizer(self._optimizer, arrays)
