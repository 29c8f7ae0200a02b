"""Value networks, trained by value regression."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.weights import load_network
from ludoteca.agents.predictor import Observer
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice, check_integer, check_real
from ludoteca.envs.symmetry import Symmetry

View = Literal["second", "mover"]


@dataclass(frozen=True)
class ValueConfig:
    """Architecture of a value network; defaults by Sancho and Fernández, see `ValueNetwork`."""

    filters: tuple[int, ...] = (32, 64, 128)
    """Filters of each 3x3 convolution; Sancho and Fernández only give the last number."""
    hidden: int = 256
    """Units of the hidden layer."""
    dropout: float = 0.5
    """Dropout rate of the convolutions' outputs."""
    view: View = "second"
    """Observing player, whose value is estimated. `second`: always the second player, as in their
    text: in Othello the planes are the discs of white and of black, without the player to move.
    `mover`: the player to move."""

    def __post_init__(self) -> None:
        check_integer("the number of filters", len(self.filters), 0, 100)
        for filters in self.filters:
            check_integer("filters", filters, 1, 4096)
        check_integer("hidden", self.hidden, 1, 10**5)
        check_real("dropout", self.dropout, 0, 0.99)
        check_choice("view", self.view, ("second", "mover"))

    def as_dict(self) -> dict[str, Any]:
        """Return the configuration as JSON content."""
        return asdict(self) | {"filters": list(self.filters)}


def value_config(content: dict[str, Any]) -> ValueConfig:
    """Return the configuration from JSON content, see `ValueConfig.as_dict`."""
    return ValueConfig(**content | {"filters": tuple(content["filters"])})


class ValueView:
    """Encoder of positions for a value network, see `ValueConfig.view`.

    Attributes:
        game: the game.
        shape: shape of one observation, `(planes, rows, columns)`.
        symmetries: symmetries of the game on these planes.
    """

    def __init__(self, game: Game, view: View):
        """Make the view.

        Raises:
            ValueError: if the game is not sequential and for two players.
        """
        encoder = Encoder(game)  # validates the game
        self.game = game
        self._encoder = encoder if view == "mover" else None
        self._observer = Observer(game)
        self.shape = encoder.shape if view == "mover" else game.observation_shape
        self.symmetries: tuple[Symmetry, ...] = (
            encoder.symmetries if view == "mover" else game.symmetries()
        )

    def encode(self, states: NDArray[np.void], seats: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the observations of positions, int8 `[K, *shape]`.

        Args:
            states: the positions. Shape `[K]`.
            seats: players to move. Shape `[K]`.
        """
        if self._encoder is not None:
            return self._encoder.encode(states, seats)[0]
        return self._observer.observe(states, np.ones(len(states), np.int64))[0]

    def signs(self, seats: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the factor from the network's values to player 0's values: 1 or -1. Shape `[K]`.

        Args:
            seats: players to move. Shape `[K]`.
        """
        observers = seats if self._encoder is not None else np.ones(len(seats))
        return np.where(observers == 0, 1, -1).astype(np.float32)


class ValueNetwork(nn.Module):
    """Value network of convolutions, dropout and a hidden layer; values are in (-1, 1).

    Sancho Cebrero and Fernández Limárquez, a report on Othello (University of Seville, 2019),
    section III-D.
    """

    def __init__(self, config: ValueConfig, shape: tuple[int, int, int]):
        """Make a network with random weights from PyTorch's generator.

        Args:
            config: the architecture.
            shape: shape of one observation, `(planes, rows, columns)`.
        """
        super().__init__()
        self.config = config
        planes, rows, columns = shape
        layers: list[nn.Module] = []
        for filters in config.filters:
            layers += [nn.Conv2d(planes, filters, 3, padding=1), nn.ReLU()]
            planes = filters
        self.convolutions = nn.Sequential(*layers)
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Dropout(config.dropout),
            nn.Linear(planes * rows * columns, config.hidden),
            nn.ReLU(),
            nn.Linear(config.hidden, 1),
            nn.Tanh(),
        )

    def forward(self, planes: Tensor) -> Tensor:
        """Return values, shape `[K]`, for planes `[K, planes, rows, columns]`."""
        values: Tensor = self.head(self.convolutions(planes))
        return values[:, 0]


def make_value_network(config: ValueConfig, game: Game) -> ValueNetwork:
    """Return a network with random weights for a game."""
    return ValueNetwork(config, ValueView(game, config.view).shape)


def load_value_network(game: Game, file: Path) -> tuple[ValueNetwork, dict[str, Any]]:
    """Return the network in a file, one of this package or of Keras, and the file's metadata.

    Raises:
        ValueError: if the file contains no value network, or one that does not fit the game.
        ImportError: if it is a Keras file, and Keras is missing.
    """
    if file.suffix == ".keras":
        from ludoteca.agents.networks.keras_file import load_keras_network

        return load_keras_network(game, file)
    return load_network(
        game, file, lambda config: make_value_network(value_config(config), game), "value network"
    )
