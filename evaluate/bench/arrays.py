"""Benchmark of Hex with NumPy and with PyTorch: `ludoteca bench arrays`.

Tanaka, "Inteligencia artificial para o jogo de Hex" (University of Sao Paulo, 2018): its program
was slower with boards in PyTorch than with boards in NumPy that are converted for the network
(section 3.8), and about 6 times slower on 8x8 than on 5x5 (section 4.5). It has no further numbers
on either. This benchmark measures both, and the convolutions of its network in both libraries.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ludoteca.agents.registry import make_agent
from ludoteca.envs.games.hex import NEIGHBORS
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.bench.measures import Comparison, Group
from ludoteca.evaluate.bench.report import Report
from ludoteca.evaluate.bench.rounds import measure_groups
from ludoteca.evaluate.bench.workloads import Sample

SIZES = (5, 8)  # rows of the boards that the paper compares
BATCH = 200  # positions of an update, section 4.1
FILTERS, LEARNING_RATE, MOMENTUM = (48, 384), 0.01, 0.1  # sections 3.7 and 4.1; filters by layer
# Planes of a board: stones of black and of white, stones connected to the west edge, and so on.
BLACK, WHITE, WEST, EAST, NORTH, SOUTH = range(6)


class BoardWorkload:
    """Random games of Hex on a board of planes, in plain Python.

    Elements are read and written one by one, by the same code for both libraries. After each move
    the planes become a tensor of floats, as the network needs them.
    """

    def __init__(self, library: str, size: int = 5):
        """Make the workload.

        Args:
            library: library of the planes, `"numpy"` or `"torch"`.
            size: number of rows and of columns of the board.
        """
        import torch

        self._size, self._random = size, Random(0)
        shape = (6, size + 2, size + 2)
        if library == "numpy":
            self._new_planes: Callable[[], Any] = partial(np.zeros, shape, bool)
            self._empty_cells: Callable[[Any], Any] = lambda stones: np.argwhere(~stones)
            self._observe: Callable[[Any], Any] = lambda planes: torch.from_numpy(planes).float()
        else:
            self._new_planes = partial(torch.zeros, shape, dtype=torch.bool)
            self._empty_cells = lambda stones: torch.nonzero(~stones)
            self._observe = lambda planes: planes.float()
        self.play()  # warm-up

    def __call__(self, seconds: float) -> Sample:
        """Play for about `seconds`; the steps are moves."""
        moves, start = 0, perf_counter()
        while (passed := perf_counter() - start) < seconds:
            moves += self.play()
        return Sample(moves, passed)

    def close(self) -> None:
        """Do nothing."""

    def play(self) -> int:
        """Play a game; return the number of moves."""
        planes, n = self._new_planes(), self._size
        planes[BLACK, [0, n + 1], :] = planes[WHITE, :, [0, n + 1]] = True
        planes[NORTH, 0, :] = planes[SOUTH, n + 1, :] = True
        planes[WEST, :, 0] = planes[EAST, :, n + 1] = True
        for move in range(n * n):
            color = (WHITE, BLACK)[move % 2]  # white moves first, as in the paper
            cells = self._empty_cells((planes[BLACK] | planes[WHITE])[1:-1, 1:-1])
            row, column = cells[self._random.randrange(len(cells))]
            self.place(planes, color, int(row) + 1, int(column) + 1)
            self._observe(planes)
            edges = (NORTH, SOUTH) if color == BLACK else (WEST, EAST)
            if all(planes[edge, int(row) + 1, int(column) + 1] for edge in edges):
                return move + 1
        raise AssertionError("a full board has a winner")

    def place(self, planes: Any, color: int, row: int, column: int) -> None:
        """Place a stone, and mark all stones that it connects to an edge of their color."""
        planes[color, row, column] = True
        edges = (NORTH, SOUTH) if color == BLACK else (WEST, EAST)
        for edge in edges:
            if not any(planes[edge, row + r, column + c] for r, c in NEIGHBORS):
                continue
            planes[edge, row, column] = True
            stack = [(row, column)]
            while stack:
                r, c = stack.pop()
                for down, right in NEIGHBORS:
                    cell = (r + down, c + right)
                    on_board = 1 <= cell[0] <= self._size and 1 <= cell[1] <= self._size
                    if on_board and planes[color][cell] and not planes[edge][cell]:
                        planes[edge][cell] = True
                        stack.append(cell)


class NetworkWorkload:
    """Outputs or updates of the paper's network, in batches of `BATCH` positions."""

    def __init__(self, kind: str, size: int = 5):
        """Make the workload.

        Args:
            kind: `"numpy"` or `"torch"`: outputs by that library; `"update"`: a step of SGD in
                PyTorch.
            size: number of rows and of columns of the board.
        """
        import torch

        self._kind, self._torch, planes = kind, torch, 6
        layers: list[torch.nn.Module] = []
        for filters in FILTERS:
            layers += [torch.nn.Conv2d(planes, filters, 2), torch.nn.ReLU()]
            planes = filters
        # A kernel of 2x2 without padding makes the padded board of size + 2 one row smaller.
        num_features = planes * (size + 2 - len(FILTERS)) ** 2
        layers += [torch.nn.Flatten(), torch.nn.Linear(num_features, size * size)]
        torch.manual_seed(0)
        self.network = torch.nn.Sequential(*layers)
        self.planes = np.random.default_rng(0).integers(0, 2, (BATCH, 6, size + 2, size + 2))
        self.planes = self.planes.astype(np.float32)
        self._optimizer = torch.optim.SGD(
            self.network.parameters(), LEARNING_RATE, momentum=MOMENTUM
        )
        self._weights = [weights.detach().numpy() for weights in self.network.parameters()]
        self.run()  # warm-up

    def __call__(self, seconds: float) -> Sample:
        """Run for about `seconds`; the steps are positions."""
        positions, start = 0, perf_counter()
        while (passed := perf_counter() - start) < seconds:
            self.run()
            positions += BATCH
        return Sample(positions, passed)

    def close(self) -> None:
        """Do nothing."""

    def run(self) -> NDArray[np.float32]:
        """Return the outputs of the batch, shape `[BATCH, size**2]`."""
        torch = self._torch
        if self._kind == "numpy":
            return self.numpy_outputs()
        if self._kind == "torch":
            with torch.inference_mode():
                outputs: NDArray[np.float32] = self.network(torch.from_numpy(self.planes)).numpy()
                return outputs
        self._optimizer.zero_grad()
        values = self.network(torch.from_numpy(self.planes))
        (values[:, 0] ** 2).mean().backward()  # the time does not depend on the target values
        self._optimizer.step()
        return np.asarray(values.detach())

    def numpy_outputs(self) -> NDArray[np.float32]:
        """Return the outputs, computed by NumPy: a convolution is a matrix product of windows."""
        x = self.planes
        for layer in range(len(FILTERS)):
            kernel, bias = self._weights[2 * layer : 2 * layer + 2]
            windows = sliding_window_view(x, (2, 2), axis=(2, 3))  # [B, planes, h, w, 2, 2]
            x = np.tensordot(windows, kernel, axes=((1, 4, 5), (1, 2, 3))) + bias
            x = np.maximum(x, 0).transpose(0, 3, 1, 2)
        matrix, bias = self._weights[-2:]
        return np.asarray(x.reshape(BATCH, -1) @ matrix.T + bias)


