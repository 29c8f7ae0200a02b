"""Global pooling: means and maxima of features over the board, and their values at one cell."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


def global_pooling(x: Tensor, cell: int | None = None) -> Tensor:
    """Return the mean and maximum of each filter over the board, and its value at one cell.

    Args:
        x: features, in channels last. Shape `[K, filters, rows, columns]`.
        cell: `row * columns + column`, or None.

    Returns:
        Shape `[K, 2 * filters]`, or `[K, 3 * filters]` with a cell.
    """
    if torch.is_grad_enabled() and x.requires_grad:
        pooled: Tensor = _GlobalPooling.apply(x, cell)  # type: ignore[no-untyped-call]
        return pooled
    return torch.cat([*_pool(x)[:2], *_value_at(x, cell)], 1)


class _GlobalPooling(torch.autograd.Function):
    """Global pooling with a single gradient array, in channels last.

    PyTorch's own backward pass adds four arrays, some of them in another memory format, which takes
    several times as long.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, cell: int | None) -> Tensor:
        means, maxima, max_cells = _pool(x)
        ctx.save_for_backward(max_cells)
        ctx.shape, ctx.cell = x.shape, cell
        return torch.cat([means, maxima, *_value_at(x, cell)], 1)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (max_cells,), (grad,) = ctx.saved_tensors, grads
        count, filters, rows, columns = ctx.shape
        means = grad[:, :filters] / (rows * columns)
        cells = means.unsqueeze(1).repeat(1, rows * columns, 1)
        cells.scatter_add_(1, max_cells.unsqueeze(1), grad[:, None, filters : 2 * filters])
        if ctx.cell is not None:
            cells[:, ctx.cell] += grad[:, 2 * filters :]
        return cells.view(count, rows, columns, filters).permute(0, 3, 1, 2), None


def _pool(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return means, maxima, and the cells of the maxima. Shapes `[K, filters]`."""
    board = x.shape[2:]  # pooling functions are several times faster than `mean` and `amax` on CPUs
    means = functional.avg_pool2d(x, board)
    maxima, max_cells = functional.max_pool2d(x, board, return_indices=True)
    return means.flatten(1), maxima.flatten(1), max_cells.flatten(1)


def _value_at(x: Tensor, cell: int | None) -> list[Tensor]:
    """Return the features of a cell, `[K, filters]`, in a list, which is empty without a cell."""
    return [] if cell is None else [x[:, :, cell // x.shape[3], cell % x.shape[3]]]
