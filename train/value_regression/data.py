"""Training and validation positions of value regression."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.networks.value_network import ValueView
from ludoteca.train.data.dataset import GameDataset, concatenate
from ludoteca.train.data.positions import Positions, replay_positions
from ludoteca.train.data.split import validation_games
from ludoteca.train.data.storage import load_dataset
from ludoteca.train.value_regression.config import ValueRegressionConfig


@dataclass(frozen=True)
class ValueRegressionData:
    """N positions, split by games into training and validation.

    Attributes:
        games: the games.
        positions: all positions of the games.
        view: encoder of the network's observations.
        targets: return of the player that the network evaluates. float32, shape `[N]`.
        training: indices of the training positions.
        validation: indices of the validation positions.
    """

    games: GameDataset
    positions: Positions
    view: ValueView
    targets: NDArray[np.float32]
    training: NDArray[np.int64]
    validation: NDArray[np.int64]

    def planes(self, indices: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the observations of positions. Shape `[K, planes, rows, columns]`."""
        players = self.positions.players[indices].astype(np.int64)
        return self.view.encode(self.positions.states[indices], players)


def load_data(config: ValueRegressionConfig) -> ValueRegressionData:
    """Load, split and replay the games.

    Raises:
        FileNotFoundError: if a file does not exist.
        ValueError: if a file is damaged, or there are too few games.
    """
    games = concatenate([load_dataset(path) for path in config.data])
    view = ValueView(games.game, config.network.view)
    if config.games is not None:
        if config.games > len(games):
            raise ValueError(f"games must be at most {len(games)}, as many as there are")
        games = games[: config.games]
    held_out = validation_games(games, config.validation_fraction, config.seed)
    positions = replay_positions(games)
    return ValueRegressionData(
        games,
        positions,
        view,
        positions.returns[:, 0] * view.signs(positions.players),
        np.flatnonzero(~held_out[positions.games]),
        np.flatnonzero(held_out[positions.games]),
    )
