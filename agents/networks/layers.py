"""Network layers for boards of any size: residual trunk, 2x2 convolution."""

import torch
from torch import Tensor, nn

from ludoteca.agents.networks import fused
from ludoteca.agents.networks.pooling import global_pooling
from ludoteca.agents.networks.torus import around


class Trunk(nn.Module):
    """A convolution and residual blocks at the board's full size.

    Without normalization: each block starts as the identity (its last weights are zero; Zhang,
    Dauphin and Ma, "Fixup initialization", 2019, section 3), so that deep towers learn stably, and
    nothing depends on the other positions of a batch.

    Attributes:
        torus: whether padding is circular.
        fused: whether fused operators are used, see `fused.works`; for inference only.
    """

    def __init__(
        self, planes: int, filters: int, blocks: int, pooled_every: int = 2, torus: bool = False
    ):
        """Make the trunk.

        Args:
            planes: planes of the input.
            filters: filters of every layer.
            blocks: number of residual blocks of two convolutions.
            pooled_every: interval of blocks with global pooling; 0: none.
            torus: whether padding is circular.
        """
        super().__init__()
        self.torus, self.fused = torus, False
        self.enter = nn.Conv2d(planes, filters, 3, padding=0 if torus else 1)
        pooled = [pooled_every > 0 and (k + 1) % pooled_every == 0 for k in range(blocks)]
        self.blocks = nn.Sequential(*(Block(filters, pools, torus) for pools in pooled))

    def forward(self, x: Tensor) -> Tensor:
        """Return features. Shape `[K, filters, rows, columns]`."""
        if self.torus:
            x = around(x, 1)
        if self.fused:
            x = fused.convolved(self.enter, x)
            for block in self.blocks:
                assert isinstance(block, Block)
                x = block.run_fused(x)
            return x.relu_()
        return torch.relu(self.blocks(torch.relu(self.enter(x))))


class Block(nn.Module):
    """A residual block of two convolutions (He et al., 2016, pre-activated).

    A pooled block adds features of the whole board between them (Wu, "Accelerating self-play
    learning in Go", 2019, section 3.3): means and maxima of all filters, through a linear layer. On
    a torus, the board is continued once for both convolutions, and the filters are the input's.
    """

    def __init__(self, filters: int, pooled: bool = False, torus: bool = False):
        super().__init__()
        self.torus, padding = torus, 0 if torus else 1
        self.first = nn.Conv2d(filters, filters, 3, padding=padding)
        self.second = nn.Conv2d(filters, filters, 3, padding=padding)
        self.pool = nn.Linear(2 * filters, filters) if pooled else None
        nn.init.zeros_(self.second.weight)
        assert self.second.bias is not None
        nn.init.zeros_(self.second.bias)
        if self.pool is not None:
            nn.init.zeros_(self.pool.weight)
            nn.init.zeros_(self.pool.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return the input plus the residual. Shape `[K, filters, rows, columns]`."""
        activated = torch.relu(x)
        out = self.first(around(activated, 2) if self.torus else activated)
        if self.pool is not None:
            out = out + self.pool(self._whole(activated, out))[:, :, None, None]
        changed: Tensor = self.second(torch.relu(out))
        return x + changed

    def run_fused(self, x: Tensor) -> Tensor:
        """Return the same by fused operators, for inference on CPUs."""
        activated = torch.relu(x)
        padded = around(activated, 2) if self.torus else activated
        if self.pool is None:
            out = fused.convolved(self.first, padded)
        else:
            out = self.first(padded)
            out.add_(self.pool(self._whole(activated, out))[:, :, None, None]).relu_()
        return fused.added(self.second, out, x)

    def _whole(self, seen: Tensor, out: Tensor) -> Tensor:
        """Return means and maxima of the board, without the circular padding."""
        return global_pooling(seen if self.torus else out)


class Windows(nn.Module):
    """A convolution with 2x2 kernels and ReLU, on channels last.

    One product of matrices is faster on CPUs than PyTorch's convolution with such small kernels.
    """

    def __init__(self, planes: int, filters: int):
        super().__init__()
        self.kernels = nn.Conv2d(planes, filters, 2)  # holds the weights, does not run

    def forward(self, x: Tensor) -> Tensor:
        """Map `[K, rows, columns, planes]` to `[K, rows - 1, columns - 1, filters]`."""
        up, down = x[:, :-1], x[:, 1:]
        windows = torch.cat([up[:, :, :-1], up[:, :, 1:], down[:, :, :-1], down[:, :, 1:]], -1)
        weights = self.kernels.weight.permute(0, 2, 3, 1).flatten(1)
        return torch.relu(nn.functional.linear(windows, weights, self.kernels.bias))


def inside(x: Tensor, rows: int, columns: int) -> Tensor:
    """Cut off the padding around a board. Shape `[..., rows, columns]`."""
    top, left = (x.shape[-2] - rows) // 2, (x.shape[-1] - columns) // 2
    return x[..., top : top + rows, left : left + columns]
