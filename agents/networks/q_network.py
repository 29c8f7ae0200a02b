"""Q networks, by default with dueling heads."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.layers import Convolution2x2
from ludoteca.agents.networks.tower import Tower, value_head
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_choice, check_integer

Kind = Literal["tanaka2018", "residual"]
Init = Literal["default", "zero", "zero_head"]


@dataclass(frozen=True)
class QConfig:
    """Architecture of a Q network."""

    kind: Kind = "residual"
    """`tanaka2018`: convolutions with 2x2 kernels, ReLU and one linear layer, for one board size
    (section 3.7 of Tanaka, see `Tanaka2018Body`). `residual`: residual blocks of the board's size;
    in games whose actions are cells, the same weights fit every board size."""
    filters: tuple[int, ...] = (64,)
    """Number of filters: of each convolution (`tanaka2018`), or one for all (`residual`)."""
    blocks: int = 4
    """Number of residual blocks."""
    dueling: bool = True
    """Separate value and advantage heads (Wang et al., "Dueling network architectures", 2016,
    equation 9); residual networks only."""
    init: Init = "default"
    """Initial weights. `default`: PyTorch's. `zero`: all zero, as in Tanaka (2018); then no
    gradient passes, and only the last biases are trained. `zero_head`: zero in the last layer."""
    bounded: bool = True
    """Whether outputs are logits of the probability to win, so that Q values are in (-1, 1); the
    loss `bce` (binary cross-entropy) needs that."""

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, tuple(BODIES))
        check_choice("init", self.init, ("default", "zero", "zero_head"))
        check_integer("blocks", self.blocks, 0, 100)
        check_choice("dueling", self.dueling, (False, True))
        check_choice("bounded", self.bounded, (False, True))
        check_integer("the number of filters", len(self.filters), 0, 100)
        for filters in self.filters:
            check_integer("filters", filters, 1, 4096)
        if self.kind == "residual" and len(self.filters) != 1:
            raise ValueError(f"kind=residual needs one number of filters, got {self.filters}")
        if self.kind == "tanaka2018" and self.dueling:
            raise ValueError("kind=tanaka2018 needs dueling=False, got dueling=True")

    def as_dict(self) -> dict[str, Any]:
        """Return the configuration as JSON content."""
        return asdict(self) | {"filters": list(self.filters)}


def q_config(content: dict[str, Any]) -> QConfig:
    """Return the configuration from JSON content, see `QConfig.as_dict`."""
    return QConfig(**content | {"filters": tuple(content["filters"])})


class QNetwork(nn.Module):
    """Network from planes to one output per action: Q value, or logit of winning if `bounded`."""

    def __init__(self, config: QConfig, encoder: Encoder):
        super().__init__()
        self.config = config
        self.body = BODIES[config.kind](config, encoder)
        zeroed = {
            "default": (),
            "zero": self.parameters(),
            "zero_head": self.body.last_layer_weights(),
        }
        for parameter in zeroed[config.init]:
            nn.init.zeros_(parameter)

    def forward(self, planes: Tensor) -> Tensor:
        """Return outputs, shape `[K, num_actions]`, for planes `[K, planes, rows, columns]`."""
        outputs: Tensor = self.body(planes)
        return outputs

    def values(self, outputs: Tensor) -> Tensor:
        """Convert outputs to Q values; if `bounded`, 2 p - 1 for a probability p of winning."""
        return torch.tanh(outputs / 2) if self.config.bounded else outputs


class Tanaka2018Body(nn.Module):
    """Convolutions with 2x2 kernels and one linear layer.

    Tanaka, "Inteligencia artificial para o jogo de Hex" (University of Sao Paulo, 2018), section
    3.7.
    """

    def __init__(self, config: QConfig, encoder: Encoder):
        super().__init__()
        planes, rows, columns = encoder.shape
        layers = []
        for filters in config.filters:
            layers.append(Convolution2x2(planes, filters))
            planes, rows, columns = filters, rows - 1, columns - 1
        if min(rows, columns) < 1:
            raise ValueError(f"{encoder.game.spec} is too small for {len(config.filters)} layers")
        self.convolutions = nn.Sequential(*layers)
        self.head = nn.Linear(planes * rows * columns, encoder.game.num_actions)

    def forward(self, x: Tensor) -> Tensor:
        """Return one output per action."""
        out: Tensor = self.head(self.convolutions(x.permute(0, 2, 3, 1)).flatten(1))
        return out

    def last_layer_weights(self) -> list[nn.Parameter]:
        """Return the weights of the last layer."""
        return list(self.head.parameters())


class ResidualBody(Tower):
    """Residual tower, with a separate value head if dueling."""

    def __init__(self, config: QConfig, encoder: Encoder):
        (filters,) = config.filters
        super().__init__(encoder, filters, config.blocks)
        self.value = value_head(filters) if config.dueling else None

    def forward(self, x: Tensor) -> Tensor:
        """Return one output per action."""
        features, pooled = self.features(x)
        out = self.actions(features, pooled)
        if self.value is not None:
            out = self.value(pooled) + out - out.mean(1, keepdim=True)
        return out

    def last_layer_weights(self) -> list[nn.Parameter]:
        """Return the weights of the last layers."""
        last_value_layer = self.value[-1] if self.value is not None else None
        layers = [self.head[-1], self.others, last_value_layer]
        return [weight for layer in layers if layer is not None for weight in layer.parameters()]


# One line per kind of network.
BODIES: dict[Kind, type[Tanaka2018Body] | type[ResidualBody]] = {
    "tanaka2018": Tanaka2018Body,
    "residual": ResidualBody,
}


def make_q_network(config: QConfig, game: Game) -> QNetwork:
    """Return a network with random weights from PyTorch's generator."""
    return QNetwork(config, Encoder(game))
