"""Optimizers, learning rate schedules, and optimizer states as arrays."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

PREFIX = "optimizer"


@dataclass(frozen=True)
class Optimization:
    """Settings of an optimizer.

    Attributes:
        optimizer: `"adam"`, with decoupled weight decay, or `"sgd"`.
        learning_rate: initial learning rate.
        momentum: momentum of SGD.
        decay: weight decay.
        clip: maximum gradient norm; 0: no clipping.
    """

    optimizer: Literal["adam", "sgd"] = "adam"
    learning_rate: float = 1e-3
    momentum: float = 0.9
    decay: float = 0.0
    max_grad_norm: float = 0.0

    def make(self, weights: Iterator[nn.Parameter]) -> torch.optim.Optimizer:
        """Return the optimizer of the given weights."""
        if self.optimizer == "sgd":
            return torch.optim.SGD(
                weights, self.learning_rate, self.momentum, weight_decay=self.decay
            )
        return torch.optim.AdamW(weights, self.learning_rate, weight_decay=self.decay)


def learning_rate(first: float, last: float, progress: float) -> float:
    """Return the learning rate of a cosine decay, after a fraction of the training."""
    return last + (first - last) * (1 + math.cos(math.pi * min(progress, 1))) / 2


def plateau_rate(
    losses: Sequence[float], first: float, last: float, factor: float, patience: int
) -> float:
    """Return the learning rate after epochs with these losses in validation.

    It begins with `first`. Whenever `patience` epochs, counted anew after each such time, have not
    had a lower loss than all before, it is multiplied with `factor`, but does not fall below
    `last`. He et al., "Deep residual learning for image recognition" (2016), section 3.4, divide it
    "when the error plateaus"; counted as Keras' `ReduceLROnPlateau` does.
    """
    rate, best, waited = first, math.inf, 0
    for loss in losses:
        waited += 1
        if loss < best:
            best, waited = loss, 0
        elif waited == patience:
            rate, waited = max(factor * rate, last), 0
    return rate


def optimizer_arrays(optimizer: torch.optim.Optimizer) -> dict[str, NDArray[Any]]:
    """Return the moments that an optimizer keeps, by name."""
    return {
        f"{PREFIX}/{index}/{name}": np.asarray(value.cpu())
        for index, moments in optimizer.state_dict()["state"].items()
        for name, value in moments.items()
        if value is not None
    }


def load_optimizer(optimizer: torch.optim.Optimizer, arrays: dict[str, NDArray[Any]]) -> None:
    """Give an optimizer the moments that `optimizer_arrays` returned."""
    moments: dict[int, dict[str, Tensor]] = {}
    for key, value in arrays.items():
        prefix, _, rest = key.partition("/")
        if prefix == PREFIX:
            index, _, name = rest.partition("/")
            moments.setdefault(int(index), {})[name] = torch.from_numpy(np.array(value))
    optimizer.load_state_dict(optimizer.state_dict() | {"state": moments})
