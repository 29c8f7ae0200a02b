"""Passes over the decisions of some rounds, batch by batch in random order."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ludoteca.train.actor_critic.rollout import ActorCriticRollout
from ludoteca.train.run_directory import Arrays


class RolloutMinibatches:
    """The decisions of some rounds, in the order in which they are learned from.

    Attributes:
        rounds: the rounds.
        advantages: of the decisions of each round.
        mean: of all advantages.
        spread: their standard deviation, above 0.
        left: number of batches that are still to come.
    """

    def __init__(
        self,
        rounds: Sequence[ActorCriticRollout],
        advantages: Sequence[NDArray[np.float32]],
        order: NDArray[np.int64],
        count: int,
        left: int | None = None,
    ):
        """Begin a pass, or resume one.

        Args:
            rounds: the rounds.
            advantages: of the decisions of each, shape `[N_k]`.
            order: numbers of decisions, as if those of all rounds were one sequence.
            count: how many batches they are split into.
            left: how many of these are still to come; by default all.
        """
        self.rounds, self.advantages = list(rounds), list(advantages)
        every = np.concatenate(self.advantages)
        self.mean, self.spread = float(every.mean()), float(every.std()) + 1e-8
        self._starts = np.cumsum([0, *(len(one) for one in self.advantages)])
        self._order, self._count = order, count
        self._batches = np.array_split(order, count)
        self.left = count if left is None else left

    def draw(self) -> list[tuple[int, NDArray[np.int64]]]:
        """Return the next batch: numbers of rounds, and of some decisions in each of them."""
        chosen = self._batches[self._count - self.left]
        self.left -= 1
        which = np.searchsorted(self._starts, chosen, side="right") - 1
        return [(int(k), chosen[which == k] - self._starts[k]) for k in np.unique(which)]

    def state(self) -> Arrays:
        """Return the order and how far it is, as arrays."""
        return {"order": self._order, "place": np.array([self._count, self.left])}
