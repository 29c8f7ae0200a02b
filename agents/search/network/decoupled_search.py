"""Batched network-guided search in simultaneous games: decoupled PUCT."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ludoteca.agents.search.network.decoupled_trees import (
    HIDDEN,
    DecoupledTrees,
    first_decoupled_trees,
    make_decoupled_simulation,
    make_decoupled_trees,
)
from ludoteca.agents.search.simultaneous.tree import ROOT
from ludoteca.envs.clock import clock
from ludoteca.envs.game import Game
from ludoteca.html_table import html_table

ROWS = 20  # of a batch, shown in notebooks
# Positions [K] and seats [K] -> policies, float32 [K, A], 0 for masked actions, and values in [-1,
# 1], float32 [K].
SeatEvaluator = Callable[
    [NDArray[np.void], NDArray[np.int64]], tuple[NDArray[np.float32], NDArray[np.float32]]
]


@dataclass(frozen=True)
class DecoupledSearchResult:
    """Result of B searches at their roots, for each of P players.

    Attributes:
        visit_counts: visit counts of the actions. Shape `[B, P, A]`.
        action_values: mean values of the actions for their player, in [-1, 1], NaN without visits.
            Shape `[B, P, A]`.
        priors: the network's policies. Shape `[B, P, A]`.
    """

    visit_counts: NDArray[np.int32]
    action_values: NDArray[np.float32]
    priors: NDArray[np.float32]

    def _repr_html_(self) -> str:
        """Return a row per search and player as HTML, for notebooks; the first `ROWS` searches."""
        rows = []
        for b, p in np.ndindex(min(len(self.visit_counts), ROWS), self.visit_counts.shape[1]):
            visits = self.visit_counts[b, p]
            most = int(visits.argmax())
            values = [f"{self.action_values[b, p, most]:+.3f}", f"{self.priors[b, p, most]:.1%}"]
            known = [str(most), *values, f"{visits[most]:,}", f"{visits.sum():,}"]
            rows.append([str(b), str(p), *(known if visits.any() else ["-"] * len(known))])
        hidden = len(self.visit_counts) - ROWS
        return html_table(
            ["search", "player", "most visited", "value", "prior", "visits", "of"],
            rows,
            title=f"{len(self.visit_counts)} searches",
            notes=[f"{hidden} more searches"] if hidden > 0 else [],
        )


class DecoupledNetworkGuidedSearch:
    """Search over a batch of positions of one simultaneous game.

    Attributes:
        trees: the trees of the last search.
    """

    def __init__(self, game: Game, count: int, simulations: int, leaf_batch: int = 1):
        """Allocate the workspace.

        Args:
            game: the game.
            count: B, maximum number of positions in a batch.
            simulations: maximum number of simulations per search.
            leaf_batch: leaves of one search that the network evaluates together, with virtual loss.
        """
        self.game, self._max_simulations, self._leaf_batch = game, simulations, leaf_batch
        self._all = make_decoupled_trees(game, count, simulations + 1, leaf_batch)
        self.trees: DecoupledTrees = self._all
        self._compiled = make_decoupled_simulation(game)

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
    ) -> DecoupledSearchResult:
        """Search a batch of unfinished positions.

        Args:
            states: the positions. Shape `[B]`.
            evaluate: the network.
            simulations: simulations per search.
            streams: one random stream per position, advanced in place. Shape `[B, 1]`.
            c_puct: PUCT's exploration constant; values are in [0, 1].
            fpu_reduction: first-play urgency: the value of an action without visits is the node's
                value minus this.
            seconds: time limit; the first simulations are run in any case.
            uniform_fraction: share of the uniform policy in the players' policies at the root,
                while searching.

        Raises:
            ValueError: if there are more positions or simulations than the workspace holds.
        """
        count = len(states)
        if count > len(self._all.size) or simulations > self._max_simulations:
            raise ValueError(
                f"the workspace is for {len(self._all.size)} searches of "
                f"{self._max_simulations} simulations, got {count} of {simulations}"
            )
        start = clock()
        trees = self.trees = first_decoupled_trees(self._all, count)
        trees.states[:] = states
        trees.streams[:] = streams
        self._compiled.begin(trees)
        self._evaluate(trees, evaluate)
        arms = trees.arms[:, ROOT]
        policies = np.maximum(arms["prior"], 0)
        if uniform_fraction > 0:
            tried = arms["prior"] >= 0
            uniform = tried / np.maximum(tried.sum(2, keepdims=True), 1)
            arms["prior"] = np.where(
                tried, (1 - uniform_fraction) * policies + uniform_fraction * uniform, HIDDEN
            )
        for k in range(0, simulations, self._leaf_batch):
            # The first simulations are run in any case: without visits there is no result.
            if k > 0 and seconds is not None and clock() - start > seconds:
                break
            self._compiled.descend(
                trees, min(self._leaf_batch, simulations - k), c_puct, fpu_reduction
            )
            self._evaluate(trees, evaluate)
        streams[:] = trees.streams
        visits = arms["visits"].copy()
        with np.errstate(invalid="ignore"):
            means = np.where(visits > 0, arms["value"] / np.maximum(visits, 1), np.nan)
        values = (2 * means - 1).astype(np.float32)
        return DecoupledSearchResult(visits, values, policies)

    def _evaluate(self, trees: DecoupledTrees, evaluate: SeatEvaluator) -> None:
        """Evaluate the new leaves for all active players by the network, and back them up."""
        game = self.game
        states = trees.leaf_states[trees.leaves >= 0]
        active = np.zeros((len(states), game.num_players), np.bool_)
        results = np.zeros(active.shape)
        self._compiled.outline(trees, active, results)
        rows, seats = np.nonzero(active)
        priors = np.full((*active.shape, game.num_actions), HIDDEN, np.float32)
        values = 0.5 + 0.5 * results
        if len(rows) > 0:
            policies, expected = evaluate(states[rows], seats)
            wanted = (len(rows), game.num_actions)
            if policies.shape != wanted or expected.shape != wanted[:1]:
                raise ValueError(
                    f"the network must return policies {wanted} and values {wanted[:1]}, got "
                    f"{policies.shape} and {expected.shape}"
                )
            priors[rows, seats] = np.where(policies > 0, policies, HIDDEN)
            values[rows, seats] = 0.5 + 0.5 * expected
        self._compiled.back_up_all(trees, priors, values)
