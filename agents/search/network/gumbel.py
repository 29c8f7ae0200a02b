"""Gumbel AlphaZero's action selection at the root: sequential halving.

Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel" (2022).
"""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

NEVER = -np.inf
OVER = -1  # instead of a number of visits: the simulations are finished


@cache
def sequence_of_considered_visits(
    max_num_considered_actions: int, simulations: int
) -> tuple[int, ...]:
    """Return, per simulation, the visit count of the root action to be visited next.

    By sequential halving, the simulations are first divided among `max_num_considered_actions`
    actions, then among the better half of them, and so on (section 3, algorithm 2). Two actions and
    four simulations: `(0, 0, 1, 1)`.
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
    """Sequential halving at the roots of B searches."""

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
            legal: mask of the legal actions. Shape `[B, A]`.
            max_num_considered_actions: maximum number of considered actions.
            simulations: simulations per search. Shape `[B]`.
        """
        self._noisy = np.where(legal, noisy, NEVER)
        counts = np.minimum(
            np.minimum(legal.sum(1), max_num_considered_actions), np.maximum(simulations, 1)
        )
        self._schedule = np.full((len(legal), simulations.max(initial=0)), OVER)
        for b, (considered, budget) in enumerate(zip(counts, simulations, strict=True)):
            self._schedule[b, :budget] = sequence_of_considered_visits(int(considered), int(budget))
        # Only the best by prior and noise are considered.
        order = np.argsort(-self._noisy, axis=1, kind="stable")
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(legal.shape[1])[None], axis=1)
        self._is_considered = rank < counts[:, None]

    def choose(
        self, simulation: int, visits: NDArray[np.int32], values: NDArray[np.floating]
    ) -> NDArray[np.int64]:
        """Return the root actions of a simulation. Shape `[B]`.

        Actions of searches whose simulations are finished are arbitrary.

        Args:
            simulation: index of the simulation.
            visits: visit counts so far. Shape `[B, A]`.
            values: `sigma(q)` of each action. Shape `[B, A]`.
        """
        due = self._is_considered & (visits == self._schedule[:, simulation, None])
        chosen: NDArray[np.int64] = np.where(due, self._noisy + values, NEVER).argmax(1)
        return chosen

    def best(self, visits: NDArray[np.int32], values: NDArray[np.floating]) -> NDArray[np.int64]:
        """Return the actions to play: the best of the most visited. Shape `[B]`."""
        most = visits == visits.max(1, keepdims=True)
        able = most & (self._noisy > NEVER)
        best: NDArray[np.int64] = np.where(able, self._noisy + values, NEVER).argmax(1)
        return best
