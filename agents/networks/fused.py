"""Fused convolutions with ReLU or addition: the operators that `torch.compile` uses on CPUs.

In small networks, separate ReLUs and additions take as long as the convolutions. PyTorch has fused
operators of oneDNN, for inference only. They are not public, so `is_available` tries them first.
"""

from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

STRIDE_DILATION_GROUPS = ([1, 1], [1, 1], 1)
# Maximum difference of outputs near 1, due to rounding.
TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 0.05}


def conv_relu(layer: nn.Conv2d, x: Tensor) -> Tensor:
    """Return `relu(layer(x))`, for a layer with stride 1."""
    operators: Any = torch.ops.mkldnn
    out: Tensor = operators._convolution_pointwise(
        x, layer.weight, layer.bias, [*layer.padding], *STRIDE_DILATION_GROUPS, "relu", [], ""
    )
    return out


def conv_add_(layer: nn.Conv2d, x: Tensor, to: Tensor) -> Tensor:
    """Add `layer(x)` to `to` in place, for a layer with stride 1; return `to`."""
    operators: Any = torch.ops.mkldnn
    out: Tensor = operators._convolution_pointwise_.binary(
        to,
        x,
        layer.weight,
        layer.bias,
        [*layer.padding],
        *STRIDE_DILATION_GROUPS,
        "add",
        1.0,
        None,
        [],
        None,
    )
    return out


@cache
def is_available(dtype: torch.dtype) -> bool:
    """Return whether the operators exist and agree with PyTorch's layers."""
    with torch.inference_mode():
        # Arbitrary weights and inputs, which do not depend on PyTorch's random generator.
        layer = nn.Conv2d(32, 32, 3, padding=1)
        steps = torch.linspace(-1, 1, layer.weight.numel()).reshape(layer.weight.shape)
        layer.weight.copy_(torch.sin(997 * steps) / 17)
        x = torch.sin(torch.arange(2 * 32 * 25.0)).reshape(2, 32, 5, 5)
        inputs: Any = (layer, x)
        layer, x = (tensor.to(dtype).to(memory_format=torch.channels_last) for tensor in inputs)
        try:
            results = (conv_relu(layer, x), conv_add_(layer, x, (x / 3).clone()))
        except (AttributeError, RuntimeError):  # no such operators, or not with this type
            return False
        expected = (torch.relu(layer(x)), x / 3 + layer(x))
        return all(
            bool((tensor.float() - other.float()).abs().max() < TOLERANCE[dtype])
            for tensor, other in zip(results, expected, strict=True)
        )
