"""Synchronized batch normalization, over a batch that is split among several processes.

`torch.nn.SyncBatchNorm` does the same, but on GPUs only.
"""

from typing import Any, ClassVar

import torch
import torch.distributed as dist
from torch import Tensor, nn


class JointBatchNorm2d(nn.BatchNorm2d):
    """Batch normalization with the mean and variance of the whole batch, in every process.

    Weights and buffers have the names and values that `nn.BatchNorm2d` has in one process.

    Attributes:
        copies: number of processes that have each row of a batch: 1, or all of them if the batch is
            not split.
    """

    copies: ClassVar[int] = 1

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalized features; in evaluation mode, by the running estimates.

        Args:
            input: features of the rows of this process, shape `[K, filters, rows, columns]`.
        """
        if not self.training:
            return super().forward(input)
        x = input.float()
        sums = torch.cat([x.sum((0, 2, 3)), x.new_full((1,), x.numel() / x.shape[1])])
        sums = _sum_over_processes(sums)
        mean = sums[:-1] / sums[-1]
        centered = x - mean[:, None, None]
        variance = _sum_over_processes(centered.square().sum((0, 2, 3))) / sums[-1]
        with torch.no_grad():
            assert self.running_mean is not None
            assert self.running_var is not None
            assert self.num_batches_tracked is not None
            assert self.momentum is not None
            count = sums[-1] / self.copies
            self.num_batches_tracked += 1
            self.running_mean.lerp_(mean, self.momentum)
            # As in `nn.BatchNorm2d`, the running variance is the unbiased estimate.
            self.running_var.lerp_(variance * count / (count - 1), self.momentum)
        normed = centered * torch.rsqrt(variance + self.eps)[:, None, None]
        return (normed * self.weight[:, None, None] + self.bias[:, None, None]).to(input.dtype)


def join_norms(network: nn.Module) -> None:
    """Replace each batch normalization of a network by one over the batch of all processes."""
    for module in network.modules():
        for name, child in module.named_children():
            if type(child) is nn.BatchNorm2d:
                joint = JointBatchNorm2d(child.num_features, child.eps, child.momentum)
                for key in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
                    setattr(joint, key, getattr(child, key))
                setattr(module, name, joint.train(child.training))


class _Sum(torch.autograd.Function):
    """Sum over all processes, whose gradient is the sum of the gradients of all processes."""

    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        total = values.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        total = gradients[0].clone()
        dist.all_reduce(total)
        return total


def _sum_over_processes(values: Tensor) -> Tensor:
    """Return the sum of values over all processes, differentiable."""
    total: Tensor = _Sum.apply(values)  # type: ignore[no-untyped-call]
    return total
