"""Files of the weights of softmax playout policies, see `softmax_playouts`."""

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from ludoteca.agents.networks.weights import load_weights, save_weights
from ludoteca.agents.softmax_playouts import find_move_features
from ludoteca.envs.game import Game

KIND = "softmax playout policy"  # in the metadata of a file


def save_playout_weights(path: str | Path, game: Game, weights: NDArray[np.float64]) -> None:
    """Write the weights of a softmax playout policy, `[num_features]`, to a safetensors file."""
    metadata = {"kind": KIND, "game": game.name}
    save_weights(path, {"weights": torch.from_numpy(weights)}, metadata)


def load_playout_weights(path: str | Path, game: Game) -> NDArray[np.float64]:
    """Return the weights of a softmax playout policy, `[num_features]`, from a safetensors file.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it has no weights of such a policy for the game.
    """
    tensors, metadata = load_weights(path)
    if metadata.get("kind") != KIND or metadata.get("game") != game.name:
        raise ValueError(
            f"{path} must be a {KIND} for {game.name}, "
            f"got a {metadata.get('kind')} for {metadata.get('game')}"
        )
    num_features = find_move_features(game).num_features
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if shapes != {"weights": (num_features,)}:
        raise ValueError(
            f"{path} must have the tensor weights of shape ({num_features},), got {shapes}"
        )
    weights: NDArray[np.float64] = tensors["weights"].double().numpy()
    return weights
