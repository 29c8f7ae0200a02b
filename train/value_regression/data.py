"""The positions that a value network learns from, and those that it is validated with."""

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
    """Positions of two kinds of games.

    Attributes:
        games: all games.
        positions: of all games.
        view: what the network sees of them.
        targets: what it is to say: how the game ended for who looks. float32, shape `[P]`.
        training: which positions it learns from, as indices.
        validation: which it is validated with, all of other games.
    """

    games: GameDataset
    positions: Positions
    view: ValueView
    targets: NDArray[np.float32]
    training: NDArray[np.int64]
    validation: NDArray[np.int64]

    def planes(self, chosen: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return what the network sees of some positions. Shape `[K, planes, rows, columns]`."""
        seats = self.positions.players[chosen].astype(np.int64)
        return self.view.encode(self.positions.states[chosen], seats)


def load_data(config: ValueRegressionConfig) -> ValueRegressionData:
    """Read the games and split them.

    Raises:
        FileNotFoundError: if a file is not there.
        ValueError: if one is damaged, or there are too few games.
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
