"""Networks that estimate the value of every action, Q."""

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
    """How a Q network is built."""

    kind: Kind = "residual"
    """`tanaka2018`: convolutions with 2x2 kernels, ReLU and one linear layer, for one board size
    (Tanaka, 2018, section 3.7). `residual`: full-size blocks; where actions are cells, the same
    weights fit every board size."""
    filters: tuple[int, ...] = (64,)
    """`tanaka2018`: of each convolution. `residual`: one number, of all."""
    blocks: int = 4
    """Residual blocks."""
    dueling: bool = True
    """Value and advantages apart (Wang et al., "Dueling network architectures", 2016, equation 9);
    residual networks only."""
    init: Init = "default"
    """First weights: PyTorch's; all zero, as the document says, which leaves all but the last
    biases at zero for ever, as no gradient passes; or zero in the last layer only."""
    bounded: bool = True
    """Values are in (-1, 1): the outputs are logits of winning. Needed for the loss `bce`."""

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
        """Return what JSON can hold."""
        return asdict(self) | {"filters": list(self.filters)}


def q_config(content: dict[str, Any]) -> QConfig:
    """Return the configuration that `as_dict` wrote."""
    return QConfig(**content | {"filters": tuple(content["filters"])})


class QNetwork(nn.Module):
    """Maps planes to one number per action: a value, or the logit of winning if `bounded`."""

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
        """Return Q of outputs: with chance p of winning, 2 p - 1."""
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
        """Return one number per action."""
        out: Tensor = self.head(self.convolutions(x.permute(0, 2, 3, 1)).flatten(1))
        return out

    def last(self) -> list[nn.Parameter]:
        """Return the weights of the last layer."""
        return list(self.head.parameters())


class ResidualBody(Tower):
    """A tower, with the value of the position apart if dueling."""

    def __init__(self, config: QConfig, encoder: Encoder):
        (filters,) = config.filters
        super().__init__(encoder, filters, config.blocks)
        self.value = value_head(filters) if config.dueling else None

    def forward(self, x: Tensor) -> Tensor:
        """Return one number per action."""
        features, whole = self.see(x)
        out = self.actions(features, whole)
        if self.value is not None:
            out = self.value(whole) + out - out.mean(1, keepdim=True)
        return out

    def last(self) -> list[nn.Parameter]:
        """Return the weights of the last layers."""
        ends = [self.head[-1], self.others, self.value[-1] if self.value is not None else None]
        return [weight for end in ends if end is not None for weight in end.parameters()]


# One line for each kind of network.
BODIES: dict[Kind, type[Tanaka2018Body] | type[ResidualBody]] = {
    "tanaka2018": Tanaka2018Body,
    "residual": ResidualBody,
}


def make_q_network(config: QConfig, game: Game) -> QNetwork:
    """Return a network with fresh weights, drawn from PyTorch's generator."""
    return QNetwork(config, Encoder(game))
