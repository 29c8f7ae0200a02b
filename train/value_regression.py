"""Value regression: a network predicts the results of recorded games.

`python -m ludoteca.train.value_regression --data games.npz` trains a value network with Adam and
mean squared error; the defaults are those of Sancho Cebrero and Fernández Limárquez, a report on
Othello (University of Seville, 2019). An interrupted run resumes, with the same result, when the
same command is given again.
"""

import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch.nn import functional

from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.networks.value_network import (
    ValueConfig,
    ValueNetwork,
    ValueView,
    load_value_network,
)
from ludoteca.evaluate.markdown import percent
from ludoteca.train.data.dataset import GameDataset, concatenate
from ludoteca.train.data.positions import Positions, replay_positions
from ludoteca.train.data.split import validation_games
from ludoteca.train.data.storage import load_dataset
from ludoteca.train.epoch_report import ValidationReport
from ludoteca.train.epochs import SupervisedTraining
from ludoteca.train.optimizer import Optimization
from ludoteca.train.settings import SupervisedConfig
from ludoteca.train.trainable_model import TrainableModel

EVALUATION_BATCH_SIZE = 4096  # positions per batch of a validation


@dataclass(frozen=True)
class ValueRegressionConfig(SupervisedConfig):
    """Settings of value regression."""

    data: tuple[Path, ...]
    """Data set files, as written by `python -m ludoteca.train.data`: `.npz` or `.csv`."""
    run_dir: Path = Path("runs/value_regression")
    network: ValueConfig = field(default_factory=ValueConfig)
    learning_rate: float = 1e-3
    """Learning rate of Adam."""

    def __post_init__(self) -> None:
        if not self.data:
            raise ValueError("data must name at least one file, got none")
        super().__post_init__()


