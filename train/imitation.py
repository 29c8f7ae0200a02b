"""Imitation learning (behavioral cloning) of recorded moves in simultaneous games.

`python -m ludoteca.train.imitation --data games.npz` learns moves and game results. The agent
`cnn:RUN_DIR` plays the network, `ac:RUN_DIR` plays it with a search, and `python -m
ludoteca.train.ppo --start-from RUN_DIR` continues training by reinforcement learning.
Preset `uib2021` builds and trains the network of Martín Miralles, "Hungry Geese" (UIB, 2021),
section 2.4. An interrupted run resumes, with the same result, when the same command is given again.
"""

import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from ludoteca.agents.networks.ac_network import ACConfig, ACNetwork, make_ac_network
from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.envs.game import ActionArray
from ludoteca.envs.params import check_choice, check_integer, check_real
from ludoteca.train.augmentation import Augmentation
from ludoteca.train.data.dataset import GameDataset, concatenate
from ludoteca.train.data.observations import Observations, observations_class
from ludoteca.train.data.positions import iterate_positions
from ludoteca.train.data.split import validation_games
from ludoteca.train.data.storage import load_dataset
from ludoteca.train.epochs import SupervisedTraining
from ludoteca.train.optimizer import Optimization, learning_rate, plateau_rate
from ludoteca.train.settings import SupervisedConfig
from ludoteca.train.trainable_model import TrainableModel

NAME = "ludoteca.train.imitation"


@dataclass(frozen=True)
class ImitationConfig(SupervisedConfig):
    """Settings of imitation learning. A position is a sample for each player to imitate."""

    data: tuple[Path, ...] = ()
    """Data set files, as written by `python -m ludoteca.train.data`: `.npz`."""
    run_dir: Path = Path("runs/imitation")
    agents: tuple[str, ...] = ()
    """Imitate only moves of these agents, by name. Without `agents` and `rating_range`: the moves
    of the players that the files mark as `selected`."""
    rating_range: tuple[float, float] | None = None
    """Imitate only moves of agents with a rating in this interval: lowest, highest."""
    games: int | None = None
    """Number of games to use: the first ones with moves to imitate; None: all."""
    validation_fraction: float = 0.2

    network: ACConfig = field(default_factory=ACConfig)
    vf_coef: float = 1.0
    """Coefficient of the value loss, if the network has a value head: mean squared error of the
    game's result for the player. That of the policy loss (cross-entropy) is 1."""
    patience: int = 0
    batch_size: int = 512

    optimizer: Literal["adam", "sgd"] = "adam"
    """`adam`: Adam with decoupled weight decay (AdamW). `sgd`: SGD with momentum."""
    lr_schedule: Literal["cosine", "plateau"] = "cosine"
    """Learning rate schedule. `cosine`: cosine decay over all epochs. `plateau`: decay when the
    validation loss stops improving (as Keras' ReduceLROnPlateau)."""
    final_learning_rate: float = 1e-5
    """Cosine: final learning rate. Plateau: lower bound."""
    plateau_factor: float = 0.3
    """Plateau: factor of each decay."""
    plateau_patience: int = 5
    """Plateau: epochs without a lower validation loss before a decay."""
    momentum: float = 0.9
    """Momentum of SGD."""
    weight_decay: float = 1e-4
    """Weight decay coefficient."""
    max_grad_norm: float = 1.0
    """Maximum gradient norm (gradient clipping); 0: no clipping."""
    augment: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer("plateau_patience", self.plateau_patience, 1, 10**9)
        for name in ("final_learning_rate", "weight_decay", "max_grad_norm", "vf_coef"):
            check_real(name, getattr(self, name), 0, 1e9)
        for name in ("plateau_factor", "momentum"):
            check_real(name, getattr(self, name), 0, 1)
        check_choice("optimizer", self.optimizer, ("adam", "sgd"))
        check_choice("lr_schedule", self.lr_schedule, ("cosine", "plateau"))
        if self.rating_range is not None and not self.rating_range[0] <= self.rating_range[1]:
            raise ValueError(f"rating_range must be (lowest, highest), got {self.rating_range}")


@dataclass(frozen=True)
class ImitationData:
    """S state-action samples, split by games into training and validation.

    Attributes:
        games: games for training and for validation: those with selected players, whose moves are
            imitated.
        files: file name, number of games and metadata of each file, JSON-serializable.
        encoder: encoder of the network's observations.
        observations: observation of each sample.
        actions: the player's action. `Game.action_dtype`, shape `[S]`.
        returns: the player's return, in [-1, 1]. float32, shape `[S]`.
        game_indices: index of the sample's game in `games`. int32, shape `[S]`.
        agents: the player's agent, as an index into `games.agent_names`. int32, shape `[S]`.
        training: indices of the training samples.
        validation: indices of the validation samples.
    """

    games: GameDataset
    files: list[dict[str, Any]]
    encoder: SeatEncoder
    observations: Observations
    actions: ActionArray
    returns: NDArray[np.float32]
    game_indices: NDArray[np.int32]
    agents: NDArray[np.int32]
    training: NDArray[np.int64]
    validation: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def digest(self) -> int:
        """Checksum of the games and the selected players."""
        digest = 0
        for name in ("actions", "lengths", "seeds", "chance_outcomes", "agents", "selected"):
            digest = zlib.crc32(getattr(self.games, name).tobytes(), digest)
        return digest


