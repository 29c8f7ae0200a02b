"""Batched network-guided search in simultaneous games: decoupled PUCT."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.network.batched_search import (
    BatchedSearch,
    SeatEvaluator,
    check_shapes,
    root_statistics,
)
from ludoteca.agents.search.network.selection import NetworkSearchConfig, SelectionParams
from ludoteca.agents.search.network.simulation import BY_POLICY
from ludoteca.agents.search.network.trees import ILLEGAL
from ludoteca.agents.search.simultaneous.tree import ROOT
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.html_table import html_table

MAX_SHOWN = 20  # searches of a batch that notebooks show


@dataclass(frozen=True)
class DecoupledSearchResult:
    """Result of B searches at their roots, for each of P players.

    Attributes:
        visit_counts: visit counts of the actions. Shape `[B, P, A]`.
        action_values: mean values of the actions for their player, in [-1, 1], NaN without visits.
            Shape `[B, P, A]`.
        priors: the network's policies, 0 for illegal and masked actions. Shape `[B, P, A]`.
    """

    visit_counts: NDArray[np.int32]
    action_values: NDArray[np.float32]
    priors: NDArray[np.float32]

    def _repr_html_(self) -> str:
        """Return the first `MAX_SHOWN` searches as HTML for notebooks, a row for each player."""
        rows = []
        for b, p in np.ndindex(min(len(self.visit_counts), MAX_SHOWN), self.visit_counts.shape[1]):
            visits = self.visit_counts[b, p]
            most = int(visits.argmax())
            values = [f"{self.action_values[b, p, most]:+.3f}", f"{self.priors[b, p, most]:.1%}"]
            cells = [str(most), *values, f"{visits[most]:,}", f"{visits.sum():,}"]
            rows.append([str(b), str(p), *(cells if visits.any() else ["-"] * len(cells))])
        hidden = len(self.visit_counts) - MAX_SHOWN
        return html_table(
            ["search", "player", "most visited", "value", "prior", "visits", "all visits"],
            rows,
            title=f"{len(self.visit_counts)} searches",
            notes=[f"{hidden} more searches"] if hidden > 0 else [],
        )


class DecoupledNetworkGuidedSearch(BatchedSearch):
    """Decoupled PUCT over a batch of positions of one simultaneous game."""

    def __init__(self, game: Game, count: int, simulations: int, leaf_batch: int = 1):
        """Allocate the workspace.

        Args:
            game: the game.
            count: B, maximum number of positions in a batch.
            simulations: maximum number of simulations per search.
            leaf_batch: leaves of one search that the network evaluates together, with virtual loss.
        """
        config = NetworkSearchConfig(decisive=False)
        super().__init__(game, count, simulations, config, leaf_batch)

    def run(
        self,
        states: NDArray[np.void],
        evaluate: SeatEvaluator,
        simulations: int,
        streams: NDArray[np.uint64],
        c_puct: float = 1.0,
        fpu_reduction: float = 0.1,
        seconds: float | None = None,
        uniform_fraction: float = 0.0,
        is_stopped: Callable[[], bool] | None = None,
    ) -> DecoupledSearchResult:
        """Search a batch of unfinished positions.

        Args:
            states: the positions. Shape `[B]`.
            evaluate: the network. Its priors are 0 for illegal actions, and for masked ones:
                legal actions that it excludes, such as moves that certainly lose.
            simulations: simulations per search.
            streams: one random stream per position, advanced in place. Shape `[B, 1]`.
            c_puct: PUCT's exploration constant; values are in [0, 1].
            fpu_reduction: first-play urgency: the value of an action without visits is the node's
                value minus `fpu_reduction`.
            seconds: time limit, or None; the first `leaf_batch` simulations are always run.
            uniform_fraction: weight of the uniform policy in the priors at the root.
            is_stopped: function that is called between simulations and ends all searches when it
                returns True; the first `leaf_batch` simulations are always run.

        Raises:
            ValueError: if there are more positions or simulations than the workspace holds.
        """
        start = clock()
        # Doubled, since `SelectionParams` are for values in [-1, 1].
        self._params = SelectionParams(
            c_init=2 * c_puct,
            c_base=math.inf,
            fpu_reduction=2 * fpu_reduction,
            fpu_by_prior=False,
        )

        def evaluate_seats(
            positions: NDArray[np.void], seats: NDArray[np.int64]
        ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
            """Return priors, `ILLEGAL` for illegal and masked actions, and values."""
            policies, values = evaluate(positions, seats)
            check_shapes("policies", len(positions), self.game, policies, values)
            return np.where(policies > 0, policies, ILLEGAL), values

        trees = self._reset(states, streams, simulations, evaluate_seats)
        arms = trees.arms[:, ROOT]
        policies = np.maximum(arms["prior"], 0)
        if uniform_fraction > 0:
            allowed = arms["prior"] >= 0
            uniform = allowed / np.maximum(allowed.sum(2, keepdims=True), 1)
            mixed = (1 - uniform_fraction) * policies + uniform_fraction * uniform
            arms["prior"] = np.where(allowed, mixed, ILLEGAL)
        first = np.full(len(states), BY_POLICY)
        for k in range(0, simulations, self._leaf_batch):
            # The first simulations are always run: without visits there is no result.
            if k > 0 and self._is_over(k, clock() - start, seconds):
                break
            if k > 0 and is_stopped is not None and is_stopped():
                break
            counts = np.full(len(states), min(self._leaf_batch, simulations - k))
            self._simulate(trees, counts, first, evaluate_seats)
        streams[:] = trees.streams
        visits, values = root_statistics(trees)
        return DecoupledSearchResult(visits, values.astype(np.float32), policies)
