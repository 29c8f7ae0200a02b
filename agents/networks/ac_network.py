"""Policy and actor-critic networks, with one player's observation as input."""

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from ludoteca.agents.networks.layers import Trunk
from ludoteca.agents.networks.pooling import global_pooling
from ludoteca.agents.networks.seats import SeatEncoder, View
from ludoteca.agents.networks.weights import load_network
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice, check_integer

Kind = Literal["torus", "residual", "uib2021", "mlp"]
# Negative slope of LeakyReLU in `uib2021`: the default of Keras 2, since the thesis of
# Martín Miralles (see `UIB2021Body`) gives none.
SLOPE = 0.3


@dataclass(frozen=True)
class ACConfig:
    """Architecture of an actor-critic network."""

    kind: Kind = "torus"
    """`torus`: residual blocks with circular padding. `residual`: the same with zero padding.
    `uib2021`: the network of Martín Miralles, see `UIB2021Body`: convolutions without residual
    connections, mean pooling, and dense layers. `mlp`: dense layers only, for observations without
    a board, such as percepts."""
    view: View = "hand_crafted"
    """`plain`: the game's observation, see `SeatEncoder`. `hand_crafted`: features of Hungry Geese,
    centered on the goose's own head; see `ludoteca.agents.games.hungry_geese.features`."""
    filters: int = 32
    """Filters of every convolution; units of every hidden layer in `mlp`."""
    blocks: int = 4
    """Number of residual blocks of two convolutions; of single convolutions in `uib2021`; of hidden
    layers in `mlp`."""
    value: bool = True
    """Whether the network has a value head."""

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, tuple(BODIES))
        check_choice("view", self.view, ("plain", "hand_crafted"))
        check_choice("value", self.value, (False, True))
        check_integer("filters", self.filters, 1, 4096)
        check_integer("blocks", self.blocks, 0, 100)

    def as_dict(self) -> dict[str, Any]:
        """Return the configuration as JSON content."""
        return asdict(self)


class ACNetwork(nn.Module):
    """Network from planes to action logits and, with a value head, the observer's value."""

    def __init__(self, config: ACConfig, encoder: SeatEncoder):
        super().__init__()
        self.config = config
        self.body = BODIES[config.kind](config, encoder)

    def forward(self, planes: Tensor) -> Tensor:
        """Return logits and, with a value head, the value in (-1, 1) in the last column.

        Args:
            planes: observations, times `SeatEncoder.scale`. Shape `[K, planes, rows, columns]`.

        Returns:
            Shape `[K, num_actions + 1]`, or `[K, num_actions]` without value.
        """
        outputs: Tensor = self.body(planes)
        if not self.config.value:
            return outputs
        return torch.cat([outputs[:, :-1], torch.tanh(outputs[:, -1:])], 1)


class UIB2021Body(nn.Module):
    """Network of Martín Miralles, "Hungry Geese" (UIB, 2021), sections 2.4 and 5.2.

    Blocks of a 3x3 convolution, LeakyReLU and batch normalization; means over the board; dense
    layers of 1024 and 512 with LeakyReLU and dropout. With a value head, each head has its own
    layer of 512.
    """

    def __init__(self, config: ACConfig, encoder: SeatEncoder):
        super().__init__()
        planes = encoder.shape[0]
        layers: list[nn.Module] = []
        for _ in range(config.blocks):
            convolution = nn.Conv2d(planes, config.filters, 3, padding=1)
            layers += [convolution, nn.LeakyReLU(SLOPE), nn.BatchNorm2d(config.filters)]
            planes = config.filters
        self.convolutions = nn.Sequential(*layers)
        self.dense = nn.Sequential(nn.Linear(planes, 1024), nn.LeakyReLU(SLOPE), nn.Dropout(0.5))
        self.policy = _uib2021_head(encoder.game.num_actions)
        self.value = _uib2021_head(1) if config.value else None

    def forward(self, x: Tensor) -> Tensor:
        """Return one output per action and, with a value head, one more for the value."""
        features = self.convolutions(x)
        means = nn.functional.avg_pool2d(features, features.shape[2:]).flatten(1)
        hidden = self.dense(means)
        out: Tensor = self.policy(hidden)
        return out if self.value is None else torch.cat([out, self.value(hidden)], 1)


class ResidualBody(nn.Module):
    """Residual trunk; the head has global pooling and the middle cell of centered observations."""

    def __init__(self, config: ACConfig, encoder: SeatEncoder):
        super().__init__()
        planes, rows, columns = encoder.shape
        torus = config.kind == "torus"
        self.trunk = Trunk(planes, config.filters, config.blocks, torus=torus)
        self.columns = columns
        middle = rows // 2 * columns + columns // 2
        self.middle = middle if encoder.view == "hand_crafted" else None
        features = config.filters * (2 if self.middle is None else 3)  # outputs of `global_pooling`
        outputs = encoder.game.num_actions + config.value
        self.flat = None
        if self.middle is None:  # not centered on the player: the head needs all cells
            self.flat = nn.Conv2d(config.filters, 4, 1)
            features += 4 * rows * columns
        self.head = nn.Sequential(nn.Linear(features, 128), nn.ReLU(), nn.Linear(128, outputs))
        with torch.no_grad():
            last = self.head[-1]
            assert isinstance(last, nn.Linear)
            last.weight.mul_(0.1)  # the initial policy is almost uniform

    def forward(self, x: Tensor) -> Tensor:
        """Return one output per action and, with a value head, one more for the value."""
        features = self.trunk(x)
        parts = [global_pooling(features, self.middle)]
        if self.flat is not None:
            parts.append(torch.relu(self.flat(features)).flatten(1))
        out: Tensor = self.head(torch.cat(parts, 1))
        return out


class MLPBody(nn.Module):
    """Multilayer perceptron: hidden dense layers with ReLU, and a linear output layer."""

    def __init__(self, config: ACConfig, encoder: SeatEncoder):
        super().__init__()
        features = math.prod(encoder.shape)
        layers: list[nn.Module] = []
        for _ in range(config.blocks):
            layers += [nn.Linear(features, config.filters), nn.ReLU()]
            features = config.filters
        self.layers = nn.Sequential(
            *layers, nn.Linear(features, encoder.game.num_actions + config.value)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return one output per action and, with a value head, one more for the value."""
        out: Tensor = self.layers(x.flatten(1))
        return out


# One line per kind of network.
BODIES: dict[Kind, type[UIB2021Body] | type[ResidualBody] | type[MLPBody]] = {
    "torus": ResidualBody,
    "residual": ResidualBody,
    "uib2021": UIB2021Body,
    "mlp": MLPBody,
}

# The network of Martín Miralles (UIB, 2021).
UIB2021 = ACConfig(kind="uib2021", view="plain", filters=24, blocks=6)


def make_ac_network(config: ACConfig, game: Game) -> ACNetwork:
    """Return a network with random weights from PyTorch's generator."""
    return ACNetwork(config, SeatEncoder(game, config.view))


def load_ac_network(game: Game, file: Path) -> tuple[ACNetwork, dict[str, Any]]:
    """Return the network in a file and the file's metadata.

    Raises:
        ValueError: if the file contains no actor-critic network, or one that does not fit the game.
    """
    return load_network(
        game, file, lambda config: make_ac_network(ACConfig(**config), game), "actor-critic network"
    )


def _uib2021_head(outputs: int) -> nn.Sequential:
    """Return the last two dense layers of `uib2021`, with `outputs` outputs."""
    return nn.Sequential(
        nn.Linear(1024, 512), nn.LeakyReLU(SLOPE), nn.Dropout(0.5), nn.Linear(512, outputs)
    )
