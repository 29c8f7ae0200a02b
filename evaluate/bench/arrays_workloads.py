"""Workloads of `ludoteca bench arrays`: Hex and the paper's network in NumPy and in PyTorch.

Tanaka, "Inteligencia artificial para o jogo de Hex" (University of Sao Paulo, 2018). All times are
CPU times of this process, so that other programs on the machine matter less.
"""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ludoteca.agents.registry import make_agent
from ludoteca.envs.games.hex import NEIGHBORS
from ludoteca.envs.record_views import view_records
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.bench.workloads import CPUWorkload

BATCH = 200  # positions of an update, section 4.1
GAMES_PER_UPDATE, EPSILON = 5, 0.1  # section 4.1
FILTERS, LEARNING_RATE, MOMENTUM = (48, 384), 0.01, 0.1  # sections 3.7 and 4.1; filters by layer
# Planes of a board: stones of black and of white, stones connected to the west edge, and so on.
BLACK, WHITE, WEST, EAST, NORTH, SOUTH = range(6)


class BoardWorkload(CPUWorkload):
    """Random games of Hex on a board of planes, in plain Python; the steps are moves.

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
        self.run_once()  # warm-up

    def run_once(self) -> int:
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


class NetworkWorkload(CPUWorkload):
    """Outputs or updates of the paper's network, in batches; the steps are positions."""

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

    def run_once(self) -> int:
        """Compute a batch; return its number of positions."""
        self.run()
        return BATCH

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

    def values(self, planes: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return the outputs for one position by PyTorch, shape `[size**2]`."""
        torch = self._torch
        with torch.inference_mode():
            inputs = torch.from_numpy(planes).float()[None]
            outputs: NDArray[np.float32] = self.network(inputs)[0].numpy()
        return outputs

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


class HeuristicWorkload(CPUWorkload):
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
        self.run_once()  # warm-up

    def run_once(self) -> int:
        """Choose a move in each position; return the number of moves."""
        self._agent.act(self._states, self._seats, self._streams, np.arange(len(self._states)))
        return len(self._states)


class TrainingWorkload(CPUWorkload):
    """Training games of the paper: its network, with random weights, plays first against `mixed`.

    The network sees the board after each pair of moves, and plays its best legal move or, with
    probability `EPSILON`, a random one. Every five games there is an update. The rules run in plain
    Python; `mixed` is compiled. The steps are games.
    """

    def __init__(self, size: int, updates: bool = True):
        """Make the workload.

        Args:
            size: number of rows and of columns of the board.
            updates: whether there are updates; without them only games are played.
        """
        self._updates = updates
        self._network = NetworkWorkload("update", size)
        self._game = make_game(f"hex:board_size={size},first=white")  # as in the paper
        self._opponent, self._rng = make_agent("mixed", self._game), np.random.default_rng(0)
        self._states = self._game.empty(1)
        self._planes = np.zeros(self._game.observation_shape, np.int8)
        self._streams = np.zeros((1, 1), np.uint64)
        self.run_once()  # warm-up

    def run_once(self) -> int:
        """Play the games between two updates, and update; return the number of games."""
        for _ in range(GAMES_PER_UPDATE):
            self.play()
        if self._updates:
            self._network.run()
        return GAMES_PER_UPDATE

    def play(self) -> int:
        """Play a game; return the number of moves."""
        game: Any = self._game
        self._states[0] = game.new()
        s, moves = view_records(self._states)[0], 0
        while not game.is_terminal(s):
            legal = game.legal(s)
            if game.player(s) == 1:
                action = self._opponent.act(
                    self._states, np.ones(1, np.int64), self._streams, np.zeros(1, np.int64)
                )[0]
            elif self._rng.random() < EPSILON:
                action = self._rng.choice(legal)
            else:
                game.observe(s, 0, self._planes)
                values = self._network.values(self._planes)
                action = legal[values[legal].argmax()]
            game.step(s, int(action))
            moves += 1
        return moves
