"""The loop of training in epochs: learn from all data, validate, and never lose any of it."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ludoteca.agents.networks.runner import Precision, faster_precision
from ludoteca.agents.networks.weights import save_weights
from ludoteca.envs.game import Game
from ludoteca.train.allocator import keep_memory
from ludoteca.train.descent import Descent
from ludoteca.train.metrics import Metrics
from ludoteca.train.run_folder import RunFolder, below, under
from ludoteca.train.settings import EpochConfig

# Settings that do not change what is learned; and those that tell when it ends: a run can be made
# longer, with learning rates from then on as if it had been so from the start.
FREE = ("folder", "minutes", "epochs", "patience")


class EpochTraining(ABC):
    """A training run in epochs, which can be interrupted at any time.

    The state is saved after each epoch, and whoever goes on from there learns bit for bit the same.

    A subclass prepares itself in its constructor: PyTorch's generator is seeded for the network
    that it makes. Then it calls `begin`.

    Attributes:
        config: the settings.
        game: the game.
        precision: of convolutions, `"float32"` or `"bfloat16"`.
        learner: the network that learns, and how.
        training: what it learns from, as indices.
        epoch: how many are over.
        seconds: how long that took, in all parts of the run.
        best: epoch of the best network so far, and what `validate` said about it.
        metrics: what was measured so far.
    """

    config: EpochConfig
    learner: Descent[Any]
    training: NDArray[np.int64]
    metrics: Metrics

    def __init__(self, config: EpochConfig, game: Game, digest: int):
        """Begin a run, or go on with the one in the folder.

        Args:
            config: the settings.
            game: the game.
            digest: of the data; a run goes on with the same ones only.

        Raises:
            ValueError: if the folder holds a run with other settings.
        """
        torch.set_num_threads(1)
        keep_memory()
        self.config, self.game = config, game
        self._folder = RunFolder(config.folder, config.as_dict() | {"digest": digest}, FREE)
        self._state = self._folder.load_state()
        # The precision that was faster when the run began is kept.
        self.precision: Precision = self._state[0]["precision"] if self._state else config.precision
        if self.precision == "auto":
            self.precision = faster_precision(config.device)
        self.epoch, self.seconds = 0, 0.0
        self.best: dict[str, Any] = {}
        torch.manual_seed(config.seed)

    def begin(
        self, learner: Descent[Any], training: NDArray[np.int64], tensorboard: bool = True
    ) -> None:
        """Restore the state of a run that goes on, and open the metrics.

        Args:
            learner: with the network as it was made.
            training: what it learns from, as indices.
            tensorboard: whether TensorBoard's files are written.
        """
        self.learner, self.training = learner, training
        rows = []
        if self._state is not None:
            numbers, arrays = self._state
            self._state = None
            self.epoch, self.seconds = numbers["epoch"], numbers["seconds"]
            self.best, rows = numbers["best"], numbers["rows"]
            learner.restore(below("learner", arrays))
        self._folder.claim()
        self.metrics = Metrics(self.config.folder, rows, keep_writing=tensorboard)

    @abstractmethod
    def update(
        self, chosen: NDArray[np.int64], rng: np.random.Generator, rate: float
    ) -> dict[str, float]:
        """Learn from some of `training`, with a learning rate; return losses by name."""

    @abstractmethod
    def validate(self) -> dict[str, float]:
        """Return how good the network is in validation, among others its `"loss"`."""

    def rate(self, share: float) -> float:
        """Return the learning rate when a share of the present epoch is over."""
        return self.config.learning_rate

    @property
    def network(self) -> Any:
        """What learns; `config.network` tells how it is built."""
        return self.learner.network

    @property
    def finished(self) -> bool:
        """Whether all epochs are over, or there is no hope for better ones."""
        config = self.config
        worse = self.epoch - self.best.get("epoch", self.epoch)
        return self.epoch >= config.epochs or (config.patience > 0 and worse >= config.patience)

    @property
    def positions_per_epoch(self) -> int:
        """How many positions an epoch has."""
        return min(self.config.positions_per_epoch or len(self.training), len(self.training))

    def run(self) -> Iterator[int]:
        """Train to the end; yields, after each update, how many positions of the epoch were seen.

        At the last one, the epoch is over and saved.

        Raises:
            ValueError: if the network has lost its way: its loss is no number any more.
        """
        size = self.config.batch_size
        while not self.finished:
            begun = time.monotonic()
            # Each epoch draws from generators of its own: no state of theirs has to be kept.
            rng = np.random.default_rng([self.config.seed, 1 + self.epoch])
            torch.manual_seed(int(rng.integers(2**62)))
            order = rng.permutation(self.training)[: self.positions_per_epoch]
            losses = []
            for k in range(0, len(order), size):
                rate = self.rate(k / len(order))
                losses.append(self.update(order[k : k + size], rng, rate))
                if k + size < len(order):
                    yield k + size
            self.epoch += 1
            found = self.validate()
            if not np.isfinite(found["loss"]):
                raise ValueError(
                    f"the loss in validation is {found['loss']} after epoch {self.epoch}: "
                    f"learning_rate={self.config.learning_rate:g} is too high for these data"
                )
            self.seconds += time.monotonic() - begun
            means = {name: float(np.mean([one[name] for one in losses])) for name in losses[0]}
            self.metrics.add(
                self.epoch,
                seconds=round(self.seconds, 1),
                learning_rate=rate,
                **{f"training_{name}": loss for name, loss in means.items()},
                **{f"validation_{name}": value for name, value in found.items()},
            )
            if found["loss"] < self.best.get("loss", np.inf):
                self.best = {"epoch": self.epoch, **found}
                self.save_network("best")
            self.save()
            yield len(order)

    def save(self) -> None:
        """Write a checkpoint, from which the run goes on exactly."""
        numbers = {
            "epoch": self.epoch,
            "seconds": self.seconds,
            "best": self.best,
            "precision": self.precision,
            "rows": self.metrics.rows,
        }
        self._folder.save_state(numbers, under("learner", self.learner.state()))
        self.metrics.save()
        self.save_network("network")

    def save_network(self, name: str) -> None:
        """Write the network as it is now to `<name>.safetensors`."""
        about = {
            "game": self.game.spec,
            "network": self.config.network.as_dict(),
            "epochs": self.epoch,
        }
        path = self.config.folder / f"{name}.safetensors"
        save_weights(path, self.network.state_dict(), about)
