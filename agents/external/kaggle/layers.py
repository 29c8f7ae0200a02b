"""Inference of networks in NumPy, in place of PyTorch, for exported agents.

A network is a tuple of layers, applied in turn; a layer is a tuple of its kind and arguments. `w`
is the name of an array of weights. Activations have shape `[K, C, rows, columns]`, or `[K, C]`
after pooling or flattening.

==========================  =====================================================================
`("conv", w, padding)`      convolution with odd square kernels and same-size output, without
                            bias; `padding` is `"zeros"`, or `"circular"` for a torus
`("linear", w)`             dense layer without bias; `weights[w]` is `[outputs, inputs]`
`("bias", w)`               adds `weights[w]`, one number per channel
`("scale", w)`              multiplies by `weights[w]`, one number per channel
`("relu",)`                 max(x, 0)
`("leaky_relu", slope)`     x, or slope * x where it is negative
`("tanh",)`                 hyperbolic tangent
`("mean",)`, `("max",)`     global pooling of each channel over the board
`("cell", row, column)`     the activations at one cell
`("flatten",)`              all activations of a board in one dimension
`("add", layers)`           adds the output of other layers to x, broadcast over the board
`("sum", (layers, ...))`    sum of the outputs of several stacks of layers, likewise broadcast
`("concat", (layers, ...))` outputs of several stacks of layers, concatenated by channel
==========================  =====================================================================
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Layers = tuple[tuple[Any, ...], ...]


def run_layers(
    layers: Layers, weights: Mapping[str, NDArray[Any]], x: NDArray[Any]
) -> NDArray[Any]:
    """Return the output of a network for a batch.

    Args:
        layers: the network, see the module's docstring.
        weights: arrays by name.
        x: float32. Shape `[K, C, rows, columns]` or `[K, C]`.

    Raises:
        ValueError: if a layer is unknown.
    """
    for layer in layers:
        kind = layer[0]
        if kind == "conv":
            x = convolve(x, weights[layer[1]], layer[2])
        elif kind == "linear":
            x = x @ weights[layer[1]].T
        elif kind == "bias":
            x = x + per_channel(weights[layer[1]], x)
        elif kind == "scale":
            x = x * per_channel(weights[layer[1]], x)
        elif kind == "relu":
            x = np.maximum(x, 0)
        elif kind == "leaky_relu":
            x = np.where(x < 0, np.float32(layer[1]) * x, x)
        elif kind == "tanh":
            x = np.tanh(x)
        elif kind == "mean":
            x = x.mean((2, 3))
        elif kind == "max":
            x = x.max((2, 3))
        elif kind == "cell":
            x = x[:, :, layer[1], layer[2]]
        elif kind == "flatten":
            x = x.reshape(len(x), -1)
        elif kind == "add":
            x = add_broadcast(x, run_layers(layer[1], weights, x))
        elif kind == "sum":
            x, *others = (run_layers(stack, weights, x) for stack in layer[1])
            for other in others:
                x = add_broadcast(x, other)
        elif kind == "concat":
            x = np.concatenate([run_layers(stack, weights, x) for stack in layer[1]], 1)
        else:
            raise ValueError("unknown layer " + repr(kind))
    return x


def convolve(x: NDArray[Any], kernels: NDArray[Any], padding: str) -> NDArray[Any]:
    """Compute a convolution as one matrix product (im2col).

    Args:
        x: shape `[K, C, rows, columns]`.
        kernels: shape `[F, C, n, n]`, n odd.
        padding: `"zeros"` or `"circular"`.

    Returns:
        Shape `[K, F, rows, columns]`.
    """
    count, channels, rows, columns = x.shape
    filters, _, n, _ = kernels.shape
    edge = (n - 1) // 2
    widths = ((0, 0), (0, 0), (edge, edge), (edge, edge))
    y = np.pad(x, widths, mode="wrap" if padding == "circular" else "constant")
    windows = np.empty((count, channels, n, n, rows, columns), x.dtype)
    for i in range(n):
        for j in range(n):
            windows[:, :, i, j] = y[:, :, i : i + rows, j : j + columns]
    product = kernels.reshape(filters, -1) @ windows.reshape(count, -1, rows * columns)
    return product.reshape(count, filters, rows, columns)


def add_broadcast(x: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Return the sum; `other` may lack the dimensions of the board, and is broadcast then."""
    total: NDArray[Any] = x + (other if other.ndim == x.ndim else other[:, :, None, None])
    return total


def per_channel(values: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """Reshape one number per channel to broadcast with x."""
    return values if x.ndim == 2 else values[:, None, None]
