"""Random minibatches of the decisions of rollouts."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ludoteca.train.actor_critic.rollout import ActorCriticRollout
from ludoteca.train.run_directory import Arrays


class RolloutMinibatches:
    """Minibatches of the decisions of some rollouts.

    Attributes:
        rollouts: the rollouts.
        advantages: advantages of the decisions of each rollout.
        mean: mean of all advantages.
        std: standard deviation of all advantages, above 0.
        left: number of minibatches left.
    """

    def __init__(
        self,
        rollouts: Sequence[ActorCriticRollout],
        advantages: Sequence[NDArray[np.float32]],
        order: NDArray[np.int64],
        num_batches: int,
        left: int | None = None,
    ):
        """Begin with the first minibatch, or resume.

        Args:
            rollouts: the rollouts.
            advantages: advantages of each rollout, shape `[N_k]`.
            order: indices of decisions in the concatenation of all rollouts.
            num_batches: number of minibatches that `order` is split into.
            left: number of minibatches left; by default all.
        """
        self.rollouts, self.advantages = list(rollouts), list(advantages)
        every = np.concatenate(self.advantages)
        self.mean, self.std = float(every.mean()), float(every.std()) + 1e-8
        self._starts = np.cumsum([0, *(len(one) for one in self.advantages)])
        self._order, self._num_batches = order, num_batches
        self._batches = np.array_split(order, num_batches)
        self.left = num_batches if left is None else left

    def next_batch(self) -> list[tuple[int, NDArray[np.int64]]]:
        """Return the next minibatch: pairs of a rollout's index, and indices of its decisions."""
        chosen = self._batches[self._num_batches - self.left]
        self.left -= 1
        which = np.searchsorted(self._starts, chosen, side="right") - 1
        return [(int(k), chosen[which == k] - self._starts[k]) for k in np.unique(which)]

    def state(self) -> Arrays:
        """Return the order and the current place, as arrays."""
        return {"order": self._order, "place": np.array([self._num_batches, self.left])}
