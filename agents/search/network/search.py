"""Network-guided search in sequential games: PUCT, Gumbel AlphaZero or UCT."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.network.batched_search import (
    BatchedSearch,
    check_shapes,
    root_statistics,
)
from ludoteca.agents.search.network.gumbel import SequentialHalving
from ludoteca.agents.search.network.selection import (
    NetworkSearchConfig,
    sigma,
    write_improved_policy,
)
from ludoteca.agents.search.network.simulation import BY_POLICY
from ludoteca.agents.search.network.trees import SearchTrees
from ludoteca.agents.search.simultaneous.tree import ROOT
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory
from ludoteca.html_table import html_table

MAX_SHOWN = 20  # searches of a batch that notebooks show

# Planes [K, ...] -> logits of all actions, float32 [K, A], and values for the player to move in
# [-1, 1], float32 [K].
Evaluate = Callable[[NDArray[np.int8]], tuple[NDArray[np.float32], NDArray[np.float32]]]


class PositionEncoder(Protocol):
    """Encoder of positions for a network; see `ludoteca.agents.networks.encoder.Encoder`."""

    game: Game

    def encode(
        self, states: NDArray[np.void], seats: NDArray[np.int64]
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Return the planes and the action masks of positions `[K]`."""

    def translate_policy(
        self, policies: NDArray[np.float32], seats: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return per-action outputs of the network in the game's action order. Shape `[K, A]`."""


@dataclass(frozen=True)
class SearchResult:
    """Result of B searches at their roots.

    Attributes:
        visit_counts: visit counts of the actions. Shape `[B, A]`.
        action_weights: improved policy: normalized visit counts (without simulations, the priors),
            or with the policy `gumbel` the improved policy of Gumbel AlphaZero. Shape `[B, A]`.
        action_values: mean values of the actions for the player to move, NaN without visits. Shape
            `[B, A]`.
        root_value: value of the improved policy for the player to move, 0 without visits. Shape
            `[B]`.
        action: action to play. Shape `[B]`.
    """

    visit_counts: NDArray[np.int32]
    action_weights: NDArray[np.float32]
    action_values: NDArray[np.float32]
    root_value: NDArray[np.float32]
    action: NDArray[np.int64]

    def _repr_html_(self) -> str:
        """Return the first `MAX_SHOWN` searches as HTML for notebooks, a row for each."""
        shown = np.arange(len(self.action))[:MAX_SHOWN]
        rows = [
            [
                str(b),
                str(self.action[b]),
                f"{self.root_value[b]:+.3f}",
                f"{self.action_values[b, self.action[b]]:+.3f}",
                f"{self.visit_counts[b, self.action[b]]:,}",
                f"{self.visit_counts[b].sum():,}",
                f"{self.action_weights[b, self.action[b]]:.1%}",
            ]
            for b in shown
        ]
        hidden = len(self.action) - len(rows)
        return html_table(
            ["search", "action", "root value", "action value", "visits", "all visits", "weight"],
            rows,
            title=f"{len(self.action)} searches",
            notes=[f"{hidden} more searches"] if hidden else [],
        )


def require_no_chance(game: Game) -> None:
    """Require a game that network-guided search supports.

    Raises:
        ValueError: if the game has chance.
    """
    if game.has_chance:
        raise ValueError(
            "network-guided search in sequential games needs a game without chance, unlike "
            f"{game.name}"
        )


class NetworkGuidedSearch(BatchedSearch):
    """Network-guided search over a batch of positions of one sequential game for two players.

    Attributes:
        root_priors: priors of the actions at the roots of the last search, without noise; negative
            for illegal actions. Shape `[B, A]`.
    """

    def __init__(
        self,
        encoder: PositionEncoder,
        count: int,
        simulations: int,
        config: NetworkSearchConfig | None = None,
        max_num_considered_actions: int = 16,
        leaf_batch: int = 1,
    ):
        """Allocate the workspace.

        Args:
            encoder: encoder of the network's observations.
            count: B, maximum number of positions in a batch.
            simulations: maximum number of simulations per search.
            config: policy and parameters; PUCT by default.
            max_num_considered_actions: maximum number of actions considered at the root (Gumbel).
            leaf_batch: leaves of one search that the network evaluates together, with virtual loss;
                more than one is faster for small batches, and a little weaker. Not for Gumbel.

        Raises:
            ValueError: if `leaf_batch` is above 1 with Gumbel, or the game has chance.
        """
        if simulations > 0:
            require_no_chance(encoder.game)
        self._encoder, self._config = encoder, config or NetworkSearchConfig()
        self._max_num_considered_actions = max_num_considered_actions
        if self._config.policy == "gumbel" and leaf_batch > 1:
            raise ValueError(f"the policy gumbel needs leaf_batch=1, got {leaf_batch}")
        super().__init__(encoder.game, count, simulations, self._config, leaf_batch)
        self._sequential_halving: SequentialHalving | None = None
        self.root_priors = self.trees.priors[:, ROOT]

    def run(
        self,
        states: NDArray[np.void],
        evaluate: Evaluate,
        simulations: NDArray[np.int64] | int,
        rng: np.random.Generator | None = None,
        dirichlet_fraction: NDArray[np.float64] | float = 0.0,
        dirichlet_alpha: float = 0.3,
        gumbel_scale: float = 0.0,
        streams: NDArray[np.uint64] | None = None,
        seconds: float | None = None,
        stop_early: bool = False,
        is_stopped: Callable[[], bool] | None = None,
    ) -> SearchResult:
        """Search a batch of unfinished positions.

        Args:
            states: the positions. Shape `[B]`.
            evaluate: the network.
            simulations: simulations per search: one number, or one per position, shape `[B]`.
            rng: random generator of the noise at the roots; None: no noise.
            dirichlet_fraction: PUCT: weight of Dirichlet noise in the roots' priors: one number, or
                one per position, shape `[B]`.
            dirichlet_alpha: concentration of the Dirichlet distribution.
            gumbel_scale: Gumbel: scale of the Gumbel noise at the roots.
            streams: UCT: one random stream per position, advanced in place. Shape `[B, 1]`.
            seconds: time limit, or None; the first `leaf_batch` simulations are always run.
            stop_early: PUCT: end a search once no other action can become the most visited in the
                remaining simulations (with a time limit: those expected at the current speed), or
                if there is only one action.
            is_stopped: function that is called between simulations and ends all searches when it
                returns True; the first `leaf_batch` simulations are always run.

        Raises:
            ValueError: if there are more positions or simulations than the workspace holds.
        """
        count = len(states)
        budget = np.broadcast_to(np.asarray(simulations, np.int64), (count,))
        max_budget = int(budget.max(initial=0))
        start = clock()

        def evaluate_seats(positions: NDArray[np.void], seats: NDArray[np.int64]) -> Any:
            return self._evaluate_seats(positions, seats, evaluate)

        trees = self._reset(states, streams, max_budget, evaluate_seats)
        priors = self.root_priors = trees.priors[:, ROOT]
        legal = priors >= 0
        halving = self._sequential_halving = None
        if self._config.policy == "gumbel":
            halving = self._sequential_halving = self._make_halving(
                priors, legal, budget, rng, gumbel_scale
            )
        elif rng is not None and np.any(np.asarray(dirichlet_fraction) > 0):
            self.root_priors = priors.copy()
            # Gamma variables, divided by their sum, have a Dirichlet distribution. The sum is 0 if
            # all of them underflow.
            noise = np.where(legal, rng.gamma(dirichlet_alpha, size=legal.shape), 0)
            noise /= np.maximum(noise.sum(1, keepdims=True), 1e-30)
            fractions = np.broadcast_to(dirichlet_fraction, (count,))[:, None]
            kept = (1 - fractions).astype(np.float32) * priors
            trees.priors[:, ROOT] = np.where(legal, kept + fractions * noise, priors)
        first = np.full(count, BY_POLICY)
        stop_early = stop_early and self._config.policy == "puct"
        for k in range(0, max_budget, self._leaf_batch):
            if stop_early and k > 0:
                budget = self._stop_decided(trees, budget, k, clock() - start, seconds)
                if k >= budget.max():
                    break
            # The first simulations are always run: without visits there is no best action.
            if k > 0 and self._is_over(k, clock() - start, seconds):
                break
            if k > 0 and is_stopped is not None and is_stopped():
                break
            if halving is not None:
                first = halving.choose(k, trees.visits[:, ROOT], self._sigma(trees))
            counts = np.minimum(np.maximum(budget - k, 0), self._leaf_batch)  # faster than clip
            self._simulate(trees, counts, first, evaluate_seats)
        if streams is not None:
            streams[:] = trees.streams
        return self.result()

    def result(self) -> SearchResult:
        """Return the result so far of the last search."""
        return self._result(self.trees, self._sequential_halving)

    def _stop_decided(
        self,
        trees: SearchTrees,
        budget: NDArray[np.int64],
        k: int,
        elapsed: float,
        seconds: float | None,
    ) -> NDArray[np.int64]:
        """Return the budgets, cut to `k` simulations where the most visited action is decided.

        Args:
            trees: the trees.
            budget: simulations per search. Shape `[B]`.
            k: simulations of each search so far.
            elapsed: seconds since the start of the searches.
            seconds: time limit, or None.
        """
        max_budget = int(budget.max())
        remaining = max_budget - k
        if seconds is not None:
            remaining = min(
                remaining, math.ceil(k * max(seconds - elapsed, 0) / max(elapsed, 1e-9))
            )
        # A single legal action is decided after the first simulations.
        is_forced = (trees.priors[:, ROOT] >= 0).sum(1) == 1 if k == self._leaf_batch else False
        if k <= remaining and not np.any(is_forced):
            return budget  # the lead is at most k, so nothing is decided
        visits = trees.visits[:, ROOT]
        is_first = np.arange(visits.shape[1]) == visits.argmax(1)[:, None]
        # Ties go to the first action, so the lead must exceed the remaining simulations.
        lead = visits.max(1) - np.where(is_first, 0, visits).max(1)
        is_decided = is_forced | (lead > np.minimum(budget - k, remaining))
        return np.where(is_decided, np.minimum(budget, k), budget)

    def _evaluate_seats(
        self, states: NDArray[np.void], seats: NDArray[np.int64], evaluate: Evaluate
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the priors of all actions, `trees.ILLEGAL` for illegal ones, and the values."""
        planes, _ = self._encoder.encode(states, seats)
        logits, values = evaluate(planes)
        check_shapes("logits", len(states), self.game, logits, values)
        priors = np.empty(logits.shape, np.float32)
        logits = self._encoder.translate_policy(logits, seats)
        self._compiled.write_priors(states, logits, self.trees.work, priors)
        return priors, values

    def _make_halving(
        self,
        priors: NDArray[np.float32],
        legal: NDArray[np.bool_],
        budget: NDArray[np.int64],
        rng: np.random.Generator | None,
        gumbel_scale: float,
    ) -> SequentialHalving:
        """Return the visit schedules of Gumbel AlphaZero; priors of 0 count as 1e-9.

        Args:
            priors: priors at the roots. Shape `[B, A]`.
            legal: mask of the legal actions. Shape `[B, A]`.
            budget: simulations per search. Shape `[B]`.
            rng: generator of the Gumbel noise; None: no noise.
            gumbel_scale: scale of the noise.
        """
        noisy_logits = np.log(np.where(legal, np.maximum(priors, 1e-9), 1))
        if rng is not None and gumbel_scale > 0:
            noisy_logits = noisy_logits + gumbel_scale * rng.gumbel(size=noisy_logits.shape)
        return SequentialHalving(noisy_logits, legal, self._max_num_considered_actions, budget)

    def _sigma(self, trees: SearchTrees) -> NDArray[np.float64]:
        """Return the transformed values `sigma(q)` of the roots' actions, 0 without visits."""
        visits, scores = trees.visits[:, ROOT], trees.scores[:, ROOT]
        q = scores / np.maximum(visits, 1)
        return np.where(visits > 0, sigma(q, visits.max(1, keepdims=True), self._params), 0.0)

    def _result(self, trees: SearchTrees, halving: SequentialHalving | None) -> SearchResult:
        """Return the result of the searches; `halving` is None except for Gumbel AlphaZero."""
        visits, values = root_statistics(trees)
        visits, values = visits[:, 0], values[:, 0]
        searched = visits.sum(1)
        policy = (visits / np.maximum(searched, 1)[:, None]).astype(np.float32)
        best = visits.argmax(1)
        if halving is not None:
            make_write_policies()(trees, self._params, policy)
            best = halving.best(visits, self._sigma(trees))
        elif self._config.policy == "uct":  # the highest mean; ties go to the most visited
            means = np.where(visits > 0, values, -np.inf)
            best = np.where(means == means.max(1, keepdims=True), visits, -1).argmax(1)
        elif (searched == 0).any():  # without simulations, the priors are the policy
            policy[searched == 0] = np.maximum(trees.priors[searched == 0, ROOT], 0)
            best = np.where(searched == 0, policy.argmax(1), best)
        # Expected value of the improved policy over the visited actions; 0 if there are none.
        weights = np.where(visits > 0, policy, 0)
        value = (weights * np.nan_to_num(values)).sum(1) / np.maximum(weights.sum(1), 1e-9)
        return SearchResult(
            visits, policy, values.astype(np.float32), value.astype(np.float32), best
        )


@factory()
def make_write_policies() -> Any:
    """Return `write_policies(trees, params, policies)`.

    It writes the improved policies of the roots to `policies`, float32 `[B, A]`.
    """

    @compiled_without_allocation
    def write_policies(trees: Any, params: Any, policies: Any) -> None:
        for b in range(len(policies)):
            value = trees.nodes[b, ROOT].values[0]
            write_improved_policy(trees.arms[b, ROOT, 0], value, params, policies[b])

    return write_policies
