"""Fused convolutions with addition and ReLU, the operators that `torch.compile` uses on CPUs.

The passes of small networks over memory take as long as their convolutions. PyTorch has operators
of oneDNN that do both at once, for inference only, but not as public functions: so they are tried
before they are used.
"""

from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

ONES = ([1, 1], [1, 1], 1)  # stride, dilation, groups
# Against rounding of outputs around 1.
TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 0.05}


def convolved(layer: nn.Conv2d, x: Tensor) -> Tensor:
    """Return `relu(layer(x))`, for a layer with stride 1."""
    operators: Any = torch.ops.mkldnn
    out: Tensor = operators._convolution_pointwise(
        x, layer.weight, layer.bias, [*layer.padding], *ONES, "relu", [], ""
    )
    return out


def added(layer: nn.Conv2d, x: Tensor, to: Tensor) -> Tensor:
    """Add `layer(x)` to `to`, in place, likewise; return it."""
    operators: Any = torch.ops.mkldnn
    out: Tensor = operators._convolution_pointwise_.binary(
        to, x, layer.weight, layer.bias, [*layer.padding], *ONES, "add", 1.0, None, [], None
    )
    return out


@cache
def works(dtype: torch.dtype) -> bool:
    """Return whether these operators exist here and agree with PyTorch's layers."""
    with torch.inference_mode():
        layer = nn.Conv2d(32, 32, 3, padding=1)
        steps = torch.linspace(-1, 1, layer.weight.numel()).reshape(layer.weight.shape)
        layer.weight.copy_(torch.sin(997 * steps) / 17)
        x = torch.sin(torch.arange(2 * 32 * 25.0)).reshape(2, 32, 5, 5)
        inputs: Any = (layer, x)
        layer, x = (tensor.to(dtype).to(memory_format=torch.channels_last) for tensor in inputs)
        try:
            results = (convolved(layer, x), added(layer, x, (x / 3).clone()))
        except (AttributeError, RuntimeError):
            return False
        expected = (torch.relu(layer(x)), x / 3 + layer(x))
        return all(
            bool((tensor.float() - other.float()).abs().max() < TOLERANCE[dtype])
            for tensor, other in zip(results, expected, strict=True)
        )
