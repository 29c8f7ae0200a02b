"""Compiled inference of residual policy-value networks on CPUs: one function for all layers.

Arrays are flat, with channels (filters) last, padded to whole vectors of `LANES` numbers.
"""

import math
import threading
from collections.abc import Sequence
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from ludoteca.agents.networks.int16_products import can_quantize, quantize_weights
from ludoteca.agents.networks.layers import Block
from ludoteca.agents.networks.matrix_block import BLOCK_ROWS, WIDTH, make_multiply_block
from ludoteca.agents.networks.pv_network import PVNetwork
from ludoteca.agents.networks.vectors import (
    LANES,
    add,
    load,
    maximum,
    multiply_add,
    splat,
    store,
)
from ludoteca.agents.networks.winograd import (
    GAP,
    PRODUCTS,
    make_convolve,
    num_tiles,
    transform_weights,
)
from ludoteca.envs.interpreted import is_interpreted
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.records import CACHE_LINE

# Tiles of Winograd's convolution per batch of a layer: their transforms stay in the CPU's cache.
TILES_PER_BATCH = 64
ZERO = np.float32(0)


class Shape(NamedTuple):
    """Sizes of a network, constants of its compiled function.

    Attributes:
        rows, columns: size of the planes.
        top, left: first row and column of the game's board on the planes.
        board_rows, board_columns: size of the game's board.
        planes: number of planes.
        filters: filters of the trunk.
        head_filters: filters of the first layer of the policy head; 1: its outputs are the logits
            of the actions, which are cells.
        others: number of actions that are not cells.
        int16: whether the blocks' convolutions multiply 16-bit integers, see `int16_products`.
    """

    rows: int
    columns: int
    top: int
    left: int
    board_rows: int
    board_columns: int
    planes: int
    filters: int
    head_filters: int
    others: int
    int16: bool

    @property
    def cells(self) -> int:
        """Number of actions that are cells."""
        return self.board_rows * self.board_columns if self.head_filters == 1 else 0

    @property
    def depth(self) -> int:
        """Number of inputs of the linear layer for the actions that are not cells."""
        if self.head_filters == 1:
            return 2 * self.filters
        return self.rows * self.columns * round_up(self.head_filters)


