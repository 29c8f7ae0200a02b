"""Networks that estimate the value of a position, and nothing else."""

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
from ludoteca.envs.params import choice, integer, real
from ludoteca.envs.symmetry import Symmetry

View = Literal["second", "mover"]


@dataclass(frozen=True)
class ValueConfig:
    """How a value network is built; the defaults are the document's, where it says anything."""

    filters: tuple[int, ...] = (32, 64, 128)
    """Of each 3x3 convolution; the document only tells the last one's."""
    hidden: int = 256
    """Of the layer after them."""
    dropout: float = 0.5
    """Share of the convolutions' outputs that are left out while the network learns."""
    view: View = "second"
    """Who looks. `second`: always the player who moves second; in Othello he sees the discs of
    white, then those of black, as in the document, and does not see whose move it is. `mover`: the
    player to move. The value is that of who looks."""

    def __post_init__(self) -> None:
        integer("the number of filters", len(self.filters), 0, 100)
        for filters in self.filters:
            integer("filters", filters, 1, 4096)
        integer("hidden", self.hidden, 1, 10**5)
        real("dropout", self.dropout, 0, 0.99)
        choice("view", self.view, ("second", "mover"))

    def as_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return asdict(self) | {"filters": list(self.filters)}


def value_config(content: dict[str, Any]) -> ValueConfig:
    """Return the configuration that `as_dict` wrote."""
    return ValueConfig(**content | {"filters": tuple(content["filters"])})


class ValueView:
    """What a value network sees of positions, and whose value it tells.

    Attributes:
        game: the game.
        shape: of the planes of one position, `(planes, rows, columns)`.
        symmetries: those of the game, on these planes.
    """

    def __init__(self, game: Game, view: View):
        """Make the view.

        Raises:
            ValueError: if the game is not for two players who move in turn.
        """
        encoder = Encoder(game)  # refuses other games
        self.game = game
        self._encoder = encoder if view == "mover" else None
        self._observer = Observer(game)
        self.shape = encoder.shape if view == "mover" else game.observation_shape
        self.symmetries: tuple[Symmetry, ...] = (
            encoder.symmetries if view == "mover" else game.symmetries()
        )

    def encode(self, states: NDArray[np.void], seats: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return what is seen of positions, int8 `[K, *shape]`.

        Args:
            states: the positions. Shape `[K]`.
            seats: whose move it is. Shape `[K]`.
        """
        if self._encoder is not None:
            return self._encoder.encode(states, seats)[0]
        return self._observer.observe(states, np.ones(len(states), np.int64))[0]

    def signs(self, seats: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return what turns the value that the network tells into that of player 0, or back.

        Shape `[K]`: 1 or -1, for positions where `seats` `[K]` are to move.
        """
        looks = seats if self._encoder is not None else np.ones(len(seats))
        return np.where(looks == 0, 1, -1).astype(np.float32)


class ValueNetwork(nn.Module):
    """Convolutions, dropout, a hidden layer and one number in (-1, 1).

    The value network of Sancho and Fernández' Othello document, section III-D.
    """

    def __init__(self, config: ValueConfig, shape: tuple[int, int, int]):
        """Make a network with fresh weights, drawn from PyTorch's generator.

        Args:
            config: how it is built.
            shape: of what it sees, `(planes, rows, columns)`.
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
    """Return a network with fresh weights for a game."""
    return ValueNetwork(config, ValueView(game, config.view).shape)


def load_value_network(game: Game, file: Path) -> tuple[ValueNetwork, dict[str, Any]]:
    """Return the network in a file, for a game that it can play, and what is told about it.

    Raises:
        ValueError: if the file holds no value network, or one that does not fit the game.
    """
    return load_network(
        game, file, lambda told: make_value_network(value_config(told), game), "value network"
    )
