"""Gumbel AlphaZero's action selection at the root: sequential halving.

Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel" (2022).
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

EXCLUDED = -np.inf  # score of an action that is not chosen
MAX_SCHEDULES = 128  # cached; searches with a time limit have varying numbers of simulations
FINISHED = -1  # instead of a visit count: the search has no simulation left


@lru_cache(MAX_SCHEDULES)
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
    visits, num_considered = [0] * max_num_considered_actions, max_num_considered_actions
    schedule: list[int] = []
    while len(schedule) < simulations:
        for _ in range(max(1, simulations // (phases * num_considered))):
            schedule += visits[:num_considered]
            visits = [count + 1 for count in visits[:num_considered]]
        num_considered = max(2, num_considered // 2)
    return tuple(schedule[:simulations])


class SequentialHalving:
    """Sequential halving at the roots of B searches."""

    def __init__(
        self,
        noisy_logits: NDArray[np.floating],
        legal: NDArray[np.bool_],
        max_num_considered_actions: int,
        simulations: NDArray[np.int64],
    ):
        """Make the visit schedules of the searches.

        Args:
            noisy_logits: log priors plus Gumbel noise. Shape `[B, A]`.
            legal: mask of the legal actions. Shape `[B, A]`.
            max_num_considered_actions: maximum number of considered actions.
            simulations: simulations per search. Shape `[B]`.
        """
        self._noisy_logits = np.where(legal, noisy_logits, EXCLUDED)
        counts = np.minimum(
            np.minimum(legal.sum(1), max_num_considered_actions), np.maximum(simulations, 1)
        )
        self._schedule = np.full((len(legal), simulations.max(initial=0)), FINISHED)
        for b, (considered, budget) in enumerate(zip(counts, simulations, strict=True)):
            self._schedule[b, :budget] = sequence_of_considered_visits(int(considered), int(budget))
        # Only the actions with the highest noisy logits are considered.
        order = np.argsort(-self._noisy_logits, axis=1, kind="stable")
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(legal.shape[1])[None], axis=1)
        self._is_considered = rank < counts[:, None]

    def choose(
        self, simulation: int, visits: NDArray[np.int32], values: NDArray[np.floating]
    ) -> NDArray[np.int64]:
        """Return the root actions of a simulation; arbitrary for finished searches. Shape `[B]`.

        Args:
            simulation: index of the simulation.
            visits: visit counts so far. Shape `[B, A]`.
            values: transformed values of the actions, see
                `ludoteca.agents.search.network.selection.sigma`. Shape `[B, A]`.
        """
        is_candidate = self._is_considered & (visits == self._schedule[:, simulation, None])
        selected: NDArray[np.int64] = np.where(
            is_candidate, self._noisy_logits + values, EXCLUDED
        ).argmax(1)
        return selected

    def best(self, visits: NDArray[np.int32], values: NDArray[np.floating]) -> NDArray[np.int64]:
        """Return the actions to play: of the most visited, the best by noisy logit plus value.

        Shape `[B]`; the arguments are those of `choose`.
        """
        is_most_visited = visits == visits.max(1, keepdims=True)
        is_candidate = is_most_visited & (self._noisy_logits > EXCLUDED)
        best: NDArray[np.int64] = np.where(
            is_candidate, self._noisy_logits + values, EXCLUDED
        ).argmax(1)
        return best
