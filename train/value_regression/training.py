"""Training run of value regression, resumable at any time."""

import zlib

import numpy as np
from numpy.typing import NDArray
from torch.nn import functional

from ludoteca.agents.networks.runner import Runner
from ludoteca.agents.networks.value_network import ValueNetwork
from ludoteca.train.epochs import SupervisedTraining
from ludoteca.train.optimizer import Optimization
from ludoteca.train.trainable_model import TrainableModel
from ludoteca.train.value_regression.config import ValueRegressionConfig
from ludoteca.train.value_regression.data import load_data


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

    def predict(self, network: ValueNetwork, chosen: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return a network's values of positions. float32, shape `[K]`.

        Raises:
            Stopped: if the run must stop.
        """
        runner = Runner(network, self._scale, self.config.device, self.precision)
        parts = []
        self.monitor.begin("evaluating", len(chosen), "position")
        for k in range(0, len(chosen), 4096):
            parts.append(runner(self.data.planes(chosen[k : k + 4096])))
            self.monitor.step("evaluating", min(k + 4096, len(chosen)))
        return np.concatenate(parts)

    def update(
        self, chosen: NDArray[np.int64], rng: np.random.Generator, rate: float
    ) -> dict[str, float]:
        """Make a gradient step on a batch; return its mean squared error."""
        chosen = chosen[self.learner.part(len(chosen))]
        planes = self.data.planes(chosen)
        if self.config.augment:
            symmetries = self.data.view.symmetries
            planes = symmetries[rng.integers(len(symmetries))].observation(planes)
        self.network.train()
        with self.learner.cast():
            values = self.learner.trained(self.learner.tensor(planes)).float()
        loss = functional.mse_loss(values, self.learner.given(self.data.targets[chosen]))
        self.learner.gradient_step(loss, rate)
        return {"loss": self.learner.means(loss)[0]}


def accuracy(values: NDArray[np.float32], targets: NDArray[np.float32]) -> float:
    """Return the fraction of decided games whose winner is predicted; 0.5 if there are none."""
    decided = targets != 0
    if not decided.any():
        return 0.5
    return float(((values > 0) == (targets > 0))[decided].mean())
