"""Networks of a run as arrays of its state, and as files that follow from it."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ludoteca.agents.networks.weights import load_weights, save_weights
from ludoteca.train.run_directory import Arrays

Weights = dict[str, Tensor]


def copied(network: nn.Module) -> Weights:
    """Return copies of the weights of a network, on the CPU."""
    state = network.state_dict()
    return {name: tensor.detach().to("cpu", copy=True) for name, tensor in state.items()}


def as_arrays(weights: Weights) -> Arrays:
    """Return weights as arrays, for `RunDirectory.save_state`."""
    return {name: tensor.numpy() for name, tensor in weights.items()}


def write_network(path: Path, weights: Weights, about: dict[str, Any]) -> None:
    """Write a network to a file, atomically."""
    save_weights(path, weights, about)


def write_if_other(path: Path, weights: Weights, about: dict[str, Any]) -> None:
    """Write a network to a file, unless it holds the same weights and metadata.

    Further metadata in the file, such as its card, is ignored.
    """
    try:
        there, its_about = load_weights(path)
    except (OSError, ValueError):
        there, its_about = {}, {}
    same = there.keys() == weights.keys() and all(
        one.dtype == there[name].dtype and torch.equal(one, there[name])
        for name, one in weights.items()
    )
    if not same or any(its_about.get(name) != value for name, value in about.items()):
        write_network(path, weights, about)
