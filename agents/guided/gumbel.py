"""Gumbel AlphaZero at the root: which actions are tried, how often, and which is played.

Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel" (2022).
"""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

NEVER = -np.inf
OVER = -1  # instead of a number of visits: no simulation any more


@cache
def sequence_of_considered_visits(
    max_num_considered_actions: int, simulations: int
) -> tuple[int, ...]:
    """Return how many visits the action has that a simulation begins with, by sequential halving.

    `max_num_considered_actions` actions share the simulations, then the better half of them, and
    so on (section 3, algorithm 2). Two actions and four simulations: `(0, 0, 1, 1)`.
    """
    if max_num_considered_actions <= 1:
        return tuple(range(simulations))
    phases = max(math.ceil(math.log2(max_num_considered_actions)), 1)
    visits, left = [0] * max_num_considered_actions, max_num_considered_actions
    schedule: list[int] = []
    while len(schedule) < simulations:
        for _ in range(max(1, simulations // (phases * left))):
            schedule += visits[:left]
            visits = [count + 1 for count in visits[:left]]
        left = max(2, left // 2)
    return tuple(schedule[:simulations])


class SequentialHalving:
    """The roots of B searches, each of which tries its most promising actions."""

    def __init__(
        self,
        noisy: NDArray[np.floating],
        legal: NDArray[np.bool_],
        max_num_considered_actions: int,
        simulations: NDArray[np.int64],
    ):
        """Make the schedules of the searches.

        Args:
            noisy: log priors plus Gumbel noise. Shape `[B, A]`.
            legal: which actions are legal. Shape `[B, A]`.
            max_num_considered_actions: how many actions are tried at most.
            simulations: of each search. Shape `[B]`.
        """
        self._noisy = np.where(legal, noisy, NEVER)
        counts = np.minimum(
            np.minimum(legal.sum(1), max_num_considered_actions), np.maximum(simulations, 1)
        )
        self._schedule = np.full((len(legal), simulations.max(initial=0)), OVER)
        for b, (tried, budget) in enumerate(zip(counts, simulations, strict=True)):
            self._schedule[b, :budget] = sequence_of_considered_visits(int(tried), int(budget))
        # Only the best by prior and noise are tried at all.
        order = np.argsort(-self._noisy, axis=1, kind="stable")
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(legal.shape[1])[None], axis=1)
        self._tried = rank < counts[:, None]

    def choose(
        self, simulation: int, visits: NDArray[np.int32], values: NDArray[np.floating]
    ) -> NDArray[np.int64]:
        """Return the action that a simulation begins with. Shape `[B]`.

        Searches whose simulations are over get any action.

        Args:
            simulation: its number.
            visits: of each action so far. Shape `[B, A]`.
            values: `sigma(q)` of each action. Shape `[B, A]`.
        """
        due = self._tried & (visits == self._schedule[:, simulation, None])
        chosen: NDArray[np.int64] = np.where(due, self._noisy + values, NEVER).argmax(1)
        return chosen

    def best(self, visits: NDArray[np.int32], values: NDArray[np.floating]) -> NDArray[np.int64]:
        """Return the action to play: of the most visited, the best. Shape `[B]`."""
        most = visits == visits.max(1, keepdims=True)
        able = most & (self._noisy > NEVER)
        best: NDArray[np.int64] = np.where(able, self._noisy + values, NEVER).argmax(1)
        return best