def load_data(config: ImitationConfig) -> ImitationData:
    """Load, select, split and replay the games.

    Raises:
        FileNotFoundError: if a file does not exist.
        ValueError: if a file is damaged, the files are of different games, or too few games are
            selected.
    """
    games, files = _select_games(config)
    encoder = SeatEncoder(games.game, config.network.view)
    storage = observations_class(encoder)
    parts, observations = [], []
    for positions in iterate_positions(games):
        samples = positions.samples()
        samples = samples[samples.selected]
        observations.append(storage.of(encoder, samples))
        parts.append((samples.actions, samples.returns, samples.games, samples.agents))
    actions, returns, game_indices, agents = (
        np.concatenate(arrays) for arrays in zip(*parts, strict=True)
    )
    held_out = validation_games(games, config.validation_fraction, config.seed)[game_indices]
    if held_out.all() or not held_out.any():
        raise ValueError(
            f"imitation needs samples for training and for validation, got {(~held_out).sum()} and "
            f"{held_out.sum()} from {len(games)} games with "
            f"validation_fraction={config.validation_fraction}"
        )
    return ImitationData(
        games,
        files,
        encoder,
        storage.concatenate(observations),
        actions,
        returns,
        game_indices,
        agents,
        np.flatnonzero(~held_out),
        np.flatnonzero(held_out),
    )


def _select_games(config: ImitationConfig) -> tuple[GameDataset, list[dict[str, Any]]]:
    """Return the games with selected players, and the description of each file."""
    if not config.data:
        raise ValueError("data must name at least one file, got none")
    datasets = [load_dataset(path) for path in config.data]
    files = [
        {"file": path.name, "games": len(dataset), "about": dataset.metadata}
        for path, dataset in zip(config.data, datasets, strict=True)
    ]
    games = concatenate(datasets)
    if config.agents or config.rating_range is not None:
        games = games.select_agents(config.agents, config.rating_range)
    has_selected = np.asarray(games.selected.any(axis=1))
    games = games[has_selected]
    if len(games) < 2:
        raise ValueError(
            f"imitation needs at least two games with selected players, got {len(games)}"
        )
    if config.games is not None:
        if config.games > len(games):
            raise ValueError(
                f"games must be at most {len(games)}, the number with selected players, got "
                f"{config.games}"
            )
        games = games[: config.games]
    return games, files


EVALUATION_BATCH_SIZE = 4096  # samples per batch of a validation