class HeuristicWorkload:
    """Moves of the agent `mixed`, the paper's opponent, in positions of random games."""

    def __init__(self, size: int, num_positions: int = 256):
        game, rng = make_game(f"hex:board_size={size}"), np.random.default_rng(0)
        self._agent, self._states = make_agent("mixed", game), game.empty(num_positions)
        for k in range(num_positions):
            s = game.new()
            # After 0, 1, 2, ... moves, up to half a board of stones.
            for action in rng.permutation(size * size)[: k % (size * size // 2)]:
                game.step(s, int(action))
            self._states[k] = s
        self._seats = self._states["to_move"].astype(np.int64)
        self._streams = np.arange(num_positions, dtype=np.uint64)[:, None].copy()
        self(0.0)  # warm-up

    def __call__(self, seconds: float) -> Sample:
        """Choose for about `seconds`; the steps are moves."""
        moves, start = 0, perf_counter()
        while (passed := perf_counter() - start) < seconds or moves == 0:
            self._agent.act(self._states, self._seats, self._streams, np.arange(len(self._states)))
            moves += len(self._states)
        return Sample(moves, passed)

    def close(self) -> None:
        """Do nothing."""


def groups() -> dict[str, Callable[[], Group]]:
    """Return the makers of the groups of comparisons, by name, in the order of the report."""
    return {"boards": board_group, "convolutions": convolution_group, "sizes": size_group}


def board_group() -> Group:
    """Compare boards in NumPy with boards in PyTorch."""
    work = "random games of Hex 5x5 in plain Python, after each move a tensor of floats; planes in "
    return Group(
        ours={name: partial(BoardWorkload, name) for name in ("numpy", "torch")},
        comparisons=(
            Comparison(
                "Hex 5x5, boards in NumPy, boards in PyTorch", ours="numpy", peer="torch",
                floor=None, timed=(f"{work}NumPy", f"{work}PyTorch"), unit="moves/s",
            ),
        ),
    )  # fmt: skip


def convolution_group() -> Group:
    """Compare the outputs of the paper's network by NumPy with those by PyTorch."""
    work = f"outputs of convolutions of 48 and 384 filters, 2x2, {BATCH} positions of 5x5, float32"
    return Group(
        ours={name: partial(NetworkWorkload, name) for name in ("torch", "numpy")},
        comparisons=(
            Comparison(
                "the paper's network, PyTorch, NumPy", ours="torch", peer="numpy", floor=None,
                timed=(f"{work}; PyTorch", f"{work}; NumPy: windows and matrix products"),
                unit="positions/s",
            ),
        ),
    )  # fmt: skip


def size_group() -> Group:
    """Compare 5x5 with 8x8: the boards in NumPy, the opponent and the network's updates."""
    kinds: dict[str, Callable[..., Any]] = {
        "boards in NumPy": partial(BoardWorkload, "numpy"),
        "moves of mixed": HeuristicWorkload,
        "updates of the paper's network": partial(NetworkWorkload, "update"),
    }
    return Group(
        ours={
            f"{name}, {size}x{size}": partial(make, size=size)
            for name, make in kinds.items()
            for size in SIZES
        },
        comparisons=tuple(
            Comparison(
                f"{name}, 5x5, 8x8", ours=f"{name}, 5x5", peer=f"{name}, 8x8", floor=None,
                timed=("5x5", "8x8"), unit="steps/s",
            )
            for name in kinds
        ),
    )  # fmt: skip


def bench_arrays(json: Path | None, seconds: float = 2.0, only: tuple[str, ...] = ()) -> Report:
    """Measure, print the table, and write all numbers as JSON; see `measure_groups`."""
    import torch

    return measure_groups(
        groups(), "Hex in NumPy and PyTorch", json, seconds, only,
        packages=("torch",), threads=torch.get_num_threads(),
    )  # fmt: skip