@dataclass(frozen=True)
class ValueRegressionData:
    """N positions, split by games into training and validation.

    Attributes:
        games: the games.
        positions: all positions of the games.
        view: encoder of the network's observations.
        targets: return of the player that the network evaluates. float32, shape `[N]`.
        training: indices of the training positions.
        validation: indices of the validation positions.
    """

    games: GameDataset
    positions: Positions
    view: ValueView
    targets: NDArray[np.float32]
    training: NDArray[np.int64]
    validation: NDArray[np.int64]

    def planes(self, indices: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the observations of positions. Shape `[K, planes, rows, columns]`."""
        players = self.positions.players[indices].astype(np.int64)
        return self.view.encode(self.positions.states[indices], players)


def load_data(config: ValueRegressionConfig) -> ValueRegressionData:
    """Load, split and replay the games.

    Raises:
        FileNotFoundError: if a file does not exist.
        ValueError: if a file is damaged, or there are too few games.
    """
    games = concatenate([load_dataset(path) for path in config.data])
    view = ValueView(games.game, config.network.view)
    if config.games is not None:
        if config.games > len(games):
            raise ValueError(
                f"games must be at most {len(games)}, the number in the data, got {config.games}"
            )
        games = games[: config.games]
    held_out = validation_games(games, config.validation_fraction, config.seed)
    positions = replay_positions(games)
    return ValueRegressionData(
        games,
        positions,
        view,
        positions.returns[:, 0] * view.signs(positions.players),  # for the evaluated player
        np.flatnonzero(~held_out[positions.games]),
        np.flatnonzero(held_out[positions.games]),
    )


class ValueRegressionTraining(SupervisedTraining):
    """Training run of value regression; see `SupervisedTraining`.

    Attributes:
        data: training and validation positions.
    """

    kind = "uctnet"
    config: ValueRegressionConfig
    learner: TrainableModel[ValueNetwork]

    def __init__(self, config: ValueRegressionConfig, tensorboard: bool = True):
        """Start a run, or resume the one in `run_dir`.

        Args:
            config: settings.
            tensorboard: whether TensorBoard's files are written.

        Raises:
            FileNotFoundError: if a data file does not exist.
            ValueError: if a data file is damaged, or `run_dir` has a run with other settings.
        """
        self.data = load_data(config)
        game = self.data.games.game
        super().__init__(config, game, zlib.crc32(self.data.games.actions.tobytes()))
        self._scale = 1 / game.observation_high
        learner = TrainableModel(
            ValueNetwork(config.network, self.data.view.shape),
            Optimization(learning_rate=config.learning_rate),
            self._scale,
            config.device,
            self.precision,
        )
        self.begin(learner, self.data.training, tensorboard)

    def validate(self) -> dict[str, float]:
        """Return mean squared error and `accuracy` on the validation positions."""
        targets = self.data.targets[self.data.validation]
        values = self.predict(self.network, self.data.validation)
        return {
            "loss": float(np.square(values - targets).mean()),
            "accuracy": accuracy(values, targets),
        }

    def predict(self, network: ValueNetwork, indices: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return a network's values of positions. float32, shape `[K]`.

        Raises:
            Stopped: if the run must stop.
        """
        runner = Runner(network, self._scale, self.config.device, self.precision)
        batches = []
        self.monitor.begin("evaluating", len(indices), "position")
        for k in range(0, len(indices), EVALUATION_BATCH_SIZE):
            batches.append(runner(self.data.planes(indices[k : k + EVALUATION_BATCH_SIZE])))
            self.monitor.step("evaluating", min(k + EVALUATION_BATCH_SIZE, len(indices)))
        return np.concatenate(batches)

    def update(
        self, indices: NDArray[np.int64], rng: np.random.Generator, rate: float
    ) -> dict[str, float]:
        """Make a gradient step on a batch; return its mean squared error.

        See `SupervisedTraining.update` for the arguments.
        """
        indices = indices[self.learner.part(len(indices))]
        planes = self.data.planes(indices)
        if self.config.augment:
            symmetries = self.data.view.symmetries
            planes = symmetries[rng.integers(len(symmetries))].observation(planes)
        self.network.train()
        with self.learner.cast():
            values = self.learner.module(self.learner.tensor(planes)).float()
        loss = functional.mse_loss(values, self.learner.to_device(self.data.targets[indices]))
        self.learner.gradient_step(loss, rate)
        return {"loss": self.learner.means(loss)[0]}


def accuracy(values: NDArray[np.float32], targets: NDArray[np.float32]) -> float:
    """Return the fraction of positions of decided games whose winner is predicted.

    Return 0.5 if no game is decided.

    Args:
        values: predicted returns. Shape `[N]`.
        targets: returns; 0: a draw. Shape `[N]`.
    """
    decided = targets != 0
    if not decided.any():
        return 0.5
    return float(((values > 0) == (targets > 0))[decided].mean())


NUM_PHASES = 6  # intervals of plies, equal parts of the longest game
HEADINGS = (
    "moves played",
    "positions",
    "mean squared error",
    "error of mean",
    "winner predicted",
)
NOTES = """`error of mean` is the mean squared error if the prediction is always the mean result of
the training games. `winner predicted` is the fraction of positions in decided games whose value has
the right sign."""


def validation_report(training: ValueRegressionTraining) -> ValidationReport:
    """Evaluate the best network of a run on its validation positions."""
    data = training.data
    game, games = training.game, len(data.games)
    network, _ = load_value_network(game, training.config.run_dir / "best.safetensors")
    validation = _by_phase(training, training.predict(network, data.validation))
    validation_games = len(np.unique(data.positions.games[data.validation]))
    return ValidationReport(
        title=f"Value network for {game.spec}",
        introduction=f"""{games:,} games, {validation_games:,} of them for validation:
{len(data.training):,} positions for training, {len(data.validation):,} for validation.""",
        data={
            "games": games,  # including those for validation
            "about": data.games.metadata,
            "training_positions": len(data.training),
            "validation_positions": len(data.validation),
            "validation_games": validation_games,
        },
        validation=validation,
        headings=HEADINGS,
        rows=_rows(validation),
        notes=NOTES,
        panels=(("mean squared error", "loss"), ("winner predicted", "accuracy")),
    )


def _by_phase(training: ValueRegressionTraining, values: Any) -> list[dict[str, Any]]:
    """Return the validation results of the network, overall and by moves played.

    Args:
        training: the run.
        values: predictions for the validation positions. float32, shape `[K]`.
    """
    data = training.data
    targets, plies = data.targets[data.validation], data.positions.plies[data.validation]
    mean = float(data.targets[data.training].mean())
    width = -(-(int(data.positions.plies.max()) + 1) // NUM_PHASES)  # plies of an interval
    groups = [("all", np.ones(len(plies), np.bool_))]
    for low in range(0, int(plies.max()) + 1, width):
        groups.append((f"{low} to {low + width - 1}", (plies >= low) & (plies < low + width)))
    return [
        {
            "moves": name,
            "positions": int(chosen.sum()),
            "loss": float(np.square(values - targets)[chosen].mean()),
            "loss_of_mean": float(np.square(mean - targets)[chosen].mean()),
            "accuracy": accuracy(values[chosen], targets[chosen]),
        }
        for name, chosen in groups
        if chosen.any()
    ]


def _rows(validation: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return the rows of the table, as texts under `HEADINGS`."""
    return [
        (
            row["moves"],
            f"{row['positions']:,}",
            f"{row['loss']:.3f}",
            f"{row['loss_of_mean']:.3f}",
            percent(row["accuracy"]),
        )
        for row in validation
    ]


def train(
    config: ValueRegressionConfig, progress: bool = False, tensorboard: bool = True
) -> Path | None:
    """Train a network and write the report.

    Args:
        config: the settings.
        progress: show a progress bar on standard error, and the results on standard output.
        tensorboard: whether TensorBoard's files are written.

    Returns:
        File of the best network, or None if the time limit came first.
    """
    from ludoteca.train.command import train_epochs

    results = train_epochs(
        ValueRegressionTraining(config, tensorboard), validation_report, progress
    )
    return None if results is None else config.run_dir / "best.safetensors"


if __name__ == "__main__":
    import tyro

    # Imported: the classes of `__main__` are not those of the module that others import.
    from ludoteca.train import value_regression
    from ludoteca.train.command import run_command

    NAME = "ludoteca.train.value_regression"
    settings = value_regression.ValueRegressionConfig
    run_command(
        NAME,
        lambda: value_regression.train(
            tyro.cli(settings, prog=f"python -m {NAME}", description=__doc__), progress=True
        ),
    )
