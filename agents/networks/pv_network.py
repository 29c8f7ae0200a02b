"""Policy-value networks of AlphaZero."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.tower import Tower, value_head
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer


@dataclass(frozen=True)
class PVConfig:
    """Architecture of a policy-value network."""

    filters: int = 64
    """Filters of every layer."""
    blocks: int = 6
    """Number of residual blocks of two convolutions."""

    def __post_init__(self) -> None:
        check_integer("filters", self.filters, 1, 4096)
        check_integer("blocks", self.blocks, 0, 100)

    def as_dict(self) -> dict[str, Any]:
        """Return the configuration as JSON content."""
        return asdict(self)


class PVNetwork(nn.Module):
    """Network from planes to action logits and the value for the player to move.

    Silver et al., "A general reinforcement learning algorithm that masters chess, shogi, and Go
    through self-play" (2018).
    """

    def __init__(self, config: PVConfig, encoder: Encoder):
        super().__init__()
        self.config = config
        self.tower = Tower(encoder, config.filters, config.blocks)
        self.value = value_head(config.filters)

    def forward(self, planes: Tensor) -> Tensor:
        """Return logits and, in the last column, the value in (-1, 1).

        Args:
            planes: observations, times `Encoder.scale`. Shape `[K, planes, rows, columns]`.

        Returns:
            Shape `[K, num_actions + 1]`.
        """
        features, pooled = self.tower.features(planes)
        return torch.cat([self.tower.actions(features, pooled), torch.tanh(self.value(pooled))], 1)


def make_pv_network(config: PVConfig, game: Game) -> PVNetwork:
    """Return a network with random weights from PyTorch's generator."""
    return PVNetwork(config, Encoder(game))


def make_evaluator(run: Callable[[NDArray[np.int8]], NDArray[np.float32]]) -> Any:
    """Return `evaluate(planes) -> (logits, values)` of a policy-value network.

    Args:
        run: inference of the network, from planes `[K, planes, rows, columns]` to the outputs of
            `PVNetwork.forward`.
    """

    def evaluate(
        planes: NDArray[np.int8],
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        outputs = run(planes)
        return np.ascontiguousarray(outputs[:, :-1]), np.ascontiguousarray(outputs[:, -1])

    return evaluate
