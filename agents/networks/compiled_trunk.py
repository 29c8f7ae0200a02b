"""Compiled inference of a residual trunk on CPUs: one call for all of its layers."""

import threading
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ludoteca.agents.networks.layers import Block, Trunk
from ludoteca.agents.networks.vectors import LANES, add, load, maximum, multiply_add, splat, store
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


class CompiledTrunk:
    """Features of a trunk, equal to PyTorch's up to rounding; for inference only.

    Convolutions are Winograd's, see `winograd`. There are no calls of Python or PyTorch between the
    layers, which take most of the time of small batches. Safe in several threads.
    """

    def __init__(self, trunk: Trunk):
        """Copy and transform the weights of a trunk for which `can_compile` holds."""
        blocks = [block for block in trunk.blocks if isinstance(block, Block)]
        self._planes, self._filters = trunk.enter.in_channels, trunk.enter.out_channels
        layers = [
            trunk.enter,
            *(layer for block in blocks for layer in (block.first, block.second)),
        ]
        weights = [transform_weights(_array(layer.weight)) for layer in layers]
        self._weights = _aligned(np.concatenate([array.ravel() for array in weights]))
        self._biases = _aligned(np.concatenate([_array(layer.bias) for layer in layers]))
        self._pooled = np.array([block.pool is not None for block in blocks], np.bool_)
        nothing = np.zeros((2 * self._filters + 1) * self._filters, np.float32)
        self._pools = _aligned(
            np.concatenate(
                [nothing[:0]]
                + [
                    nothing
                    if block.pool is None
                    else np.append(_array(block.pool.weight).T, _array(block.pool.bias))
                    for block in blocks
                ]
            )
        )
        self._workspaces = threading.local()

    def __call__(self, x: Tensor) -> Tensor:
        """Return features `[K, filters, rows, columns]` of float32 `[K, planes, ...]`."""
        count, _, rows, columns = x.shape
        planes = x.permute(0, 2, 3, 1).contiguous().numpy().reshape(-1)
        out = _empty(count * rows * columns * self._filters)
        make_run_trunk(rows, columns, self._planes, self._filters)(
            planes,
            count,
            self._weights,
            self._biases,
            self._pooled,
            self._pools,
            out,
            *self._workspace(rows, columns),
        )
        features = torch.from_numpy(out).view(count, rows, columns, self._filters)
        return features.permute(0, 3, 1, 2)

    def _workspace(self, rows: int, columns: int) -> tuple[NDArray[np.float32], ...]:
        """Return the thread's scratch space for boards of this size."""
        spaces: dict[tuple[int, int], Any] = vars(self._workspaces).setdefault("spaces", {})
        if (rows, columns) not in spaces:
            tiles = tiles_of(rows, columns)
            count = max(1, TILES_AT_ONCE // tiles)
            width = max(self._filters, _padded(self._planes))
            sizes = [
                count * rows * columns * _padded(self._planes),
                count * rows * columns * self._filters,
                PRODUCTS * (count * tiles * width + GAP),
                PRODUCTS * (count * tiles * width + GAP),
                PRODUCTS * LANES,
                2 * self._filters,
            ]
            spaces[rows, columns] = tuple(_aligned(size) for size in sizes)
        workspace: tuple[NDArray[np.float32], ...] = spaces[rows, columns]
        return workspace


def can_compile(trunk: nn.Module) -> bool:
    """Return whether there is compiled code for a module: a trunk without circular padding."""
    return (
        isinstance(trunk, Trunk)
        and not trunk.torus
        and trunk.enter.out_channels % LANES == 0
        and not is_interpreted()
    )


@factory("network")
def make_run_trunk(rows: int, columns: int, planes: int, filters: int) -> Any:
    """Return the compiled function that runs a trunk; see `CompiledTrunk` for its arguments."""
    padded, board = _padded(planes), rows * columns * filters
    at_once = max(1, TILES_AT_ONCE // tiles_of(rows, columns))
    enter = make_convolve(rows, columns, padded, planes, filters)
    convolve = make_convolve(rows, columns, filters, filters, filters)
    first, size = PRODUCTS * planes * filters, PRODUCTS * filters * filters
    pool_size = (2 * filters + 1) * filters
    share = np.float32(1 / (rows * columns))

    @kernel
    def add_pooled(x: Any, p: int, pools: Any, k: int, whole: Any) -> None:
        """Add a linear function of the means and maxima of a position's filters to all cells."""
        for f in range(0, filters, LANES):
            total = largest = load(x, p * board + f)
            for cell in range(1, rows * columns):
                v = load(x, p * board + cell * filters + f)
                total, largest = add(total, v), maximum(largest, v)
            store(whole, f, multiply_add(total, splat(share), splat(ZERO)))
            store(whole, filters + f, largest)
        for f in range(0, filters, LANES):
            change = load(pools, k + 2 * filters * filters + f)
            for i in range(2 * filters):
                change = multiply_add(splat(whole[i]), load(pools, k + i * filters + f), change)
            for cell in range(rows * columns):
                q = p * board + cell * filters + f
                store(x, q, add(load(x, q), change))

    @compiled_without_allocation
    def run_trunk(
        given: Any, count: int, weights: Any, biases: Any, pooled: Any, pools: Any, out: Any,
        entered: Any, hidden: Any, v: Any, m: Any, line: Any, whole: Any,
    ) -> None:  # fmt: skip
        for start in range(0, count, at_once):
            n = min(at_once, count - start)
            for cell in range(n * rows * columns):
                for i in range(planes):
                    source = (start * rows * columns + cell) * planes + i
                    entered[cell * padded + i] = given[source]
            x = out[start * board : (start + n) * board]
            enter(entered, n, False, weights, 0, biases, 0, False, x, v, m, line)
            for q in range(0, n * board, LANES):
                store(x, q, maximum(load(x, q), splat(ZERO)))
            for k in range(len(pooled)):
                w, b = first + 2 * k * size, (2 * k + 1) * filters
                convolve(x, n, True, weights, w, biases, b, False, hidden, v, m, line)
                if pooled[k]:
                    for p in range(n):
                        add_pooled(hidden, p, pools, k * pool_size, whole)
                convolve(
                    hidden, n, True, weights, w + size, biases, b + filters, True, x, v, m, line
                )
            for q in range(0, n * board, LANES):
                store(x, q, maximum(load(x, q), splat(ZERO)))

    return run_trunk


def _padded(planes: int) -> int:
    """Return the planes of a board in memory, whole vectors."""
    return -(-planes // LANES) * LANES


def _array(parameter: Tensor | None) -> NDArray[np.float32]:
    assert parameter is not None
    array: NDArray[np.float32] = parameter.detach().float().cpu().numpy()
    return array


def _aligned(content: NDArray[np.float32] | int) -> NDArray[np.float32]:
    """Return a flat array at a multiple of a cache line: a copy, or zeros of a size."""
    array = _empty(content if isinstance(content, int) else content.size)
    array[:] = 0 if isinstance(content, int) else content
    return array


def _empty(size: int) -> NDArray[np.float32]:
    memory = np.empty(4 * size + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + 4 * size].view(np.float32)
