"""Optimizers, schedules of learning and exploration rates, and optimizer states as arrays."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

PREFIX = "optimizer"  # of the names in `optimizer_arrays`


@dataclass(frozen=True)
class Optimization:
    """Settings of an optimizer.

    Attributes:
        optimizer: `"adam"`, with decoupled weight decay (AdamW), or `"sgd"`.
        learning_rate: initial learning rate.
        momentum: momentum of SGD.
        decay: weight decay, decoupled or, with SGD, as an L2 term of the gradient.
        max_grad_norm: maximum gradient norm, for the caller's clipping; 0: no clipping.
    """

    optimizer: Literal["adam", "sgd"] = "adam"
    learning_rate: float = 1e-3
    momentum: float = 0.9
    decay: float = 0.0
    max_grad_norm: float = 0.0

    def make(self, weights: list[dict[str, list[nn.Parameter]]]) -> torch.optim.Optimizer:
        """Return the optimizer of parameter groups, in PyTorch's format: `[{"params": [...]}]`."""
        if self.optimizer == "sgd":
            return torch.optim.SGD(
                weights, self.learning_rate, self.momentum, weight_decay=self.decay
            )
        return torch.optim.AdamW(weights, self.learning_rate, weight_decay=self.decay)


def learning_rate(initial: float, final: float, progress: float) -> float:
    """Return the learning rate of a cosine decay, after a fraction `progress` of the training."""
    return final + (initial - final) * (1 + math.cos(math.pi * min(progress, 1))) / 2


class ExplorationConfig(Protocol):
    """Settings of epsilon-greedy exploration, those of `DQNConfig` and `NFSPConfig`."""

    @property
    def games(self) -> int:
        """Return the number of games of the training run."""

    @property
    def exploration_initial_eps(self) -> float:
        """Return the initial probability of a random move."""

    @property
    def exploration_final_eps(self) -> float:
        """Return the final probability of a random move."""

    @property
    def exploration_fraction(self) -> float:
        """Return the fraction of the games over which the exploration rate decays."""


def epsilon_at(config: ExplorationConfig, games: int) -> float:
    """Return the exploration rate (epsilon) after `games` games; it decays linearly."""
    initial, final = config.exploration_initial_eps, config.exploration_final_eps
    decay_games = max(config.exploration_fraction * config.games, 1)
    return initial + (final - initial) * min(games / decay_games, 1.0)


def plateau_rate(
    losses: Sequence[float], initial: float, final: float, factor: float, patience: int
) -> float:
    """Return the learning rate after epochs with these validation losses.

    The rate starts at `initial`. After `patience` epochs without a new lowest loss it is multiplied
    by `factor`, down to `final`, and the count of epochs restarts. He et al., "Deep residual
    learning for image recognition" (2016), section 3.4, divide it "when the error plateaus"; epochs
    are counted as in Keras' `ReduceLROnPlateau`.
    """
    rate, best, epochs_since_best = initial, math.inf, 0
    for loss in losses:
        epochs_since_best += 1
        if loss < best:
            best, epochs_since_best = loss, 0
        elif epochs_since_best == patience:
            rate, epochs_since_best = max(factor * rate, final), 0
    return rate


def optimizer_arrays(optimizer: torch.optim.Optimizer) -> dict[str, NDArray[Any]]:
    """Return the state of an optimizer, such as Adam's moments and number of steps.

    Names are `optimizer/INDEX/NAME`: the index of a parameter among all parameters of the
    optimizer, and the name of the array in PyTorch's state, such as `exp_avg`. Settings, such as
    the learning rate, are not included.
    """
    return {
        f"{PREFIX}/{index}/{name}": np.asarray(value.cpu())
        for index, moments in optimizer.state_dict()["state"].items()
        for name, value in moments.items()
        if value is not None
    }


def load_optimizer(optimizer: torch.optim.Optimizer, arrays: dict[str, NDArray[Any]]) -> None:
    """Restore the state of an optimizer from `optimizer_arrays`; other arrays are ignored.

    Settings of the optimizer, such as the learning rate, remain.
    """
    moments: dict[int, dict[str, Tensor]] = {}
    for key, value in arrays.items():
        prefix, _, rest = key.partition("/")
        if prefix == PREFIX:
            index, _, name = rest.partition("/")
            moments.setdefault(int(index), {})[name] = torch.from_numpy(np.array(value))
    optimizer.load_state_dict(optimizer.state_dict() | {"state": moments})
