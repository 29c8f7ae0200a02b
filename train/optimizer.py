"""Learning rates, and optimizers as arrays."""

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

PREFIX = "optimizer"


def learning_rate(first: float, last: float, progress: float) -> float:
    """Return the learning rate after a share of the training: it falls along a half cosine."""
    return last + (first - last) * (1 + math.cos(math.pi * min(progress, 1))) / 2


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
