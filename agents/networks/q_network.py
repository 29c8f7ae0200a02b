"""Q networks, with dueling heads."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.layers import Windows
from ludoteca.agents.networks.tower import Tower, value_head
from ludoteca.envs.game import Game
from ludoteca.envs.params import choice, integer

Kind = Literal["tanaka2018", "residual"]
Init = Literal["default", "zero", "zero_head"]


@dataclass(frozen=True)
class QConfig:
    """Architecture of a Q network."""

    kind: Kind = "residual"
    """`tanaka2018`: convolutions with 2x2 kernels, ReLU and one linear layer, for one board size
    (Tanaka, 2018, section 3.7). `residual`: full-size residual blocks; where actions are
    cells, the same weights fit every board size."""
    filters: tuple[int, ...] = (64,)
    """Filters: of each convolution (`tanaka2018`), or one number for all (`residual`)."""
    blocks: int = 4
    """Number of residual blocks."""
    dueling: bool = True
    """Separate value and advantage heads (Wang et al., "Dueling network architectures", 2016,
    equation 9); residual networks only."""
    init: Init = "default"
    """Initial weights: `default`, PyTorch's; `zero`, as in Tanaka (2018), which leaves all but the
    last biases at zero, since no gradient passes; `zero_head`, zero in the last layer only."""
    bounded: bool = True
    """Whether values are in (-1, 1) and outputs are logits of winning, as the loss `bce` needs."""

    def __post_init__(self) -> None:
        choice("kind", self.kind, tuple(BODIES))
        choice("init", self.init, ("default", "zero", "zero_head"))
        integer("blocks", self.blocks, 0, 100)
        choice("dueling", self.dueling, (False, True))
        choice("bounded", self.bounded, (False, True))
        integer("the number of filters", len(self.filters), 0, 100)
        for filters in self.filters:
            integer("filters", filters, 1, 4096)
        if self.kind == "residual" and len(self.filters) != 1:
            raise ValueError(f"a residual network has one number of filters, got {self.filters}")
        if self.kind == "tanaka2018" and self.dueling:
            raise ValueError("a network of kind tanaka2018 cannot be dueling")

    def as_dict(self) -> dict[str, Any]:
        """Return the configuration as JSON content."""
        return asdict(self) | {"filters": list(self.filters)}


def q_config(content: dict[str, Any]) -> QConfig:
    """Return the configuration from the content that `as_dict` returned."""
    return QConfig(**content | {"filters": tuple(content["filters"])})


class QNetwork(nn.Module):
    """Maps planes to one output per action: its Q value, or the logit of winning if `bounded`."""

    def __init__(self, config: QConfig, encoder: Encoder):
        super().__init__()
        self.config = config
        self.body = BODIES[config.kind](config, encoder)
        zeroed = {"default": (), "zero": self.parameters(), "zero_head": self.body.last()}
        for parameter in zeroed[config.init]:
            nn.init.zeros_(parameter)

    def forward(self, planes: Tensor) -> Tensor:
        """Return outputs, shape `[K, num_actions]`, for planes `[K, planes, rows, columns]`."""
        outputs: Tensor = self.body(planes)
        return outputs

    def values(self, outputs: Tensor) -> Tensor:
        """Return the Q values of outputs: 2 p - 1 for a probability p of winning if `bounded`."""
        return torch.tanh(outputs / 2) if self.config.bounded else outputs


class Tanaka2018Body(nn.Module):
    """Convolutions with 2x2 kernels and one linear layer (Tanaka, 2018, section 3.7)."""

    def __init__(self, config: QConfig, encoder: Encoder):
        super().__init__()
        planes, rows, columns = encoder.shape
        layers = []
        for filters in config.filters:
            layers.append(Windows(planes, filters))
            planes, rows, columns = filters, rows - 1, columns - 1
        if min(rows, columns) < 1:
            raise ValueError(f"{encoder.game.spec} is too small for {len(config.filters)} layers")
        self.convolutions = nn.Sequential(*layers)
        self.head = nn.Linear(planes * rows * columns, encoder.game.num_actions)

    def forward(self, x: Tensor) -> Tensor:
        """Return one output per action."""
        out: Tensor = self.head(self.convolutions(x.permute(0, 2, 3, 1)).flatten(1))
        return out

    def last(self) -> list[nn.Parameter]:
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
        features, whole = self.see(x)
        out = self.actions(features, whole)
        if self.value is not None:
            out = self.value(whole) + out - out.mean(1, keepdim=True)
        return out

    def last(self) -> list[nn.Parameter]:
        """Return the weights of the last layers."""
        ends = [self.head[-1], self.others, self.value[-1] if self.value is not None else None]
        return [weight for end in ends if end is not None for weight in end.parameters()]


# One line per kind of network.
BODIES: dict[Kind, type[Tanaka2018Body] | type[ResidualBody]] = {
    "tanaka2018": Tanaka2018Body,
    "residual": ResidualBody,
}


def make_q_network(config: QConfig, game: Game) -> QNetwork:
    """Return a network with random weights from PyTorch's generator."""
    return QNetwork(config, Encoder(game))
