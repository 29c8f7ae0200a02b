"""Network layers for boards of any size: residual trunk and 2x2 convolution."""

import torch
from torch import Tensor, nn

from ludoteca.agents.networks import fused
from ludoteca.agents.networks.pooling import global_pooling
from ludoteca.agents.networks.torus import pad_circularly


class Trunk(nn.Module):
    """Convolution and residual blocks, all of the board's size.

    There is no normalization, so outputs do not depend on the other positions of a batch. Each
    block starts as the identity, with zeros as its last weights, so that deep networks train stably
    (Zhang, Dauphin and Ma, "Fixup initialization", 2019, section 3).

    Attributes:
        torus: whether padding is circular.
        fused: whether fused operators are used, see `fused.is_available`; for inference only.
    """

    def __init__(
        self, planes: int, filters: int, blocks: int, pooled_every: int = 2, torus: bool = False
    ):
        """Make the trunk.

        Args:
            planes: planes of the input.
            filters: filters of every layer.
            blocks: number of residual blocks of two convolutions.
            pooled_every: every `pooled_every`-th block has global pooling; 0: none.
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
            x = pad_circularly(x, 1)
        if self.fused:
            x = fused.conv_relu(self.enter, x)
            for block in self.blocks:
                assert isinstance(block, Block)
                x = block.run_fused(x)
            return x.relu_()
        return torch.relu(self.blocks(torch.relu(self.enter(x))))


class Block(nn.Module):
    """Pre-activation residual block of two convolutions.

    He, Zhang, Ren and Sun, "Identity mappings in deep residual networks", 2016. A pooled block adds
    global features after the first convolution: means and maxima of the first convolution's
    filters, through a linear layer (Wu, "Accelerating self-play learning in Go", 2019, section
    3.3). On a torus, the input is padded once for both convolutions, and its filters are pooled.
    """

    def __init__(self, filters: int, pooled: bool = False, torus: bool = False):
        """Make a block whose output is its input.

        Args:
            filters: filters of its input and its convolutions.
            pooled: whether global features are added.
            torus: whether padding is circular.
        """
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
        out = self.first(pad_circularly(activated, 2) if self.torus else activated)
        if self.pool is not None:
            out = out + self.pool(self._global_features(activated, out))[:, :, None, None]
        residual: Tensor = self.second(torch.relu(out))
        return x + residual

    def run_fused(self, x: Tensor) -> Tensor:
        """Return what `forward` returns, computed by fused operators, for inference on CPUs."""
        activated = torch.relu(x)
        padded = pad_circularly(activated, 2) if self.torus else activated
        if self.pool is None:
            out = fused.conv_relu(self.first, padded)
        else:
            out = self.first(padded)
            out.add_(self.pool(self._global_features(activated, out))[:, :, None, None]).relu_()
        return fused.conv_add_(self.second, out, x)

    def _global_features(self, activated: Tensor, out: Tensor) -> Tensor:
        """Return the global features: of `out`, or on a torus of the unpadded input."""
        return global_pooling(activated if self.torus else out)


class Convolution2x2(nn.Module):
    """2x2 convolution with ReLU, in channels last.

    One matrix product is faster on CPUs than PyTorch's convolution with such small kernels.
    """

    def __init__(self, planes: int, filters: int):
        super().__init__()
        self.kernels = nn.Conv2d(planes, filters, 2)  # only holds the weights

    def forward(self, x: Tensor) -> Tensor:
        """Map `[K, rows, columns, planes]` to `[K, rows - 1, columns - 1, filters]`."""
        up, down = x[:, :-1], x[:, 1:]
        windows = torch.cat([up[:, :, :-1], up[:, :, 1:], down[:, :, :-1], down[:, :, 1:]], -1)
        weights = self.kernels.weight.permute(0, 2, 3, 1).flatten(1)
        return torch.relu(nn.functional.linear(windows, weights, self.kernels.bias))


def crop(x: Tensor, rows: int, columns: int) -> Tensor:
    """Remove the padding of a board of `rows` and `columns`. Shape `[..., rows, columns]`."""
    top, left = (x.shape[-2] - rows) // 2, (x.shape[-1] - columns) // 2
    return x[..., top : top + rows, left : left + columns]
