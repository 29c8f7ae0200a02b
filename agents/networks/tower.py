"""Residual tower with one output per action, shared by Q and policy-value networks."""

import torch
from torch import Tensor, nn

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.networks.layers import Trunk, crop
from ludoteca.agents.networks.pooling import global_pooling

HEAD_FILTERS = 32  # filters of the policy head in games whose actions are not cells


class Tower(nn.Module):
    """Residual blocks and a head with one output per action.

    In games whose actions are cells, the head is a 1x1 convolution, and the same weights fit every
    board size; further actions, such as passing, have a linear layer on the pooled features. In
    other games, and if the planes do not show the board, the head is a 1x1 convolution of
    `HEAD_FILTERS` filters and a linear layer.

    Attributes:
        cells: number of actions that are cells.
        board: rows and columns of the game's board.
        planes_shape: rows and columns of the planes, which may pad the board.
    """

    def __init__(self, encoder: Encoder, filters: int, blocks: int):
        """Make a tower of `blocks` residual blocks with `filters` filters."""
        super().__init__()
        layout = encoder.game.layout
        self.trunk = Trunk(encoder.shape[0], filters, blocks)
        shows_board = encoder.shape[1] >= layout.rows and encoder.shape[2] >= layout.columns
        self.cells = layout.rows * layout.columns if layout.cell_actions and shows_board else 0
        num_others = encoder.game.num_actions - self.cells
        self.head = nn.Sequential(nn.Conv2d(filters, 1 if self.cells else HEAD_FILTERS, 1))
        self.others = None
        if self.cells and num_others:
            self.others = nn.Linear(2 * filters, num_others)
        if not self.cells:
            board = encoder.shape[1] * encoder.shape[2]
            linear = nn.Linear(HEAD_FILTERS * board, num_others)
            self.head.extend([nn.ReLU(), nn.Flatten(), linear])
        self.board, self.planes_shape = (layout.rows, layout.columns), encoder.shape[1:]

    @property
    def first_layer(self) -> nn.Conv2d:
        """First layer of the policy head."""
        first = self.head[0]
        assert isinstance(first, nn.Conv2d)
        return first

    @property
    def linear_layer(self) -> nn.Linear | None:
        """Linear layer of the actions that are not cells, or None if there are none."""
        linear = self.others if self.cells else self.head[-1]
        assert linear is None or isinstance(linear, nn.Linear)
        return linear

    def features(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the features of each cell and of the whole board.

        Shapes `[K, filters, rows, columns]` and `[K, 2 * filters]`.
        """
        cells = self.trunk(planes)
        return cells, global_pooling(cells)

    def actions(self, features: Tensor, pooled: Tensor) -> Tensor:
        """Return one output per action, `[K, num_actions]`, from the results of `features`."""
        out: Tensor = self.head(features)
        if self.cells:
            out = crop(out[:, 0], *self.board).flatten(1)
        if self.others is not None:
            out = torch.cat([out, self.others(pooled)], 1)
        return out


def value_head(filters: int) -> nn.Sequential:
    """Return the value head, which maps pooled features to one number."""
    return nn.Sequential(nn.Linear(2 * filters, filters), nn.ReLU(), nn.Linear(filters, 1))
