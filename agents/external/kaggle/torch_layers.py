"""Conversion of PyTorch modules to the layers of `layers.py`, for the export of networks."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.external.kaggle.layers import Layers

try:
    import torch
    from torch import nn
except ImportError as error:
    raise ImportError('networks need PyTorch: pip install "ludoteca[train]"') from error

Weights = dict[str, NDArray[np.float32]]


def layers_of(module: nn.Module, weights: Weights) -> Layers:
    """Return the layers (`layers.py`) of a module in evaluation mode.

    Args:
        module: a module; `MODULES` lists the supported classes.
        weights: arrays by name, to which those of the layers are added.

    Raises:
        ValueError: if a class or an option is not supported.
    """
    if type(module) not in MODULES:
        known = ", ".join(kind.__name__ for kind in MODULES)
        raise ValueError(f"cannot export a {type(module).__name__}; supported are {known}")
    return MODULES[type(module)](module, weights)


def add_array(weights: Weights, values: torch.Tensor) -> str:
    """Add an array to the weights; return its name."""
    name = f"w{len(weights)}"
    weights[name] = values.detach().cpu().float().numpy().copy()
    return name


def sequential(module: nn.Sequential, weights: Weights) -> Layers:
    """Return the layers of all modules in order."""
    return tuple(layer for child in module for layer in layers_of(child, weights))


def convolution(module: nn.Conv2d, weights: Weights) -> Layers:
    """Return a convolution of the board's size, and its bias."""
    height, width = module.kernel_size
    keeps_size = module.padding == "same" or module.padding == (height // 2, width // 2)
    has_defaults = module.stride == module.dilation == (1, 1) and module.groups == 1
    padding = module.padding_mode
    if height != width or height % 2 == 0 or not keeps_size or not has_defaults:
        raise ValueError(
            f"cannot export {module}: the output must have the size of the board, with an odd "
            "square kernel, stride 1, dilation 1 and one group"
        )
    if padding not in ("zeros", "circular"):
        raise ValueError(f"cannot export {module}: padding must be zeros or circular")
    layers: Layers = (("conv", add_array(weights, module.weight), padding),)
    return layers if module.bias is None else (*layers, ("bias", add_array(weights, module.bias)))


def linear(module: nn.Linear, weights: Weights) -> Layers:
    """Return a dense layer, and its bias."""
    layers: Layers = (("linear", add_array(weights, module.weight)),)
    return layers if module.bias is None else (*layers, ("bias", add_array(weights, module.bias)))


def normalization(module: nn.BatchNorm1d | nn.BatchNorm2d, weights: Weights) -> Layers:
    """Return batch normalization by its running statistics."""
    mean, variance = module.running_mean, module.running_var
    if mean is None or variance is None:
        raise ValueError(f"cannot export {module}: it has no running statistics")
    scale = 1 / torch.sqrt(variance.double() + module.eps)
    bias = -mean.double() * scale
    if module.affine:
        scale = scale * module.weight
        bias = bias * module.weight + module.bias
    return (("scale", add_array(weights, scale)), ("bias", add_array(weights, bias)))


def leaky_relu(module: nn.LeakyReLU, weights: Weights) -> Layers:
    """Return a leaky ReLU."""
    return (("leaky_relu", float(module.negative_slope)),)


def pooling(module: nn.AdaptiveAvgPool2d | nn.AdaptiveMaxPool2d, weights: Weights) -> Layers:
    """Return means or maxima over the board."""
    if module.output_size not in (1, (1, 1)):
        raise ValueError(f"cannot export {module}: it must pool to one cell")
    return (("mean" if isinstance(module, nn.AdaptiveAvgPool2d) else "max",),)


def constant(*layers: tuple[Any, ...]) -> Callable[[Any, Weights], Layers]:
    """Return a converter that returns the same layers for every module."""
    return lambda module, weights: layers


# Converters by class of modules.
MODULES: dict[type[nn.Module], Callable[[Any, Weights], Layers]] = {
    nn.Sequential: sequential,
    nn.Conv2d: convolution,
    nn.Linear: linear,
    nn.BatchNorm1d: normalization,
    nn.BatchNorm2d: normalization,
    nn.ReLU: constant(("relu",)),
    nn.LeakyReLU: leaky_relu,
    nn.Tanh: constant(("tanh",)),
    nn.AdaptiveAvgPool2d: pooling,
    nn.AdaptiveMaxPool2d: pooling,
    nn.Flatten: constant(("flatten",)),
    nn.Dropout: constant(),
    nn.Identity: constant(),
}
