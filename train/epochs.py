"""Training loop of supervised learning: epochs over a data set, validation, checkpoints."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from ludoteca.divergence import DivergedError
from ludoteca.envs.game import Game
from ludoteca.train.allocator import disable_memory_trimming
from ludoteca.train.checkpoint import Weights, as_arrays, copy_weights, write_if_changed
from ludoteca.train.distributed import ranks
from ludoteca.train.metrics import Metrics
from ludoteca.train.monitor import Monitor, Stopped
from ludoteca.train.precision import run_precision
from ludoteca.train.run_directory import Arrays, RunDirectory, with_prefix, without_prefix
from ludoteca.train.settings import SupervisedConfig
from ludoteca.train.torch_random import TorchStream
from ludoteca.train.trainable_model import TrainableModel

# Settings that may differ when a run resumes. They have no effect on updates, except that an
# extended run follows the learning rate schedule of the longer run.
MUTABLE_SETTINGS = ("run_dir", "minutes", "epochs", "patience")
SAVE_SECONDS = 120.0  # seconds between checkpoints within an epoch


class SupervisedTraining(ABC):
    """Supervised training run that can be interrupted at any time.

    Checkpoints are written after each epoch, and every `SAVE_SECONDS` between updates: a run that
    resumes from one learns the same, bit for bit.

    A run that is resumed consists of several parts, one per process. A subclass makes its network
    in its constructor, with PyTorch's generator seeded, and then calls `begin`.

    Attributes:
        config: settings.
        game: the game.
        precision: numeric precision of convolutions, `"float32"` or `"bfloat16"`.
        learner: network and optimizer.
        training: indices of the training positions in the data set.
        epoch: number of finished epochs.
        epoch_positions: number of positions of the current epoch learned from so far.
        positions: number of positions learned from in this part of the run.
        seconds: wall time of the run, all parts included.
        best: epoch and validation results of the best network so far.
        metrics: rows of metrics so far.
        kind: name of the agent that plays the network, such as `"cnn"`.
        monitor: receives the progress, and can stop the run.
        begun: start of this part of the run, by `time.monotonic()`.
        saved: number of finished epochs at the last checkpoint, or None if there is none.
        validation_seconds: duration of the longest validation in this part of the run.
    """

    kind: ClassVar[str]
    config: SupervisedConfig
    learner: TrainableModel[Any]
    training: NDArray[np.int64]
    metrics: Metrics

    def __init__(self, config: SupervisedConfig, game: Game, digest: int):
        """Begin a run, or resume the one in `run_dir`.

        Args:
            config: the settings.
            game: the game.
            digest: checksum of the data; a run resumes only with the same data.

        Raises:
            ValueError: if `run_dir` holds a run with other settings.
        """
        self.begun = time.monotonic()
        self._ranks = ranks()
        torch.set_num_threads(1)  # the rounding of results depends on this number
        disable_memory_trimming()
        self.config, self.game = config, game
        self._folder = RunDirectory(
            config.run_dir, config.as_dict() | {"digest": digest}, MUTABLE_SETTINGS
        )
        self._state = self._folder.load_state()
        self.precision = run_precision(config, self._folder, self._state)
        self.monitor = Monitor()
        self.monitor.phase = "learning"
        self.epoch = self.epoch_positions = self.positions = 0
        self.seconds = self.validation_seconds = 0.0
        self.saved: int | None = None
        self.best: dict[str, Any] = {}
        self._best_weights: Weights = {}
        self._best_updates = 0
        self._losses: list[dict[str, float]] = []  # losses of the current epoch
        self._rng_state: Any = None  # generator of the current epoch; None: not started
        self._dropout = TorchStream(config.device)
        torch.manual_seed(config.seed)

    def begin(
        self, learner: TrainableModel[Any], training: NDArray[np.int64], tensorboard: bool = True
    ) -> None:
        """Restore the state of a run that resumes, and open the metrics.

        Args:
            learner: learner with the initial network.
            training: indices of the training positions.
            tensorboard: whether TensorBoard files are written.
        """
        self.learner, self.training = learner, training
        rows = []
        if self._state is not None:
            with self._folder.restoring():
                rows = self._restore(*self._state)
            self._state = None
        self._folder.claim()
        self.metrics = Metrics(
            self.config.run_dir, rows, tensorboard=tensorboard, settings=self.config.as_dict()
        )
        if self.saved is not None:
            self._write_derived()

    def _restore(self, numbers: dict[str, Any], arrays: Arrays) -> list[Any]:
        """Restore a checkpoint; return its rows of metrics."""
        self.epoch, self.seconds = numbers["epoch"], numbers["seconds"]
        self.best, self._best_updates = numbers["best"], numbers.get("best_updates", 0)
        self.epoch_positions, self._losses = numbers.get("seen", 0), numbers.get("losses", [])
        self._rng_state = numbers.get("drawn")
        self._dropout.restore(without_prefix("dropout", arrays))
        best = without_prefix("best", arrays)
        self._best_weights = {name: torch.from_numpy(array) for name, array in best.items()}
        self.learner.restore(without_prefix("learner", arrays))
        self.saved = self.epoch
        rows: list[Any] = numbers["rows"]
        return rows

    @abstractmethod
    def update(
        self, indices: NDArray[np.int64], rng: np.random.Generator, rate: float
    ) -> dict[str, float]:
        """Make an update from some positions with a learning rate; return losses by name.

        Args:
            indices: indices of the positions, some of `training`.
            rng: random stream of the epoch.
            rate: learning rate.
        """

    @abstractmethod
    def validate(self) -> dict[str, float]:
        """Return validation results of the network, among them `"loss"` and `"accuracy"`."""

    def learning_rate_at(self, fraction: float) -> float:
        """Return the learning rate after a fraction of the current epoch."""
        return self.config.learning_rate

    @property
    def network(self) -> Any:
        """Network that is trained; `config.network` describes its architecture."""
        return self.learner.network

    @property
    def finished(self) -> bool:
        """Whether all epochs are finished, or early stopping applies."""
        config = self.config
        epochs_since_best = self.epoch - self.best.get("epoch", self.epoch)
        stops_early = 0 < config.patience <= epochs_since_best
        return self.epoch >= config.epochs or stops_early

    @property
    def positions_per_epoch(self) -> int:
        """Number of positions of an epoch."""
        return min(self.config.positions_per_epoch or len(self.training), len(self.training))

    @property
    def progress(self) -> float:
        """Number of epochs so far, including the fraction of the current one."""
        return self.epoch + self.epoch_positions / max(self.positions_per_epoch, 1)

    @property
    def learned(self) -> bool:
        """Whether any update was made."""
        return self.learner.updates > 0

    def run(self) -> Iterator[int]:
        """Train to the end; yield the number of positions learned from in the epoch, per update.

        The run is saved after each epoch. Training ends earlier if `monitor` is asked to stop: a
        call of `save` then keeps everything, the updates of the current epoch included.

        Raises:
            DivergedError: if the validation loss is not finite.
        """
        try:
            while not self.finished:
                yield from self._run_epoch()
        except Stopped:
            return

    def _run_epoch(self) -> Iterator[int]:
        """Learn from the remaining positions of the epoch, and validate.

        Raises:
            Stopped: if the run is to stop.
        """
        size, monitor = self.config.batch_size, self.monitor
        seconds_before, start, saved = self.seconds, time.monotonic(), time.monotonic()
        # Each epoch has its own random generators.
        rng = np.random.default_rng([self.config.seed, 1 + self.epoch])
        seed = int(rng.integers(2**62))
        order = rng.permutation(self.training)[: self.positions_per_epoch]
        if self._rng_state is None:
            self._dropout.seed(seed)
        else:
            rng.bit_generator.state = self._rng_state
        monitor.phase = "learning"
        monitor.begin("learning", -(-len(order) // size), "update")
        try:
            while self.epoch_positions < len(order):
                self._ranks.check(monitor)
                indices = order[self.epoch_positions : self.epoch_positions + size]
                with self._dropout.drawing():
                    losses = self.update(
                        indices, rng, self.learning_rate_at(self.epoch_positions / len(order))
                    )
                self._losses.append(losses)
                self._rng_state = rng.bit_generator.state
                self.epoch_positions += len(indices)
                self.positions += len(indices)
                monitor.phases["learning"].steps += 1
                monitor.phases["learning"].done = -(-self.epoch_positions // size)
                self.seconds = seconds_before + time.monotonic() - start
                if self.epoch_positions < len(order):
                    if time.monotonic() - saved > SAVE_SECONDS:
                        self.save()
                        saved = time.monotonic()
                    yield self.epoch_positions
            validation = self._ranks.broadcast(self._validate)
        finally:
            self.seconds = seconds_before + time.monotonic() - start
        last_update = max(len(order) - 1, 0) // size * size  # first position of the last minibatch
        self._close_epoch(validation, self.learning_rate_at(last_update / len(order)))
        yield len(order)

    def _validate(self) -> dict[str, float]:
        """Return validation results of the network.

        Raises:
            Stopped: if the run is to stop, or there is not enough time.
            DivergedError: if the validation loss is not finite.
        """
        monitor, start = self.monitor, time.monotonic()
        if self.validation_seconds > monitor.seconds_left:
            raise Stopped
        monitor.phase = "evaluating"
        validation = self.validate()
        self.validation_seconds = max(self.validation_seconds, time.monotonic() - start)
        if not np.isfinite(validation["loss"]):
            raise DivergedError(
                f"the validation loss is {validation['loss']} after epoch {self.epoch + 1}: "
                f"learning_rate={self.config.learning_rate:g} is too high for these data"
            )
        return validation

    def _close_epoch(self, validation: dict[str, float], rate: float) -> None:
        """Add the metrics of an epoch, and save.

        Args:
            validation: validation results, by name.
            rate: learning rate of the last update.
        """
        losses = self._losses
        means = {
            name: float(np.mean([update_losses[name] for update_losses in losses]))
            for name in losses[0]
        }
        self.epoch += 1
        self.epoch_positions, self._losses, self._rng_state = 0, [], None
        self.metrics.add(
            self.epoch,
            seconds=round(self.seconds, 1),
            learning_rate=rate,
            **{f"training_{name}": loss for name, loss in means.items()},
            **{f"validation_{name}": value for name, value in validation.items()},
        )
        if validation["loss"] < self.best.get("loss", np.inf):
            self.best = {"epoch": self.epoch, **validation}
            self._best_weights, self._best_updates = (
                copy_weights(self.network),
                self.learner.updates,
            )
        self.save()

    def save(self) -> None:
        """Write a checkpoint, from which the run resumes exactly.

        `state.npz` holds everything, and is written first and atomically. The other files derive
        from it: those that are missing or out of date are written when the run resumes.
        """
        numbers = {
            "epoch": self.epoch,
            "seen": self.epoch_positions,
            "losses": self._losses,
            "drawn": self._rng_state,
            "seconds": self.seconds,
            "best": self.best,
            "best_updates": self._best_updates,
            "precision": self.precision,
            "rows": self.metrics.rows,
        }
        arrays = with_prefix("learner", self.learner.state())
        arrays |= with_prefix("best", as_arrays(self._best_weights))
        arrays |= with_prefix("dropout", self._dropout.state())
        self._folder.save_state(numbers, arrays)
        self.saved = self.epoch
        self._write_derived()

    @property
    def selected(self) -> dict[str, Any]:
        """Description of the network in `best.safetensors`: the best or, without one, the last."""
        return self.best or {"epoch": round(self.progress, 3)}

    def _write_derived(self) -> None:
        """Write the files that derive from the state, if they are missing or out of date."""
        if not self._ranks.is_main_process:
            return
        folder, weights = self.config.run_dir, copy_weights(self.network)
        metadata = {
            "game": self.game.spec,
            "network": self.config.network.as_dict(),
            "epochs": self.epoch,
            "updates": self.learner.updates,
        }
        write_if_changed(folder / "network.safetensors", weights, metadata)
        if self._best_weights:
            metadata |= {"epochs": self.best["epoch"], "updates": self._best_updates}
            write_if_changed(folder / "best.safetensors", self._best_weights, metadata)
        elif not self.best:
            write_if_changed(folder / "best.safetensors", weights, metadata)
        self.metrics.save()
