"""A training run that learns moves, epoch by epoch; it can be interrupted at any time."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from ludoteca.agents.networks.ac_network import ACNetwork, make_ac_network
from ludoteca.agents.networks.runner import Runner
from ludoteca.train.augmentation import Augmentation
from ludoteca.train.epochs import SupervisedTraining
from ludoteca.train.imitation.config import ImitationConfig
from ludoteca.train.imitation.data import load_data
from ludoteca.train.optimizer import Optimization, learning_rate, plateau_rate
from ludoteca.train.trainable_model import TrainableModel

TOGETHER = 4096  # positions that are encoded at once in validation


class ImitationTraining(SupervisedTraining):
    """A run; see `SupervisedTraining`.

    Attributes:
        data: the moves.
    """

    kind = "cnn"
    config: ImitationConfig
    learner: TrainableModel[ACNetwork]

    def __init__(self, config: ImitationConfig, tensorboard: bool = True):
        """Begin a run, or resume the one in `run_dir`.

        Args:
            config: the settings.
            tensorboard: whether TensorBoard's files are written.

        Raises:
            FileNotFoundError: if there are no data.
            ValueError: if they are damaged, none of them are to be learned, or the folder holds a
                run with other settings.
        """
        self.data = load_data(config)
        encoder = self.data.encoder
        super().__init__(config, encoder.game, self.data.digest)
        self._augmentation = Augmentation(encoder.symmetries, encoder.shape[0])
        kind, rate, decay = config.optimizer, config.learning_rate, config.weight_decay
        learner = TrainableModel(
            make_ac_network(config.network, encoder.game),
            Optimization(kind, rate, config.momentum, decay, config.max_grad_norm),
            encoder.scale,
            config.device,
            self.precision,
        )
        self.begin(learner, self.data.training, tensorboard)

    def rate(self, share: float) -> float:
        """Return the learning rate when a share of the present epoch is over."""
        config = self.config
        first, last = config.learning_rate, config.final_learning_rate
        if config.lr_schedule == "cosine":
            return learning_rate(first, last, (self.epoch + share) / config.epochs)
        losses = [float(row["validation_loss"] or 0) for row in self.metrics.rows]
        return plateau_rate(losses, first, last, config.plateau_factor, config.plateau_patience)

    def update(
        self, chosen: NDArray[np.int64], rng: np.random.Generator, rate: float
    ) -> dict[str, float]:
        """Learn some moves; return the losses: cross-entropy, and error of the value."""
        data, config, learner = self.data, self.config, self.learner
        size, mine = len(chosen), learner.part(len(chosen))
        chosen = chosen[mine]
        planes, _ = data.observations.encode(chosen)
        actions = data.actions[chosen].astype(np.int64)
        if config.augment:
            which = self._augmentation.sample(size, rng)[mine]
            planes = self._augmentation.observations(planes, which)
            actions = self._augmentation.actions[which, actions]
        self.network.train()
        with learner.cast():
            outputs = learner.trained(learner.tensor(planes)).float()
        logits = outputs[:, : self.game.num_actions]
        loss = functional.cross_entropy(logits, learner.given(actions))
        losses, total = {"loss": loss}, loss
        if config.network.value:
            errors = functional.mse_loss(outputs[:, -1], learner.given(data.returns[chosen]))
            losses["value_loss"] = errors
            total = loss + config.vf_coef * errors
        learner.gradient_step(total, rate)
        return dict(zip(losses, learner.means(*losses.values()), strict=True))

    def validate(self) -> dict[str, float]:
        """Return the mean of each measure of `evaluate` over the validation moves."""
        measures = self.evaluate(self.network, self.data.validation)
        return {name: float(values.mean()) for name, values in measures.items()}

    def evaluate(
        self, network: ACNetwork, chosen: NDArray[np.int64]
    ) -> dict[str, NDArray[np.float64]]:
        """Return how well a network knows some moves. Each of shape `[K]`.

        Returns:
            `accuracy`: 1 where the network would play the move, 0 elsewhere; `loss`: cross-entropy;
            and if the network has a value, `value_loss`, its squared error.

        Raises:
            Stopped: if the run is to stop.
        """
        data, num_actions = self.data, self.game.num_actions
        runner = Runner(network, data.encoder.scale, self.config.device, self.precision)
        said, played = [], []
        self.monitor.begin("evaluating", len(chosen), "position")
        for k in range(0, len(chosen), TOGETHER):
            planes, masks = data.observations.encode(chosen[k : k + TOGETHER])
            said.append(runner(planes).astype(np.float64))
            self.monitor.step("evaluating", min(k + TOGETHER, len(chosen)))
            allowed = np.where(masks > 0, said[-1][:, :num_actions], -np.inf)
            played.append(allowed.argmax(1))
        outputs, actions = np.concatenate(said), data.actions[chosen].astype(np.int64)
        losses = functional.cross_entropy(
            torch.from_numpy(outputs[:, :num_actions]), torch.from_numpy(actions), reduction="none"
        )
        found: dict[str, NDArray[np.float64]] = {
            "loss": losses.numpy(),
            "accuracy": (np.concatenate(played) == actions).astype(np.float64),
        }
        if network.config.value:
            found["value_loss"] = np.square(outputs[:, -1] - data.returns[chosen])
        return found
