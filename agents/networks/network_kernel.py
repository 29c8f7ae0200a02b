"""Compiled function of a residual policy-value network: all layers of a batch of positions.

Arrays are flat, with channels (filters) last, padded to whole vectors of `LANES` numbers.
"""

import math
from math import gcd
from typing import Any, NamedTuple

import numpy as np

from ludoteca.agents.networks.matrix_block import BLOCK_ROWS, WIDTH, make_multiply_block
from ludoteca.agents.networks.vectors import (
    LANES,
    add,
    load,
    maximum,
    multiply_add,
    splat,
    store,
)
from ludoteca.agents.networks.winograd import PRODUCTS, make_convolve, num_tiles
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel

# Tiles of Winograd's convolution per batch of a layer: their transforms stay in the CPU's cache.
TILES_PER_BATCH = 32
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
        """Write the outputs of the policy head's first layer for the position at `x[start]`."""
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
        """Write the logits and the value of the position at `x[start]` to `out`."""
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
