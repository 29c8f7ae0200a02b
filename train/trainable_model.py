"""Trainable model: a network and its optimizer, with their state as arrays."""

from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ludoteca.agents.networks.device import find_device
from ludoteca.agents.networks.runner import Precision, to_tensor
from ludoteca.train.distributed import ranks
from ludoteca.train.optimizer import Optimization, load_optimizer, optimizer_arrays

Network = TypeVar("Network", bound=nn.Module)


class TrainableModel(Generic[Network]):
    """Network and optimizer.

    Attributes:
        network: the network.
        module: module of the forward pass in updates: the network or, in data-parallel training,
            its DDP wrapper.
        updates: number of gradient updates.
    """

    def __init__(
        self,
        network: Network,
        optimization: Optimization,
        scale: float,
        device: str = "cpu",
        precision: Precision = "float32",
    ):
        """Make a trainable model.

        Args:
            network: network to train, in place.
            optimization: optimizer settings.
            scale: scale factor of the input planes.
            device: PyTorch device.
            precision: numeric precision of convolutions, `"float32"` or `"bfloat16"`.
        """
        self._scale, self._precision, self._clip = scale, precision, optimization.max_grad_norm
        self._device = find_device(device)
        moved: Any = network.to(self._device)
        self.network: Network = moved.to(memory_format=torch.channels_last)
        self._ranks = ranks()
        self.module = self._ranks.wrap(self.network, self._device)
        self._part = self._ranks.part(1)  # this rank's part of the current batch, see `part`
        self._optimizer = optimization.make(
            [{"params": list(network.parameters())} for network in self.optimized()]
        )
        self.updates = 0

    def networks(self) -> dict[str, nn.Module]:
        """Return the networks of the state, by name."""
        return {"network": self.network}

    def optimized(self) -> tuple[nn.Module, ...]:
        """Return the networks that the optimizer updates, each with a separate learning rate."""
        return (self.network,)

    def part(self, size: int) -> slice:
        """Return the rows of a batch for this rank; all, in a single process.

        Call it once per batch: `means` and `gradient_step` use the part of the last call.
        """
        self._part = self._ranks.part(size)
        return self._part.rows

    def means(self, *values: Tensor) -> list[float]:
        """Return batch means of scalars that are means over each rank's part."""
        return self._ranks.means(values, self._part)

    def gradient_step(self, loss: Tensor, *rates: float) -> None:
        """Make one gradient step on the mean loss of a batch.

        The gradients of the networks in `optimized` are clipped separately.

        Args:
            loss: mean loss over this rank's part of the batch.
            rates: learning rate of each network in `optimized`.
        """
        groups = self._optimizer.param_groups
        for group, rate in zip(groups, rates, strict=True):
            group["lr"] = rate
        self._optimizer.zero_grad()
        self._ranks.scale_loss(loss, self._part).backward()  # type: ignore[no-untyped-call]
        if self._clip:
            for group in groups:
                torch.nn.utils.clip_grad_norm_(group["params"], self._clip)
        self._optimizer.step()
        self.updates += 1

    def tensor(self, planes: NDArray[np.int8]) -> Tensor:
        """Return int8 planes as the input tensor of the network, on its device."""
        return to_tensor(planes, self._scale, self._device, torch.float32)

    def scaled(self, planes: Tensor) -> Tensor:
        """Return int8 planes on the device as the input of the network, channels last."""
        x = planes.to(torch.float32, memory_format=torch.channels_last)
        return x if self._scale == 1 else x * self._scale

    def to_device(self, array: NDArray[Any]) -> Tensor:
        """Return an array as a tensor on the device of the network."""
        return torch.from_numpy(array).to(self._device)

    def cast(self) -> torch.autocast:
        """Return the autocast context of the selected precision."""
        enabled = self._precision == "bfloat16"
        return torch.autocast(self._device.type, torch.bfloat16, enabled=enabled)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the state as arrays, for `restore`."""
        arrays = {"updates": np.array(self.updates)}
        for prefix, network in self.networks().items():
            for name, tensor in network.state_dict().items():
                arrays[f"{prefix}/{name}"] = tensor.cpu().numpy()
        return arrays | optimizer_arrays(self._optimizer)

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Resume from `state`."""
        self.updates = int(arrays["updates"])
        for prefix, network in self.networks().items():
            weights = {
                name.removeprefix(f"{prefix}/"): torch.from_numpy(np.array(value))
                for name, value in arrays.items()
                if name.startswith(f"{prefix}/")
            }
            network.load_state_dict(weights)
        load_optimizer(self._optimizer, arrays)