class ImitationTraining(SupervisedTraining):
    """Training run of imitation learning; see `SupervisedTraining`.

    Attributes:
        data: the samples for training and those for validation, of all games; see `ImitationData`.
    """

    kind = "cnn"
    config: ImitationConfig
    learner: TrainableModel[ACNetwork]

    def __init__(self, config: ImitationConfig, tensorboard: bool = True):
        """Start a run, or resume the one in `run_dir`.

        Args:
            config: settings.
            tensorboard: whether TensorBoard files are written.

        Raises:
            FileNotFoundError: if a data file does not exist.
            ValueError: if a data file is damaged, too few samples are selected, or `run_dir` has a
                run with other settings.
        """
        self.data = load_data(config)
        encoder = self.data.encoder
        super().__init__(config, encoder.game, self.data.digest)
        self._augmentation = Augmentation(encoder.symmetries, encoder.shape[0])
        learner = TrainableModel(
            make_ac_network(config.network, encoder.game),
            Optimization(
                config.optimizer,
                config.learning_rate,
                config.momentum,
                config.weight_decay,
                config.max_grad_norm,
            ),
            encoder.scale,
            config.device,
            self.precision,
        )
        self.begin(learner, self.data.training, tensorboard)

    def learning_rate_at(self, fraction: float) -> float:
        """Return the learning rate after a fraction of the current epoch."""
        config = self.config
        initial, final = config.learning_rate, config.final_learning_rate
        if config.lr_schedule == "cosine":
            return learning_rate(initial, final, (self.epoch + fraction) / config.epochs)
        # No loss is None: each epoch ends with a validation.
        losses = [float(row["validation_loss"] or 0) for row in self.metrics.rows]
        return plateau_rate(losses, initial, final, config.plateau_factor, config.plateau_patience)

    def update(
        self, indices: NDArray[np.int64], rng: np.random.Generator, rate: float
    ) -> dict[str, float]:
        """Make a gradient step on a batch; return its cross-entropy and value loss.

        Args:
            indices: indices of the batch's samples.
            rng: random stream of the epoch.
            rate: learning rate.
        """
        data, config, learner = self.data, self.config, self.learner
        # In data-parallel training each rank learns from its part of the batch. All ranks sample
        # the symmetries of the whole batch, so that their random streams stay the same.
        size, part = len(indices), learner.part(len(indices))
        indices = indices[part]
        planes, _ = data.observations.encode(indices)
        actions = data.actions[indices].astype(np.int64)
        if config.augment:
            symmetries = self._augmentation.sample(size, rng)[part]
            planes = self._augmentation.observations(planes, symmetries)
            actions = self._augmentation.actions[symmetries, actions]
        self.network.train()
        with learner.cast():
            outputs = learner.module(learner.tensor(planes)).float()
        logits = outputs[:, : self.game.num_actions]
        loss = functional.cross_entropy(logits, learner.to_device(actions))
        losses, total = {"loss": loss}, loss
        if config.network.value:
            returns = learner.to_device(data.returns[indices])
            losses["value_loss"] = functional.mse_loss(outputs[:, -1], returns)
            total = loss + config.vf_coef * losses["value_loss"]
        learner.gradient_step(total, rate)
        return dict(zip(losses, learner.means(*losses.values()), strict=True))

    def validate(self) -> dict[str, float]:
        """Return the mean of each entry of `evaluate` over the validation samples."""
        measures = self.evaluate(self.network, self.data.validation)
        return {name: float(values.mean()) for name, values in measures.items()}

    def evaluate(
        self, network: ACNetwork, indices: NDArray[np.int64]
    ) -> dict[str, NDArray[np.float64]]:
        """Compute loss and accuracy of a network on samples.

        Args:
            network: the network.
            indices: indices of the samples. Shape `[K]`.

        Returns:
            Arrays of shape `[K]`. `loss`: cross-entropy; `accuracy`: 1 where the most probable
            legal action is the sample's, else 0; `value_loss`: squared error of the value, if the
            network has a value head.

        Raises:
            Stopped: if the run must stop.
        """
        data, num_actions = self.data, self.game.num_actions
        runner = Runner(network, data.encoder.scale, self.config.device, self.precision)
        batches, greedy_actions = [], []
        self.monitor.begin("evaluating", len(indices), "position")
        for k in range(0, len(indices), EVALUATION_BATCH_SIZE):
            planes, masks = data.observations.encode(indices[k : k + EVALUATION_BATCH_SIZE])
            batches.append(runner(planes).astype(np.float64))
            self.monitor.step("evaluating", min(k + EVALUATION_BATCH_SIZE, len(indices)))
            legal_logits = np.where(masks > 0, batches[-1][:, :num_actions], -np.inf)
            greedy_actions.append(legal_logits.argmax(1))
        outputs, actions = np.concatenate(batches), data.actions[indices].astype(np.int64)
        losses = functional.cross_entropy(
            torch.from_numpy(outputs[:, :num_actions]), torch.from_numpy(actions), reduction="none"
        )
        measures: dict[str, NDArray[np.float64]] = {
            "loss": losses.numpy(),
            "accuracy": (np.concatenate(greedy_actions) == actions).astype(np.float64),
        }
        if network.config.value:
            measures["value_loss"] = np.square(outputs[:, -1] - data.returns[indices])
        return measures


def main(config: ImitationConfig, progress: bool = True) -> dict[str, Any] | None:
    """Train a network and write the report.

    Args:
        config: the settings.
        progress: show a progress bar on standard error, and the results on standard output.

    Returns:
        Contents of `results.json`, or None if the time limit came first.
    """
    from ludoteca.train.command import train_epochs
    from ludoteca.train.imitation_report import validation_report

    return train_epochs(ImitationTraining(config), validation_report, progress)


def parse(arguments: Sequence[str]) -> ImitationConfig:
    """Parse a command line: an optional preset, and changed settings."""
    from ludoteca.train.command import parse_preset
    from ludoteca.train.paper_presets import load_presets

    default = ImitationConfig()
    presets = {"default": ("AdamW, cosine schedule, policy and value head", default)}
    presets |= load_presets("imitation", default)
    config: ImitationConfig = parse_preset(NAME, __doc__, presets, arguments)
    return config


if __name__ == "__main__":
    # Imported: the classes of `__main__` are not those of the module that others import.
    from ludoteca.train import imitation
    from ludoteca.train.command import run_command

    run_command(NAME, lambda: imitation.main(imitation.parse(sys.argv[1:])))