class CompiledNetwork:
    """Compiled policy-value network, with outputs equal to PyTorch's up to rounding.

    With `int16` the outputs are less exact, see `int16_products`.

    Convolutions are Winograd's, see `winograd`. No Python or PyTorch runs between the layers, which
    would take most of the time of small batches. It is thread-safe.
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
        self._shape = Shape(
            rows,
            columns,
            (rows - tower.board[0]) // 2,
            (columns - tower.board[1]) // 2,
            *tower.board,
            trunk.enter.in_channels,
            trunk.enter.out_channels,
            head_filters=tower.first_layer.out_channels,
            others=0 if tower.linear_layer is None else tower.linear_layer.out_features,
            int16=int16,
        )
        self._scale = np.float32(scale)
        weights: Any = [transform_weights(_array(layer.weight)) for layer in layers]
        scales: list[NDArray[np.float32]] = []
        if int16:
            quantized = [quantize_weights(array) for array in weights]
            weights = [layer.pairs.view(np.float32) for layer in quantized]
            scales = [layer.scales for layer in quantized]
        self._trunk = (
            _concatenate([transform_weights(_array(trunk.enter.weight))]),
            _concatenate(weights).view(np.int32 if int16 else np.float32),
            _concatenate(scales),
            _concatenate([_array(layer.bias) for layer in (trunk.enter, *layers)]),
            np.array([block.pool is not None for block in blocks], np.bool_),
            _concatenate([_dense(block.pool) for block in blocks if block.pool is not None]),
        )
        head, last = tower.first_layer, tower.linear_layer
        head_weights = [_dense(head, _array(head.weight)[:, :, 0, 0])]
        if last is not None:
            matrix = _array(last.weight)
            if self._shape.head_filters > 1:  # inputs in channels last, with padded filters
                matrix = matrix.reshape(len(matrix), self._shape.head_filters, -1).swapaxes(1, 2)
                matrix = _pad_to_vectors(matrix).reshape(len(matrix), -1)
            head_weights.append(_dense(last, matrix))
        head_weights += [_dense(network.value[0]), _dense(network.value[2])]
        self._heads = _concatenate(head_weights)
        self._workspaces = threading.local()

    def __call__(self, planes: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return logits and values, `[K, num_actions + 1]`, as `PVNetwork.forward` does."""
        shape = self._shape
        out = np.empty((len(planes), shape.cells + shape.others + 1), np.float32)
        flat = np.ascontiguousarray(planes).reshape(-1)
        make_run_network(shape)(
            flat, self._scale, len(planes), *self._trunk, self._heads, out, *self._workspace()
        )
        return out

    def _workspace(self) -> tuple[NDArray[Any], ...]:
        """Return the thread's scratch space."""
        local = vars(self._workspaces)
        if "arrays" not in local:
            shape = self._shape
            cells, tiles = shape.rows * shape.columns, num_tiles(shape.rows, shape.columns)
            count = batch_size(shape)
            width = max(shape.filters, round_up(shape.planes))
            sizes = [  # in numbers; names are those of `make_run_network`
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
    return (
        can_compile(network)
        and isinstance(network, PVNetwork)
        and can_quantize(network.config.filters)
    )


@factory("network")
def make_run_network(shape: Shape) -> Any:
    """Return the compiled function `run_network`, which runs a network.

    Its arguments, flat arrays except for `out`:
        planes_in: int8, `[count, planes, rows, columns]`.
        scale: factor of the planes.
        count: number of positions.
        enter_weights: those of the first convolution, see `winograd.transform_weights`.
        weights: those of the blocks' convolutions, in order; with `int16` pairs of integers.
        scales: with `int16`, the scales of the blocks' weights, see `Int16Weights`.
        biases: those of all convolutions.
        is_pooled: whether each residual block has global pooling.
        pools: linear layers of the pooled blocks: weights `[in, out]`, then biases.
        heads: likewise, the layers of the policy head and the value head.
        out: output, float32 `[count, num_actions + 1]`.
        inputs_nhwc, x, hidden: scratch: activations of a batch, `[positions, rows, columns, C]`.
        pairs, v, m, row_scales: scratch, see `winograd.make_convolve`.
        pooled, w: scratch: global features, and outputs of a linear layer.

    In indices, p is a position of a batch, f a filter, k a block, and q the place of a vector.
    """
    rows, columns, planes, filters = shape.rows, shape.columns, shape.planes, shape.filters
    top, left, board_rows, board_columns = shape[2:6]
    head_filters, others = shape.head_filters, shape.others
    cells, depth, num_cells = shape.cells, shape.depth, rows * columns
    in_stride, position_size = round_up(planes), num_cells * filters
    head_width, others_width = round_up(head_filters), round_up(others)
    batch = batch_size(shape)
    enter = make_convolve(rows, columns, in_stride, planes, filters)
    convolve = make_convolve(rows, columns, filters, filters, filters, shape.int16)
    layer_size = PRODUCTS * filters * filters // (2 if shape.int16 else 1)
    num_scales = PRODUCTS * (filters + 1)
    to_filters, to_head = make_dense(2 * filters, filters), make_dense(filters, head_width)
    to_others, to_value = make_dense(depth, max(others_width, LANES)), make_dense(filters, LANES)
    head_rows = make_multiply_block(BLOCK_ROWS, gcd(head_width // LANES, WIDTH))
    head_step = gcd(head_width // LANES, WIDTH) * LANES
    pool_size, head_size = (2 * filters + 1) * filters, (filters + 1) * head_width
    others_size = (depth + 1) * others_width if others > 0 else 0
    per_cell = np.float32(1 / num_cells)

    @kernel
    def pool(x: Any, start: int, pooled: Any) -> None:
        """Write the means and maxima of the filters of the position at `x[start]` to `pooled`."""
        for f in range(0, filters, LANES):
            total = largest = load(x, start + f)
            for cell in range(1, num_cells):
                v = load(x, start + cell * filters + f)
                total, largest = add(total, v), maximum(largest, v)
            store(pooled, f, multiply_add(total, splat(per_cell), splat(ZERO)))
            store(pooled, filters + f, largest)

    @kernel
    def add_pooled(x: Any, start: int, pools: Any, k: int, pooled: Any, change: Any) -> None:
        """Add a linear layer of the global features of the position at `x[start]` to its cells.

        The weights of the layer begin at `pools[k]`; `pooled` and `change` are scratch.
        """
        pool(x, start, pooled)
        to_filters(pooled, 0, pools, k, change)
        for f in range(0, filters, LANES):
            v = load(change, f)
            for cell in range(num_cells):
                q = start + cell * filters + f
                store(x, q, add(load(x, q), v))

    @kernel
    def rectify(x: Any, size: int) -> None:
        """Apply ReLU to `x[:size]` in place."""
        for q in range(0, size, LANES):
            store(x, q, maximum(load(x, q), splat(ZERO)))

    @kernel
    def run_head(x: Any, start: int, heads: Any, out: Any) -> None:
        """Write the outputs of the policy head's first layer, with biases, for all cells."""
        for column in range(0, head_width, head_step):
            cell = 0
            while cell + BLOCK_ROWS <= num_cells:
                head_rows(
                    x, start + cell * filters, filters, heads, column, head_width,
                    out, cell * head_width + column, head_width, filters,
                )  # fmt: skip
                cell += BLOCK_ROWS
        for cell in range(num_cells - num_cells % BLOCK_ROWS, num_cells):
            to_head(
                x,
                start + cell * filters,
                heads,
                0,
                out[cell * head_width : (cell + 1) * head_width],
            )
        for cell in range(num_cells - num_cells % BLOCK_ROWS):
            for f in range(0, head_width, LANES):
                q = cell * head_width + f
                store(out, q, add(load(out, q), load(heads, filters * head_width + f)))

    @kernel
    def run_heads(
        x: Any, start: int, heads: Any, out: Any, pooled: Any, hidden: Any, w: Any
    ) -> None:
        """Write the logits of a position's actions and its value."""
        pool(x, start, pooled)
        run_head(x, start, heads, hidden)
        if head_filters == 1:
            for row in range(board_rows):
                for column in range(board_columns):
                    cell = (row + top) * columns + column + left
                    out[row * board_columns + column] = hidden[cell * head_width]
        else:
            rectify(hidden, num_cells * head_width)
        if others > 0:
            to_others(pooled if head_filters == 1 else hidden, 0, heads, head_size, w)
            for action in range(others):
                out[cells + action] = w[action]
        to_filters(pooled, 0, heads, head_size + others_size, w)
        rectify(w, filters)
        to_value(w, 0, heads, head_size + others_size + pool_size, pooled)
        out[cells + others] = math.tanh(pooled[0])

    @compiled_without_allocation
    def run_network(
        planes_in: Any, scale: Any, count: int, enter_weights: Any, weights: Any, scales: Any,
        biases: Any, is_pooled: Any, pools: Any, heads: Any, out: Any, pairs: Any,
        inputs_nhwc: Any, x: Any, hidden: Any, v: Any, m: Any, row_scales: Any,
        pooled: Any, w: Any,
    ) -> None:  # fmt: skip
        for start in range(0, count, batch):
            n = min(batch, count - start)
            for p in range(n):
                for i in range(planes):
                    source = ((start + p) * planes + i) * num_cells
                    for cell in range(num_cells):
                        value = np.float32(planes_in[source + cell]) * scale
                        inputs_nhwc[(p * num_cells + cell) * in_stride + i] = value
            enter(
                inputs_nhwc, n, False, enter_weights, 0, scales, 0, biases, 0, False,
                x, v, m, pairs, row_scales,
            )  # fmt: skip
            rectify(x, n * position_size)
            pools_before = 0
            for k in range(len(is_pooled)):
                layer, s, b = 2 * k * layer_size, 2 * k * num_scales, (2 * k + 1) * filters
                convolve(
                    x, n, True, weights, layer, scales, s, biases, b, False,
                    hidden, v, m, pairs, row_scales,
                )  # fmt: skip
                if is_pooled[k]:
                    for p in range(n):
                        add_pooled(
                            hidden, p * position_size, pools, pools_before * pool_size, pooled, w
                        )
                    pools_before += 1
                convolve(
                    hidden, n, True, weights, layer + layer_size, scales, s + num_scales,
                    biases, b + filters, True, x, v, m, pairs, row_scales,
                )  # fmt: skip
            rectify(x, n * position_size)
            for p in range(n):
                run_heads(x, p * position_size, heads, out[start + p], pooled, hidden, w)

    return run_network


@factory()
def make_dense(depth: int, outputs: int) -> Any:
    """Return the kernel `dense(x, i, weights, k, out)`, a linear layer.

    The `depth` inputs from `x[i]` on are mapped to `outputs` numbers, a multiple of `LANES`. The
    weights, `[depth, outputs]`, begin at `weights[k]`, followed by the biases.
    """
    width = gcd(outputs // LANES, WIDTH)
    multiply_row = make_multiply_block(1, width)

    @kernel
    def dense(x: Any, i: int, weights: Any, k: int, out: Any) -> None:
        for column in range(0, outputs, width * LANES):
            multiply_row(x, i, depth, weights, k + column, outputs, out, column, outputs, depth)
        for f in range(0, outputs, LANES):
            store(out, f, add(load(out, f), load(weights, k + depth * outputs + f)))

    return dense


def batch_size(shape: Shape) -> int:
    """Return the number of positions that a layer processes at once."""
    return max(1, TILES_PER_BATCH // num_tiles(shape.rows, shape.columns))


def round_up(count: int) -> int:
    """Round a number of filters up to whole vectors."""
    return -(-count // LANES) * LANES


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
