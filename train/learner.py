"""What learners have in common: a network, its optimizer, and their state as arrays."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ludoteca.agents.networks.pv_network import PVNetwork
from ludoteca.agents.networks.q_network import QNetwork
from ludoteca.agents.networks.runner import to_tensor
from ludoteca.agents.networks.weights import find_weights
from ludoteca.train.optimizer import learning_rate, load_optimizer, optimizer_arrays
from ludoteca.train.settings import RoundConfig

Network = TypeVar("Network", QNetwork, PVNetwork)


class Learner(Generic[Network]):
    """A network and its optimizer.

    Attributes:
        network: what learns.
        updates: how many updates were made.
    """

    def __init__(
        self, network: Network, config: RoundConfig, scale: float, momentum: float, decay: float
    ):
        """Make a learner.

        Args:
            network: what learns; changed in place.
            config: how it learns.
            scale: what planes are multiplied with.
            momentum: of SGD.
            decay: of the weights.
        """
        self._settings, self._scale = config, scale
        self._device = torch.device(config.device)
        moved: Any = network.to(self._device)
        self.network: Network = moved.to(memory_format=torch.channels_last)
        weights, rate = self.network.parameters(), config.learning_rate
        self._optimizer: torch.optim.Optimizer
        if config.optimizer == "sgd":
            self._optimizer = torch.optim.SGD(weights, rate, momentum, weight_decay=decay)
        else:
            self._optimizer = torch.optim.AdamW(weights, rate, weight_decay=decay)
        self.updates = 0

    def parts(self) -> dict[str, nn.Module]:
        """Return the networks that belong to the state, by name."""
        return {"network": self.network}

    def step(self, loss: Tensor, progress: float) -> None:
        """Go down the gradient of a loss.

        Args:
            loss: of a batch.
            progress: share of the training that is over, for the learning rate.
        """
        config = self._settings
        rate = learning_rate(config.learning_rate, config.final_learning_rate, progress)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if config.clip:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), config.clip)
        self._optimizer.step()
        self.updates += 1

    def tensor(self, planes: NDArray[np.int8]) -> Tensor:
        """Return planes as the network takes them."""
        return to_tensor(planes, self._scale, self._device, torch.float32)

    def cast(self) -> torch.autocast:
        """Return the context in which the network runs with the precision that was chosen."""
        wanted = self._settings.precision == "bfloat16"
        return torch.autocast(self._device.type, torch.bfloat16, enabled=wanted)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what `restore` needs to go on from here, as arrays."""
        arrays = {"updates": np.array(self.updates)}
        for part, network in self.parts().items():
            for name, tensor in network.state_dict().items():
                arrays[f"{part}/{name}"] = tensor.cpu().numpy()
        return arrays | optimizer_arrays(self._optimizer)

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from where `state` was taken."""
        self.updates = int(arrays["updates"])
        for part, network in self.parts().items():
            weights = {
                name.removeprefix(f"{part}/"): torch.from_numpy(np.array(value))
                for name, value in arrays.items()
                if name.startswith(f"{part}/")
            }
            network.load_state_dict(weights)
        load_optimizer(self._optimizer, arrays)


def first_network(
    config: RoundConfig,
    kind: str,
    load: Callable[[Path], tuple[Network, Any]],
    make: Callable[[], Network],
) -> Network:
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
