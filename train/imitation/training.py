"""Training run of imitation learning (behavioral cloning), resumable at any time."""

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

EVALUATION_BATCH_SIZE = 4096  # samples


class ImitationTraining(SupervisedTraining):
    """Training run of imitation learning; see `SupervisedTraining`.

    Attributes:
        data: training and validation samples.
    """

    kind = "cnn"
    config: ImitationConfig
    learner: TrainableModel[ACNetwork]

    def __init__(self, config: ImitationConfig, tensorboard: bool = True):
        """Start a run, or resume the one in `run_dir`.

        Args:
            config: settings.
            tensorboard: whether TensorBoard's files are written.

        Raises:
            FileNotFoundError: if a data file does not exist.
            ValueError: if a data file is damaged, too few samples are selected, or `run_dir` has a
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
        """Return the learning rate after a fraction of the current epoch."""
        config = self.config
        first, last = config.learning_rate, config.final_learning_rate
        if config.lr_schedule == "cosine":
            return learning_rate(first, last, (self.epoch + share) / config.epochs)
        losses = [float(row["validation_loss"] or 0) for row in self.metrics.rows]
        return plateau_rate(losses, first, last, config.plateau_factor, config.plateau_patience)

    def update(
        self, chosen: NDArray[np.int64], rng: np.random.Generator, rate: float
    ) -> dict[str, float]:
        """Make a gradient step on a batch; return its cross-entropy and value loss."""
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
        """Return the mean of each measure of `evaluate` over the validation samples."""
        measures = self.evaluate(self.network, self.data.validation)
        return {name: float(values.mean()) for name, values in measures.items()}

    def evaluate(
        self, network: ACNetwork, chosen: NDArray[np.int64]
    ) -> dict[str, NDArray[np.float64]]:
        """Compute loss and accuracy of a network on samples.

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
        self.monitor.begin("evaluating", len(chosen), "position")
        for k in range(0, len(chosen), EVALUATION_BATCH_SIZE):
            planes, masks = data.observations.encode(chosen[k : k + EVALUATION_BATCH_SIZE])
            batches.append(runner(planes).astype(np.float64))
            self.monitor.step("evaluating", min(k + EVALUATION_BATCH_SIZE, len(chosen)))
            legal_logits = np.where(masks > 0, batches[-1][:, :num_actions], -np.inf)
            greedy_actions.append(legal_logits.argmax(1))
        outputs, actions = np.concatenate(batches), data.actions[chosen].astype(np.int64)
        losses = functional.cross_entropy(
            torch.from_numpy(outputs[:, :num_actions]), torch.from_numpy(actions), reduction="none"
        )
        measures: dict[str, NDArray[np.float64]] = {
            "loss": losses.numpy(),
            "accuracy": (np.concatenate(greedy_actions) == actions).astype(np.float64),
        }
        if network.config.value:
            measures["value_loss"] = np.square(outputs[:, -1] - data.returns[chosen])
        return measures
