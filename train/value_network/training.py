"""A training run of a value network, epoch by epoch; it can be interrupted at any time."""

import time
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from ludoteca.agents.networks.runner import Precision, Runner, faster_precision, to_tensor
from ludoteca.agents.networks.value_network import ValueNetwork
from ludoteca.agents.networks.weights import save_weights
from ludoteca.train.allocator import keep_memory
from ludoteca.train.metrics import Metrics
from ludoteca.train.optimizer import load_optimizer, optimizer_arrays
from ludoteca.train.run_folder import RunFolder, below, under
from ludoteca.train.value_network.config import Config
from ludoteca.train.value_network.data import load_data

# Settings that do not change what is learned; and those that only tell when it ends.
FREE = ("folder", "minutes", "epochs", "patience")


class Training:
    """A run; the state is saved after each epoch, and whoever goes on from there learns the same.

    Attributes:
        config: the settings.
        data: the positions.
        precision: of convolutions, `"float32"` or `"bfloat16"`.
        network: what learns.
        epoch: how many are over.
        seconds: how long that took, in all parts of the run.
        best: epoch, loss and accuracy of the best network so far.
        metrics: what was measured so far.
    """

    def __init__(self, config: Config, tensorboard: bool = True):
        """Begin a run, or go on with the one in the folder.

        Args:
            config: the settings.
            tensorboard: whether TensorBoard's files are written.

        Raises:
            FileNotFoundError: if there are no data.
            ValueError: if they are damaged, or the folder holds a run with other settings.
        """
        torch.set_num_threads(1)
        keep_memory()
        self.config, self.data = config, load_data(config)
        digest = zlib.crc32(self.data.games.actions.tobytes())
        folder = RunFolder(config.folder, config.as_dict() | {"digest": digest}, FREE)
        self._folder, state = folder, folder.load_state()
        self.precision: Precision = config.precision
        if self.precision == "auto":
            self.precision = faster_precision(config.device)
        self._device = torch.device(config.device)
        self._scale = 1 / self.data.games.game.observation_high
        torch.manual_seed(config.seed)
        moved: Any = ValueNetwork(config.network, self.data.view.shape).to(self._device)
        self.network: ValueNetwork = moved.to(memory_format=torch.channels_last)
        self._optimizer = torch.optim.Adam(self.network.parameters(), config.learning_rate)
        self.epoch, self.seconds = 0, 0.0
        self.best: dict[str, Any] = {}
        rows = []
        if state is not None:
            numbers, arrays = state
            self.epoch, self.seconds = numbers["epoch"], numbers["seconds"]
            self.best, rows = numbers["best"], numbers["rows"]
            self.precision = numbers["precision"]
            weights = below("network", arrays)
            self.network.load_state_dict({k: torch.from_numpy(v) for k, v in weights.items()})
            load_optimizer(self._optimizer, arrays)
        self.metrics = Metrics(config.folder, rows, keep_writing=tensorboard)

    @property
    def finished(self) -> bool:
        """Whether all epochs are over, or there is no hope for better ones."""
        config = self.config
        worse = self.epoch - self.best.get("epoch", self.epoch)
        return self.epoch >= config.epochs or (config.patience > 0 and worse >= config.patience)

    @property
    def positions_per_epoch(self) -> int:
        """How many positions an epoch has."""
        wanted = self.config.positions_per_epoch
        return min(wanted or len(self.data.training), len(self.data.training))

    def run(self) -> Iterator[int]:
        """Train to the end; yields, after each update, how many positions of the epoch were seen.

        At the last one, the epoch is over and saved.
        """
        config = self.config
        while not self.finished:
            begun = time.monotonic()
            # Each epoch draws from generators of its own: no state of theirs has to be kept.
            rng = np.random.default_rng([config.seed, 1 + self.epoch])
            torch.manual_seed(int(rng.integers(2**62)))
            order = rng.permutation(self.data.training)[: self.positions_per_epoch]
            losses = []
            for k in range(0, len(order), config.batch_size):
                losses.append(self._update(order[k : k + config.batch_size], rng))
                if k + config.batch_size < len(order):
                    yield k + config.batch_size
            self.epoch += 1
            found = self.validate()
            self.seconds += time.monotonic() - begun
            self.metrics.add(
                self.epoch, seconds=round(self.seconds, 1), training_loss=float(np.mean(losses)),
                validation_loss=found["loss"], validation_accuracy=found["accuracy"],
            )  # fmt: skip
            if found["loss"] < self.best.get("loss", np.inf):
                self.best = {"epoch": self.epoch, **found}
                self.save_network("best")
            self.save()
            yield len(order)

    def validate(self) -> dict[str, float]:
        """Return mean squared error and accuracy in validation, see `accuracy`."""
        targets = self.data.targets[self.data.validation]
        values = self.predict(self.network, self.data.validation)
        return {
            "loss": float(np.square(values - targets).mean()),
            "accuracy": accuracy(values, targets),
        }

    def predict(self, network: ValueNetwork, chosen: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return what a network says about some positions. Shape `[K]`."""
        runner = Runner(network, self._scale, self.config.device, self.precision)
        parts = [
            runner(self.data.planes(chosen[k : k + 4096])) for k in range(0, len(chosen), 4096)
        ]
        return np.concatenate(parts)

    def save(self) -> None:
        """Write a checkpoint, from which the run goes on exactly."""
        numbers = {
            "epoch": self.epoch,
            "seconds": self.seconds,
            "best": self.best,
            "precision": self.precision,
            "rows": self.metrics.rows,
        }
        weights = {name: one.cpu().numpy() for name, one in self.network.state_dict().items()}
        self._folder.save_state(
            numbers, under("network", weights) | optimizer_arrays(self._optimizer)
        )
        self.metrics.save()
        self.save_network("network")

    def save_network(self, name: str) -> None:
        """Write the network as it is now to `<name>.safetensors`."""
        about = {
            "game": self.data.games.game.spec,
            "network": self.config.network.as_dict(),
            "epochs": self.epoch,
        }
        path = self.config.folder / f"{name}.safetensors"
        save_weights(path, self.network.state_dict(), about)

    def _update(self, chosen: NDArray[np.int64], rng: np.random.Generator) -> float:
        """Learn from some positions; return the loss, the mean squared error."""
        planes = self.data.planes(chosen)
        if self.config.augment:
            symmetries = self.data.view.symmetries
            planes = symmetries[rng.integers(len(symmetries))].observation(planes)
        self.network.train()
        given = to_tensor(planes, self._scale, self._device, torch.float32)
        targets = torch.from_numpy(self.data.targets[chosen]).to(self._device)
        cast = self.precision == "bfloat16"
        with torch.autocast(self._device.type, torch.bfloat16, enabled=cast):
            values = self.network(given).float()
        loss = functional.mse_loss(values, targets)
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()
        return float(loss.detach())


def accuracy(values: NDArray[np.float32], targets: NDArray[np.float32]) -> float:
    """Return of how many decided games the values tell the winner; 0.5 if there are none."""
    decided = targets != 0
    if not decided.any():
        return 0.5
    return float(((values > 0) == (targets > 0))[decided].mean())
