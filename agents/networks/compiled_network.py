"""Compiled inference of residual policy-value networks on CPUs."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from ludoteca.agents.networks.int16_products import can_quantize, quantize_weights
from ludoteca.agents.networks.layers import Block
from ludoteca.agents.networks.network_kernel import (
    Shape,
    batch_size,
    make_run_network,
    round_up,
)
from ludoteca.agents.networks.pv_network import PVNetwork
from ludoteca.agents.networks.vectors import LANES
from ludoteca.agents.networks.winograd import (
    GAP,
    PRODUCTS,
    num_tiles,
    transform_weights,
)
from ludoteca.envs.interpreted import is_interpreted
from ludoteca.envs.records import CACHE_LINE


class CompiledNetwork:
    """Compiled policy-value network, with outputs equal to PyTorch's up to rounding.

    With `int16` the outputs are less exact, see `int16_products`.

    Convolutions are Winograd's, see `winograd`. All layers run in one compiled function: for small
    batches, calls of Python or PyTorch between the layers would take most of the time. Several
    threads may call the same network.
    """

    def __init__(self, network: PVNetwork, scale: float, int16: bool = False):
        """Copy and transform the weights of a network for which `can_compile` holds.

        Args:
            network: the network.
            scale: factor by which planes are multiplied before they enter the network.
            int16: whether the blocks' convolutions multiply 16-bit integers.
        """
        tower, trunk = network.tower, network.tower.trunk
        blocks = [block for block in trunk.blocks if isinstance(block, Block)]
        layers = [layer for block in blocks for layer in (block.first, block.second)]
        rows, columns = tower.planes_shape
        board_rows, board_columns = tower.board
        self._shape = Shape(
            rows=rows,
            columns=columns,
            top=(rows - board_rows) // 2,
            left=(columns - board_columns) // 2,
            board_rows=board_rows,
            board_columns=board_columns,
            planes=trunk.enter.in_channels,
            filters=trunk.enter.out_channels,
            head_filters=tower.first_layer.out_channels,
            others=0 if tower.linear_layer is None else tower.linear_layer.out_features,
            int16=int16,
        )
        self._scale = np.float32(scale)
        weights: Any = [transform_weights(_array(layer.weight)) for layer in layers]
        scales: list[NDArray[np.float32]] = []
        if int16:
            quantized = [quantize_weights(array) for array in weights]
            # `_concatenate` copies float32: the bits of the integers pass through it unchanged.
            weights = [layer.pairs.view(np.float32) for layer in quantized]
            scales = [layer.scales for layer in quantized]
        self._trunk = (  # names are those of `make_run_network`
            _concatenate([transform_weights(_array(trunk.enter.weight))]),  # enter_weights
            _concatenate(weights).view(np.int32 if int16 else np.float32),  # weights
            _concatenate(scales),  # scales
            _concatenate([_array(layer.bias) for layer in (trunk.enter, *layers)]),  # biases
            np.array([block.pool is not None for block in blocks], np.bool_),  # is_pooled
            _concatenate(  # pools
                [_dense(block.pool) for block in blocks if block.pool is not None]
            ),
        )
        head, last = tower.first_layer, tower.linear_layer
        head_weights = [_dense(head, _array(head.weight)[:, :, 0, 0])]
        if last is not None:
            matrix = _array(last.weight)
            # PyTorch flattens the outputs of the first layer with channels first; those of the
            # compiled function have channels last, padded to whole vectors.
            if self._shape.head_filters > 1:
                matrix = matrix.reshape(len(matrix), self._shape.head_filters, -1).swapaxes(1, 2)
                matrix = _pad_to_vectors(matrix).reshape(len(matrix), -1)
            head_weights.append(_dense(last, matrix))
        head_weights += [_dense(network.value[0]), _dense(network.value[2])]  # [1] is a ReLU
        self._heads = _concatenate(head_weights)
        self._workspaces = threading.local()

    def __call__(self, planes: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return what `PVNetwork.forward` returns: logits and, in the last column, values.

        Args:
            planes: observations, not scaled. Shape `[K, planes, rows, columns]`.

        Returns:
            Shape `[K, num_actions + 1]`.
        """
        shape = self._shape
        out = np.empty((len(planes), shape.cells + shape.others + 1), np.float32)
        flat = np.ascontiguousarray(planes).reshape(-1)
        make_run_network(shape)(
            flat, self._scale, len(planes), *self._trunk, self._heads, out, *self._workspace()
        )
        return out

    def _workspace(self) -> tuple[NDArray[Any], ...]:
        """Return the scratch space of the current thread, the last arguments of `run_network`."""
        local = vars(self._workspaces)
        if "arrays" not in local:
            shape = self._shape
            cells, tiles = shape.rows * shape.columns, num_tiles(shape.rows, shape.columns)
            count = batch_size(shape)
            width = max(shape.filters, round_up(shape.planes))
            sizes = [  # in float32 numbers; names are those of `make_run_network`
                count * cells * round_up(shape.planes),  # inputs_nhwc
                count * cells * shape.filters,  # x
                count * cells * max(shape.filters, round_up(shape.head_filters)),  # hidden
                PRODUCTS * (count * tiles * width + GAP),  # v
                PRODUCTS * (count * tiles * width + GAP),  # m
                count * tiles,  # row_scales
                2 * shape.filters,  # pooled
                max(shape.filters, round_up(shape.others)),  # w
            ]
            pairs = _aligned_zeros(count * tiles * width // 2).view(np.int32)
            local["arrays"] = (pairs, *(_aligned_zeros(size) for size in sizes))
        workspace: tuple[NDArray[Any], ...] = local["arrays"]
        return workspace


def can_compile(network: nn.Module) -> bool:
    """Return whether a network can be compiled.

    It must be a policy-value network with a multiple of `LANES` filters. Interpreted mode has no
    compiled networks.
    """
    return (
        isinstance(network, PVNetwork)
        and network.config.filters % LANES == 0
        and not is_interpreted()
    )


def can_compile_int16(network: nn.Module) -> bool:
    """Return whether a network can be compiled with `int16`; see `can_quantize`."""
    if not isinstance(network, PVNetwork):
        return False
    return can_compile(network) and can_quantize(network.config.filters)


def _dense(layer: Any, matrix: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Return the weights and, in the last row, the biases of a linear layer: `[in + 1, out]`.

    Outputs are padded to whole vectors. `matrix`, `[out, in]`, replaces the layer's weights.
    """
    weights = _array(layer.weight) if matrix is None else matrix
    return _pad_to_vectors(np.append(weights.T, _array(layer.bias)[None], axis=0))


def _pad_to_vectors(array: NDArray[np.float32]) -> NDArray[np.float32]:
    """Pad the last axis of an array with zeros to a multiple of `LANES`."""
    padding = round_up(array.shape[-1]) - array.shape[-1]
    return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, padding)])


def _array(parameter: Tensor | None) -> NDArray[np.float32]:
    """Return a parameter as a float32 array."""
    assert parameter is not None
    array: NDArray[np.float32] = parameter.detach().float().cpu().numpy()
    return array


def _concatenate(arrays: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Concatenate arrays to a flat array that begins at a cache line."""
    out = _aligned_zeros(sum(array.size for array in arrays))
    np.concatenate([out[:0], *(array.ravel() for array in arrays)], out=out)
    return out


def _aligned_zeros(size: int) -> NDArray[np.float32]:
    """Return a flat array of zeros that begins at a cache line."""
    memory = np.zeros(4 * size + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + 4 * size].view(np.float32)
