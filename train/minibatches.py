"""Minibatches of training examples: from a replay buffer, or from epochs over one rollout."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludoteca.train.algorithm import Algorithm
from ludoteca.train.examples import ExampleLayout
from ludoteca.train.replay import ReservoirBuffer, RingBuffer
from ludoteca.train.run_directory import Arrays, with_prefix, without_prefix
from ludoteca.train.sum_tree import SumTree
from ludoteca.train.torch_random import TorchStream

DECISION = "decision_"  # prefix of the columns of decisions to imitate


class Minibatch(NamedTuple):
    """Minibatch of N training examples.

    Attributes:
        records: the examples. Shape `[N]`.
        weights: importance-sampling weights, or None for 1. Shape `[N]`.
        indices: indices in the replay buffer, or None without one. Shape `[N]`.
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

    def __init__(self, algorithm: Algorithm[Any], layout: ExampleLayout | None = None):
        """Begin without examples.

        Args:
            algorithm: the algorithm.
            layout: columns of the buffer; None: those of the algorithm.
        """
        config: Any = algorithm.config
        self._algorithm: Any = algorithm
        self._batch_size = config.batch_size
        self._learning_starts = getattr(config, "learning_starts", 0)
        self.buffer = RingBuffer(config.buffer_size, (layout or algorithm.layout).dtype)
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
    def num_pending_updates(self) -> int:
        """Number of minibatches until the next rollout is needed."""
        return int(self.pending) if self.started else 0

    def add(self, records: NDArray[np.void], games: int, rng: np.random.Generator) -> None:
        """Add the examples of a rollout of `games` games; updates become pending."""
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
        """Return the context manager of an update: empty, as the networks have no dropout."""
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


class ReservoirMinibatches(ReplayMinibatches):
    """Minibatches of transitions from a replay buffer and decisions from a reservoir buffer.

    A row of a minibatch has a transition, with the columns of `algorithm.transitions`, and a
    decision to imitate, with the columns of `algorithm.decisions`, whose names begin with
    `DECISION`. Both are sampled independently.

    Attributes:
        reservoir: the reservoir buffer.
    """

    def __init__(self, algorithm: Any):
        """Begin without examples.

        Args:
            algorithm: algorithm with the layouts `transitions` and `decisions`; its training
                examples are transitions, with the column `imitated`: 1 if the reservoir buffer
                gets their decision, too.
        """
        super().__init__(algorithm, algorithm.transitions)
        capacity = algorithm.config.reservoir_buffer_capacity
        self.reservoir = ReservoirBuffer(capacity, algorithm.decisions.dtype)

    @property
    def started(self) -> bool:
        """Whether there are enough examples for updates."""
        return super().started and len(self.reservoir) > 0

    def add(self, records: NDArray[np.void], games: int, rng: np.random.Generator) -> None:
        """Add the examples of a rollout of `games` games; updates become pending."""
        imitated = records[records["imitated"] == 1]
        decisions: NDArray[np.void] = np.zeros(len(imitated), self._algorithm.decisions.dtype)
        for name in decisions.dtype.names or ():
            decisions[name] = imitated[name.removeprefix(DECISION)]
        self.reservoir.add(decisions, rng)
        super().add(records, games, rng)

    def sample(self, rng: np.random.Generator) -> Minibatch:
        """Sample the minibatch of one pending update."""
        minibatch = super().sample(rng)
        decisions = self.reservoir.records[self.reservoir.sample(self._batch_size, rng)]
        records: NDArray[np.void] = np.zeros(self._batch_size, self._algorithm.layout.dtype)
        for part in (minibatch.records, decisions):
            for name in part.dtype.names or ():
                records[name] = part[name]
        return minibatch._replace(records=records)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the state as numbers and arrays, for `restore`."""
        numbers, arrays = super().state()
        return numbers, arrays | with_prefix("reservoir", self.reservoir.state())

    def restore(self, numbers: dict[str, Any], arrays: Arrays) -> None:
        """Resume from `state`."""
        super().restore(numbers, arrays)
        self.reservoir.restore(without_prefix("reservoir", arrays))


class RolloutMinibatches:
    """Minibatches of epochs over the examples of one rollout, which is dropped afterwards."""

    _left: int  # number of minibatches not returned yet
    _count: int  # number of minibatches of all epochs

    def __init__(self, algorithm: Algorithm[Any]):
        """Begin without examples."""
        self._algorithm, self._batch_size = algorithm, algorithm.config.batch_size
        self._dropout = TorchStream(algorithm.config.device)
        self.clear()

    @property
    def num_pending_updates(self) -> int:
        """Number of minibatches until the next rollout is needed."""
        return self._left

    def add(self, records: NDArray[np.void], games: int, rng: np.random.Generator) -> None:
        """Start the epochs over the examples of a rollout of `games` games."""
        self._dropout.seed(int(rng.integers(2**62)))
        self._records, self._order = records, self._algorithm.order(records, rng)
        self._left = self._count = max(1, round(len(self._order) / self._batch_size))

    def sample(self, rng: np.random.Generator) -> Minibatch:
        """Return the next minibatch."""
        chosen = np.array_split(self._order, self._count)[self._count - self._left]
        self._left -= 1
        return Minibatch(self._records[chosen])

    def dropout(self) -> AbstractContextManager[None]:
        """Return the context manager of an update: a separate random stream for dropout."""
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
    if algorithm.on_policy:
        return RolloutMinibatches(algorithm)
    return ReservoirMinibatches(algorithm) if algorithm.reservoir else ReplayMinibatches(algorithm)
