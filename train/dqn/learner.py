"""One update of a Q network from a batch of transitions."""

import copy
import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from ludoteca.agents.networks.q_network import QNetwork
from ludoteca.agents.networks.runner import to_tensor
from ludoteca.train.dqn.config import Config
from ludoteca.train.optimizer import learning_rate, load_optimizer, optimizer_arrays
from ludoteca.train.replay import Batch


class Learner:
    """A network, the older copy that its targets come from, and the optimizer.

    Attributes:
        network: what learns.
        updates: how many updates were made.
    """

    def __init__(self, network: QNetwork, config: Config, scale: float):
        """Make a learner.

        Args:
            network: what learns; changed in place.
            config: how it learns.
            scale: what planes are multiplied with.
        """
        self._config, self._scale = config, scale
        self._device = torch.device(config.device)
        moved: Any = network.to(self._device)
        self.network: QNetwork = moved.to(memory_format=torch.channels_last)
        self._target = copy.deepcopy(self.network) if config.target_every else self.network
        self._optimizer = _optimizer(self.network, config)
        self.updates = 0

    def update(self, batch: Batch, weights: NDArray[np.float32] | None, progress: float) -> Any:
        """Learn from a batch.

        Args:
            batch: transitions.
            weights: of each transition, or None for 1.
            progress: share of the training that is over, for the learning rate.

        Returns:
            The mean loss, and the absolute errors of the values, float32 `[N]`.
        """
        config = self._config
        rate = learning_rate(config.learning_rate, config.final_learning_rate, progress)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        targets = self._targets(batch)
        with self._cast():
            outputs = self.network(self._tensor(batch.planes)).float()
        chosen = outputs.gather(1, torch.from_numpy(batch.actions).to(self._device)[:, None])[:, 0]
        losses = self._losses(chosen, targets)
        if weights is not None:
            losses = losses * torch.from_numpy(weights).to(self._device)
        loss = losses.mean()
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if self._config.clip:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), self._config.clip)
        self._optimizer.step()
        self.updates += 1
        if self._config.target_every and self.updates % self._config.target_every == 0:
            self._target.load_state_dict(self.network.state_dict())
        errors = (self.network.values(chosen.detach()) - targets).abs()
        return float(loss.detach()), errors.cpu().numpy()

    def _targets(self, batch: Batch) -> Tensor:
        """Return `reward + discount * Q(next, best)`. Shape `[N]`."""
        targets = torch.from_numpy(batch.rewards)
        going = np.flatnonzero(batch.discounts)
        if len(going) > 0:
            planes = self._tensor(batch.next_planes[going])
            legal = torch.from_numpy(batch.next_masks[going]).to(self._device) == 1
            with torch.no_grad(), self._cast():
                outputs = self._target(planes).float()
                choosing = self.network(planes).float() if self._config.double else outputs
                if self._config.masked:
                    choosing = choosing.masked_fill(~legal, -math.inf)
                best = choosing.argmax(1, keepdim=True)
                values = self.network.values(outputs.gather(1, best)[:, 0]).cpu()
            targets[going] += torch.from_numpy(batch.discounts[going]) * values
        return targets.to(self._device)

    def _losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of each transition. Shape `[N]`."""
        kind = self._config.loss_function
        if kind == "bce":
            chances = (targets.clamp(-1, 1) + 1) / 2
            return functional.binary_cross_entropy_with_logits(outputs, chances, reduction="none")
        if kind == "huber":
            return functional.huber_loss(outputs, targets, reduction="none")
        return 0.5 * (targets - outputs) ** 2

    def _tensor(self, planes: NDArray[np.int8]) -> Tensor:
        return to_tensor(planes, self._scale, self._device, torch.float32)

    def _cast(self) -> torch.autocast:
        wanted = self._config.precision == "bfloat16"
        return torch.autocast(self._device.type, torch.bfloat16, enabled=wanted)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what `restore` needs to go on from here, as arrays."""
        arrays = {"updates": np.array(self.updates)}
        for name, tensor in self.network.state_dict().items():
            arrays[f"network/{name}"] = tensor.cpu().numpy()
        for name, tensor in self._target.state_dict().items():
            arrays[f"target/{name}"] = tensor.cpu().numpy()
        return arrays | optimizer_arrays(self._optimizer)

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from where `state` was taken."""
        self.updates = int(arrays["updates"])
        parts: dict[str, dict[str, Tensor]] = {"network": {}, "target": {}}
        for key, value in arrays.items():
            part, _, name = key.partition("/")
            if part in parts:
                parts[part][name] = torch.from_numpy(np.array(value))
        self.network.load_state_dict(parts["network"])
        self._target.load_state_dict(parts["target"])
        load_optimizer(self._optimizer, arrays)


def _optimizer(network: QNetwork, config: Config) -> torch.optim.Optimizer:
    if config.optimizer == "sgd":
        return torch.optim.SGD(network.parameters(), config.learning_rate, config.momentum)
    return torch.optim.AdamW(
        network.parameters(), config.learning_rate, weight_decay=config.weight_decay
    )
