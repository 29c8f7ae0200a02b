"""Minibatches of training examples: from a replay buffer, or from epochs over one rollout."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.train.algorithm import Algorithm
from ludoteca.train.replay import RingBuffer
from ludoteca.train.run_directory import Arrays, with_prefix, without_prefix
from ludoteca.train.sum_tree import SumTree
from ludoteca.train.torch_random import TorchStream


class Minibatch(NamedTuple):
    """Minibatch of N training examples.

    Attributes:
        records: the examples. Shape `[N]`.
        weights: importance-sampling weights, or None for 1. Shape `[N]`.
        indices: indices in the replay buffer. Shape `[N]`.
    """

    records: NDArray[np.void]
    weights: NDArray[np.float32] | None = None
    indices: NDArray[np.int64] | None = None


class ReplayMinibatches:
    """Minibatches from a replay buffer, uniform or by priority.

    Attributes:
        buffer: the replay buffer.
        pending: number of pending updates, not rounded to an integer.
    """

    def __init__(self, algorithm: Algorithm[Any]):
        """Begin without examples."""
        config: Any = algorithm.config
        self._algorithm, self._batch_size = algorithm, config.batch_size
        self._learning_starts = getattr(config, "learning_starts", 0)
        self.buffer = RingBuffer(config.buffer_size, algorithm.layout.dtype)
        prioritized = getattr(config, "prioritized_replay", False)
        self._priorities: SumTree | None = None
        if prioritized:
            self._priorities = SumTree(config.buffer_size, config.prioritized_replay_alpha)
            self._beta = config.prioritized_replay_beta
        self.pending = 0.0

    @property
    def started(self) -> bool:
        """Whether there are enough examples for updates."""
        return self.buffer.added >= self._learning_starts

    @property
    def due(self) -> int:
        """Number of minibatches until the next rollout is needed."""
        return int(self.pending) if self.started else 0

    def add(self, records: NDArray[np.void], games: int, rng: np.random.Generator) -> None:
        """Add the examples of a rollout; updates become pending."""
        indices = self.buffer.add(records)
        if self._priorities is not None:
            self._priorities.add(indices)
        self.pending += self._algorithm.num_updates(games, len(records), self.started)

    def sample(self, rng: np.random.Generator) -> Minibatch:
        """Sample the minibatch of one pending update."""
        self.pending -= 1
        if self._priorities is None:
            indices = self.buffer.sample(self._batch_size, rng)
            return Minibatch(self.buffer.records[indices], None, indices)
        indices = self._priorities.sample(self._batch_size, rng)
        weights = self._priorities.weights(indices, len(self.buffer), self._beta)
        return Minibatch(self.buffer.records[indices], weights, indices)

    def set_priorities(self, minibatch: Minibatch, errors: NDArray[np.float32]) -> None:
        """Set the priorities of a minibatch to its absolute TD errors."""
        if self._priorities is not None and minibatch.indices is not None:
            self._priorities.update(minibatch.indices, errors)

    def dropout(self) -> AbstractContextManager[None]:
        """Return an empty context: Q-networks and AlphaZero's networks have no dropout."""
        return nullcontext()

    def clear(self) -> None:
        """Do nothing: later updates use the examples, too."""

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the state as numbers and arrays, for `restore`."""
        arrays = with_prefix("buffer", self.buffer.state())
        if self._priorities is not None:
            arrays |= with_prefix("priorities", self._priorities.state())
        return {"pending_updates": self.pending}, arrays

    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Resume from `state`."""
        self.pending = numbers["pending_updates"]
        self.buffer.restore(without_prefix("buffer", arrays))
        if self._priorities is not None:
            self._priorities.restore(without_prefix("priorities", arrays))


class RolloutMinibatches:
    """Minibatches of epochs over the examples of one rollout, which is dropped afterwards."""

    _left: int  # minibatches until the end
    _count: int

    def __init__(self, algorithm: Algorithm[Any]):
        """Begin without examples."""
        self._algorithm, self._batch_size = algorithm, algorithm.config.batch_size
        self._dropout = TorchStream(algorithm.config.device)
        self.clear()

    @property
    def due(self) -> int:
        """Number of minibatches until the next rollout is needed."""
        return self._left

    def add(self, records: NDArray[np.void], games: int, rng: np.random.Generator) -> None:
        """Start the epochs over the examples of a rollout."""
        self._dropout.seed(int(rng.integers(2**62)))
        self._records, self._order = records, self._algorithm.order(records, rng)
        self._left = self._count = max(1, round(len(self._order) / self._batch_size))

    def sample(self, rng: np.random.Generator) -> Minibatch:
        """Return the next minibatch."""
        chosen = np.array_split(self._order, self._count)[self._count - self._left]
        self._left -= 1
        return Minibatch(self._records[chosen])

    def dropout(self) -> AbstractContextManager[None]:
        """Return the context of an update, with a separate random stream for dropout."""
        return self._dropout.drawing()

    def set_priorities(self, minibatch: Minibatch, errors: NDArray[np.float32]) -> None:
        """Do nothing: each example is used equally often."""

    def clear(self) -> None:
        """Drop the rollout."""
        self._records = np.zeros(0, np.void)
        self._order = np.zeros(0, np.int64)
        self._left = self._count = 0

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the state as numbers and arrays, for `restore`."""
        if self._count == 0:
            return {}, {}
        position = np.array([self._count, self._left])
        arrays = {"records": self._records, "order": self._order, "place": position}
        return {}, arrays | with_prefix("dropout", self._dropout.state())

    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Resume from `state`."""
        if "place" in arrays:
            self._records, self._order = arrays["records"], arrays["order"]
            self._count, self._left = (int(number) for number in arrays["place"])
            self._dropout.restore(without_prefix("dropout", arrays))


def make_minibatches(algorithm: Algorithm[Any]) -> ReplayMinibatches | RolloutMinibatches:
    """Return the source of an algorithm's minibatches."""
    return RolloutMinibatches(algorithm) if algorithm.on_policy else ReplayMinibatches(algorithm)
