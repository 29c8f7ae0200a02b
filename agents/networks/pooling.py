"""Global pooling: means and maxima of features over the board, and their values at one cell."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


def global_pooling(x: Tensor, cell: int | None = None) -> Tensor:
    """Return the mean and maximum of each filter over the board, and its value at one cell.

    Args:
        x: features of K positions, in PyTorch's memory format `channels_last`. Shape
            `[K, filters, rows, columns]`.
        cell: number of the cell, `row * columns + column`; None: no values at a cell.

    Returns:
        Shape `[K, 2 * filters]`, or `[K, 3 * filters]` with a cell.
    """
    if torch.is_grad_enabled() and x.requires_grad:
        pooled: Tensor = _GlobalPooling.apply(x, cell)  # type: ignore[no-untyped-call]
        return pooled
    return torch.cat([*_pool(x)[:2], *_value_at(x, cell)], 1)


class _GlobalPooling(torch.autograd.Function):
    """Global pooling with a single gradient array, in the memory format `channels_last`.

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
        mean_grads = grad[:, :filters] / (rows * columns)
        cell_grads = mean_grads.unsqueeze(1).repeat(1, rows * columns, 1)  # [K, cells, filters]
        cell_grads.scatter_add_(1, max_cells.unsqueeze(1), grad[:, None, filters : 2 * filters])
        if ctx.cell is not None:
            cell_grads[:, ctx.cell] += grad[:, 2 * filters :]
        return cell_grads.view(count, rows, columns, filters).permute(0, 3, 1, 2), None


def _pool(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return means, maxima, and the numbers of the cells of the maxima, each `[K, filters]`."""
    size = x.shape[2:]  # pooling functions are several times faster than `mean` and `amax` on CPUs
    means = functional.avg_pool2d(x, size)
    maxima, max_cells = functional.max_pool2d(x, size, return_indices=True)
    return means.flatten(1), maxima.flatten(1), max_cells.flatten(1)


def _value_at(x: Tensor, cell: int | None) -> list[Tensor]:
    """Return the features of a cell, `[K, filters]`, in a list, which is empty without a cell."""
    return [] if cell is None else [x[:, :, cell // x.shape[3], cell % x.shape[3]]]
