"""Compiled inference of residual policy-value networks on CPUs: one call for all layers."""

import math
import threading
from collections.abc import Sequence
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from ludoteca.agents.networks.layers import Block
from ludoteca.agents.networks.pv_network import PVNetwork
from ludoteca.agents.networks.vectors import (
    BLOCK_ROWS,
    LANES,
    WIDTH,
    add,
    load,
    make_multiply_block,
    maximum,
    multiply_add,
    splat,
    store,
)
from ludoteca.agents.networks.winograd import (
    GAP,
    PRODUCTS,
    make_convolve,
    tiles_of,
    transform_weights,
)
from ludoteca.envs.interpreted import is_interpreted
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.records import CACHE_LINE

# Tiles that pass through a layer together: their transforms stay in the processor's cache.
TILES_AT_ONCE = 64
ZERO = np.float32(0)


class Shape(NamedTuple):
    """Sizes of a network, by which it is compiled.

    Attributes:
        rows, columns: size of the planes.
        top, left: first row and column of the game's board on the planes.
        board_rows, board_columns: size of the game's board.
        planes: number of planes.
        filters: filters of the trunk.
        head_filters: filters of the first layer of the policy head; 1: its outputs are the logits
            of the cells.
        others: actions that are not cells.
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

    @property
    def cells(self) -> int:
        """Number of actions that are cells."""
        return self.board_rows * self.board_columns if self.head_filters == 1 else 0

    @property
    def depth(self) -> int:
        """Number of inputs of the linear layer for the actions that are not cells."""
        if self.head_filters == 1:
            return 2 * self.filters
        return self.rows * self.columns * padded(self.head_filters)


class CompiledNetwork:
    """Outputs of a policy-value network, equal to PyTorch's up to rounding.

    Convolutions are Winograd's, see `winograd`. There are no calls of Python or PyTorch between the
    layers, which take most of the time of small batches. Safe in several threads.
    """

    def __init__(self, network: PVNetwork, scale: float):
        """Copy and transform the weights of a network for which `can_compile` holds.

        Args:
            network: the network.
            scale: factor of the planes.
        """
        tower, trunk = network.tower, network.tower.trunk
        blocks = [block for block in trunk.blocks if isinstance(block, Block)]
        layers = [
            trunk.enter,
            *(layer for block in blocks for layer in (block.first, block.second)),
        ]
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
        )
        self._scale = np.float32(scale)
        self._trunk = (
            _concatenated([transform_weights(_array(layer.weight)) for layer in layers]),
            _concatenated([_array(layer.bias) for layer in layers]),
            np.array([block.pool is not None for block in blocks], np.bool_),
            _concatenated([_dense(block.pool) for block in blocks if block.pool is not None]),
        )
        head, last = tower.first_layer, tower.linear_layer
        weights = [_dense(head, _array(head.weight)[:, :, 0, 0])]
        if last is not None:
            matrix = _array(last.weight)
            if self._shape.head_filters > 1:  # cells first, and whole vectors of filters
                matrix = matrix.reshape(len(matrix), self._shape.head_filters, -1).swapaxes(1, 2)
                matrix = _whole_vectors(matrix).reshape(len(matrix), -1)
            weights.append(_dense(last, matrix))
        weights += [_dense(network.value[0]), _dense(network.value[2])]
        self._heads = _concatenated(weights)
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

    def _workspace(self) -> tuple[NDArray[np.float32], ...]:
        """Return the thread's scratch space."""
        local = vars(self._workspaces)
        if "arrays" not in local:
            shape = self._shape
            cells, tiles = shape.rows * shape.columns, tiles_of(shape.rows, shape.columns)
            count = positions_at_once(shape)
            width = max(shape.filters, padded(shape.planes))
            sizes = [
                count * cells * padded(shape.planes),
                count * cells * shape.filters,
                count * cells * max(shape.filters, padded(shape.head_filters)),
                PRODUCTS * (count * tiles * width + GAP),
                PRODUCTS * (count * tiles * width + GAP),
                PRODUCTS * LANES,
                2 * shape.filters,
                max(shape.filters, padded(shape.others)),
            ]
            local["arrays"] = tuple(_aligned(size) for size in sizes)
        workspace: tuple[NDArray[np.float32], ...] = local["arrays"]
        return workspace


