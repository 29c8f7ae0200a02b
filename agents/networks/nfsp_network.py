"""Networks of neural fictitious self-play: an average policy and a best response."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ludoteca.agents.networks.ac_network import ACConfig, ACNetwork
from ludoteca.agents.networks.seats import SeatEncoder
from ludoteca.agents.networks.weights import load_network
from ludoteca.envs.game import Game


class NFSPNetwork(nn.Module):
    """Two networks of the same architecture, without shared weights.

    The input is one observation for both networks, or two that are joined along the axis of the
    planes: the first for the average policy, the second for the best response. The output is the
    logits of the average policy, then the Q values, `[K, 2 * num_actions]`.

    Attributes:
        config: architecture of each network.
        average_policy: network from planes to action logits.
        best_response: network from planes to Q values.
    """

    def __init__(self, config: ACConfig, encoder: SeatEncoder):
        super().__init__()
        self.config = config
        self.average_policy = ACNetwork(config, encoder)
        self.best_response = ACNetwork(config, encoder)
        self._planes = encoder.shape[0]

    def forward(self, planes: Tensor) -> Tensor:
        """Return logits of the average policy, then Q values. Shape `[K, 2 * num_actions]`.

        Args:
            planes: observations, which both networks see, `[K, planes, rows, columns]`; or two per
                row, `[K, 2 * planes, rows, columns]`: the first one for the average policy, the
                second one for the best response.
        """
        logits = self.average_policy(planes[:, : self._planes])
        return torch.cat([logits, self.best_response(planes[:, -self._planes :])], 1)


def make_nfsp_network(config: ACConfig, game: Game) -> NFSPNetwork:
    """Return networks with random weights from PyTorch's generator."""
    return NFSPNetwork(config, SeatEncoder(game, config.view))


def load_nfsp_network(game: Game, file: Path) -> tuple[NFSPNetwork, dict[str, Any]]:
    """Return the networks in a file and the file's metadata.

    Raises:
        ValueError: if the file contains no such networks, or ones that do not fit the game.
    """
    return load_network(
        game, file, lambda config: make_nfsp_network(ACConfig(**config), game), "NFSP network"
    )
