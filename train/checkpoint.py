"""Weights of a run's networks, as arrays of its checkpoint and as network files."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ludoteca.agents.networks.weights import load_weights, save_weights
from ludoteca.train.run_directory import Arrays

Weights = dict[str, Tensor]


def copy_weights(network: nn.Module) -> Weights:
    """Return copies of the weights of a network, on the CPU."""
    state = network.state_dict()
    return {name: tensor.detach().to("cpu", copy=True) for name, tensor in state.items()}


def as_arrays(weights: Weights) -> Arrays:
    """Return weights as arrays, for `RunDirectory.save_state`."""
    return {name: tensor.numpy() for name, tensor in weights.items()}


def write_network(path: Path, weights: Weights, metadata: dict[str, Any]) -> None:
    """Write a network to a file, atomically."""
    save_weights(path, weights, metadata)


def write_if_changed(path: Path, weights: Weights, metadata: dict[str, Any]) -> None:
    """Write a network to a file, unless it holds the same weights and metadata.

    Further metadata in the file, such as its model card, is ignored.
    """
    try:
        saved, saved_metadata = load_weights(path)
    except (OSError, ValueError):
        saved, saved_metadata = {}, {}
    same = saved.keys() == weights.keys() and all(
        tensor.dtype == saved[name].dtype and torch.equal(tensor, saved[name])
        for name, tensor in weights.items()
    )
    if not same or any(saved_metadata.get(name) != value for name, value in metadata.items()):
        write_network(path, weights, metadata)