def can_compile(network: nn.Module) -> bool:
    """Return whether there is compiled code: for policy-value networks with whole vectors."""
    return (
        isinstance(network, PVNetwork)
        and network.config.filters % LANES == 0
        and not is_interpreted()
    )


@factory("network")
def make_run_network(shape: Shape) -> Any:
    """Return the compiled function that runs a network; see `CompiledNetwork` for its arguments."""
    rows, columns, planes, filters = shape.rows, shape.columns, shape.planes, shape.filters
    top, left, board_rows, board_columns = shape[2:6]
    head_filters, others = shape.head_filters, shape.others
    cells, depth, num_cells = shape.cells, shape.depth, rows * columns
    inputs, board = padded(planes), num_cells * filters
    head, last = padded(head_filters), padded(others)
    at_once = positions_at_once(shape)
    enter = make_convolve(rows, columns, inputs, planes, filters)
    convolve = make_convolve(rows, columns, filters, filters, filters)
    first, size = PRODUCTS * planes * filters, PRODUCTS * filters * filters
    to_filters, to_head = make_dense(2 * filters, filters), make_dense(filters, head)
    to_others, to_value = make_dense(depth, max(last, LANES)), make_dense(filters, LANES)
    head_rows = make_multiply_block(BLOCK_ROWS, gcd(head // LANES, WIDTH))
    head_step = gcd(head // LANES, WIDTH) * LANES
    pool_size, head_size = (2 * filters + 1) * filters, (filters + 1) * head
    others_size = (depth + 1) * last if others > 0 else 0
    share = np.float32(1 / num_cells)

    @kernel
    def pool(x: Any, start: int, whole: Any) -> None:
        """Write the means and maxima of a position's filters."""
        for f in range(0, filters, LANES):
            total = largest = load(x, start + f)
            for cell in range(1, num_cells):
                v = load(x, start + cell * filters + f)
                total, largest = add(total, v), maximum(largest, v)
            store(whole, f, multiply_add(total, splat(share), splat(ZERO)))
            store(whole, filters + f, largest)

    @kernel
    def add_pooled(x: Any, start: int, pools: Any, k: int, whole: Any, change: Any) -> None:
        """Add a linear function of the means and maxima of a position's filters to all cells."""
        pool(x, start, whole)
        to_filters(whole, 0, pools, k, change)
        for f in range(0, filters, LANES):
            v = load(change, f)
            for cell in range(num_cells):
                q = start + cell * filters + f
                store(x, q, add(load(x, q), v))

    @kernel
    def rectify(x: Any, size: int) -> None:
        for q in range(0, size, LANES):
            store(x, q, maximum(load(x, q), splat(ZERO)))

    @kernel
    def run_head(x: Any, start: int, heads: Any, out: Any) -> None:
        """Write the outputs of the first layer of the policy head, with biases, for all cells."""
        for column in range(0, head, head_step):
            cell = 0
            while cell + BLOCK_ROWS <= num_cells:
                head_rows(
                    x, start + cell * filters, filters, heads, column, head,
                    out, cell * head + column, head, filters,
                )  # fmt: skip
                cell += BLOCK_ROWS
        for cell in range(num_cells - num_cells % BLOCK_ROWS, num_cells):
            to_head(x, start + cell * filters, heads, 0, out[cell * head : (cell + 1) * head])
        for cell in range(num_cells - num_cells % BLOCK_ROWS):
            for f in range(0, head, LANES):
                q = cell * head + f
                store(out, q, add(load(out, q), load(heads, filters * head + f)))

    @kernel
    def run_heads(
        x: Any, start: int, heads: Any, out: Any, whole: Any, hidden: Any, w: Any
    ) -> None:
        """Write the logits of a position's actions and its value."""
        pool(x, start, whole)
        run_head(x, start, heads, hidden)
        if head_filters == 1:
            for row in range(board_rows):
                for column in range(board_columns):
                    cell = (row + top) * columns + column + left
                    out[row * board_columns + column] = hidden[cell * head]
        else:
            rectify(hidden, num_cells * head)
        if others > 0:
            to_others(whole if head_filters == 1 else hidden, 0, heads, head_size, w)
            for action in range(others):
                out[cells + action] = w[action]
        to_filters(whole, 0, heads, head_size + others_size, w)
        rectify(w, filters)
        to_value(w, 0, heads, head_size + others_size + pool_size, whole)
        out[cells + others] = math.tanh(whole[0])

    @compiled_without_allocation
    def run_network(
        given: Any, scale: Any, count: int, weights: Any, biases: Any, pooled: Any, pools: Any,
        heads: Any, out: Any, entered: Any, x: Any, hidden: Any, v: Any, m: Any, line: Any,
        whole: Any, w: Any,
    ) -> None:  # fmt: skip
        for start in range(0, count, at_once):
            n = min(at_once, count - start)
            for p in range(n):
                for i in range(planes):
                    source = ((start + p) * planes + i) * num_cells
                    for cell in range(num_cells):
                        number = np.float32(given[source + cell]) * scale
                        entered[(p * num_cells + cell) * inputs + i] = number
            enter(entered, n, False, weights, 0, biases, 0, False, x, v, m, line)
            rectify(x, n * board)
            pools_before = 0
            for k in range(len(pooled)):
                layer, b = first + 2 * k * size, (2 * k + 1) * filters
                convolve(x, n, True, weights, layer, biases, b, False, hidden, v, m, line)
                if pooled[k]:
                    for p in range(n):
                        add_pooled(hidden, p * board, pools, pools_before * pool_size, whole, w)
                    pools_before += 1
                convolve(
                    hidden, n, True, weights, layer + size, biases, b + filters, True,
                    x, v, m, line,
                )  # fmt: skip
            rectify(x, n * board)
            for p in range(n):
                run_heads(x, p * board, heads, out[start + p], whole, hidden, w)

    return run_network


@factory()
def make_dense(depth: int, outputs: int) -> Any:
    """Return the kernel `dense(x, i, weights, k, out)`, a linear layer.

    `depth` inputs from `x[i]` on are mapped to `outputs`, a multiple of `LANES`; weights
    `[depth, outputs]` and biases begin at `weights[k]`.
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


def positions_at_once(shape: Shape) -> int:
    """Return the number of positions that pass through the layers together."""
    return max(1, TILES_AT_ONCE // tiles_of(shape.rows, shape.columns))


def padded(count: int) -> int:
    """Return a number of filters in memory, whole vectors."""
    return -(-count // LANES) * LANES


def _dense(layer: Any, matrix: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Return the weights `[in, out]` and biases of a linear layer, in whole vectors of outputs."""
    weights = _array(layer.weight) if matrix is None else matrix
    return _whole_vectors(np.append(weights.T, _array(layer.bias)[None], axis=0))


def _whole_vectors(array: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return an array with zeros after its last axis, up to a multiple of `LANES`."""
    more = padded(array.shape[-1]) - array.shape[-1]
    return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, more)])


def _array(parameter: Tensor | None) -> NDArray[np.float32]:
    assert parameter is not None
    array: NDArray[np.float32] = parameter.detach().float().cpu().numpy()
    return array


def _concatenated(arrays: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return a flat copy of arrays at a multiple of a cache line."""
    out = _aligned(sum(array.size for array in arrays))
    np.concatenate([out[:0], *(array.ravel() for array in arrays)], out=out)
    return out


def _aligned(size: int) -> NDArray[np.float32]:
    """Return a flat array of zeros at a multiple of a cache line."""
    memory = np.zeros(4 * size + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + 4 * size].view(np.float32)
